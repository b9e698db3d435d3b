"""The page Budget in Chromium: drag a share, move epsilon, lock, compare, adopt, keep apart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.browser.driver import Watch, idle, opened, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.browser


@pytest.fixture
def open_budget(studio: str, chromium: Browser) -> Iterator[Callable[[], Page]]:
    """The page Budget of a sample, in a browser of its own each time."""
    contexts = []
    watch = Watch()

    def open_it() -> Page:
        context = opened(chromium, viewport={"width": 1280, "height": 1300})
        contexts.append(context)
        page = context.new_page()
        watch.on(page)
        page.goto(studio)
        page.locator(".st-key-sample_readmission button").first.click()
        page.get_by_text("20,000 training rows").first.wait_for()
        page.get_by_role("link", name="Budget").click()
        page.get_by_text("Model size").wait_for()
        return page

    yield open_it
    for context in contexts:
        context.close()
    watch.check()


def entry(page: Page, name: str) -> Locator:
    """The widget of an entry; another one whenever something else changed it."""
    turns = ", ".join(f".st-key-{name}-{turn}" for turn in range(1, 40))
    return page.locator(f":is({turns}, .st-key-{name}):not([data-stale=true] *)").last


def metric(page: Page, label: str) -> str:
    found = page.get_by_test_id("stMetric").filter(has_text=label)
    return found.get_by_test_id("stMetricValue").inner_text()


def becomes(page: Page, label: str, value: str) -> None:
    wait_until(lambda: metric(page, label) == value, lambda: metric(page, label))


def tenths(page: Page) -> list[int]:
    return json.loads(page.get_by_test_id("share-bar").last.get_attribute("data-tenths") or "[]")


def settled(page: Page, locator: Locator) -> dict[str, float]:
    """Where something stands once nothing that appears above it pushes it about any more."""

    found: list[dict[str, float] | None] = [None]

    def stands() -> bool:
        # Drawn anew, it is nowhere for a moment.
        found.append(box := locator.bounding_box())
        page.wait_for_timeout(500)
        return box is not None and box == locator.bounding_box()

    wait_until(stands)
    box = found[-1]
    assert box is not None
    return box


def drag(page: Page, by: float) -> None:
    """Drag the one handle of the bar by a part of its width."""
    bar = settled(page, page.get_by_test_id("share-bar").last)
    handle = settled(page, page.get_by_test_id("share-bar").last.get_by_role("slider"))
    x, y = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by * bar["width"], y, steps=8)
    page.mouse.up()


def grid(page: Page) -> Locator:
    # While the page runs, the table that is replaced may stand beside the new one.
    return page.locator("[class*=st-key-marginals_] [data-testid=stDataFrame]").last


def click_cell(page: Page, column: str, row: int) -> None:
    """Click into the table of marginals; its columns have fixed widths."""
    widths = {"marginal": 258, "pool": 92, "cells": 62, "weight": 70, "locked": 56, "share": 82}
    names = list(widths)
    x = sum(widths[name] for name in names[: names.index(column)]) + widths[column] / 2

    box = settled(page, grid(page))
    page.mouse.click(box["x"] + x, box["y"] + 35 + 35 * row + 17)


def type_share(page: Page, row: int, digits: str) -> None:
    click_cell(page, "share", row)
    page.keyboard.type("0")
    page.locator(".gdg-clip-region").wait_for()  # the grid's editor over the cell
    page.locator("input.gdg-input").fill(digits)
    page.keyboard.press("Enter")


def design(page: Page, letter: str) -> None:
    entry(page, "design_edited").get_by_text(letter, exact=True).click()


def test_a_dragged_share_and_a_moved_epsilon_redraw_the_page(open_budget) -> None:
    page = open_budget()
    before = metric(page, "Expected error"), metric(page, "Noise")
    drag(page, -0.3)
    wait_until(lambda: tenths(page) == [500, 500], lambda: tenths(page))
    wait_until(lambda: metric(page, "Noise") != before[1])
    noise = metric(page, "Noise")
    slider = entry(page, "epsilon_slider").get_by_role("slider")
    slider.focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    wait_until(lambda: entry(page, "epsilon").locator("input").input_value() == "2")
    becomes(page, "Privacy budget", "2")
    wait_until(lambda: metric(page, "Noise") != noise)
    # The slider beneath the chart is the same epsilon, and another page changes nothing.
    page.get_by_role("tab", name="Error and epsilon").click()
    page.locator(".st-key-curve_chart .main-svg").first.wait_for()
    chart = entry(page, "epsilon_chart").get_by_role("slider")
    chart.focus()
    page.keyboard.press("ArrowLeft")
    becomes(page, "Privacy budget", "1.8")
    page.get_by_role("link", name="Structure").click()
    page.get_by_test_id("dag-canvas").wait_for()
    page.get_by_role("link", name="Budget").click()
    becomes(page, "Privacy budget", "1.8")
    page.wait_for_selector("[data-testid=share-bar][data-tenths]")
    assert tenths(page) == [500, 500]


def test_a_share_is_locked_in_the_table_and_the_others_share_the_rest(open_budget) -> None:
    page = open_budget()
    grid(page).locator("canvas").first.wait_for()
    page.wait_for_timeout(500)
    before, error = settled(page, grid(page)), metric(page, "Expected error")
    remove = page.get_by_role("button", name="Remove all locks")
    assert remove.is_disabled()
    click_cell(page, "locked", 0)
    page.get_by_text("1 share locked").wait_for()
    # The first lock moves nothing, and the table's toolbar (above it) covers no button.
    assert settled(page, grid(page)) == before
    assert settled(page, remove)["y"] >= before["y"] + before["height"]
    type_share(page, 1, "5")
    page.get_by_text("2 shares locked").wait_for()
    # Typed away: what cannot be is said, and stays to be corrected.
    type_share(page, 2, "90")
    page.get_by_text("What follows is without the locks").wait_for()
    page.get_by_text("3 shares locked").wait_for()
    settled(page, remove)
    idle(page)
    remove.click()
    page.get_by_text("shares locked").wait_for(state="detached")
    becomes(page, "Expected error", error)


def test_a_decimal_comma_is_read_as_one(open_budget) -> None:
    """A number field of the browser would drop it: 5 for 0,5."""
    page = open_budget()
    text = entry(page, "epsilon").locator("input")
    text.fill("0,5")
    text.press("Enter")
    becomes(page, "Privacy budget", "0.5")
    assert text.input_value() == "0,5"


@pytest.mark.long
def test_b_is_changed_compared_and_made_the_plan(open_budget) -> None:
    page = open_budget()
    page.get_by_role("button", name="Keep as B").click()
    design(page, "B")
    page.get_by_text("You are changing").wait_for()
    number = entry(page, "epsilon_B").locator("input")
    number.fill("0.25")
    number.press("Enter")
    becomes(page, "Privacy budget", "0.25")
    noise = metric(page, "Noise")
    drag(page, -0.2)
    wait_until(lambda: tenths(page) == [600, 400], lambda: tenths(page))
    wait_until(lambda: metric(page, "Noise") != noise)  # the page has drawn B with these shares
    design(page, "A, the plan")
    becomes(page, "Privacy budget", "1")
    wait_until(lambda: tenths(page) == [800, 200], lambda: tenths(page))
    page.get_by_role("tab", name="Compare A and B").click()
    table = page.get_by_test_id("stDataFrame").last
    table.locator("canvas").first.wait_for()
    hidden = "node => node.scrollHeight - node.clientHeight"
    assert table.locator(".dvn-scroller").evaluate(hidden) <= 1  # down to the last row
    page.get_by_role("button", name="Make B the plan").click()
    becomes(page, "Privacy budget", "0.25")
    wait_until(lambda: tenths(page) == [600, 400], lambda: tenths(page))
    with page.expect_download() as found:
        page.get_by_role("button", name="Designs as JSON").click()
    designs = json.loads(found.value.path().read_text(encoding="utf-8"))
    assert [(one["name"], one["budget"]["epsilon"]) for one in designs] == [("A", 0.25), ("B", 1.0)]


def test_two_people_do_not_see_each_others_designs(open_budget) -> None:
    first, second = open_budget(), open_budget()
    for page in (first, second):
        page.get_by_role("tab", name="Compare A and B").click()
        page.get_by_text("None is saved yet").wait_for()
    entry(first, "book_name").locator("input").fill("only mine")
    first.get_by_role("button", name="Save", exact=True).click()
    first.get_by_text("only mine").first.wait_for()
    first.get_by_role("button", name="Keep as B").click()
    entry(first, "design_edited").wait_for()
    entry(second, "epsilon").locator("input").fill("0.5")
    entry(second, "epsilon").locator("input").press("Enter")
    becomes(second, "Privacy budget", "0.5")
    assert second.get_by_text("None is saved yet").count() == 1
    assert second.get_by_text("only mine").count() == 0
    assert entry(second, "design_edited").count() == 0
    assert entry(first, "epsilon").locator("input").input_value() == "1"
