"""The bar of shares in a real browser with a real mouse, and its Python side without one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.components.share_bar import WHOLE, SharePart, parse_shares
from tests.browser.driver import Watch, opened, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

APP = Path(__file__).with_name("share_bar_app.py")
START = [100, 50, 650, 200]

browser_test = pytest.mark.browser


@pytest.fixture
def open_bar(server: str, chromium: Browser) -> Iterator[Callable[..., Bar]]:
    contexts: list[Any] = []
    watch = Watch()

    def open_it(case: str = "plain", width: int = 1280) -> Bar:
        context = opened(chromium, viewport={"width": width, "height": 700})
        contexts.append(context)
        page = context.new_page()
        watch.on(page)
        page.goto(f"{server}/?case={case}")
        return Bar(page)

    yield open_it
    for context in contexts:
        context.close()
    if watch.requested:
        watch.check()


class Bar:
    """The bar as a person with a mouse or a keyboard sees it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.bar = page.get_by_test_id("share-bar")
        self.handles = page.get_by_role("slider")
        page.wait_for_selector("[data-testid=share-bar][data-tenths]")

    def shown(self) -> list[int]:
        return json.loads(self.bar.get_attribute("data-tenths") or "[]")

    def got(self) -> dict[str, Any]:
        return json.loads(self.page.locator(".st-key-got").inner_text())

    def python_has(self, tenths: list[int]) -> None:
        wait_until(lambda: self.got()["tenths"] == tenths, lambda: (self.got(), self.shown()))
        assert self.shown() == tenths

    def drag(self, index: int, by: float, *, drop: bool = True) -> None:
        """Drag a handle by a part of the bar's width."""
        handle, bar = self.handles.nth(index).bounding_box(), self.bar.bounding_box()
        assert handle is not None
        assert bar is not None
        x, y = handle["x"] + handle["width"] / 2 + 3, handle["y"] + handle["height"] / 2
        mouse = self.page.mouse
        mouse.move(x, y)
        mouse.down()
        mouse.move(x + by * bar["width"] / 2, y + 5, steps=5)
        mouse.move(x + by * bar["width"], y - 60, steps=5)
        if drop:
            mouse.up()


@browser_test
def test_a_handle_gives_to_one_neighbour_what_it_takes_from_the_other(open_bar) -> None:
    bar = open_bar()
    bar.drag(2, -0.15)
    bar.python_has([100, 50, 500, 350])
    bar.drag(0, 0.02)
    bar.python_has([120, 30, 500, 350])


@pytest.mark.long
@browser_test
def test_a_handle_stops_at_the_least_of_a_part(open_bar) -> None:
    bar = open_bar()
    bar.drag(1, -0.5)
    bar.python_has([100, 10, 690, 200])
    bar.drag(2, 0.6)
    bar.python_has([100, 10, 880, 10])


@pytest.mark.long
@browser_test
def test_python_hears_of_a_drag_before_the_handle_is_let_go(open_bar) -> None:
    bar = open_bar()
    bar.drag(2, -0.10, drop=False)
    bar.python_has([100, 50, 550, 300])
    bar.page.mouse.up()
    bar.drag(2, 0.0)
    bar.python_has([100, 50, 550, 300])


@browser_test
def test_keys_move_a_handle_and_say_what_comes_of_it(open_bar) -> None:
    bar = open_bar()
    handle = bar.handles.nth(2)
    handle.focus()
    for key, tenths in (
        ("ArrowRight", [100, 50, 660, 190]),
        ("ArrowLeft", START),
        ("Shift+ArrowDown", [100, 50, 649, 201]),
        ("PageUp", [100, 50, 699, 151]),
        ("End", [100, 50, 840, 10]),
        ("Home", [100, 50, 10, 840]),
    ):
        bar.page.keyboard.press(key)
        bar.python_has(tenths)
    said = {name: handle.get_attribute(f"aria-{name}") for name in ("valuetext", "valuenow")}
    assert said == {"valuetext": "Task 1 %, Background 84 %", "valuenow": "16"}
    assert (handle.get_attribute("aria-valuemin"), handle.get_attribute("aria-valuemax")) == (
        "16",
        "99",
    )
    bar.page.keyboard.press("Shift+Tab")
    bar.page.keyboard.press("ArrowRight")  # the handle before: takes from the task, at its least
    bar.page.wait_for_timeout(300)
    assert bar.got()["tenths"] == [100, 50, 10, 840]


