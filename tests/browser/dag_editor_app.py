"""A page around the DAG editor for the browser tests; ``?case=`` picks the table."""

import json

import streamlit as st

from dashboard.components.dag_editor import NodeView, dag_editor

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
}


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
    names, start, target = CASES[case]
    state.setdefault("graph_rev", 0)
    state.setdefault("graph_edges", start)
    state.setdefault("graph_positions", {})
    regime = st.segmented_control(
        "Regime", ["parents", "blanket", "predictive"], default="blanket", key="regime"
    )
    if st.button("Reset in Python"):
        state.graph_rev += 1
        state.graph_edges = start
    part = roles(names, state.graph_edges, target, regime or "blanket")
    reply = dag_editor(
        key="editor",
        nodes=[
            NodeView(name=name, role=part[name], tooltip=f"Role: {part[name]}") for name in names
        ],
        in_s=frozenset(name for name in names if part[name] != "other"),
        edges=state.graph_edges,
        positions=state.graph_positions,
        rev=state.graph_rev,
    )
    edit = reply.edit
    if edit is not None:
        state.graph_positions = edit.positions
        if list(edit.edges) != state.graph_edges:
            state.graph_edges = list(edit.edges)
            # Roles follow from the edges: draw them again.
            st.rerun()
    with st.container(key="got"):
        st.text(json.dumps({"rev": state.graph_rev, "edges": state.graph_edges}))


def other_page() -> None:
    """A place to go away to."""
    st.header("Elsewhere")


st.set_page_config(layout="wide")
st.navigation(
    [
        st.Page(graph_page, title="Graph", default=True),
        st.Page(other_page, title="Other"),
    ]
).run()
