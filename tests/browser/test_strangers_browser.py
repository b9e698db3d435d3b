"""Two browsers on one machine: the curator's, with the key, and that of somebody else."""

from __future__ import annotations

import base64
import http.server
import os
import socket
import stat
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from prism_core.privacy.accountants.accountant import Spent
from prism_core.privacy.accountants.conversions import epsilon_to_rho
from prism_core.privacy.events import GaussianEvent
from prism_core.privacy.ledger import Ledger
from prism_core.samples import catalogue
from tests.browser.driver import (
    PATIENCE,
    Watch,
    address_shown,
    answers,
    button,
    free_port,
    opened,
    serving,
    wait_until,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.privacy]
RUN = 240_000  # milliseconds a run may take on a busy machine
PAGES = ("", "structure", "budget", "rehearse", "release", "inspect", "report", "gallery")
ASSET, WHY, LIFETIME = "Stays of clinic A", "readmissions for an outside team", "1.73"


def bare(studio: str) -> str:
    """The app's address without the key, with a slash at its end."""
    return studio.partition("?")[0]


@pytest.fixture(scope="module")
def charged(workspace: Path) -> Ledger:
    """The curator's ledger: an asset with one finished release."""
    ledger = Ledger(workspace)
    ledger.register(ASSET, epsilon=1.73, delta=1e-5)
    spent = Spent(epsilon=1.0, delta=1e-5, rho=epsilon_to_rho(1.0, 1e-5))
    number = ledger.charge(
        ASSET,
        step="release",
        spent=spent,
        events=(GaussianEvent(label="age × y", sigma=40.0),),
        plan="h" * 64,
        accountant="zcdp",
        why=WHY,
    )
    ledger.mark(number, "done")
    return ledger


