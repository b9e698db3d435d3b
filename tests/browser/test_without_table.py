"""A design before its table in Chromium: codebook, approval, the table at last, the release."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from dashboard.data.tabs import COLUMNS, PEOPLE
from prism_core.data.schema import schema_file
from prism_core.samples import catalogue
from tests.browser.driver import button, continue_to, idle
from tests.browser.test_flow import (
    RUN,
    choose,
    covers,
    download,
    pick,
    spend,
    upload,
)
from tests.support.approvals import SAID

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PERSONS = 3_000
GRID = "[data-testid=stDataFrame] canvas"


@pytest.fixture
def stays(tmp_path: Path) -> Path:
    """The sample's files; a table of the right number of persons, and one that is too short."""
    folder = tmp_path / "stays"
    catalogue.write("readmission", folder)
    lines = (folder / "train.csv").read_text(encoding="utf-8").splitlines()
    for name, rows in (("stays", PERSONS), ("short", PERSONS - 100)):
        text = "\n".join(lines[: rows + 1]) + "\n"
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return folder


def turn(page: Page, title: str) -> None:
    idle(page)  # a run that a download began would end on the page that it began on
    page.get_by_test_id("stTopNav").get_by_role("link", name=title).click()
    page.get_by_role("heading", name=title, exact=True).wait_for()
    idle(page)


def begin(page: Page, persons: int) -> None:
    page.get_by_role("tab", name="A codebook, no table yet").click()
    page.locator(".st-key-design_name input").fill("stays of clinic A")
    field = page.locator(".st-key-design_persons input")
    field.fill(str(persons))
    field.press("Enter")
    idle(page)
    button(page, "Begin without the table").click()
    page.get_by_text("a design without its table").wait_for()


def load(page: Page, table: Path) -> None:
    page.locator("[class*=st-key-upload_table] input[type=file]").set_input_files(table)
    button(page, "Load this file").click()


def state(page: Page) -> None:
    """All that a committee needs to be told."""
    page.locator(".st-key-said_before summary").click()
    idle(page)  # its fields are drawn anew, with what was typed meanwhile gone
    for name, text in SAID.items():
        field = page.locator(f".st-key-said_{name} input")
        field.fill(text)
        field.press("Tab")
        idle(page)
        assert field.input_value() == text, name


def approve(page: Page) -> None:
    state(page)
    page.get_by_text("Protocol and approval: what").click()
    idle(page)
    field = page.locator(".st-key-approval_by input")
    field.fill("A. Meyer")
    field.press("Tab")
    button(page, "Record the approval of this plan").click()
    page.get_by_text("for exactly this plan").first.wait_for()


def save_and_open(page: Page, folder: Path) -> None:
    turn(page, "Data")
    saved = download(page, "Save the project", folder)
    page.get_by_text("Load the table, or open another project").click()
    page.get_by_role("tab", name="A saved project").click()
    page.locator("[class*=st-key-upload_project] input[type=file]").set_input_files(saved)
    button(page, "Open this project").click()
    button(page, "Replace what is open").click()
    button(page, "Replace what is open").wait_for(state="detached")
    page.get_by_text("These columns are in use").wait_for()
    idle(page)


