"""The whole way of a curator in Chromium: load, declare, draw, budget, release, inspect."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
import zipfile
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from prism_core.cli import main
from prism_core.cli.verify_command import UNAUTHENTICATED
from prism_core.data.coverage import rows_outside
from prism_core.data.schema import schema_file
from prism_core.data.tables.raw_table import read_table
from prism_core.reproduction import adult_table
from prism_core.samples import catalogue
from tests.browser.driver import Editor, button, continue_to, idle, opened, wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
RUN = 240_000  # milliseconds a run may take on a busy machine


def upload(page: Page, key: str, path: Path) -> None:
    page.locator(f".st-key-{key} input[type=file]").set_input_files(path)


def load_own(page: Page, table: Path, schema: Path, *, public: bool = False) -> None:
    page.get_by_role("tab", name="Your own file").click()
    upload(page, "upload_table", table)
    if public:
        page.get_by_text("These rows are public").click()
    button(page, "Load this file").click()
    page.get_by_text("Upload a schema (YAML or JSON)").click()
    upload(page, "upload_schema", schema)
    button(page, "Use this schema").click()
    page.get_by_text("These columns are in use").wait_for(state="attached")  # in the tab before


def one_row_per_person(page: Page) -> None:
    page.get_by_text("Every person has exactly one row").click()


def pick(page: Page, regime: str) -> None:
    page.locator(".st-key-regime_choice").get_by_text(regime, exact=True).click()


def spend(page: Page, label: str) -> None:
    if label == "Run the release":  # the asset's name is typed once more
        named = page.locator(".st-key-asset_name input")
        wait_until(lambda: named.input_value() != "")  # a new field is empty for a moment
        asset = named.input_value()
        page.get_by_text("This spends epsilon").filter(has_text=asset).first.wait_for()
        idle(page)
        field = page.locator(".st-key-release_confirm_0 input")
        field.fill(asset)
        field.press("Enter")
        idle(page)
    button(page, label).click()
    button(page, "Cancel the run").wait_for()


def choose(page: Page, key: str, option: str) -> None:
    box = page.locator(f".st-key-{key} input")
    box.click()
    box.fill(option)
    page.get_by_role("option", name=option, exact=True).click()


def download(page: Page, name: str, folder: Path) -> Path:
    with page.expect_download() as found:
        button(page, name).click()
    target = folder / found.value.suggested_filename
    found.value.save_as(target)
    return target


def covers(schema_path: Path, table: Path) -> None:
    """The synthetic file holds the declared columns, in order, and declared values only."""
    schema = schema_file.load(schema_path)
    rows = read_table(table)
    assert rows.header == schema.names
    for column in schema.columns:
        assert rows_outside(column, rows.column(column.name)) == 0, column.name


@pytest.fixture
def readmission(tmp_path: Path) -> Path:
    folder = tmp_path / "readmission"
    catalogue.write("readmission", folder)
    # The curator says on the page that every person has one row.
    undeclared = replace(schema_file.load(folder / "schema.yaml"), one_row_per_person=False)
    schema_file.save(undeclared, folder / "schema.yaml")
    return folder


def draw_undo_delete(page: Page) -> None:
    """Draw with the mouse, undo by a button, delete by a key."""
    editor = Editor(page)
    editor.press("Draw edge")
    editor.draw("age", "readmitted_30d")
    page.get_by_text("S = Pa(readmitted_30d) = {age}").wait_for()
    idle(page)  # a layout that arrives during a drag takes the column from under the pointer
    editor.settle()
    editor.draw("charlson_index", "readmitted_30d")
    page.get_by_text("{age, charlson_index}").wait_for()
    idle(page)
    editor.settle()
    editor.draw("readmitted_30d", "age")
    editor.says("would be a cycle")
    assert len(editor.drawn()) == 2
    editor.press("Draw edge")
    button(page, "Undo").click()
    editor.browser_has(["age", "readmitted_30d"])
    button(page, "Redo").click()
    editor.browser_has(["age", "readmitted_30d"], ["charlson_index", "readmitted_30d"])
    editor.settle()
    editor.select("age", "readmitted_30d")
    page.keyboard.press("Delete")
    page.get_by_text("S = Pa(readmitted_30d) = {charlson_index}").wait_for()


def section(page: Page, name: str) -> None:
    page.locator(".st-key-inspect_section").get_by_text(name, exact=True).click()


def inspect(page: Page) -> None:
    continue_to(page, "Inspect")
    button(page, "Compare with the real rows").click()
    page.get_by_text("trained on synthetic").first.wait_for(timeout=RUN)
    page.get_by_text("outside epsilon", exact=True).first.wait_for()
    page.locator(".st-key-roc_chart .main-svg").first.wait_for()
    section(page, "Where the error comes from")
    page.locator(".st-key-error_split_chart .main-svg").first.wait_for()
    page.get_by_text("noise explains").first.wait_for()
    section(page, "Columns and pairs")
    page.locator(".st-key-column_chart .main-svg").first.wait_for()
    page.locator(".st-key-pair_chart .main-svg").first.wait_for(timeout=RUN)


def buy_private_numbers(page: Page, asset: str, folder: Path) -> None:
    """By keyboard but for the last click; the certificate's entry says what was spent."""
    section(page, "Private numbers")
    page.get_by_text("Computed from the declared columns").wait_for()
    entry = page.locator(".st-key-private_confirm_0 input")
    entry.fill(asset)
    entry.press("Enter")
    button(page, "Spend and count").click()
    page.get_by_text("charge number 2 in the ledger").wait_for(timeout=RUN)
    found = json.loads(download(page, "Certificate entry (JSON)", folder).read_text())
    assert found["charge"] == 2
    assert 0.19 < found["guarantee"]["epsilon"] <= 0.2


