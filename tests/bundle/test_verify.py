"""`prism verify`: passes on what was just made, and says what it could not check."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from prism_core.bundle import bundle_files, signing
from prism_core.bundle.certificate import REHEARSAL
from prism_core.bundle.verify import verification
from prism_core.bundle.write import bundle_folder
from prism_core.cli import main, verify_command
from prism_core.data.encoding import encode
from prism_core.data.tables.raw_table import RawTable
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.scenario import Scenario
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.noise import SecureNoise
from prism_core.synthesis.release import release
from tests.support.bundles import DAG, TASKS, Forger, rehearsed
from tests.support.plan_kinds import PLANS, QUICK
from tests.support.verified import of_every_kind, wrong


@pytest.fixture(autouse=True)
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("PRISM_WORKSPACE", str(tmp_path / "nobody's"))


@pytest.fixture(scope="module")
def home(tmp_path_factory, small):
    return of_every_kind(tmp_path_factory.mktemp("bundles"), small)


@pytest.fixture
def forger(home, tmp_path):
    """Makes a forger of the bundle of that name."""
    return lambda name="causal": Forger(home / name, tmp_path / "copy", tmp_path / "thief")


# --- what is true passes ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["causal", "predictive", "learned"])
def test_a_fresh_release_passes(home, name):
    report = verification.verify(home / name)
    assert report.findings == ()
    assert report.ok
    assert report.stamp == "release"
    assert len(report.opinions) >= 2
    assert all(0.9 < opinion.epsilon < 1.001 for opinion in report.opinions)
    assert {check.name for check in report.checks} == set(verification.STEPS) - {"ledger"}


def test_its_key_and_its_ledger_fit(home):
    key = signing.fingerprint(signing.public_pem(home / "workspace"))
    report = verification.verify(home / "causal", key=key[:16], workspace=home / "workspace")
    assert report.findings == ()
    assert report.signer == key
    assert "ledger" in {check.name for check in report.checks}


def test_a_workspace_knows_its_own(home, monkeypatch):
    monkeypatch.setenv("PRISM_WORKSPACE", str(home / "workspace"))
    report = verification.verify(home / "causal")
    assert report.ok
    assert "ledger" in {check.name for check in report.checks}


def test_a_rehearsal_passes_and_says_what_it_is(home):
    report = verification.verify(home / "rehearsal")
    assert report.ok
    assert report.stamp == REHEARSAL
    assert report.signer is None
    assert "rehearsal, not a release: it protects nobody" in report.notes[0]


def test_without_a_ledger_it_passes_and_says_so(tmp_path, schema, frame):
    task = Task(target="readmitted", regime="predictive", k=2)
    plan = design(Brief(schema, task, Budget(), 300, synthesis=Synthesis(model="naive_bayes")))
    table = encode(schema, RawTable(frame))
    made = release(plan, table, ledger=None, rng=np.random.default_rng())
    report = verification.verify(
        bundle_folder.write(made, tmp_path / "out", workspace=tmp_path / "own")
    )
    assert report.ok
    assert report.signer is not None
    assert any("without a ledger" in note for note in report.notes)


@pytest.mark.parametrize("accountant", ["basic", "pld"])
def test_other_accountants_are_counted_twice(tmp_path, accountant, schema, frame):
    quick = Synthesis(model="naive_bayes")
    budget = Budget(accountant=accountant)
    plan = design(Brief(schema, Task(target="readmitted"), budget, 300, dag=DAG, synthesis=quick))
    table = encode(schema, RawTable(frame))
    made = release(plan, table, ledger=None, rng=np.random.default_rng())
    report = verification.verify(bundle_folder.write(made, tmp_path / "out"))
    assert report.findings == ()
    assert len(report.opinions) == 2


@pytest.mark.parametrize("kind", PLANS)
def test_every_kind_of_plan_passes(kind, tmp_path, schema, frame):
    task, budget, dag, synthesis = PLANS[kind]
    plan = design(Brief(schema, task, budget, 300, dag=dag, synthesis=synthesis))
    table = encode(schema, RawTable(frame))
    made = release(plan, table, ledger=None, rng=np.random.default_rng())
    report = verification.verify(bundle_folder.write(made, tmp_path / "out"))
    assert report.findings == ()
    assert report.ok


@pytest.mark.parametrize("rounds", [0, 1])
def test_adaptive_rounds_that_stopped_count_as_spent(rounds, tmp_path, schema, frame):
    task, budget, dag, synthesis = PLANS["adaptive"]
    plan = design(Brief(schema, task, budget, 300, dag=dag, synthesis=synthesis))
    table = encode(schema, RawTable(frame))
    made = release(plan, table, ledger=None, rng=np.random.default_rng(), noise=Stops(rounds))
    assert len(made.plan.unused) == plan.three_way.rounds - rounds > 0
    folder = bundle_folder.write(made, tmp_path / "out")
    report = verification.verify(folder)
    assert report.findings == ()
    events = json.loads((folder / bundle_files.CERTIFICATE).read_text(encoding="utf-8"))["events"]
    assert sum("not needed" in event["label"] for event in events) == len(made.plan.unused)
    cheat = Forger(folder, tmp_path / "thief", tmp_path / "own")
    _event_gone_named(cheat, "not needed")
    cheat.seal()
    assert not verification.verify(cheat.folder).ok


@pytest.mark.parametrize("found", [0, 1])
def test_pairs_measured_again_with_what_ties_left_are_verified(found, tmp_path, schema, frame):
    task = Task(target="readmitted", regime="predictive", joint="never")
    plan = design(Brief(schema, task, Budget(epsilon=20), 300, dag=DAG, synthesis=Synthesis()))
    assert plan.three_way.bar is not None
    table = encode(schema, RawTable(frame))
    made = release(plan, table, ledger=None, rng=np.random.default_rng(), noise=Stops(found))
    kinds = [query.kind for query in made.plan.queries]
    assert (kinds.count("adaptive"), "again" in kinds) == (found, True)
    folder = bundle_folder.write(made, tmp_path / "out")
    report = verification.verify(folder)
    assert report.findings == ()
    assert report.ok
    cheat = Forger(folder, tmp_path / "thief", tmp_path / "own")
    _event_gone_named(cheat, "choosing")
    cheat.seal()
    assert not verification.verify(cheat.folder).ok


class Stops(SecureNoise):
    """Secure noise, and a choice that stops after so many rounds."""

    def __init__(self, after: int) -> None:
        self.after = after

    def exponential_choice(self, scores, epsilon, sensitivity):
        self.after -= 1
        return len(scores) - 1 if self.after < 0 else 0


def _event_gone_named(thief, words):
    def change(document):
        document["events"] = [e for e in document["events"] if words not in e["label"]]

    thief.json(bundle_files.CERTIFICATE, change)


def test_one_row_of_every_person_passes(tmp_path, schema, frame):
    people = replace(schema, one_row_per_person=False, person_id="mrn", persons=100)
    frame["mrn"] = [f"p{row % 100}" for row in range(300)]
    rng = np.random.default_rng()
    plan = design(Brief(people, Task(target="readmitted"), Budget(), 100, dag=DAG, synthesis=QUICK))
    table = encode(people, RawTable(frame), rng=rng)
    folder = bundle_folder.write(release(plan, table, ledger=None, rng=rng), tmp_path / "out")
    assert verification.verify(folder).ok
    assert "mrn" not in (folder / bundle_files.SYNTHETIC).read_text(encoding="utf-8")


def test_scenarios_are_planned_again(tmp_path, schema, frame):
    made = rehearsed(schema, frame)
    other = Scenario(name="half", task=TASKS["causal"], budget=Budget(epsilon=0.5))
    plan = design(Brief(schema, other.task, other.budget, 300, dag=DAG))
    folder = bundle_folder.write(made, tmp_path / "out", scenarios=[(other, plan)])
    assert verification.verify(folder).findings == ()
    thief = Forger(folder, tmp_path / "forged", tmp_path / "thief")
    thief.json(bundle_files.SCENARIOS, lambda d: d["scenarios"][0]["figures"].update(epsilon=0.1))
    thief.seal()
    assert "texts" in wrong(verification.verify(thief.folder))


def _one_row(thief):
    def change(frame):
        frame.loc[0, "ward"] = "north" if frame.loc[0, "ward"] != "north" else "south"
        return frame

    thief.rows(change)


# --- the command -----------------------------------------------------------------------------


def test_the_command_passes_fails_and_says_why(home, forger, capsys):
    assert main.main(["verify", str(home / "causal")]) == verify_command.UNAUTHENTICATED
    said = capsys.readouterr()
    assert "Release: consistent, not authenticated." in said.out
    assert "by zcdp" in said.out
    assert (
        main.main(["verify", str(home / "rehearsal"), "--json"]) == verify_command.UNAUTHENTICATED
    )
    document = json.loads(capsys.readouterr().out)
    assert (document["ok"], document["rehearsal"]) == (True, True)
    assert (document["authenticated"], document["verdict"]) == (
        False,
        "consistent, not authenticated",
    )
    thief = forger()
    _one_row(thief)
    thief.seal()
    assert main.main(["verify", str(thief.folder), "--json"]) == 2
    said = capsys.readouterr()
    assert json.loads(said.out)["ok"] is False
    assert "1 of 300 synthetic rows are not those that the noisy counts" in said.err
    assert main.main(["verify", str(home / "nowhere")]) == 2


@pytest.mark.privacy
def test_a_folder_that_anybody_signed_has_an_exit_status_of_its_own(home, forger, capsys):
    """A forger makes the manifest anew and signs it with a key of their own: all fits in itself."""
    thief = forger()
    thief.seal()
    assert verification.verify(thief.folder).ok
    asked = ["verify", str(thief.folder)]
    assert main.main(asked) == 3
    assert "consistent, not authenticated" in capsys.readouterr().out
    assert main.main([*asked, "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["authenticated"] is False
    mine = ["--workspace", str(home / "workspace")]
    assert main.main([*asked, *mine]) == 2  # signed, but not by this workspace
    assert main.main(["verify", str(home / "causal"), *mine, "--json"]) == 0
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (said["authenticated"], said["verdict"]) == (True, "consistent and authenticated")
    # Nobody signed a rehearsal, so no workspace makes it authentic.
    assert main.main(["verify", str(home / "rehearsal"), *mine]) == 3


def test_the_exit_statuses_are_told(capsys):
    with pytest.raises(SystemExit):
        main.main(["verify", "--help"])
    said = capsys.readouterr().out
    assert "consistent, not authenticated" in said
    assert all(f"\n  {code}  " in said for code in (0, 1, 2, verify_command.UNAUTHENTICATED))


def test_the_command_prints_the_key_to_hand_out(home, capsys, tmp_path):
    assert main.main(["ledger", "key", "--workspace", str(home / "workspace")]) == 0
    said = capsys.readouterr().out.strip()
    assert main.main(["verify", str(home / "causal"), "--key", said]) == 0
    assert main.main(["ledger", "key", "--workspace", str(tmp_path / "none")]) == 2
    assert not (tmp_path / "none").exists()


def test_verify_needs_no_private_file_and_writes_nothing(home, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(home / "causal", folder)
    (folder / bundle_files.LOCAL).unlink()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert verification.verify(folder).ok
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert not (tmp_path / "nobody's").exists()


@pytest.mark.privacy
def test_a_check_that_breaks_has_not_passed(home, monkeypatch, canary):
    def breaks(*_):
        raise ZeroDivisionError(canary)

    monkeypatch.setattr(verification, "structure_findings", breaks)
    report = verification.verify(home / "causal")
    assert wrong(report) == {"guard"}
    assert "ZeroDivisionError" in report.findings[0]
    assert canary not in repr(report)