def test_from_a_codebook_to_a_release(page: Page, stays: Path, tmp_path: Path):
    begin(page, PERSONS)
    page.get_by_text("Upload a schema (YAML or JSON)").click()
    idle(page)
    upload(page, "upload_schema", stays / "schema.yaml")
    button(page, "Use this schema").click()
    page.get_by_text("These columns are in use").wait_for()
    page.get_by_role("tab", name=PEOPLE).click()
    page.get_by_text("2,400 persons for training, 600 (20%) kept aside").wait_for()
    continue_to(page, "Structure")
    choose(page, "target_choice", "readmitted_30d")
    pick(page, "Predictive")
    continue_to(page, "Budget")
    page.get_by_text("Model size").wait_for()
    turn(page, "Rehearse")
    page.get_by_text("runs of every design").wait_for()
    turn(page, "Release")
    page.get_by_text("Load the table of 3,000 persons").wait_for()
    named = page.locator(".st-key-asset_name input")
    named.fill("stays approved before")
    named.press("Enter")
    idle(page)
    approve(page)
    protocol = json.loads(download(page, "For machines (JSON)", tmp_path).read_text())

    # The project goes on in another session, from its file.
    save_and_open(page, tmp_path)

    turn(page, "Release")
    load(page, stays / "short.csv")
    page.get_by_text("The plan is for 3,000 persons, and the table has 2,900 rows").first.wait_for()
    assert button(page, "Run the release").is_disabled()
    button(page, "Take the table away again").click()
    page.get_by_text("Load the table of 3,000 persons").wait_for()
    load(page, stays / "stays.csv")
    page.get_by_text("as many as persons are declared").wait_for()
    page.get_by_text("Approved by A. Meyer").first.wait_for()
    spend(page, "Run the release")
    page.get_by_text("2,400 synthetic rows, epsilon 1").wait_for(timeout=RUN)
    covers(stays / "schema.yaml", download(page, "Synthetic rows (CSV)", tmp_path))
    page.get_by_text("Single files").click()
    certificate = json.loads(download(page, "Certificate (JSON)", tmp_path).read_text())
    assert certificate["approval"]["plan_sha256"] == protocol["plan_sha256"]


def paste(page: Page, column: int, row: int, text: str) -> None:
    """Put a text on the clipboard, click a cell of the grid, and press the keys.

    Args:
        page: with the grid.
        column: pixels from the grid's left side.
        row: from 0.
        text: as a spreadsheet puts it on the clipboard.
    """
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    grid = page.locator(GRID).first
    grid.scroll_into_view_if_needed()
    box = grid.bounding_box()
    assert box is not None
    # With the mouse, as a layer of the editor lies over its canvas.
    page.mouse.click(box["x"] + column, box["y"] + 35 + 35 * row + 17)
    page.wait_for_timeout(300)  # the editor takes the focus a moment later
    page.keyboard.press("ControlOrMeta+V")
    idle(page)


def test_cells_of_a_spreadsheet_are_pasted_and_marks_follow(page: Page, tmp_path: Path):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.set_viewport_size({"width": 1920, "height": 1080})
    begin(page, 500)
    page.get_by_text("Start from the column names").click()
    idle(page)
    names = page.locator(".st-key-draft_names textarea")
    names.fill("age\tincome\tward\tseen\treadmitted")
    names.press("ControlOrMeta+Enter")
    idle(page)
    button(page, "Start with the column names").click()
    page.get_by_text("5 cells need something").wait_for()
    paste(page, 160, 0, "numeric\nnumeric\ncategorical\ndate\nboolean")
    page.get_by_text("7 cells need something").wait_for()
    page.get_by_text("Levels is needed: ward").wait_for()
    paste(page, 575, 0, "0\t120\n0\tmuch\n\t\n2020-01-01\t2020-12-31")
    page.get_by_text("2 cells need something").wait_for()
    page.get_by_text("income · Upper:").wait_for()
    paste(page, 685, 1, "500000")
    paste(page, 438, 2, "north | south")
    page.get_by_text("Bins proposed from the bounds: income log 12 zero").wait_for()
    assert page.get_by_text("need something").count() == 0
    assert no_scroll_inside(page)
    page.set_viewport_size({"width": 1280, "height": 1000})
    idle(page)
    assert no_scroll_inside(page)
    button(page, "Apply the columns").click()
    # The next question opens by itself; the columns stand one tab before.
    page.get_by_text("Every person has exactly one row").wait_for()
    page.get_by_role("tab", name=COLUMNS, exact=True).click()
    page.get_by_text("These columns are in use").wait_for()
    schema = schema_file.load(download(page, "Download the schema (YAML)", tmp_path))
    assert schema.names == ("age", "income", "ward", "seen", "readmitted")
    assert schema["ward"].levels == ("north", "south")
    assert schema["income"].edges[0] == 0


def no_scroll_inside(page: Page) -> bool:
    """Whether the grid shows all of its rows, and all of their cells, by itself."""
    scroller = page.locator("[data-testid=stDataFrame] .dvn-scroller").first
    tall, shown, wide, beside = scroller.evaluate(
        "one => [one.scrollHeight, one.clientHeight, one.scrollWidth, one.clientWidth]"
    )
    return tall <= shown + 1 and wide <= beside + 1