@pytest.fixture
def other(studio: str, charged: Ledger, chromium: Browser) -> Iterator[Page]:
    """Somebody else's browser; it knows the address and no key."""
    context = opened(chromium, viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    watch = Watch()
    watch.on(page)
    page.goto(bare(studio))
    shown(page)
    yield page
    context.close()
    watch.check()


def shown(page: Page) -> str:
    """The page, once it has settled."""
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    page.locator("h1, h2, h3").first.wait_for()
    page.wait_for_timeout(700)
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    return page.content()


def open_sample(page: Page) -> None:
    page.locator(".st-key-sample_scm_spurious button").click()
    page.get_by_text("You look around without the key").wait_for()
    page.get_by_role("heading", name="Structure", exact=True, level=1).wait_for()


def go(page: Page, title: str) -> str:
    page.get_by_role("link", name=title).click()
    page.get_by_role("heading", name=title, exact=True, level=1).wait_for()
    return shown(page)


def load_private(page: Page, folder: Path) -> None:
    """A table of one's own; only a session with the key has a place for it."""
    catalogue.write("scm_spurious", folder)
    page.get_by_role("tab", name="Your own file").click()
    page.locator(".st-key-upload_table input[type=file]").set_input_files(folder / "train.csv")
    button(page, "Load this file").click()
    page.get_by_text("Loaded: train.csv").wait_for()


# --- what somebody without the key does not get ------------------------------------------------


def test_the_ledger_is_not_seen(page: Page, other: Page, studio: str):
    page.get_by_role("link", name="Release").click()
    page.get_by_text("Finished releases in this workspace").click()
    page.get_by_text("charge names").or_(page.get_by_text("names its charge")).first.wait_for()
    for name in PAGES:
        other.goto(f"{bare(studio)}{name}")
        told = shown(other)
        for words in (ASSET, WHY, LIFETIME, "Finished releases", "Ledger: what was spent"):
            assert words not in told, (name, words)
    other.goto(bare(studio))
    shown(other)
    open_sample(other)
    for title in ("Release", "Budget"):
        told = go(other, title)
        for words in (ASSET, WHY, "Finished releases", "Ledger: what was spent"):
            assert words not in told, (title, words)


def test_nothing_is_charged_or_signed(other: Page, charged: Ledger, workspace: Path):
    """There is no place for junk rows of one's own. A sample runs, unsigned and for nothing."""
    before, keys = charged.charges(), set(workspace.glob("**/signing.key"))
    signed = set(workspace.glob("**/manifest.sig"))
    assert other.locator("input[type=file]").count() == 0
    assert other.get_by_role("tab", name="Your own file").count() == 0
    open_sample(other)
    assert other.locator(".st-key-upload_table").count() == 0
    go(other, "Release")
    assert button(other, "Run the release").count() == 0
    assert other.locator(".st-key-asset_name").count() == 0
    button(other, "Run the rehearsal").click()
    other.get_by_text("synthetic rows, epsilon 1").wait_for(timeout=RUN)
    assert charged.charges() == before
    assert set(workspace.glob("**/manifest.sig")) == signed
    assert set(workspace.glob("**/signing.key")) == keys
    no_folder_is_opened(other)


def no_folder_is_opened(page: Page) -> None:
    """Beside an inspected sample no folder is named, and no session of the workspace is shown."""
    go(page, "Inspect")
    button(page, "Compare with the real rows").click()
    sections = page.locator(".st-key-inspect_section")
    sections.get_by_text("Compare", exact=True).click()
    page.get_by_text("Add a comparator").wait_for()
    told = shown(page)
    assert "Add a release from a folder" not in told
    assert page.locator(".st-key-compare_folder").count() == 0
    sections.get_by_text("Ask the holdout", exact=True).click()
    page.get_by_text("they need the key").wait_for()
    told += shown(page) + go(page, "Report")
    for words in (ASSET, WHY):
        assert words not in told


def test_nothing_is_approved(other: Page):
    open_sample(other)
    go(other, "Release")
    other.get_by_text("Read the protocol").wait_for()
    assert other.get_by_text("Protocol and approval: what a committee").count() == 0
    assert other.locator(".st-key-approval_upload").count() == 0


def test_a_project_is_not_opened_by_its_address(page: Page, other: Page, tmp_path: Path):
    load_private(page, tmp_path)
    assert "project=" in page.url
    address = urlsplit(page.url)
    for name in ("data", "release", ""):
        other.goto(address._replace(path=f"/{name}").geturl())
        assert "train.csv" not in shown(other)
        other.get_by_text("Open it with the key").wait_for()
    # Nor once the session has opened a sample, or asks for a path.
    open_sample(other)
    assert "train.csv" not in shown(other)
    assert other.locator(".st-key-place_text").count() == 0
    page.reload()
    page.get_by_text("Loaded: train.csv").wait_for()


def test_the_gallery_and_the_samples_stay_open(other: Page):
    other.get_by_role("link", name="Gallery: five stories").click()
    other.get_by_role("heading", name="Gallery").wait_for()
    other.get_by_role("button", name="Present").first.wait_for()
    other.get_by_role("link", name="Start").click()
    shown(other)
    open_sample(other)
    told = go(other, "Rehearse")
    assert "Stand-in rows only" in told


# --- the way with the key ----------------------------------------------------------------------


def in_full(page: Page) -> None:
    page.locator(".st-key-start_saved button").wait_for()


def test_the_address_opens_everything_once_a_browser(studio: str, chromium: Browser, charged):
    key = studio.partition("key=")[2]
    context = opened(chromium)
    page = context.new_page()
    page.goto(studio)
    in_full(page)
    assert key not in page.url
    page.reload()
    in_full(page)
    tab = context.new_page()
    tab.goto(f"{bare(studio)}release")
    tab.get_by_text("Finished releases in this workspace").wait_for()
    assert key not in tab.url
    assert tab.url.startswith(f"{bare(studio)}release")
    # Neither an earlier entry of the tab's history nor a cookie holds it.
    page.go_back(wait_until="commit")
    assert key not in page.url
    assert [cookie for cookie in context.cookies() if key in cookie["value"]] == []
    context.close()
    # Another browser on the machine is a stranger as before.
    later = opened(chromium)
    page = later.new_page()
    page.goto(bare(studio))
    page.get_by_text("Open it with the key").wait_for()
    # What is typed counts as well.
    field = page.locator(".st-key-key_typed input")
    field.fill(key[:-1])
    field.press("Enter")
    page.get_by_text("This is not the key").wait_for()
    field.fill(key)
    field.press("Enter")
    in_full(page)
    page.reload()
    in_full(page)
    later.close()


def test_a_key_of_another_start_is_said_to_be_one(studio: str, chromium: Browser):
    context = opened(chromium)
    page = context.new_page()
    page.goto(f"{bare(studio)}?key=of-yesterday")
    page.get_by_text("every start makes a new one").wait_for()
    assert "yesterday" not in page.url
    context.close()


def test_inside_the_frame_of_another_page_the_browser_hands_out_no_key(
    studio: str, chromium: Browser
):
    """A page of another user on this machine could lay ours under a click of its own."""
    body = f'<iframe src="{bare(studio)}" width="1200" height="900"></iframe>'.encode()

    class Framing(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Framing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        context = opened(chromium)
        page = context.new_page()
        page.goto(studio)
        in_full(page)
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        frame = page.frame_locator("iframe")
        frame.get_by_text("Open it with the key").wait_for()
        context.close()
        server.shutdown()


def handshake(port: int, host: str, origin: str) -> str:
    """The server's first line when a page asks for the connection that everything goes over."""
    token = base64.b64encode(os.urandom(16)).decode()
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as wire:
        wire.sendall(
            (
                f"GET /_stcore/stream HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\n"
                f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {token}\r\n"
                "Sec-WebSocket-Version: 13\r\n\r\n"
            ).encode()
        )
        return wire.recv(200).decode(errors="replace").splitlines()[0]


def test_a_name_of_another_site_that_points_here_is_refused(studio: str):
    port = int(bare(studio).rsplit(":", 1)[1].strip("/"))
    ours = f"127.0.0.1:{port}"
    assert " 101 " in handshake(port, ours, f"http://{ours}")
    assert " 403 " in handshake(port, f"evil.example:{port}", f"http://evil.example:{port}")
    assert " 403 " in handshake(port, ours, "http://evil.example")


def test_the_browser_is_opened_with_a_file_and_the_key_is_on_no_command_line(
    chromium: Browser, tmp_path: Path
):
    home, port = tmp_path / "home", free_port()
    home.mkdir()
    (tmp_path / "browser").write_text(
        f"#!{sys.executable}\nimport os, shutil, sys\n"
        f"shutil.copy2(sys.argv[1].removeprefix('file://'), {str(tmp_path / 'copy.html')!r})\n"
        # Under another name until it is whole: a file is there before its text is.
        f"with open({str(tmp_path / 'writing')!r}, 'w') as file:\n    file.write(sys.argv[1])\n"
        f"os.replace({str(tmp_path / 'writing')!r}, {str(tmp_path / 'asked')!r})\n"
    )
    (tmp_path / "browser").chmod(0o755)
    environment = {
        "HOME": str(home),
        "PRISM_WORKSPACE": str(tmp_path / "w"),
        "BROWSER": str(tmp_path / "browser"),
    }
    terminal = tmp_path / "terminal"
    command = ["-m", "dashboard.launch", "--port", str(port)]
    with serving(command, port, environment, terminal):
        wait_until(lambda: (tmp_path / "asked").exists())
        key = address_shown(terminal).partition("key=")[2]
        asked = (tmp_path / "asked").read_text()
        assert asked.startswith(f"file://{home}/prism-studio-")
        assert key not in asked
        assert key not in commands()
        assert stat.S_IMODE((tmp_path / "copy.html").stat().st_mode) == 0o600
        context = opened(chromium)
        page = context.new_page()
        page.goto((tmp_path / "copy.html").as_uri())
        in_full(page)
        assert key not in page.url
        context.close()


def commands() -> str:
    """The command lines of all processes, as every user of the machine may read them."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended meanwhile
            lines.append(path.read_bytes().decode(errors="replace"))
    return "\n".join(lines)


def test_streamlit_run_shows_a_key_and_listens_to_this_machine_only(
    chromium: Browser, tmp_path: Path
):
    """Started without the launcher."""
    port, terminal = free_port(), tmp_path / "terminal"
    command = [
        "-m",
        "streamlit",
        "run",
        "dashboard/app.py",
        "--server.port",
        str(port),
        "--server.headless",
        "true",
    ]
    with serving(command, port, {"PRISM_WORKSPACE": str(tmp_path / "w")}, terminal) as address:
        context = opened(chromium)
        page = context.new_page()
        page.goto(f"{address}/release")
        page.get_by_text("Open it with the key").wait_for()
        wait_until(lambda: "?key=" in terminal.read_text())
        page.goto(address_shown(terminal))
        in_full(page)
        context.close()
        for family, place in addresses():
            with socket.socket(family) as probe:
                assert probe.connect_ex((place, port)) != 0, place
        assert answers(f"{address}/_stcore/health")


def addresses() -> list[tuple[socket.AddressFamily, str]]:
    """Addresses of this machine but 127.0.0.1."""
    found = [(socket.AF_INET, place) for place in socket.gethostbyname_ex(socket.gethostname())[2]]
    return [(socket.AF_INET6, "::1"), *(one for one in found if not one[1].startswith("127."))]