def test_readmission_from_file_to_inspection(page: Page, readmission: Path, tmp_path: Path):
    load_own(page, readmission / "train.csv", readmission / "schema.yaml")
    page.get_by_text("Say how rows and people relate").wait_for()
    one_row_per_person(page)
    continue_to(page, "Structure")
    choose(page, "target_choice", "readmitted_30d")

    draw_undo_delete(page)

    # The full graph from a file; the regime recolours at once.
    upload(page, "upload_graph", readmission / "dag.json")
    button(page, "Use this graph").click()
    page.get_by_text("length_of_stay, discharge_to}").wait_for()
    pick(page, "Graphical")
    page.get_by_text("S = MB(readmitted_30d)").wait_for()
    pick(page, "Causal")
    page.get_by_text("S = Pa(readmitted_30d)").wait_for()

    continue_to(page, "Budget")
    page.get_by_text("Model size").wait_for()
    continue_to(page, "Release")
    spend(page, "Run the release")
    # Another page and back, and a reload of the browser: the run goes on.
    page.get_by_role("link", name="Budget").click()
    page.get_by_text("Model size").wait_for()
    page.get_by_role("link", name="Release").click()
    page.get_by_text("Running").or_(page.get_by_text("synthetic rows, epsilon 1")).first.wait_for()
    page.reload()
    page.get_by_text("synthetic rows, epsilon 1").wait_for(timeout=RUN)
    page.get_by_text("Charge number 1 in the ledger").wait_for()
    covers(readmission / "schema.yaml", download(page, "Synthetic rows (CSV)", tmp_path))

    inspect(page)
    buy_private_numbers(page, "train.csv", tmp_path)
    take_the_bundle(page, tmp_path)


def take_the_bundle(page: Page, folder: Path) -> None:
    """The report on screen, and the bundle as a committee gets it: it is verified and opened."""
    page.get_by_role("link", name="Report").click()
    button(page, "Report (HTML)").wait_for()
    shown = download(page, "Report (HTML)", folder).read_text(encoding="utf-8")
    assert "readmitted_30d" in shown
    bundle = folder / "bundle"
    with zipfile.ZipFile(download(page, "The bundle (ZIP)", folder)) as archive:
        archive.extractall(bundle)
    assert main.main(["verify", str(bundle)]) == UNAUTHENTICATED
    rows = bundle / "synthetic.csv"
    rows.write_bytes(rows.read_bytes() + b"\n")
    assert main.main(["verify", str(bundle)]) == 2
    other = page.context.new_page()
    other.goto((bundle / "report.html").as_uri())
    other.get_by_text("readmitted_30d").first.wait_for()
    other.close()


OUTLINE = """
one_row_per_person: true
columns:
  - {name: age, kind: numeric, lower: 0, upper: 150, integer: true, learn: {bins: 5, cells: 75}}
  - {name: ward, kind: categorical, learn: true}
  - {name: readmitted, kind: boolean}
"""


