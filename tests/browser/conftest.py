"""One Chromium for all browser tests of a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from driver import CHROMIUM_ARGS, chromium_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser


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
