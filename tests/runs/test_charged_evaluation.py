"""Private numbers as a run: what is paid for is told, written, or kept."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from prism_core import files
from prism_core.bundle import bundle_files
from prism_core.data.encoding import encode
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import BundleError, ConfigError
from prism_core.evaluation import design_private
from prism_core.privacy.ledger import Ledger
from prism_core.runs import recovery_file
from prism_core.runs.charged_evaluation import run_private_numbers
from prism_core.runs.charged_learning import check_graph_place, check_schema_place
from prism_core.runs.charged_release import recover
from prism_core.runs.step_account import StepAccount, open_account

pytestmark = pytest.mark.privacy


@pytest.fixture
def rows(schema, frame):
    return encode(schema, RawTable(frame))


@pytest.fixture
def ledger(tmp_path):
    found = Ledger(tmp_path / "ws")
    found.register("ward", epsilon=50.0, delta=1e-5)
    return found


def run(rows, out, account, **others):
    plan = design_private(rows.schema, "readmitted", rows.n, 1.0, 1e-6)
    return run_private_numbers(plan, replace(rows, public=True), rows, out, account, **others)


def test_a_file_that_is_named_by_its_charge_holds_the_numbers(rows, ledger, tmp_path):
    told = []
    found = run(
        rows,
        lambda numbers: tmp_path / f"charge-{numbers.charge}.json",
        StepAccount(ledger=ledger, asset="ward"),
        told=told.append,
    )
    assert told == [found]
    assert json.loads((tmp_path / "charge-1.json").read_text()) == found.to_dict()
    assert recovery_file.unwritten_charges(tmp_path / "ws") == ()


def test_numbers_are_told_and_kept_when_the_disk_is_full(rows, ledger, tmp_path, monkeypatch):
    told = []

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(files, "put", full)
        with pytest.raises(BundleError, match="prism recover 1"):
            run(
                rows,
                lambda _: tmp_path / "numbers.json",
                StepAccount(ledger=ledger, asset="ward"),
                told=told.append,
            )
    run_folder = tmp_path / "run"
    run_folder.mkdir()
    (run_folder / bundle_files.CERTIFICATE).write_text("{}")
    with pytest.raises(BundleError, match="its manifest"):
        recover(tmp_path / "ws", 1, run_folder / "n.json")
    recover(tmp_path / "ws", 1, tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text()) == told[0].to_dict()


def test_nothing_learned_is_written_into_the_folder_of_a_run(tmp_path):
    """It is refused before a row is read: one more file breaks the seal of what was paid for."""
    (tmp_path / bundle_files.CERTIFICATE).write_text("{}")
    with pytest.raises(BundleError, match="its manifest"):
        check_schema_place(tmp_path / "s.yaml", tmp_path / "declared.yaml")
    with pytest.raises(BundleError, match="its manifest"):
        check_graph_place(tmp_path / "g.json")


def test_a_place_that_cannot_be_written_is_refused_before_the_charge(rows, ledger, tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(ConfigError, match="nothing was charged"):
        run(rows, tmp_path / "folder", StepAccount(ledger=ledger, asset="ward"))
    assert ledger.charges() == ()


def test_a_rehearsal_that_is_named_by_its_charge_writes_nothing(rows, tmp_path):
    account = open_account(None, 1e-6, public=True, seed=3)
    assert (account.ledger, account.asset, account.noise.secure) == (None, "", False)
    found = run(replace(rows, public=True), lambda _: tmp_path / "n.json", account)
    assert found.charge is None
    assert list(tmp_path.glob("*.json")) == []