def test_columns_learned_with_budget_are_charged(page: Page, tmp_path: Path):
    """An uploaded table, two columns nobody knows the domain of, and the ledger afterwards."""
    lines = [f"{18 + i % 70},{('north', 'south')[i % 2]},{int(i % 70 > 40)}" for i in range(4_000)]
    (tmp_path / "stays.csv").write_text("age,ward,readmitted\n" + "\n".join(lines) + "\n")
    (tmp_path / "outline.yaml").write_text(OUTLINE)
    page.get_by_role("tab", name="Your own file").click()
    upload(page, "upload_table", tmp_path / "stays.csv")
    button(page, "Load this file").click()
    page.get_by_text("Upload a schema (YAML or JSON)").click()
    upload(page, "upload_schema", tmp_path / "outline.yaml")
    button(page, "Use this schema").click()
    page.get_by_text("To be learned: age, ward").wait_for(state="attached")
    name = page.locator(".st-key-asset_name input")
    name.fill("learned stays")
    name.press("Enter")
    page.get_by_text("of “learned stays” on learning 2 columns").click()
    button(page, "Learn these columns").click()
    page.get_by_text("Learned with epsilon =").wait_for(timeout=RUN)
    page.get_by_text("These columns are in use").wait_for()
    schema = schema_file.load(download(page, "Download the schema (YAML)", tmp_path))
    assert schema.provenance == "dp"
    assert schema["ward"].levels == ("north", "south", "other")
    assert schema.prior is not None
    assert schema.prior.charge is not None
    continue_to(page, "Structure")
    choose(page, "target_choice", "readmitted")
    pick(page, "Predictive")
    continue_to(page, "Budget")
    page.get_by_text("learning has spent").wait_for()
    continue_to(page, "Release")
    page.get_by_text("This spends epsilon").filter(has_text="learned stays").first.wait_for()
    page.get_by_text("Ledger: what was spent on whose data").click()
    page.get_by_text("Charges, newest first").wait_for()


@pytest.mark.long
def test_a_cancelled_run_says_so_and_nothing_typed_is_lost(page: Page, readmission: Path):
    load_own(page, readmission / "train.csv", readmission / "schema.yaml")
    one_row_per_person(page)
    continue_to(page, "Structure")
    choose(page, "target_choice", "readmitted_30d")
    pick(page, "Predictive")
    continue_to(page, "Budget")
    page.locator(".st-key-delta input").fill("one in a billion")
    page.keyboard.press("Enter")
    page.get_by_text("delta must be a number such as 1e-9").first.wait_for()
    assert page.locator(".st-key-delta input").input_value() == "one in a billion"
    page.locator(".st-key-delta input").fill("1e-9")
    page.keyboard.press("Enter")
    page.locator(".st-key-epsilon input").fill("0")
    page.keyboard.press("Enter")
    page.get_by_text("epsilon must be a number above 0").first.wait_for()
    page.locator(".st-key-epsilon input").fill("0.5")
    page.keyboard.press("Enter")
    continue_to(page, "Release")
    page.locator(".st-key-asset_name input").fill("another asset")
    page.keyboard.press("Enter")
    spend(page, "Run the release")
    button(page, "Cancel the run").click()
    page.get_by_text("The run was cancelled").wait_for(timeout=RUN)
    button(page, "Prepare another run").click()
    page.get_by_text("Lifetime epsilon 3").or_(
        page.get_by_text("Lifetime epsilon of")
    ).first.wait_for()


class Child:
    """The process of the newest run, held and let go by signals, so that a test meets it where it
    wants to: whatever the machine's speed, a held run does not go on."""

    def __init__(self, workspace: Path, known: set[Path]) -> None:
        def found() -> list[Path]:
            return [p for p in workspace.glob("runs/project-*/*/process.json") if p not in known]

        wait_until(lambda: bool(found()))
        self.folder = found()[0].parent
        self.pid = json.loads(found()[0].read_text())["pid"]

    @property
    def stage(self) -> str:
        path = self.folder / "progress.json"
        return json.loads(path.read_text())["stage"] if path.exists() else ""

    def hold(self, *stages: str) -> None:
        """Stop it as soon as it is in one of these stages."""
        end = time.monotonic() + RUN / 1_000
        while self.stage not in stages:
            assert time.monotonic() < end, f"still in {self.stage!r}"
            time.sleep(0.001)
        os.kill(self.pid, signal.SIGSTOP)
        assert self.stage in stages

    def let_go_once_cancelled(self) -> None:
        wait_until((self.folder / "cancelled").exists)
        time.sleep(0.3)  # the signal follows the mark
        os.kill(self.pid, signal.SIGCONT)


