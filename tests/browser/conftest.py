"""One Chromium for all browser tests of a worker."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

import pytest

from tests.browser.driver import (
    CHROMIUM_ARGS,
    Watch,
    address_shown,
    chromium_path,
    free_port,
    opened,
    serving,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page


@pytest.fixture(autouse=True)
def _one_at_a_time(request, tmp_path_factory) -> Iterator[None]:
    """Tests that drive a browser wait for each other: each is a server and a browser already."""
    if "chromium" not in request.fixturenames:
        yield
        return
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with (shared / "browser.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # let go with the file
        yield


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = chromium_path()
    if path is None:
        pytest.skip("no chromium on this machine; install Debian's chromium or set CHROMIUM")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=CHROMIUM_ARGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def workspace(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("workspace")


@pytest.fixture(scope="session")
def studio(workspace: Path, tmp_path_factory) -> Iterator[str]:
    """`prism-dashboard` as people start it, once per worker; each test is a browser of its own.

    Gives the address that its terminal shows, with the key in it.
    """
    port = free_port()
    command = ["-m", "dashboard.launch", "--port", str(port), "--no-browser"]
    terminal = tmp_path_factory.mktemp("terminal") / "shown"
    with serving(command, port, {"PRISM_WORKSPACE": str(workspace)}, terminal):
        yield address_shown(terminal)


@pytest.fixture
def page(studio: str, chromium: Browser) -> Iterator[Page]:
    """The studio's page Data; at the end, nothing broke and no other host was asked."""
    context = opened(chromium, viewport={"width": 1280, "height": 1000}, accept_downloads=True)
    page = context.new_page()
    watch = Watch()
    watch.on(page)
    page.goto(studio.replace("/?", "/data?"))
    yield page
    context.close()
    watch.check()


@pytest.fixture(scope="module")
def server(request) -> Iterator[str]:
    """The small app of a component's tests, the module's `APP`."""
    port = free_port()
    options = {
        "server.headless": "true",
        "server.address": "127.0.0.1",
        "server.port": str(port),
        "browser.gatherUsageStats": "false",
        "server.fileWatcherType": "none",
    }
    flags = [part for name, value in options.items() for part in (f"--{name}", value)]
    with serving(["-m", "streamlit", "run", str(request.module.APP), *flags], port) as address:
        yield address
