"""The DAG editor in a real browser with a real mouse, and its Python side without one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.components.dag_editor import Edit, NodeView
from dashboard.components.dag_editor._messages import UndoSteps, parse_edit, parse_steps
from tests.browser.driver import Editor, Watch, opened, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser

APP = Path(__file__).with_name("dag_editor_app.py")
START = [["A", "B"], ["B", "C"]]

browser_test = pytest.mark.browser


@pytest.fixture
def open_case(server: str, chromium: Browser) -> Iterator[Callable[..., EditorPage]]:
    """Open a case of the app; at the end, check that nothing was asked of another host."""
    contexts: list[Any] = []
    watch = Watch()

    def open_it(case: str = "small", scheme: str = "light", **viewport: int) -> EditorPage:
        size = {"width": 1280, "height": 1000} | viewport
        context = opened(chromium, viewport=size, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        watch.on(page)
        page.goto(f"{server}/?case={case}")
        return EditorPage(page)

    yield open_it
    for context in contexts:
        context.close()
    if watch.requested:
        watch.check()


class EditorPage(Editor):
    """What a user sees and does on the page of ``dag_editor_app.py``."""

    def got(self) -> dict[str, Any]:
        return json.loads(self.page.locator(".st-key-got").inner_text())

    def python_has(self, *edges: list[str]) -> None:
        wanted = sorted(edges)
        wait_until(lambda: sorted(self.got()["edges"]) == wanted, lambda: self.got())


# ---- with a mouse --------------------------------------------------------------------------------


@browser_test
def test_edges_are_drawn_by_dragging_until_the_tool_is_switched_off(open_case) -> None:
    editor = open_case()
    editor.press("Draw edge")
    editor.draw("D", "C")
    editor.python_has(*START, ["D", "C"])
    editor.draw("A", "E")
    editor.python_has(*START, ["D", "C"], ["A", "E"])
    editor.press("Draw edge")
    before = editor.nodes()
    editor.drag(editor.at("D"), (editor.at("D")[0] + 60, editor.at("D")[1] + 40))
    wait_until(lambda: editor.nodes()["D"] != before["D"])
    assert editor.nodes()["A"] == before["A"]
    editor.python_has(*START, ["D", "C"], ["A", "E"])


@browser_test
def test_an_edge_can_be_drawn_with_two_clicks(open_case) -> None:
    editor = open_case()
    editor.press("Draw edge")
    editor.page.mouse.click(*editor.at("D"))
    editor.says("D → ?")
    editor.page.mouse.click(*editor.at("E"))
    editor.python_has(*START, ["D", "E"])


@browser_test
@pytest.mark.parametrize("how", ["Delete", "Backspace", "button"])
def test_a_selected_edge_is_deleted(open_case, how: str) -> None:
    editor = open_case()
    editor.select("A", "B")
    if how == "button":
        editor.press("Delete")
    else:
        editor.page.keyboard.press(how)
    editor.python_has(["B", "C"])
    editor.browser_has(["B", "C"])


@browser_test
def test_deleting_without_a_selection_says_what_to_do(open_case) -> None:
    editor = open_case()
    editor.press("Delete")
    editor.says("Click an edge first")
    editor.python_has(*START)


@browser_test
def test_a_selected_edge_is_reversed_and_stays_selected(open_case) -> None:
    editor = open_case()
    editor.select("A", "B")
    editor.press("Reverse")
    editor.python_has(["B", "A"], ["B", "C"])
    editor.press("Reverse")
    editor.python_has(*START)


@browser_test
def test_a_cycle_is_refused_and_named_in_full(open_case) -> None:
    editor = open_case()
    editor.press("Draw edge")
    editor.draw("C", "A")
    editor.says("C → A → B → C would be a cycle; the edge was not added.")
    editor.browser_has(*START)
    editor.python_has(*START)


@browser_test
def test_a_self_loop_a_double_and_a_miss_are_refused(open_case) -> None:
    editor = open_case()
    editor.press("Draw edge")
    x, y = editor.at("A")
    editor.drag((x - 20, y), (x + 20, y))
    editor.says("A → A: a column cannot cause itself")
    editor.draw("A", "B")
    editor.says("A → B is already there")
    editor.drag((x, y), (x, y - 150))
    editor.says("There is no column there")
    editor.python_has(*START)


@browser_test
def test_a_new_edge_goes_round_the_column_between_its_ends(open_case) -> None:
    editor = open_case()
    editor.press("Draw edge")
    editor.draw("A", "C")
    editor.python_has(*START, ["A", "C"])
    between = editor.nodes()["B"]

    def beside() -> bool:
        x, y = editor.middle("A", "C")
        return abs(x - between[0]) > 30 or abs(y - between[1]) > 20

    wait_until(beside)
    editor.press("Draw edge")
    editor.select("A", "C")  # where it is drawn, there it is clicked
    editor.page.wait_for_timeout(600)  # or vis takes the drag for the second half of a double click
    # While B is dragged its edges are straight; afterwards they run round again.
    editor.drag(editor.at("B"), editor.middle_on_page("A", "C"))
    wait_until(lambda: editor.nodes()["B"] != between)
    between = editor.nodes()["B"]
    wait_until(beside)


@browser_test
def test_reversing_into_a_cycle_is_refused(open_case) -> None:
    editor = open_case()
    editor.press("Draw edge")
    editor.draw("A", "C")
    editor.python_has(*START, ["A", "C"])
    editor.press("Draw edge")
    editor.select("A", "C")
    editor.press("Reverse")
    editor.says("C → A → B → C would be a cycle; the edge was not reversed.")
    editor.python_has(*START, ["A", "C"])


@browser_test
def test_a_change_made_in_python_wins_over_the_browsers_state(open_case) -> None:
    editor = open_case()
    editor.press("Draw edge")
    editor.draw("D", "C")
    editor.python_has(*START, ["D", "C"])
    editor.page.get_by_role("button", name="Reset in Python").click()
    editor.browser_has(*START)
    editor.says("Drag from a cause to its effect.")  # drawing goes on, and so does its hint
    editor.python_has(*START)
    # A further rerun must not bring the old edge back.
    editor.page.get_by_text("predictive", exact=True).click()
    wait_until(lambda: "Selected: chosen" in editor.legend.inner_text())
    assert sorted(editor.got()["edges"]) == START
    assert editor.got()["rev"] == 1
    editor.draw("A", "E")
    editor.python_has(*START, ["A", "E"])


@browser_test
def test_a_switch_of_roles_recolours_and_moves_nothing(open_case) -> None:
    editor = open_case()
    editor.drag(editor.at("E"), (editor.at("E")[0] + 50, editor.at("E")[1] + 30))
    editor.page.wait_for_timeout(800)
    places, grey, target = editor.nodes(), editor.colour("A"), editor.colour("C")
    editor.page.get_by_text("predictive", exact=True).click()
    wait_until(lambda: editor.colour("A") != grey)
    assert editor.nodes() == places
    assert editor.colour("C") == target
    assert "Selected: chosen from the data" in editor.legend.inner_text()


@browser_test
def test_it_survives_a_page_switch(open_case) -> None:
    editor = open_case()
    editor.press("Draw edge")
    editor.draw("D", "C")
    editor.python_has(*START, ["D", "C"])
    for _ in range(2):
        editor.page.get_by_role("link", name="Other").click()
        editor.page.get_by_role("heading", name="Elsewhere").wait_for()
        assert editor.canvas.count() == 0
        editor.page.get_by_role("link", name="Graph").click()
        editor.settle()
        assert editor.canvas.locator("canvas").count() == 1
        editor.browser_has(*START, ["D", "C"])
    editor.press("Draw edge")
    editor.draw("A", "E")
    editor.python_has(*START, ["D", "C"], ["A", "E"])


@browser_test
def test_hostile_names_are_text(open_case) -> None:
    editor = open_case("hostile")
    image, proto, letters = "<img src=x onerror=alert(1)>", "__proto__", "x" * 60
    assert {image, proto, letters, "constructor", "line\nbreak", " "} <= set(editor.nodes())
    editor.press("Draw edge")
    editor.draw(image, proto)
    editor.says(f"{image} → __proto__ was added.")
    editor.python_has([image, letters], [proto, "constructor"], [image, proto])
    editor.press("Draw edge")
    editor.page.mouse.move(*editor.at(image))
    tooltip = editor.canvas.locator(".vis-tooltip")
    tooltip.wait_for()
    assert image in tooltip.inner_text()
    assert editor.page.locator("img[src=x]").count() == 0


@browser_test
def test_tidy_fit_and_zoom_change_no_edge(open_case) -> None:
    editor = open_case("readmission", width=1920, height=1080)
    first, edges = editor.nodes(), editor.got()["edges"]
    editor.drag(editor.at("race"), (editor.at("race")[0] + 90, editor.at("race")[1] - 40))
    wait_until(lambda: editor.nodes()["race"] != first["race"])
    editor.press("Zoom in")
    editor.press("Fit")
    editor.press("Tidy layout")
    wait_until(lambda: editor.nodes() == first)
    assert editor.got()["edges"] == edges


@browser_test
@pytest.mark.parametrize(
    ("case", "scheme"),
    [
        ("readmission", "dark"),
        pytest.param("empty", "light", marks=pytest.mark.long),
        pytest.param("wide", "light", marks=pytest.mark.long),
    ],
)
def test_no_two_columns_lie_on_top_of_each_other(open_case, case: str, scheme: str) -> None:
    editor = open_case(case, scheme)
    places = list(editor.nodes().values())
    for i, (x1, y1) in enumerate(places):
        assert all(abs(x1 - x2) > 40 or abs(y1 - y2) > 18 for x2, y2 in places[i + 1 :])


@browser_test
def test_tools_and_messages_are_named_for_a_screen_reader(open_case) -> None:
    editor = open_case()
    for name in ["Draw edge", "Delete the selected", "Reverse the selected", "Tidy layout", "Fit"]:
        assert editor.page.get_by_role("button", name=name).count() == 1
    assert editor.message.get_attribute("aria-live") == "polite"
    graph = editor.page.get_by_role("application", name="Causal graph: 5 columns, 2 edges")
    assert graph.count() == 1


# ---- from the keyboard ---------------------------------------------------------------------------


def focus(editor: EditorPage) -> Callable[..., None]:
    """Put the focus on the drawing as Tab does; gives a function that presses keys."""
    editor.canvas.locator(".vis-network").first.focus()

    def press(*keys: str) -> None:
        for key in keys:
            editor.page.keyboard.press(key)

    return press


@browser_test
def test_an_edge_is_drawn_refused_turned_and_undone_by_keys(open_case) -> None:
    editor = open_case()
    press = focus(editor)
    press("ArrowUp")
    editor.says("C: Role: target. Causes: B. Effects: none.")  # the target first
    press("Enter", "ArrowUp")
    editor.says("C → ? B: Role: parent")
    press("ArrowUp")
    editor.says("C → ? A: Role: other. Causes: none. Effects: B.")
    press("Enter")
    editor.says("C → A → B → C would be a cycle; the edge was not added.")
    press("Control+z")
    editor.says("There is nothing to undo.")
    press("e")
    editor.says("Selected: A → B")
    press("r")
    editor.python_has(["B", "A"], ["B", "C"])
    editor.browser_has(["B", "A"], ["B", "C"])
    editor.settle()  # asked is what the keys do, not how fast they may follow
    press("Delete")
    editor.python_has(["B", "C"])
    press("Control+z")
    editor.python_has(["B", "A"], ["B", "C"])
    editor.says("The last change was undone.")
    press("Control+Shift+z")
    editor.python_has(["B", "C"])
    press("Control+z")
    editor.python_has(["B", "A"], ["B", "C"])
    press("Control+y")
    editor.python_has(["B", "C"])
    editor.browser_has(["B", "C"])


@browser_test
def test_a_change_can_be_undone_before_python_has_answered(open_case) -> None:
    editor = open_case()
    press = focus(editor)
    press("e")
    editor.says("Selected: B → C")
    press("r", "Control+z")
    editor.says("The last change was undone.")
    editor.python_has(*START)
    press("Control+y", "Control+z")
    editor.python_has(*START)
    press("Control+y")
    editor.python_has(["A", "B"], ["C", "B"])
    editor.browser_has(["A", "B"], ["C", "B"])


@browser_test
def test_keys_draw_move_and_stop(open_case) -> None:
    editor = open_case()
    press = focus(editor)
    editor.page.keyboard.press("/")
    editor.page.keyboard.type("d")
    editor.page.keyboard.press("Enter")
    editor.says("Found: D: Role: other")
    press = focus(editor)
    press("Enter")
    editor.says("D → ? Go to the effect")
    press("Escape", "Enter")
    before = editor.nodes()
    editor.page.keyboard.press("/")
    editor.page.keyboard.press("Control+a")
    editor.page.keyboard.type("e")
    editor.page.keyboard.press("Enter")
    press = focus(editor)
    press("Enter")
    editor.says("D → E was added.")
    editor.python_has(*START, ["D", "E"])
    press("f")
    wait_until(lambda: editor.nodes() != before)
    editor.settle()
    before = editor.nodes()
    press("Shift+ArrowDown")
    wait_until(lambda: editor.nodes()["E"][1] > before["E"][1])
    assert editor.nodes()["D"] == before["D"]


@browser_test
def test_what_stands_still_stays_on_screen_while_a_column_is_dragged(open_case) -> None:
    editor = open_case()
    page, start = editor.page, editor.at("E")
    others = {name: editor.colour(name) for name in "ABCD"}
    before = editor.nodes()
    page.mouse.move(*start)
    page.mouse.down()
    for step in range(1, 9):
        page.mouse.move(start[0] + 8 * step, start[1] + 5 * step)
    wait_until(lambda: editor.nodes()["E"] != before["E"])
    page.wait_for_timeout(300)
    assert {name: editor.colour(name) for name in "ABCD"} == others
    held = editor.colour("E")
    page.mouse.up()
    page.wait_for_timeout(300)
    assert {name: editor.colour(name) for name in "ABCD"} == others
    assert editor.colour("E") == held  # drawn where it is dragged, not where it stood
    background = editor.canvas.locator("canvas").evaluate(
        "canvas => [...canvas.getContext('2d').getImageData(2, 2, 1, 1).data]"
    )
    assert all(colour != background for colour in [*others.values(), held])


@browser_test
def test_the_view_may_be_moved_between_the_two_clicks_of_an_edge(open_case) -> None:
    editor = open_case()
    page = editor.page
    editor.press("Draw edge")
    page.mouse.click(*editor.at("E"))
    editor.says("Now click the effect")
    before = editor.nodes()
    others = {name: editor.colour(name) for name in "ABCD"}
    box = editor.canvas.bounding_box()
    corner = (box["x"] + 8, box["y"] + box["height"] - 8)
    page.mouse.move(*corner)
    page.mouse.down()
    page.mouse.move(corner[0] + 60, corner[1] - 40, steps=8)
    wait_until(lambda: editor.nodes()["A"] != before["A"])
    page.wait_for_timeout(300)
    assert {name: editor.colour(name) for name in "ABCD"} == others
    page.mouse.up()
    page.wait_for_timeout(300)
    assert {name: editor.colour(name) for name in "ABCD"} == others


# ---- many columns --------------------------------------------------------------------------------


@browser_test
def test_far_columns_are_hidden_found_and_connected(open_case) -> None:
    editor = open_case("many")
    shown = set(editor.nodes())
    assert "column_030" in shown
    assert len(shown) < 30
    assert "column_150" not in shown
    search = editor.page.get_by_role("combobox", name="Find a column")
    search.fill("column_15")
    search.press("Enter")
    editor.says("Found (1 of 10: Enter for the next): column_150")
    search.press("Enter")
    editor.says("column_151: Role: other")
    wait_until(lambda: set(editor.nodes()) == shown | {"column_150", "column_151"})
    press = focus(editor)
    press("Enter")
    editor.says("column_151 → ?")
    # The way back to column_030 leads over columns that are hidden.
    search.fill("column_030")
    search.press("Enter")
    press = focus(editor)
    press("Enter")
    editor.says("would be a cycle")
    editor.page.get_by_text("Only near columns").click()
    wait_until(lambda: len(editor.nodes()) == 200)
    editor.page.get_by_text("Only near columns").click()
    wait_until(lambda: set(editor.nodes()) == shown)
    search.fill("nothing like it")
    search.press("Enter")
    editor.says("No column is called “nothing like it”")


def stopwatch(editor: EditorPage) -> Callable[[], float]:
    """Gives a function: milliseconds of script from now on, as the browser counts them."""
    session = editor.page.context.new_cdp_session(editor.page)
    session.send("Performance.enable")

    def read() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(m["value"] for m in metrics if m["name"] == "ScriptDuration") * 1000

    return read


@pytest.mark.long
@browser_test
def test_two_hundred_columns_are_dragged_and_recoloured(open_case, record_property) -> None:
    """The milliseconds are recorded, not judged: the machine may be busy."""
    editor = open_case("many", width=1400)
    editor.page.get_by_text("Only near columns").click()
    wait_until(lambda: len(editor.nodes()) == 200)
    editor.settle()
    scripting = stopwatch(editor)
    before, start = editor.nodes(), scripting()
    x, y = editor.at("column_100")
    editor.drag((x, y), (x + 40, y + 25))
    wait_until(lambda: editor.nodes()["column_100"] != before["column_100"])
    dragged = scripting()
    editor.page.wait_for_timeout(1200)
    assert editor.nodes()["column_000"] == before["column_000"]
    begin = scripting()
    editor.page.get_by_text("predictive", exact=True).click()
    wait_until(lambda: "Selected: chosen" in editor.legend.inner_text())
    end = scripting()
    for name, value in (("drag", dragged - start), ("recolour", end - begin)):
        record_property(f"{name}_scripting_ms", round(value))
        print(f"{name}: {value:.0f} ms of scripting")  # noqa: T201


@pytest.mark.long
@browser_test
@pytest.mark.parametrize(
    ("name", "columns", "edges"),
    [("munin", 1041, 1397)],  # all: tests/benchmarks
)
def test_real_networks_open(open_case, name: str, columns: int, edges: int) -> None:
    pytest.importorskip("pgmpy", reason="needs the extra networks")
    editor = open_case(f"network:{name}")
    assert len(editor.drawn()) == edges
    shown = len(editor.nodes())
    assert 0 < shown < min(columns, 200)
    label = editor.page.get_by_role("application").get_attribute("aria-label")
    assert f"{columns} columns ({columns - shown} hidden), {edges} edges" in label


# ---- without a browser ---------------------------------------------------------------------------


def test_app_test_drives_the_editor_through_session_state() -> None:
    app = AppTest.from_file(str(APP), default_timeout=30)
    app.session_state["editor"] = {"graph": {"rev": 0, "edges": [["A", "B"], ["D", "C"]]}}
    app.run()
    assert not app.exception
    assert json.loads(app.text[0].value) == {"rev": 0, "edges": [["A", "B"], ["D", "C"]]}


def test_app_test_refuses_another_revision() -> None:
    app = AppTest.from_file(str(APP), default_timeout=30)
    app.session_state["editor"] = {"graph": {"rev": 7, "edges": []}}
    app.run()
    assert json.loads(app.text[0].value) == {"rev": 0, "edges": START}


@pytest.mark.parametrize(
    "graph",
    [
        None,
        [],
        {"rev": 1, "edges": []},
        {"rev": False, "edges": []},
        {"rev": 0},
        {"rev": 0, "edges": "AB"},
        {"rev": 0, "edges": ["AB"]},
        {"rev": 0, "edges": [["A"]]},
        {"rev": 0, "edges": [["A", 1]]},
        {"rev": 0, "edges": [["A", "A"]]},
        {"rev": 0, "edges": [["A", "Z"]]},
        {"rev": 0, "edges": [["A", "B"], ["A", "B"]]},
    ],
)
def test_a_malformed_graph_is_no_edit(graph: object) -> None:
    assert parse_edit(graph, names=frozenset("AB"), rev=0) is None


@pytest.mark.parametrize(
    "value", [None, 3, {}, {"mount": 1, "total": 2}, {"mount": "a"}, {"mount": "a", "total": True}]
)
def test_malformed_steps_are_none(value: object) -> None:
    assert parse_steps(value) is None


def test_steps_count_once_in_each_drawing_of_the_editor() -> None:
    steps = parse_steps({"mount": "a", "total": -3})
    assert steps is not None
    assert steps.since(None) == -3
    assert steps.since(UndoSteps(mount="a", total=-1)) == -2
    assert steps.since(steps) == 0
    assert steps.since(UndoSteps(mount="b", total=-3)) == -3


def test_useless_positions_are_dropped_and_the_edges_kept() -> None:
    positions = {"A": [1, 2.5], "B": [float("nan"), 0], "Z": [0, 0], "C": "no"}
    graph = {"rev": 3, "edges": [["A", "B"]], "positions": positions}
    edit = parse_edit(graph, names=frozenset("ABC"), rev=3)
    assert edit == Edit(rev=3, edges=(("A", "B"),), positions={"A": (1.0, 2.5)})


def test_an_unknown_role_is_refused() -> None:
    with pytest.raises(ValueError, match=r"role \(boss\) must be one of target, parent"):
        NodeView(name="A", role="boss")