def runs(workspace: Path) -> set[Path]:
    return set(workspace.glob("runs/project-*/*/process.json"))


def states(workspace: Path, asset: str) -> list[str]:
    """Newest state of every charge of an asset, from the file itself."""
    with closing(sqlite3.connect(workspace / "ledger.sqlite")) as db:
        rows = db.execute(
            "SELECT (SELECT state FROM states s WHERE s.charge = c.id ORDER BY s.id DESC LIMIT 1) "
            "FROM charges c JOIN assets a ON a.id = c.asset WHERE a.name = ? ORDER BY c.id",
            (asset,),
        ).fetchall()
    return [state for (state,) in rows]


def to_release(page: Page, readmission: Path, asset: str) -> None:
    load_own(page, readmission / "train.csv", readmission / "schema.yaml")
    one_row_per_person(page)
    continue_to(page, "Structure")
    choose(page, "target_choice", "readmitted_30d")
    pick(page, "Predictive")
    continue_to(page, "Budget")
    continue_to(page, "Release")
    page.locator(".st-key-asset_name input").fill(asset)
    page.keyboard.press("Enter")


def test_cancel_close_reopen_and_two_tabs(
    page: Page, studio: str, chromium: Browser, readmission: Path, workspace: Path
):
    to_release(page, readmission, "cancelled stays")
    known = runs(workspace)
    spend(page, "Run the release")
    child = Child(workspace, known)
    child.hold("")

    # A second tab shows the same run and offers no other one.
    tab = page.context.new_page()
    tab.goto(page.url)
    tab.get_by_role("link", name="Release").click()
    button(tab, "Cancel the run").wait_for()
    assert button(tab, "Run the release").count() == 0
    tab.close()

    # Another browser, later, at the same address and with the key: the run is still there.
    # Cancelled now, it has cost nothing.
    later = opened(chromium, viewport={"width": 1280, "height": 1000})
    again = later.new_page()
    again.goto(f"{page.url}&{studio.split('?')[1]}")
    again.get_by_role("link", name="Release").click()
    again.get_by_text("cancelled now, nothing is spent").wait_for()
    button(again, "Cancel the run").click()
    child.let_go_once_cancelled()
    again.get_by_text("Nothing is spent:").wait_for(timeout=RUN)
    assert states(workspace, "cancelled stays") == []
    later.close()

    # After the first mechanism the charge stands.
    page.get_by_text("Nothing is spent:").wait_for()
    button(page, "Prepare another run").click()
    known = runs(workspace)
    spend(page, "Run the release")
    child = Child(workspace, known)
    # Not "task": that is told before the first mechanism, when a run can still be void.
    child.hold("background", "three_way", "forest", "fit", "sample")
    page.get_by_text("cancelled now, the charge stands").wait_for()
    button(page, "Cancel the run").click()
    child.let_go_once_cancelled()
    page.get_by_text("The charge stands:").wait_for(timeout=RUN)
    assert states(workspace, "cancelled stays") == ["failed"]
    assert not list(workspace.glob("runs/**/codes.npy"))


@pytest.mark.long
def test_adult_predictive(page: Page, tmp_path: Path):
    path = os.environ.get(adult_table.PATH_VARIABLE)
    if not path:
        pytest.skip(f"set {adult_table.PATH_VARIABLE} to the numeric-encoded Adult file")
    folder = tmp_path / "adult"
    adult_table.write(path, folder)
    load_own(page, folder / "train.csv", folder / "schema.yaml", public=True)
    one_row_per_person(page)
    continue_to(page, "Structure")
    choose(page, "target_choice", adult_table.TARGET)
    pick(page, "Predictive")
    page.get_by_text("S is all 11 columns").wait_for()
    number = page.get_by_label("Number of features k")
    number.fill("8")
    number.press("Enter")
    page.get_by_text("the 8 features most associated").wait_for()
    continue_to(page, "Budget")
    page.get_by_text("choosing 8 of 11 features").or_(
        page.get_by_text("worst case")
    ).first.wait_for()
    continue_to(page, "Release")
    spend(page, "Run the rehearsal")
    page.get_by_text("synthetic rows, epsilon 1").wait_for(timeout=RUN)
    covers(folder / "schema.yaml", download(page, "Synthetic rows (CSV)", tmp_path))
    inspect(page)