@pytest.mark.long
@browser_test
def test_a_change_in_python_is_shown_and_not_undone(open_bar) -> None:
    bar = open_bar()
    bar.drag(2, -0.15)
    bar.python_has([100, 50, 500, 350])
    bar.page.get_by_role("button", name="Reset in Python").click()
    bar.python_has([250] * 4)
    bar.handles.nth(0).focus()
    bar.page.keyboard.press("ArrowRight")
    bar.python_has([260, 240, 250, 250])
    bar.page.get_by_role("link", name="Other").click()
    bar.page.get_by_role("heading", name="Elsewhere").wait_for()
    bar.page.get_by_role("link", name="Bar").click()
    bar.page.wait_for_selector("[data-testid=share-bar][data-tenths]")
    bar.python_has([260, 240, 250, 250])


@browser_test
def test_odd_labels_are_text_and_a_narrow_page_does_not_overflow(open_bar) -> None:
    bar = open_bar("hostile", width=400)
    legend = bar.page.get_by_test_id("share-legend").inner_text()
    assert "<img src=x onerror=alert(1)>" in legend
    assert "</style><script>alert(2)</script>" in legend
    wide = bar.page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    assert not wide
    bar.drag(2, -0.15)
    bar.python_has([100, 50, 500, 350])


@browser_test
def test_parts_differ_in_grey(open_bar) -> None:
    bar = open_bar()
    images = bar.page.locator(".shares-part").evaluate_all(
        "parts => parts.map((part) => getComputedStyle(part).backgroundImage)"
    )
    assert len(set(images)) == 4


# ---- without a browser ---------------------------------------------------------------------------


def parts(*tenths: int, least: int = 10) -> list[SharePart]:
    return [
        SharePart(label=str(i), tenths=t, least=least, colour="#000000")
        for i, t in enumerate(tenths)
    ]


def test_app_test_drives_the_bar_through_session_state() -> None:
    app = AppTest.from_file(str(APP), default_timeout=30)
    app.session_state["bar"] = {"shares": {"rev": 0, "tenths": [10, 10, 970, 10]}}
    app.run()
    assert not app.exception
    assert json.loads(app.text[0].value) == {"rev": 0, "tenths": [10, 10, 970, 10]}


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {"rev": 0, "tenths": [500, 500]},
        {"rev": True, "tenths": [500, 500]},
        {"rev": 1},
        {"rev": 1, "tenths": "55"},
        {"rev": 1, "tenths": [1000]},
        {"rev": 1, "tenths": [500, 501]},
        {"rev": 1, "tenths": [991, 9]},
        {"rev": 1, "tenths": [-10, 1010]},
        {"rev": 1, "tenths": [500.0, 500]},
        {"rev": 1, "tenths": [float("nan"), 500]},
        {"rev": 1, "tenths": [True, 999]},
    ],
)
def test_malformed_shares_are_no_change(value: object) -> None:
    assert parse_shares(value, parts=parts(300, 700), rev=1) is None


def test_shares_of_this_revision_are_taken() -> None:
    sent = {"rev": 1, "tenths": [10, 990]}
    assert parse_shares(sent, parts=parts(300, 700), rev=1) == (10, 990)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tenths": WHOLE + 1}, "tenths"),
        ({"tenths": True}, "tenths"),
        ({"tenths": 5}, "must not be below least"),
        ({"least": -1}, "least"),
        ({"pattern": "?"}, "pattern"),
        ({"colour": "red"}, "colour"),
        ({"colour": "#000000;}"}, "colour"),
    ],
)
def test_a_part_that_cannot_be_drawn_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        SharePart(**{"label": "a", "tenths": 500, "least": 10, "colour": "#0072B2"} | change)


def test_shares_that_are_no_whole_are_refused() -> None:
    from dashboard.components.share_bar import share_bar

    with pytest.raises(ValueError, match="must add up to 1000, not 999"):
        share_bar(key="bar", parts=parts(300, 699), rev=0, label="Shares")
