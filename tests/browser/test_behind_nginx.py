"""The app under a path of nginx with TLS, as docs/hosting sets it up."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.browser.driver import address_shown, free_port, idle, opened, serving
from tests.support import proxies
from tests.support.tables import small_frame

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(proxies.NGINX is None, reason="needs nginx"),
]


def test_pages_and_uploads_under_a_path_with_tls(chromium: Browser, tmp_path):
    app, port, plain = free_port(), free_port(), free_port()
    command = ["-m", "dashboard.launch", "--port", str(app), "--no-browser", "--prefix", "/prism"]
    terminal = tmp_path / "terminal"
    environment = {"PRISM_WORKSPACE": str(tmp_path / "workspace")}
    config = proxies.configured(tmp_path, port, plain, app)
    small_frame().to_csv(tmp_path / "rows.csv", index=False)
    with (
        serving(command, app, environment, terminal, prefix="/prism"),
        proxies.nginx(config, port),
    ):
        key = urlsplit(address_shown(terminal)).query
        context = opened(chromium, ignore_https_errors=True)
        page = context.new_page()
        hosts: list[str] = []
        page.on("request", lambda request: hosts.append(urlsplit(request.url).netloc))
        page.goto(f"https://localhost:{port}/?{key}")  # leads on to the path, without the key
        assert page.url == f"https://localhost:{port}/prism/"
        page.goto(f"https://localhost:{port}/prism/data?{key}")
        page.locator("input[type=file]").first.wait_for(state="attached")
        assert "key=" not in page.url
        page.locator("input[type=file]").first.set_input_files(tmp_path / "rows.csv")
        page.get_by_text("rows.csv").first.wait_for(state="attached")
        idle(page)
        page.get_by_role("link", name="Structure").click()
        page.get_by_role("heading", name="Structure").first.wait_for()
        assert urlsplit(page.url).path == "/prism/structure"
        assert set(hosts) - {""} == {f"localhost:{port}"}  # "": made in the browser itself

        def status(path: str) -> int:
            return context.request.get(f"https://localhost:{port}{path}").status

        assert status("/prism/_stcore/health") == 200
        assert status("/prism/_stcore/metrics") == 404
        assert status("/other") == 404
        redirect = context.request.get(f"http://localhost:{plain}/prism/", max_redirects=0)
        assert redirect.headers["location"].startswith("https://localhost/prism/")
        context.close()
