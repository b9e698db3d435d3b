"""The page Structure: graphs from elsewhere, what a graph implies, hidden columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dashboard.release.checklist import ChecklistLine, checks
from dashboard.session.data_entries import DataEntries
from dashboard.session.designs import Designs, Entries
from dashboard.session.graph import EditedGraph, StructureEntries
from dashboard.session.project import Project
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import read_table
from prism_core.structure import formats
from prism_core.structure.dag import Dag, Drawing
from tests.support.pages import open_page, texts

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.app
NAMES = ("age", "Ward code", "severity", "readmitted")
EDGES = (("age", "severity"), ("Ward code", "readmitted"), ("severity", "readmitted"))


def made(
    names: tuple[str, ...] = NAMES,
    *,
    target: str | None = None,
    graph: EditedGraph | None = None,
    **entries: Any,
) -> Project:
    header = ",".join(names)
    row = ",".join("1" for _ in names)
    schema = Schema(
        columns=tuple(Column(name=name, kind="boolean") for name in names),
        one_row_per_person=True,
    )
    return Project(
        data=DataEntries(
            name="a table",
            raw=read_table(f"{header}\n{row}\n{row}\n".encode()),
            public=True,
            schema=schema,
        ),
        structure=StructureEntries(target=target or names[-1], graph=graph or EditedGraph()),
        designs=Designs(plan=Entries(**entries)),
    )


PARTS = (
    ":material/upload_file: Upload or paste a graph",
    ":material/lightbulb: What the graph implies",
    ":material/download: Download",
)


def upload(test: AppTest, text: str, name: str = "graph.txt") -> AppTest:
    test.session_state["structure_tabs"] = PARTS[0]
    test.run()
    test.file_uploader(key="upload_graph").upload(name, text.encode(), "text/plain").run()
    assert not test.exception
    return test


def box(test: AppTest, node: str):
    return next(b for b in test.selectbox if b.label == f"Column for {node}")


def press(test: AppTest, key: str) -> AppTest:
    test.button(key=key).click().run()
    assert not test.exception
    return test


@pytest.mark.parametrize("form", [form for form in formats.FORMATS if form != "bif"])
def test_every_format_is_taken_from_a_file(form):
    # bif and model-string hold no spaces in names, so there the name is fitted to its column.
    plain = form == "model-string"
    edges = [tuple(n.replace(" ", "_") if plain else n for n in edge) for edge in EDGES]
    nodes = tuple(dict.fromkeys(name for edge in edges for name in edge))
    project = made()
    test = upload(
        open_page("structure", project), formats.write(Dag(nodes=nodes, edges=tuple(edges)), form)
    )
    press(test, "use_graph")
    assert set(project.structure.graph.edges) == set(EDGES)
    assert "The graph is in use: 3 edges" in texts(test)


def test_a_bif_network_is_pasted_and_its_names_fitted():
    edges = tuple((a.replace(" ", "."), b.upper()) for a, b in EDGES)
    nodes = tuple(dict.fromkeys(name for edge in edges for name in edge))
    # Both spellings of severity mean the same column: nothing is decided for the curator.
    project = made()
    test = open_page("structure", project)
    test.text_area(key="paste_graph").set_value(
        formats.write(Dag(nodes=nodes, edges=edges), "bif")
    ).run()
    assert "not a column of the table" in texts(test)
    assert test.button(key="use_graph").disabled
    assert project.structure.graph.edges == ()


def test_positions_and_outcome_come_along():
    drawing = Drawing(
        dag=Dag(nodes=NAMES, edges=EDGES),
        outcome=("readmitted",),
        positions={"age": (0.0, 0.0), "readmitted": (1.0, 0.5)},
    )
    project = made(target="age")
    test = upload(open_page("structure", project), formats.write(drawing, "dagitty"))
    (offer,) = (b for b in test.checkbox if "names an outcome" in b.label)
    assert offer.value is True
    press(test, "use_graph")
    assert project.structure.target == "readmitted"
    (box,) = (b for b in test.selectbox if b.label.startswith("Column to be predicted"))
    assert box.value == "readmitted"
    assert project.structure.graph.foreign
    assert set(project.structure.graph.positions) == {"age", "readmitted"}
    press(test, "graph_undo")
    assert project.structure.graph.edges == ()


def test_a_node_that_is_no_column_is_mapped_dropped_or_refused():
    project = made()
    test = upload(
        open_page("structure", project),
        "dag { age -> frailty frailty -> readmitted sevrity -> readmitted }",
    )
    assert "2 are not" in texts(test)
    assert test.button(key="use_graph").disabled
    assert box(test, "sevrity").options[:3] == [
        "Keep it: not in the table",
        "Drop it",
        "severity (similar)",
    ]
    box(test, "sevrity").select_index(2).run()
    assert "'frailty' is not a column" in texts(test)
    box(test, "frailty").select_index(1).run()
    assert "the graph now denies an effect that it stated" in texts(test)
    next(b for b in test.checkbox if b.label.startswith("Join")).check().run()
    assert "now point at its effects" in texts(test)
    assert project.structure.graph.edges == ()
    press(test, "use_graph")
    assert set(project.structure.graph.edges) == {("severity", "readmitted"), ("age", "readmitted")}


def test_two_nodes_for_one_column_are_refused():
    test = upload(
        open_page("structure", made()),
        "dag { SEVERITY -> readmitted  severity. -> readmitted }".replace(
            "severity.", '"severity!"'
        ),
    )
    box(test, "SEVERITY").select_index(2).run()
    box(test, "severity!").select_index(2).run()
    assert "are both mapped to the column 'severity'" in texts(test)
    assert test.button(key="use_graph").disabled


def test_many_strangers_are_left_out_at_once_and_what_is_lost_is_said():
    edges = " ".join(f"u{i} -> age u{i} -> readmitted" for i in range(30))
    project = made()
    test = upload(open_page("structure", project), f"dag {{ {edges} age -> readmitted }}")
    assert len([box for box in test.selectbox if (box.key or "").startswith("odd_")]) == 8
    press(test, "drop_rest")
    assert "a common cause of age and readmitted" in texts(test)
    assert "18 more dropped nodes" in texts(test)
    press(test, "use_graph")
    assert project.structure.graph.edges == (("age", "readmitted"),)


def paste(test: AppTest, text: str) -> AppTest:
    test.text_area(key="paste_graph").set_value(text).run()
    assert not test.exception
    return test


def test_dropping_the_rest_keeps_the_node_mapped_last():
    project = made()
    test = paste(open_page("structure", project), "dag { alter -> stage stage -> outc }")
    choices = {"alter": "age", "outc": "readmitted"}
    for node, column in choices.items():
        position = next(
            i for i, option in enumerate(box(test, node).options) if option.startswith(column)
        )
        box(test, node).select_index(position)
        if node == "alter":
            test.run()
    # The last choice and the press arrive together, as from a quick hand.
    test.button(key="drop_rest").click().run()
    assert box(test, "outc").value is not None
    assert "stage is dropped" in texts(test)
    next(b for b in test.checkbox if b.label.startswith("Join")).check().run()
    press(test, "use_graph")
    assert project.structure.graph.edges == (("age", "readmitted"),)


def test_the_count_of_nodes_not_decided_is_that_of_the_boxes():
    test = paste(open_page("structure", made()), "dag { alter -> stage stage -> outc }")
    box(test, "alter").select_index(2).run()
    assert "Drop the 2 nodes" in test.button(key="drop_rest").label


def test_a_second_graph_does_not_inherit_the_choices_of_the_first():
    project = made()
    test = paste(open_page("structure", project), "dag { p1 -> p2 }")
    for node, position in (("p1", 2), ("p2", 3)):
        box(test, node).select_index(position).run()
    first = {b.key for b in test.selectbox if "Column for" in b.label}
    paste(test, "dag { q1 -> q2 }")
    assert [box(test, node).value for node in ("q1", "q2")] == [None, None]
    assert test.button(key="use_graph").disabled
    assert not first & {b.key for b in test.selectbox}


LATENT = "dag { u [latent] readmitted [outcome] u -> age u -> readmitted age -> readmitted }"


def test_an_outcome_is_offered_and_the_unmeasured_is_kept():
    project = made(target="age")
    test = paste(open_page("structure", project), LATENT)
    assert "Marked in the file as unmeasured, and so kept: u." in texts(test)
    press(test, "use_graph")
    assert project.structure.target == "readmitted"
    assert project.dag.unmeasured == ("u",)
    assert set(project.dag.edges) == {("u", "age"), ("u", "readmitted"), ("age", "readmitted")}
    assert "1 node not in the table" in texts(test)
    assert project.protected == {"age"}
    assert "S = Pa(readmitted) = {age}: robust if the world shifts" in texts(test)
    assert "u is not in the table. Where its distribution changes, the relation" in texts(test)
    assert "the way in which age comes about changes" in texts(test)


def test_an_unmeasured_node_may_be_dropped_with_its_consequence():
    project = made(target="age")
    test = paste(open_page("structure", project), LATENT)
    box(test, "u").select_index(1).run()
    assert "a common cause of readmitted and age" in texts(test)
    press(test, "use_graph")
    assert project.dag.unmeasured == ()
    assert project.structure.graph.edges == (("age", "readmitted"),)


def test_nodes_not_decided_are_kept_at_once():
    project = made()
    edges = " ".join(f"u{i} -> age u{i} -> readmitted" for i in range(30))
    test = upload(open_page("structure", project), f"dag {{ {edges} age -> readmitted }}")
    press(test, "keep_rest")
    press(test, "use_graph")
    assert len(project.dag.unmeasured) == 30
    assert project.protected == {"age"}


def test_something_not_in_the_table_is_added_and_goes_with_its_last_edge():
    project = made(graph=EditedGraph(edges=EDGES))
    test = open_page("structure", project)
    test.text_input(key="unmeasured_name").set_value("frailty")
    test.multiselect(key="unmeasured_effects").set_value(["severity", "readmitted"])
    next(b for b in test.button if b.label == "Add it").click().run()
    assert project.dag.unmeasured == ("frailty",)
    assert project.protected == {"Ward code", "severity"}
    assert "frailty is not in the table. Where" in texts(test)
    press(test, "graph_undo")
    assert project.dag.unmeasured == ()
    assert "frailty" not in texts(test)
    press(test, "graph_redo")
    assert project.dag.unmeasured == ("frailty",)
    test.text_input(key="unmeasured_name").set_value("age")
    test.multiselect(key="unmeasured_effects").set_value(["readmitted"])
    next(b for b in test.button if b.label == "Add it").click().run()
    assert "age is a column of the table, so it is measured" in texts(test)
    assert project.dag.unmeasured == ("frailty",)


def test_the_count_of_what_is_shown_is_of_columns():
    hidden = frozenset({"frailty"})
    edges = (("severity", "readmitted"), ("frailty", "age"))
    graph = EditedGraph(edges=edges, unmeasured=hidden, show_all=False)
    assert "2 of 4 columns are shown." in texts(open_page("structure", made(graph=graph)))


def test_the_checklist_of_a_release_names_what_s_does_not_cover():
    hidden = frozenset({"frailty", "season"})
    edges = (*EDGES, ("frailty", "readmitted"), ("season", "age"))
    project = made(graph=EditedGraph(edges=edges, unmeasured=hidden))

    def line(project: Project) -> ChecklistLine:
        found = checks(project, budget_left=True, approval=None)
        return next(check for check in found if check.text.startswith("Target"))

    assert line(project).text == (
        "Target readmitted, causal regime: a graph without cycles, 5 edges. Not in the table: "
        "frailty, season. S does not cover a change of frailty: the page Structure says more"
    )
    assert line(project).doubt
    assert line(project).done
    covered = made(graph=EditedGraph(edges=(*EDGES, ("season", "age")), unmeasured=hidden))
    assert line(covered).text.endswith("4 edges. Not in the table: season")
    assert not line(covered).doubt
    assert "Not in the table" not in line(made(graph=EditedGraph(edges=EDGES))).text


def test_a_graph_with_an_unmeasured_node_is_handed_on_in_formats_that_say_so():
    hidden = frozenset({"frailty"})
    project = made(graph=EditedGraph(edges=(*EDGES, ("frailty", "readmitted")), unmeasured=hidden))
    test = open_page("structure", project)
    open_tab(test, 2)
    forms = test.selectbox(key="graph_format").options
    assert "DAGitty" in forms
    assert "bnlearn model string" not in forms
    open_tab(test, 1)
    listed = test.dataframe[-1].value
    assert "frailty" not in listed.to_string()


def test_a_pasted_text_survives_a_look_at_another_tab():
    test = paste(open_page("structure", made()), "dag { alter -> readmitted }")
    box(test, "alter").select_index(2).run()
    open_tab(test, 1)
    assert "not in use yet" in texts(test)
    open_tab(test, 0)
    assert test.text_area(key="paste_graph").value == "dag { alter -> readmitted }"
    assert box(test, "alter").value == 2


def test_a_graph_that_is_brought_but_not_used_is_said_before_going_on():
    test = open_page("structure", made())
    assert "not in use yet" not in texts(test)
    paste(test, "dag { age -> readmitted }")
    assert "not in use yet" in texts(test)
    assert "read_graph" in [button.key for button in test.button]
    press(test, "use_graph")
    assert "not in use yet" not in texts(test)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("dag { age -- readmitted }", "not a directed edge"),
        ("age -> severity severity -> age", "cycle"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><graphml>&a;</graphml>", "document type"),
        ("no graph at all", "edge list"),
        ("age -> read\x00mitted", "zero byte"),
    ],
)
def test_a_hostile_file_is_a_sentence_and_loses_nothing(text, words):
    project = made(graph=EditedGraph(edges=EDGES))
    test = upload(open_page("structure", project), text)
    assert words in "\n".join(error.value for error in test.error).replace("\\", "")
    assert project.structure.graph.edges == EDGES
    assert "S = Pa(readmitted) = {Ward code, severity}" in texts(test)


def open_tab(test: AppTest, position: int) -> AppTest:
    label = PARTS[position]
    test.session_state["structure_tabs"] = label
    test.run()
    assert not test.exception
    return test


def test_questions_are_answered_in_words():
    test = open_tab(open_page("structure", made(graph=EditedGraph(edges=EDGES))), 1)
    test.selectbox(key="ask_left").set_value("age").run()
    assert "Possibly dependent" in texts(test)
    assert "They are independent when severity is known." in texts(test)
    test.multiselect(key="ask_given").set_value(["severity"]).run()
    assert "**Independent** once severity is known" in texts(test)
    test.selectbox(key="ask_left").set_value("severity").run()
    assert "An arrow joins them" in texts(test)


def test_implied_independences_are_listed_and_the_blanket_explained():
    project = made(graph=EditedGraph(edges=EDGES), regime="graphical")
    test = open_tab(open_page("structure", project), 1)
    assert "separates readmitted from age" in texts(test)
    rows = next(f for f in test.dataframe if "is independent of" in f.value.columns).value
    assert rows.to_numpy().tolist() == [["age", "readmitted", "severity"]]


def test_the_graph_is_offered_in_every_format():
    test = open_tab(open_page("structure", made(graph=EditedGraph(edges=EDGES))), 2)
    for position in range(len(formats.FORMATS)):
        test.selectbox(key="graph_format").select_index(position).run()
        assert not test.exception
    drawings = 4  # SVG, PNG, PDF and the interactive page
    assert len(test.selectbox(key="graph_format").options) == len(formats.FORMATS) + drawings
    test.selectbox(key="graph_format").set_value("bif").run()
    assert any("Ward code" in error.value.replace("\\", "") for error in test.error)


WIDE = tuple(f"c{i}" for i in range(200))


def test_far_columns_are_hidden_when_there_are_many_and_shown_on_request():
    project = made(
        WIDE, target="c5", graph=EditedGraph(edges=(("c4", "c5"), ("c3", "c4"), ("c9", "c8")))
    )
    test = open_page("structure", project)
    assert "3 of 200 columns are shown" in texts(test)
    assert test.toggle(key="graph_show_all").value is False
    test.toggle(key="graph_show_all").set_value(True).run()
    assert project.structure.graph.show_all is True
    assert "columns are shown" not in texts(test)
    assert "graph_show_all" not in [
        t.key for t in open_page("structure", made(graph=EditedGraph(edges=EDGES))).toggle
    ]


def test_a_late_edit_of_another_tab_is_not_taken():
    project = made(graph=EditedGraph(edges=EDGES))
    first, second = open_page("structure", project), open_page("structure", project)
    rev = project.structure.graph.rev
    drawn = [*map(list, EDGES), ["age", "readmitted"]]
    first.session_state["dag_editor"] = {"graph": {"rev": rev, "edges": drawn}}
    first.run()
    assert ("age", "readmitted") in project.structure.graph.edges
    stale = [*map(list, EDGES), ["age", "Ward code"]]
    second.session_state["dag_editor"] = {"graph": {"rev": rev, "edges": stale}}
    second.run()
    assert "changed in another tab" in texts(second)
    assert ("age", "readmitted") in project.structure.graph.edges
    assert ("age", "Ward code") not in project.structure.graph.edges


def test_a_prediction_from_all_columns_draws_them_as_members_of_s(monkeypatch):
    from dashboard.structure import graph_editor

    drawn = []
    real = graph_editor.dag_editor
    monkeypatch.setattr(
        graph_editor, "dag_editor", lambda **given: drawn.append(given) or real(**given)
    )
    project = made(regime="predictive", k=1)
    open_page("structure", project)
    assert drawn[-1]["in_s"] == frozenset()  # which one is not known yet
    project.designs.plan.k = 3
    open_page("structure", project)
    assert drawn[-1]["in_s"] == frozenset(NAMES[:-1])
    assert all("; in S" in node.tooltip for node in drawn[-1]["nodes"] if node.role != "target")
