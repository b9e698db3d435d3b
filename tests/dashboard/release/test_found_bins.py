"""Bins that a run found, on the page that shows the finished run."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from prism_core.bundle.write import bundle_folder
from prism_core.data.encoding import encode
from prism_core.data.tables.raw_table import RawTable
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.synthesis.release import release
from tests.support.pages import texts
from tests.support.tables import small_frame, small_schema

pytestmark = pytest.mark.app


def _page(folder: str) -> None:
    from pathlib import Path

    from dashboard.release.run_view import found_bins

    found_bins(Path(folder))


def test_a_column_is_chosen_and_drawn_from_the_bundle_alone(tmp_path):
    table = encode(small_schema(), RawTable(small_frame(2_000)), public=True)
    plan = design(
        Brief(
            table.schema,
            Task(target="readmitted", regime="predictive", k=3, coarsen="auto"),
            Budget(epsilon=4.0),
            table.n,
            synthesis=Synthesis(model="naive_bayes", rows=100),
        )
    )
    noise = SeededNoise(np.random.default_rng(3))
    made = release(plan, table, ledger=None, noise=noise, rng=np.random.default_rng(4))
    folder = bundle_folder.write(made, tmp_path / "run")
    test = AppTest.from_function(_page, kwargs={"folder": str(folder)}).run(timeout=60)
    assert not test.exception
    names = test.selectbox(key="found_bins_column").options
    assert names == list(plan.coarsening.names)
    test.selectbox(key="found_bins_column").set_value(names[-1]).run(timeout=60)
    assert f"{names[-1]}: " in texts(test)
    assert "may be shown to anybody" in texts(test)
