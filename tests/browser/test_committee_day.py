"""A day of a hospital: three people, three browsers, a provider, TLS under a path, PostgreSQL.

A curator designs without the table and submits a protocol; a reviewer asks, tries another epsilon
and approves; the curator loads the table and releases; an auditor reads. What each may not do is
tried on the way. With PRISM_PICTURES set to a folder, it keeps a picture of each station.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from dashboard.data.tabs import PEOPLE as PEOPLE_TAB
from prism_core.hosting import audit_log
from prism_core.samples import catalogue
from tests.browser.driver import Watch, button, continue_to, free_port, idle, opened, serving
from tests.browser.test_flow import RUN, choose, download, pick, spend, upload
from tests.browser.test_without_table import PERSONS, begin, load, state, turn
from tests.support import proxies
from tests.support.hosting import PEOPLE, hosting_file, provider
from tests.support.postgres import NEEDED, fresh_ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,  # its parts have tests of their own in every run
    pytest.mark.slow,
    pytest.mark.privacy,
    *NEEDED,
    pytest.mark.skipif(proxies.NGINX is None, reason="needs nginx"),
]
ASSET = "stays of clinic A"


@pytest.fixture
def hospital(tmp_path, postgres_server) -> Iterator[str]:
    """The address of a studio behind nginx that asks a committee, with its ledger in a database."""
    app, port, plain = free_port(), free_port(), free_port()
    address = f"https://localhost:{port}/prism"
    workspace = tmp_path / "workspace"
    workspace.mkdir(mode=0o700)
    (workspace / "settings.toml").write_text("[release]\napproval_required = true\n")
    (workspace / "settings.toml").chmod(0o600)
    with ExitStack() as stack:
        identities = stack.enter_context(provider(free_port()))
        path = hosting_file(tmp_path / "hosting.toml", address, identities)
        command = ["-m", "dashboard.launch", "--port", str(app), "--prefix", "/prism"]
        environment = {
            "PRISM_WORKSPACE": str(workspace),
            "PRISM_LEDGER": fresh_ledger(postgres_server),
        }
        stack.enter_context(
            serving([*command, "--hosting", str(path)], app, environment, prefix="/prism")
        )
        stack.enter_context(proxies.nginx(proxies.configured(tmp_path, port, plain, app), port))
        yield address


@pytest.fixture
def person(hospital: str, chromium: Browser) -> Iterator[Callable[[str], Page]]:
    """Gives a browser in which somebody has logged in."""
    contexts = []
    watch = Watch()

    def log_in(subject: str) -> Page:
        size = {"width": 1280, "height": 1000}
        context = opened(chromium, viewport=size, ignore_https_errors=True, accept_downloads=True)
        contexts.append(context)
        page = context.new_page()
        watch.on(page)
        page.goto(f"{hospital}/")
        page.locator(".st-key-log_in button").click()
        page.get_by_role("button", name=subject, exact=True).click()
        page.get_by_role("button", name=PEOPLE[subject][0]).wait_for()
        idle(page)
        return page

    yield log_in
    for context in contexts:
        context.close()
    assert not watch.errors, watch.errors


def shot(page: Page, name: str) -> None:
    """A picture for whoever asks for one."""
    if os.environ.get("PRISM_PICTURES"):
        page.screenshot(path=f"{os.environ['PRISM_PICTURES']}/{name}.png", full_page=True)


def designed(page: Page, stays: Path) -> None:
    """A design without its table, up to the protocol."""
    turn(page, "Data")
    begin(page, PERSONS)
    page.get_by_text("Upload a schema (YAML or JSON)").click()
    idle(page)
    upload(page, "upload_schema", stays / "schema.yaml")
    button(page, "Use this schema").click()
    page.get_by_text("These columns are in use").wait_for()
    page.get_by_role("tab", name=PEOPLE_TAB).click()
    page.get_by_text("2,400 persons for training, 600 (20%) kept aside").wait_for()
    continue_to(page, "Structure")
    choose(page, "target_choice", "readmitted_30d")
    pick(page, "Predictive")
    continue_to(page, "Budget")
    page.get_by_text("Model size").wait_for()
    turn(page, "Release")
    named = page.locator(".st-key-asset_name input")
    named.fill(ASSET)
    named.press("Enter")
    idle(page)
    state(page)


def submitted(page: Page) -> str:
    """The number of the protocol that a click submits."""
    if not button(page, "Submit this protocol to the committee").is_visible():
        page.get_by_text("Protocol and approval: what").click()
    idle(page)
    button(page, "Submit this protocol to the committee").click()
    line = page.get_by_text("submitted").filter(has_text="Protocol").first
    line.wait_for()
    idle(page)
    return line.inner_text().split("Protocol ")[1].split()[0]


def decided(hospital: str, rita: Page) -> None:
    """A reviewer reads, tries another epsilon, asks and approves; she releases nothing."""
    rita.get_by_role("heading", name="Committee", exact=True).wait_for()  # led there from Start
    rita.goto(f"{hospital}/committee")
    rita.get_by_text(f"asset {ASSET}").wait_for()
    assert rita.get_by_text("Page not found").count() == 0
    shot(rita, "day-3-waiting")
    rita.get_by_role("button", name="Read").first.click()
    rita.get_by_text("What if epsilon were another one").wait_for()
    idle(rita)
    slider = rita.get_by_role("slider").first
    slider.focus()
    slider.press("ArrowLeft")
    rita.get_by_text("what if:").first.wait_for()
    shot(rita, "day-4-what-if")
    rita.get_by_role("textbox", name="Comment").fill("Who picked the stay of each patient?")
    button(rita, "Comment").click()
    rita.get_by_text("Rita Reviewer wrote").wait_for()
    idle(rita)
    button(rita, "Approve").click()
    rita.get_by_text("Rita Reviewer approved").wait_for()
    shot(rita, "day-5-approved")
    rita.goto(f"{hospital}/release")
    rita.get_by_text("This page needs the role").wait_for()


def released(hospital: str, ada: Page, table: Path, folder: Path) -> dict[str, Any]:
    """The curator opens her project from the list, loads the table and releases; the approval."""
    ada.goto(f"{hospital}/")
    ada.get_by_text(ASSET).first.wait_for()
    idle(ada)
    ada.locator("[class*=st-key-project_] button").filter(has_text="Open").first.click()
    idle(ada)
    turn(ada, "Release")
    load(ada, table)
    ada.get_by_text("as many as persons are declared").wait_for()
    ada.get_by_text("Approved by u-rita (Rita Reviewer)").first.wait_for()
    shot(ada, "day-6-ready")
    spend(ada, "Run the release")
    ada.get_by_text("2,400 synthetic rows, epsilon 1").wait_for(timeout=RUN)
    ada.get_by_text("Single files").click()
    shot(ada, "day-7-released")
    certificate = json.loads(download(ada, "Certificate (JSON)", folder).read_text())
    turn(ada, "Report")
    ada.get_by_text("Report (HTML)").first.wait_for()
    shot(ada, "day-8-report")
    return certificate["approval"]


def test_a_day(hospital: str, person, tmp_path):
    stays = tmp_path / "stays"
    catalogue.write("readmission", stays)
    lines = (stays / "train.csv").read_text(encoding="utf-8").splitlines()
    table = stays / "stays.csv"
    table.write_text("\n".join(lines[: PERSONS + 1]) + "\n", encoding="utf-8")

    ada = person("u-ada")
    shot(ada, "day-1-start")
    assert ada.get_by_test_id("stTopNav").get_by_role("link", name="Committee").count() == 0
    designed(ada, stays)
    number = submitted(ada)
    shot(ada, "day-2-submitted")
    ada.goto(f"{hospital}/committee?protocol={number}")  # a curator has no seat there
    ada.get_by_text("This page needs the role").wait_for()
    decided(hospital, person("u-rita"))
    approval = released(hospital, ada, table, tmp_path)
    assert (approval["protocol"], approval["by"]) == (number, "u-rita (Rita Reviewer)")

    aud = person("u-aud")
    aud.goto(f"{hospital}/committee")
    aud.get_by_role("tab", name="Records").click()
    aud.get_by_text("Audit log: the newest").wait_for()
    idle(aud)
    shot(aud, "day-9-records")
    told = [(entry.who, entry.did) for entry in audit_log.entries(tmp_path / "workspace")]
    for deed in (
        ("u-ada", "protocol submitted"),
        ("u-rita", "protocol commented"),
        ("u-rita", "protocol approved"),
        ("u-ada", "release started"),
    ):
        assert deed in told, told
    assert audit_log.broken(tmp_path / "workspace") is None
