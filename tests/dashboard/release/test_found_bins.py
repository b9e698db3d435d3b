"""Bins that a run found, on the page that shows the finished run."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from prism_core.bundle.write import bundle_folder
from tests.support.coarsened import coarsened_release
from tests.support.pages import texts

pytestmark = pytest.mark.app


def _page(folder: str) -> None:
    from pathlib import Path

    from dashboard.release.run_view import found_bins

    found_bins(Path(folder))


def test_a_column_is_chosen_and_drawn_from_the_bundle_alone(tmp_path):
    made = coarsened_release(2_000)
    folder = bundle_folder.write(made, tmp_path / "run")
    test = AppTest.from_function(_page, kwargs={"folder": str(folder)}).run(timeout=60)
    assert not test.exception
    names = test.selectbox(key="found_bins_column").options
    assert names == list(made.plan.coarsening.names)
    test.selectbox(key="found_bins_column").set_value(names[-1]).run(timeout=60)
    assert f"{names[-1]}: " in texts(test)
    assert "may be shown to anybody" in texts(test)
