"""What the page Structure draws: places and ways for what is shown, from the report's router."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.components.dag_editor._layout import ShownGraph, shown_graph
from dashboard.components.dag_editor._messages import ROLES, parse_edit
from prism_core.samples import readmission
from prism_core.structure.roles import ROLE_TEXT
from prism_core.structure.routing.layered_layout import extent, stretched
from prism_core.structure.routing.node_boxes import NODE_STYLES
from tests.support.drawings import Seen, points

APP = Path(__file__).parents[2] / "browser" / "dag_editor_app.py"
EDGES = readmission.edges()
NAMES = tuple(readmission.schema().names)


def seen(drawing: ShownGraph) -> Seen:
    return Seen(
        {
            name: (box.x - box.w / 2, box.y - box.h / 2, box.x + box.w / 2, box.y + box.h / 2)
            for name, box in drawing.boxes.items()
        },
        {way.edge: points(way.line) for way in drawing.ways},
    )


def test_the_readmission_graph_reads_as_it_is():
    drawing = shown_graph(NAMES, frozenset(NAMES), EDGES, (), foreign=False)
    assert drawing.arranged
    assert set(drawing.boxes) == set(NAMES)
    assert {way.edge for way in drawing.ways} == set(EDGES)
    eye = seen(drawing)
    assert eye.behind_boxes() == []
    assert eye.inside_ends() == []
    assert eye.under_heads() == []
    assert eye.along(length=12.0) == set()


def test_columns_stay_where_they_were_put_and_newcomers_stand_beneath():
    places = (("age", 0.0, 0.0), ("sex", 300.0, 200.0))
    drawing = shown_graph(
        NAMES, frozenset({"age", "sex", "language"}), EDGES, places, foreign=False
    )
    assert not drawing.arranged
    assert drawing.positions["age"] == (0.0, 0.0)
    assert drawing.positions["sex"] == (300.0, 200.0)
    assert drawing.positions["language"][1] > 230.0
    assert set(drawing.boxes) == {"age", "sex", "language"}  # the rest is hidden
    assert all(set(way.edge) <= {"age", "sex", "language"} for way in drawing.ways)


def test_places_of_a_file_are_stretched_or_replaced():
    names, edges = ("a", "b", "y"), (("a", "b"), ("b", "y"), ("a", "y"))
    line = (("a", 0.0, 0.0), ("b", 1.0, 0.0), ("y", 2.0, 0.0))
    drawing = shown_graph(names, frozenset(names), edges, line, foreign=True)
    assert not drawing.arranged
    xs = [drawing.positions[name][0] for name in names]
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=1.0)
    assert xs[1] - xs[0] >= 104.0
    assert seen(drawing).behind_boxes() == []
    close = (("a", 0.0, 0.0), ("b", 0.001, 0.0), ("y", 2.0, 0.0))
    assert shown_graph(names, frozenset(names), edges, close, foreign=True).arranged
    assert stretched({"a": (80.0, 34.0)}, {"a": (3.0, 4.0)}, (100.0, 100.0)) is not None


def test_a_table_without_a_graph_fills_the_screen():
    names = tuple(f"measure_{number}" for number in range(50))
    drawing = shown_graph(names, frozenset(names), (), (), foreign=False)
    _, _, right, bottom = extent(drawing.boxes)
    assert 1.0 < right / bottom < 4.0
    assert shown_graph((), frozenset(), (), (), foreign=False).boxes == {}


def test_every_role_has_a_look():
    assert set(ROLE_TEXT) <= set(NODE_STYLES)
    assert tuple(NODE_STYLES) == ROLES


def test_what_the_browser_says_of_hidden_columns_and_layouts_is_checked():
    graph = {"rev": 0, "edges": [], "focus": 3, "revealed": ["A", "Z", 4], "tidied": None}
    edit = parse_edit(graph, names=frozenset("AB"), rev=0)
    assert edit is not None
    assert (edit.focus, edit.revealed, edit.tidied) == ("", frozenset("A"), "")


@pytest.mark.app
def test_a_layout_that_was_asked_for_is_kept():
    app = AppTest.from_file(str(APP), default_timeout=30)
    asked = {"rev": 0, "edges": [["A", "B"], ["A", "D"]], "positions": {}, "tidied": "m 1"}
    app.session_state["editor"] = {"graph": asked}
    app.run()
    assert not app.exception
    places = app.session_state.graph.positions
    assert set(places) == set("ABCDE")
    assert places["A"][1] < places["B"][1] == places["D"][1] < places["C"][1]


@pytest.mark.app
def test_a_cycle_that_a_browser_sends_is_not_laid_out():
    app = AppTest.from_file(str(APP), default_timeout=30)
    app.session_state["editor"] = {"graph": {"rev": 0, "edges": [["A", "B"], ["B", "A"]]}}
    app.run()
    assert not any("StructureError" in error.value for error in app.exception)
