"""The very first start, by somebody whose home knows nothing of the libraries below."""

from __future__ import annotations

from tests.browser.driver import answers, free_port, serving


def test_it_asks_nothing_and_serves(tmp_path) -> None:
    """A prompt in the terminal would wait for an answer, or end the start where there is none."""
    port = free_port()
    empty = {"HOME": str(tmp_path), "PRISM_WORKSPACE": str(tmp_path / "w"), "BROWSER": "true"}
    with serving(["-m", "dashboard.launch", "--port", str(port)], port, empty) as address:
        assert answers(address)
    assert not (tmp_path / ".streamlit" / "credentials.toml").exists()
