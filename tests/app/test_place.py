"""A table that stays where it is: from its address on the page Data to a finished run."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import worker
from prism_core.config import AssetConfig
from prism_core.data import address, big
from prism_core.data.stored import StoredTable
from prism_core.planning.design import design
from prism_core.planning.task import Budget, Synthesis, Task
from prism_core.privacy.ledger import Ledger
from prism_core.workspace import in_memory

pytestmark = [pytest.mark.app, pytest.mark.slow]
APP = Path(__file__).parents[2] / "dashboard" / "app.py"


@pytest.fixture(autouse=True)
def _workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("PRISM_WORKSPACE", str(tmp_path / "workspace"))


@pytest.fixture
def parts(tmp_path, frame):
    for number in range(2):
        frame[number::2].to_csv(tmp_path / f"part{number}.csv", index=False)
    return str(tmp_path / "part*.csv")


def test_a_pattern_of_files_is_opened_and_its_rows_are_not_read(parts):
    test = AppTest.from_file(str(APP), default_timeout=60).run()
    test.text_input(key="place_text").set_value(parts)
    test.button(key="place_open").click().run()
    assert not test.exception
    found = test.session_state["project"]
    assert isinstance(found.raw, big.BigTable)
    assert found.n + found.holdout_rows == 300
    assert "readmitted" in found.raw.header
    test.radio(key="schema_way").set_value("header").run()
    test.button(key="draft_header").click().run()
    assert not test.exception
    found.raw.close()


@pytest.mark.privacy
def test_a_wrong_address_is_a_sentence_without_its_password():
    test = AppTest.from_file(str(APP), default_timeout=60).run()
    test.text_input(key="place_text").set_value("mysql://me:s3cr3t@host/db?table=t")
    test.button(key="place_open").click().run()
    assert not test.exception
    shown = "".join(part.value for part in [*test.error, *test.markdown, *test.caption])
    assert "The address must be a path" in shown
    assert "s3cr3t" not in shown


@pytest.mark.privacy
def test_a_run_measures_stored_rows_and_leaves_them_to_the_dashboard(parts, schema):
    table = big.open_table(address.parse(parts), Ledger().path.parent)
    train, holdout = table.store(schema, public=False).set_aside(60, np.random.default_rng(1))
    plan = design(
        schema, Task(target="readmitted", regime="predictive", k=1), Budget(), train.n,
        synthesis=Synthesis(model="naive_bayes"),
    )  # fmt: skip
    run = worker.start(plan, train, AssetConfig(name="ward 7", lifetime_epsilon=3.0), seed=5)
    end = time.monotonic() + 120
    while run.outcome().state == "running" and time.monotonic() < end:
        time.sleep(0.1)
    run.process.wait()
    assert run.outcome().state == "done", run.outcome().message
    assert [charge.state for charge in Ledger().charges()] == ["done"]
    assert not list(run.folder.glob("*.npy"))
    assert in_memory(holdout, np.random.default_rng(2)).n == 60
    assert isinstance(train, StoredTable)
    train.folder.close()
    table.close()
