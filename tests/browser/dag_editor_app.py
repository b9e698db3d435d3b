"""A page around the DAG editor for the browser tests; ``?case=`` picks the table.

``network:NAME`` is a network of pgmpy, with all columns but those near the target hidden.
"""

import importlib.util
import json
from pathlib import Path

import streamlit as st

from dashboard.components.dag_editor import NodeView, dag_editor
from dashboard.session.graph import EditedGraph
from prism_core.structure import formats
from prism_core.structure.dag import Dag
from prism_core.structure.roles import touching

_COLUMNS = (
    "age sex insurance smoking bmi diabetes hypertension heart_failure kidney_disease hba1c "
    "creatinine admission_type length_of_stay n_procedures n_medications medication_change "
    "discharge_to follow_up_visit readmitted ward_code payer_code race marital_status "
    "bed_number admission_weekday"
)
_EDGES = (
    "age>hypertension age>diabetes age>heart_failure age>kidney_disease sex>smoking sex>bmi "
    "smoking>heart_failure bmi>diabetes bmi>hypertension diabetes>hba1c diabetes>kidney_disease "
    "hypertension>heart_failure kidney_disease>creatinine heart_failure>admission_type "
    "admission_type>length_of_stay n_procedures>length_of_stay diabetes>n_medications "
    "n_medications>medication_change length_of_stay>readmitted heart_failure>readmitted "
    "discharge_to>readmitted readmitted>follow_up_visit insurance>follow_up_visit age>discharge_to"
)
READMISSION = [str(name) for name in _COLUMNS.split()]
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    'it\'s "quoted" `back` \\ slash',
    "température_maximale_à_l’entrée",
    "体重_キログラム",
    "x" * 60,
    "a_column_name_of_sixty_characters_with_words_in_it_and_more_",
    "__proto__",
    "constructor",
    "line\nbreak",
    " ",
]
WIDE = [f"measure_{i:02d}" for i in range(60)]
MANY = [f"column_{i:03d}" for i in range(200)]
MANY_EDGES = [(MANY[i], MANY[j]) for i in range(200) for j in (i + 7, i + 19) if j < 200]
WIDE_EDGES = [(WIDE[i], WIDE[j]) for i in range(52) for j in (i + 5, i + 11) if j < 52 and i % 3]

CASES: dict[str, tuple[list[str], list[tuple[str, str]], str]] = {
    "small": (list("ABCDE"), [("A", "B"), ("B", "C")], "C"),
    "readmission": (
        READMISSION,
        [(edge.split(">")[0], edge.split(">")[1]) for edge in _EDGES.split()],
        "readmitted",
    ),
    "empty": (READMISSION, [], "readmitted"),
    "hostile": (HOSTILE, [(HOSTILE[0], HOSTILE[5]), (HOSTILE[7], HOSTILE[8])], HOSTILE[5]),
    "wide": (WIDE, WIDE_EDGES, "measure_30"),
    "many": (MANY, MANY_EDGES, "column_030"),
}


@st.cache_resource
def network(name: str) -> tuple[list[str], list[tuple[str, str]], str]:
    """A network's columns and edges, and the column with the most edges."""
    spec = importlib.util.find_spec("pgmpy")
    assert spec is not None
    assert spec.origin is not None
    dag = formats.read(Path(spec.origin).parent / "utils/example_models" / f"{name}.bif.gz")
    ends = [end for edge in dag.edges for end in edge]
    return list(dag.nodes), list(dag.edges), max(dag.nodes, key=ends.count)


def roles(
    names: list[str], edges: list[tuple[str, str]], target: str, regime: str
) -> dict[str, str]:
    """Name the part of each column, as the structure page would."""
    found = dict.fromkeys(names, "other")
    if regime == "predictive":
        found |= dict.fromkeys(names[:3], "selected")
    else:
        children = [effect for cause, effect in edges if cause == target]
        if regime == "blanket":
            found |= dict.fromkeys((a for a, b in edges if b in children), "co_parent")
            found |= dict.fromkeys(children, "child")
        found |= dict.fromkeys((a for a, b in edges if b == target), "parent")
    return found | {target: "target"}


def graph_page() -> None:
    """Show the editor, what came back, and the switches the tests need."""
    state = st.session_state
    case = st.query_params.get("case", "small")
    far = case.startswith("network:")
    names, start, target = network(case.removeprefix("network:")) if far else CASES[case]
    state.setdefault("graph", EditedGraph(edges=tuple(start)))
    graph = state.graph
    regime = st.segmented_control(
        "Regime", ["parents", "blanket", "predictive"], default="blanket", key="regime"
    )
    if st.button("Reset in Python"):
        graph.replace(tuple(start))
    far = st.toggle("Only near columns", value=far or case == "many", key="near")
    part = roles(names, list(graph.edges), target, regime or "blanket")
    dag = Dag(nodes=tuple(names), edges=graph.edges) if far else None
    near = names if dag is None else touching(dag, (target, *dag.markov_blanket(target)))
    reply = dag_editor(
        key="editor",
        nodes=[
            NodeView(
                name=name, role=part[name], tooltip=f"Role: {part[name]}", hidden=name not in near
            )
            for name in names
        ],
        in_s=frozenset(name for name in names if part[name] != "other"),
        edges=graph.edges,
        positions=graph.positions,
        rev=graph.rev,
        focus=str(far),
        can_undo=bool(graph.past),
        can_redo=bool(graph.future),
    )
    before = graph.edges
    if reply.edit is not None:
        graph.moved(reply.edit.positions)
        graph.drawn(reply.edit.edges)
    graph.go(reply.steps)
    if graph.edges != before or reply.steps:
        # Roles follow from the edges: draw them again.
        st.rerun()
    with st.container(key="got"):
        st.text(json.dumps({"rev": graph.rev, "edges": graph.edges}))


def other_page() -> None:
    """A place to go away to."""
    st.header("Elsewhere")


st.set_page_config(layout="wide")
st.navigation(
    [st.Page(graph_page, title="EditedGraph", default=True), st.Page(other_page, title="Other")]
).run()
