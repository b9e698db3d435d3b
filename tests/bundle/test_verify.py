"""`prism verify`: passes on what was just made, and fails on what somebody changed."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from prism_core.bundle import bundle_files, manifest, signing
from prism_core.bundle.certificate import REHEARSAL
from prism_core.bundle.reader import read_bundle
from prism_core.bundle.verify import verification
from prism_core.bundle.write import bundle_folder, contents
from prism_core.cli import main, verify_command
from prism_core.data.counts import marginal_counts
from prism_core.data.encoding import encode
from prism_core.data.tables.raw_table import RawTable
from prism_core.planning.approval import Approval
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.plan import plan_digest
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.scenario import Scenario
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.events import ExponentialEvent
from prism_core.privacy.learning_charge import LearningCharge
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.noise import SecureNoise
from prism_core.structure.dag import Dag
from prism_core.synthesis.release import release
from tests.support.bundles import DAG, TASKS, Forger, charged, learned, rehearsed, written

if TYPE_CHECKING:
    from prism_core.data.schema.schema import Schema

PARTS = {"files", "checksums", "signature"}
"""Checks that a forger passes who computes the manifest anew and signs with a key of their own."""


@pytest.fixture(autouse=True)
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("PRISM_WORKSPACE", str(tmp_path / "nobody's"))


@pytest.fixture(scope="module")
def home(tmp_path_factory, small):
    """One bundle of every kind, and the workspace that made them."""
    folder = tmp_path_factory.mktemp("bundles")
    schema, frame = small
    for name, task in TASKS.items():
        written(charged(schema, frame, folder / "workspace", task), folder / name)
    written(rehearsed(schema, frame), folder / "rehearsal")
    quick = Synthesis(model="naive_bayes")
    paid = charged(learned(schema), frame, folder / "workspace", TASKS["predictive"], quick)
    written(paid, folder / "learned")
    return folder


@pytest.fixture
def forger(home, tmp_path):
    """Makes a forger of the bundle of that name."""
    return lambda name="causal": Forger(home / name, tmp_path / "copy", tmp_path / "thief")


def wrong(report: verification.VerifyReport) -> set[str]:
    return {check.name for check in report.checks if check.state == "wrong"}


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


QUICK = Synthesis(model="naive_bayes", sampling="iid", rows=90)
LEARNED = Dag(
    nodes=("age", "readmitted"),
    edges=(("age", "readmitted"),),
    provenance="dp",
    prior=LearningCharge(
        events=(ExponentialEvent(epsilon=0.05, count=3, label="learning"),), delta=1e-5
    ),
)
PLANS = {
    "joint": (Task(target="readmitted"), Budget(epsilon=20), DAG, QUICK),
    "graphical": (Task(target="readmitted", regime="graphical"), Budget(), DAG, QUICK),
    "learned graph": (Task(target="readmitted", regime="graphical"), Budget(), LEARNED, QUICK),
    "weights and delta": (
        Task(target="readmitted", weights={"age": 2.0}),
        Budget(epsilon=1, delta=1e-7),
        DAG,
        QUICK,
    ),
    "locks": (
        Task(target="readmitted", max_joint_cells=0),
        Budget(
            allocation="tilted", tilt=0.5, locks=(Lock(columns=("age", "readmitted"), share=0.1),)
        ),
        DAG,
        QUICK,
    ),
    "regression": (
        Task(target="readmitted", regime="predictive", k=2, selection="logistic"),
        Budget(epsilon=4),
        None,
        QUICK,
    ),
    "one shot": (
        Task(target="readmitted", regime="predictive", k=2, selection="one_shot"),
        Budget(),
        None,
        QUICK,
    ),
    "model error": (
        Task(target="readmitted", max_joint_cells=0, three_way="model_error"),
        Budget(),
        DAG,
        Synthesis(),
    ),
    "adaptive": (
        Task(target="readmitted", max_joint_cells=0, three_way="adaptive"),
        Budget(epsilon=90),
        DAG,
        Synthesis(),
    ),
}


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


# --- what was changed does not, even with checksums and signature made anew -------------------


def _drop_event(document):
    document["events"].pop()


def _edit_plan(key, value):
    return lambda thief: thief.json(bundle_files.PLAN, lambda d: d.update({key: value}))


def _certify(part, key, value):
    def change(thief):
        thief.json(
            bundle_files.CERTIFICATE, lambda d: (d[part] if part else d).update({key: value})
        )

    return change


def _one_row(thief):
    def change(frame):
        frame.loc[0, "ward"] = "north" if frame.loc[0, "ward"] != "north" else "south"
        return frame

    thief.rows(change)


def _sigma(thief):
    thief.measured(lambda m: m[0].update(sigma=m[0]["sigma"] * 2.0))


def _sigma_everywhere(thief):
    def plan(document):
        document["queries"][0]["sigma"] *= 2.0
        document["events"][0]["sigma"] *= 2.0

    _sigma(thief)
    thief.json(bundle_files.PLAN, plan)
    thief.json(bundle_files.CERTIFICATE, lambda d: d["events"][0].update(sigma=_twice(d)))


def _twice(document):
    return document["events"][0]["sigma"] * 2.0


def _event_gone(thief):
    thief.json(bundle_files.PLAN, _drop_event)
    thief.json(bundle_files.CERTIFICATE, _drop_event)


def _measurement_gone(thief):
    thief.measured(lambda m: m.pop())


def _measurement_added(thief):
    thief.measured(
        lambda m: m.append(
            {**m[0], "clique": ["grade", "ward"], "shape": [3, 3], "counts": [33] * 9}
        )
    )


def _widened_with_the_target(thief):
    """A background edge gets the target as an end, in every file that names it."""
    plan = json.loads((thief.folder / bundle_files.PLAN).read_text(encoding="utf-8"))
    name = next(name for name in ("age", "grade", "ward", "seen") if name not in plan["s"])
    size = thief.schema().size(name)
    clique = [name, "readmitted"]

    def measured(entries):
        entries[-1].update(clique=clique, shape=[size, 2], counts=[50] * (2 * size))

    thief.measured(measured)
    thief.json(bundle_files.PLAN, lambda d: d["queries"][-1].update(clique=clique, cells=2 * size))


def _level(thief):
    thief.text(bundle_files.SCHEMA, "- north\n", "- north\n  - west\n")


def _level_consistently(thief):
    column = thief.schema()["ward"]
    wider = replace(column, levels=(*column.levels, "west"))
    columns = tuple(wider if c.name == "ward" else c for c in thief.schema().columns)
    (thief.folder / bundle_files.SCHEMA).write_text(
        _yaml(replace(thief.schema(), columns=columns)), encoding="utf-8"
    )


def _yaml(schema: Schema) -> str:
    from prism_core.data.schema import schema_file

    return schema_file.dumps(schema)


def _rehearsal_as_release(thief):
    def certificate(document):
        document.update(stamp="release", charge=1, ledger_entry_sha256="0" * 64)
        document["noise"] = "OpenDP, entropy of the operating system"

    thief.json(bundle_files.CERTIFICATE, certificate)


def _release_as_rehearsal(thief):
    thief.json(bundle_files.CERTIFICATE, lambda d: d.update(stamp=REHEARSAL))


def _no_charge(thief):
    thief.json(bundle_files.CERTIFICATE, lambda d: d.update(charge=None, ledger_entry_sha256=""))


def _cheaper(thief):
    """Half the epsilon is claimed everywhere, with the noise as it was."""

    def plan(document):
        document.update(epsilon=0.5)

    thief.text(bundle_files.RUN, "epsilon = 1.0", "epsilon = 0.5")
    thief.json(bundle_files.PLAN, plan)
    thief.json(bundle_files.CERTIFICATE, lambda d: d["guarantee"].update(declared_epsilon=0.5))


def _sensitivity(thief):
    for name in (bundle_files.PLAN, bundle_files.CERTIFICATE):
        thief.json(name, lambda d: [e.update(sensitivity=0.1) for e in _gaussians(d)])


def _gaussians(document):
    return [event for event in document["events"] if event["event"] == "gaussian"]


def _accountant(thief):
    thief.text(bundle_files.RUN, 'accountant = "zcdp"', 'accountant = "basic"')
    thief.json(bundle_files.PLAN, lambda d: d.update(accountant="basic"))
    thief.json(bundle_files.CERTIFICATE, lambda d: d["guarantee"].update(accountant="basic"))


def _n(thief):
    thief.json(bundle_files.PLAN, lambda d: d.update(n=3_000))
    thief.json(bundle_files.CERTIFICATE, lambda d: d["guarantee"].update(n=3_000))


def _seed(thief):
    thief.json(bundle_files.CERTIFICATE, lambda d: d["sampling"].update(seed=1))


def _counts(thief, more=100_000):
    def change(entries):
        counts = entries[0]["counts"]
        counts[counts.index(max(counts))] += more

    thief.measured(change)


def _counts_a_little(thief):
    _counts(thief, more=25)


def _no_whole_number(thief):
    thief.measured(lambda m: m[0]["counts"].__setitem__(0, 12.5))


def _shape(thief):
    thief.measured(lambda m: m[0].update(shape=m[0]["shape"][::-1]))


def _outside(thief):
    thief.rows(lambda frame: frame.assign(ward="the moon"))


def _a_row_less(thief):
    thief.rows(lambda frame: frame.drop(index=0))


def _only_parquet(thief):
    frame = pd.read_parquet(thief.folder / bundle_files.PARQUET)
    frame.loc[0, "ward"] = "north" if frame.loc[0, "ward"] != "north" else "south"
    frame.to_parquet(thief.folder / bundle_files.PARQUET, index=False)


def _hidden_in_parquet(thief):
    import pyarrow.parquet as pq

    table = pq.read_table(thief.folder / bundle_files.PARQUET)
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), b"note": b"private"})
    pq.write_table(table, thief.folder / bundle_files.PARQUET)


def _formula(thief):
    path = thief.folder / bundle_files.SYNTHETIC
    ward = pd.read_parquet(thief.folder / bundle_files.PARQUET)["ward"].iloc[0]
    path.write_text(path.read_text().replace(f",{ward},", f",={ward},", 1))


def _key_twice(thief):
    thief.text(bundle_files.PLAN, '  "n": 300,\n', '  "n": 300,\n  "n": 300,\n')


def _other_script(thief):
    thief.text(bundle_files.REFIT, "import argparse", "import argparse, os; os.system('true')")


def _data_sheet(thief):
    thief.text(bundle_files.README, "## Privacy, in words", "## Privacy: nobody can ever be found")


def _hash(thief):
    thief.json(bundle_files.CERTIFICATE, lambda d: d.update(plan_sha256=d["planned_sha256"]))


def _planned_hash(thief):
    thief.json(bundle_files.CERTIFICATE, lambda d: d.update(planned_sha256="0" * 64))


def _edge(thief):
    thief.text(bundle_files.GRAPH, '"source": "smoker"', '"source": "grade"')


def _s(thief):
    thief.json(bundle_files.PLAN, lambda d: d.update(s=["age", "ward"]))


def _version(thief):
    thief.json(
        bundle_files.CERTIFICATE,
        lambda d: d["software"]["versions"].update({"prism-dashboard": "0.0.9"}),
    )


TAMPERED = {
    "a row changed": ("causal", _one_row, "redrawn"),
    "a row removed": ("causal", _a_row_less, "rows"),
    "a value outside the domain": ("causal", _outside, "rows"),
    "a row changed in the Parquet file": ("causal", _only_parquet, "rows"),
    "a note hidden in the Parquet file": ("causal", _hidden_in_parquet, "redrawn"),
    "a formula in the CSV": ("causal", _formula, "rows"),
    "sigma changed": ("causal", _sigma, "measurements"),
    "sigma changed in every file": ("causal", _sigma_everywhere, "plan"),
    "sensitivity changed in every file": ("causal", _sensitivity, "composition"),
    "event removed": ("causal", _event_gone, "certificate"),
    "event removed from the plan": (
        "causal",
        lambda t: t.json(bundle_files.PLAN, _drop_event),
        "plan",
    ),
    "rehearsal as release": ("rehearsal", _rehearsal_as_release, "texts"),
    "release as rehearsal": ("causal", _release_as_rehearsal, "stamp"),
    "no charge": ("causal", _no_charge, "stamp"),
    "a ledger entry that is no digest": (
        "causal",
        _certify("", "ledger_entry_sha256", "z" * 64),
        "stamp",
    ),
    "a charge that no ledger counts": ("causal", _certify("", "charge", 0), "stamp"),
    "another stamp": ("causal", _certify("", "stamp", "release, approved"), "stamp"),
    "wrong n": ("causal", _n, "plan"),
    "n in the certificate": ("causal", _certify("guarantee", "n", 299), "certificate"),
    "delta changed": ("causal", _certify("guarantee", "delta", 1e-9), "certificate"),
    "delta changed in the plan": ("causal", _edit_plan("delta", 1e-9), "plan"),
    "epsilon claimed": ("causal", _certify("guarantee", "epsilon", 0.5), "composition"),
    "epsilon halved in every file": ("causal", _cheaper, "plan"),
    "accountant changed": ("causal", _accountant, "stamp"),
    "measurement removed": ("causal", _measurement_gone, "measurements"),
    "measurement added": ("causal", _measurement_added, "measurements"),
    "counts changed": ("causal", _counts, "sizes"),
    "counts changed a little": ("causal", _counts_a_little, "redrawn"),
    "counts that are not whole": ("causal", _no_whole_number, "contents"),
    "a shape of its own": ("causal", _shape, "contents"),
    "background edge to the target": ("predictive", _widened_with_the_target, "guard"),
    "schema level added": ("causal", _level, "contents"),
    "schema level added, in order": ("causal", _level_consistently, "contents"),
    "plan hash swapped": ("causal", _hash, "hashes"),
    "planned hash swapped": ("causal", _planned_hash, "hashes"),
    "cost of learning dropped": ("learned", _certify("", "domain", None), "certificate"),
    "an edge of the graph moved": ("causal", _edge, "plan"),
    "S changed": ("causal", _s, "plan"),
    "another seed": ("causal", _seed, "redrawn"),
    "a key twice": ("causal", _key_twice, "contents"),
    "another script": ("causal", _other_script, "texts"),
    "another data sheet": ("causal", _data_sheet, "texts"),
    "another version": ("causal", _version, "stamp"),
}


@pytest.mark.privacy
@pytest.mark.parametrize("what", TAMPERED)
def test_a_tampered_bundle_fails_even_when_it_was_sealed_again(forger, what):
    name, change, step = TAMPERED[what]
    thief = forger(name)
    change(thief)
    assert manifest.checksum_findings(thief.folder)
    thief.seal()
    report = verification.verify(thief.folder)
    assert not report.ok
    assert not wrong(report) & PARTS
    assert step in wrong(report)
    assert all(finding for finding in report.findings)


@pytest.mark.privacy
@pytest.mark.parametrize("what", list(TAMPERED)[::12])
def test_a_tampered_bundle_fails_on_its_checksums(forger, what):
    name, change, _ = TAMPERED[what]
    thief = forger(name)
    change(thief)
    assert "checksums" in wrong(verification.verify(thief.folder))


# --- files, manifest and signature -----------------------------------------------------------


def _added(thief):
    (thief.folder / "extra.csv").write_text("age\n47\n")


def _removed(thief):
    (thief.folder / bundle_files.MEANING).unlink()


def _folder(thief):
    (thief.folder / "more").mkdir()


def _link(thief):
    (thief.folder / bundle_files.README).unlink()
    (thief.folder / bundle_files.README).symlink_to(thief.folder / bundle_files.MEANING)


def _listed(thief):
    thief.json(bundle_files.MANIFEST, lambda d: d["files"].update({"extra.csv": "0" * 64}))


def _no_manifest(thief):
    (thief.folder / bundle_files.MANIFEST).unlink()


FILES = {
    "file added": (_added, "files"),
    "file removed": (_removed, "files"),
    "folder added": (_folder, "files"),
    "file replaced by a link": (_link, "files"),
    "file listed that is none": (_listed, "files"),
    "no manifest": (_no_manifest, "files"),
    "no signature": (lambda t: (t.folder / bundle_files.SIGNATURE).unlink(), "signature"),
    "no key": (lambda t: (t.folder / bundle_files.PUBLIC_KEY).unlink(), "signature"),
    "no key and no signature": (
        lambda t: [
            (t.folder / n).unlink() for n in (bundle_files.SIGNATURE, bundle_files.PUBLIC_KEY)
        ],
        "signature",
    ),
    "signature of nothing": (
        lambda t: (t.folder / bundle_files.SIGNATURE).write_bytes(bytes(64)),
        "signature",
    ),
    "no key at all": (
        lambda t: (t.folder / bundle_files.PUBLIC_KEY).write_bytes(b"-----"),
        "signature",
    ),
}


@pytest.mark.privacy
@pytest.mark.parametrize("what", FILES)
def test_files_manifest_and_signature_go_together(forger, what):
    change, step = FILES[what]
    thief = forger()
    change(thief)
    report = verification.verify(thief.folder)
    assert step in wrong(report)


@pytest.mark.privacy
def test_a_file_added_stays_outside_of_a_new_manifest(forger):
    thief = forger()
    _added(thief)
    thief.seal()
    assert (
        "The file 'extra.csv' is not in the manifest." in verification.verify(thief.folder).findings
    )


@pytest.mark.privacy
def test_a_pipe_does_not_keep_the_reader_waiting(forger):
    thief = forger()
    (thief.folder / bundle_files.PLAN).unlink()
    os.mkfifo(thief.folder / bundle_files.PLAN)
    report = verification.verify(thief.folder)
    assert {"files", "contents"} <= wrong(report)
    assert any(check.state == "not checked" for check in report.checks)


@pytest.mark.privacy
def test_another_key_fails_where_the_right_one_is_known(home, forger):
    thief = forger()
    thief.seal()
    report = verification.verify(thief.folder)
    assert report.ok  # an honest copy; whose it is, nobody can tell from the files
    assert "Ask whoever gave you" in report.notes[0]
    key = signing.fingerprint(signing.public_pem(home / "workspace"))
    assert wrong(verification.verify(thief.folder, key=key)) == {"signature"}
    assert wrong(verification.verify(thief.folder, workspace=home / "workspace")) == {"ledger"}
    assert wrong(verification.verify(thief.folder, key=key[:8])) == {
        "signature"
    }  # too short to be one


@pytest.mark.privacy
def test_the_workspace_that_was_charged_notices_another_key(home, forger, monkeypatch):
    thief = forger()
    thief.seal()
    monkeypatch.setenv("PRISM_WORKSPACE", str(home / "workspace"))
    assert wrong(verification.verify(thief.folder)) == {"ledger"}


# --- a forger with the program itself: what the files cannot tell, the ledger does ------------


def _other_digits(document):
    document["queries"][0]["relative_error"] *= 1.0 + 1e-12


def _of_another_plan(
    thief, *, approved: bool, numpy: str | None = None
) -> verification.VerifyReport:
    """A plan with other last digits, and the hash and approval of a cheaper one."""
    bundle = read_bundle(thief.folder)
    cheaper = design(replace(bundle.brief, budget=Budget(epsilon=0.1))).hash
    given = Approval(by="A. Meyer", role="committee", date="2025-11-20", plan_sha256=cheaper)
    document = json.loads((thief.folder / bundle_files.PLAN).read_text(encoding="utf-8"))
    _other_digits(document)
    stages, facts = bundle.stages(), bundle.facts
    versions = facts.versions if numpy is None else {**facts.versions, "numpy": numpy}
    facts = replace(
        facts,
        approval=given if approved else None,
        planned_sha256=cheaper,
        versions=versions,
        plan_sha256=plan_digest(document, bundle.schema, stages.final.dag),
    )
    for name, text in contents.texts(stages, facts, bundle.measurements).items():
        (thief.folder / name).write_bytes(text.encode("utf-8"))
    thief.json(bundle_files.PLAN, _other_digits)
    thief.seal()
    return verification.verify(thief.folder)


@pytest.mark.privacy
@pytest.mark.parametrize("approved", [True, False])
def test_last_digits_do_not_switch_the_hash_off(forger, approved):
    report = _of_another_plan(forger(), approved=approved)
    assert "hashes" in wrong(report)
    assert not report.ok


@pytest.mark.privacy
def test_an_approval_whose_hash_cannot_be_checked_has_not_passed(forger):
    report = _of_another_plan(forger(), approved=True, numpy="1.0")
    states = {check.name: check.state for check in report.checks}
    assert states["approval"] == "not checked"
    assert not report.ok
    assert "numpy 1.0" in " ".join(report.findings)
    assert wrong(report) == set()


def test_other_versions_may_compute_other_digits_where_nobody_approved(forger):
    report = _of_another_plan(forger(), approved=False, numpy="1.0")
    assert report.ok
    assert any("was not computed again" in note for note in report.notes)


@pytest.mark.privacy
def test_exact_counts_in_place_of_noisy_ones_have_too_little_noise(forger, frame):
    thief = forger()
    bundle = read_bundle(thief.folder)
    table = encode(bundle.schema, RawTable(frame))
    exact = [marginal_counts(table, m.clique).ravel().tolist() for m in bundle.measurements]

    def change(entries):
        for entry, counts in zip(entries, exact, strict=True):
            entry["counts"] = counts

    thief.measured(change)
    thief.seal()
    report = verification.verify(thief.folder)
    assert "sizes" in wrong(report)
    assert any("less noise than they claim" in text for text in report.findings)


@pytest.mark.privacy
def test_a_rehearsal_made_over_into_a_release_is_not_in_the_ledger(home, forger):
    thief = forger("rehearsal")
    thief.rewrite(stamp="release", charge=1, entry="0" * 64)
    thief.seal()
    found = wrong(verification.verify(thief.folder, workspace=home / "workspace"))
    assert "ledger" in found


@pytest.mark.privacy
def test_a_smaller_epsilon_written_everywhere_does_not_fit_the_noise(forger):
    thief = forger()
    thief.rewrite(budget=Budget(epsilon=0.5))
    thief.seal()
    assert "measurements" in wrong(verification.verify(thief.folder))


@pytest.mark.privacy
def test_learning_dropped_from_every_file_does_not_fit_the_noise(forger):
    thief = forger("learned")
    thief.rewrite(schema=replace(thief.schema(), provenance="declared", prior=None))
    thief.seal()
    assert "measurements" in wrong(verification.verify(thief.folder))


@pytest.mark.privacy
def test_another_n_written_everywhere_does_not_fit_the_noise(forger):
    thief = forger()
    thief.rewrite(n=3_000)
    thief.seal()
    assert {"measurements", "rows"} <= wrong(verification.verify(thief.folder))


@pytest.mark.privacy
def test_a_ledger_tells_another_charge_plan_and_state(home, forger):
    thief = forger()
    thief.rewrite(charge=2)
    thief.seal()
    findings = verification.verify(thief.folder, workspace=home / "workspace").findings
    assert any("is for another plan" in text for text in findings)
    assert any("another digest" in text for text in findings)


@pytest.mark.privacy
def test_an_unfinished_charge_is_no_release(tmp_path, schema, frame):
    made = charged(schema, frame, tmp_path / "own", TASKS["causal"])
    ledger = Ledger(tmp_path / "own")
    failed = ledger.charge(
        "ward 7",
        step="release",
        spent=made.plan.spent,
        events=made.plan.events,
        plan=made.plan.hash,
        accountant="zcdp",
    )
    made = replace(made, charge=failed, entry=ledger.entry(failed))
    report = verification.verify(written(made, tmp_path / "out"), workspace=tmp_path / "own")
    assert any("not finished" in text for text in report.findings)
    lost = verification.verify(tmp_path / "out", workspace=tmp_path / "elsewhere")
    assert "There is no ledger in this workspace." in lost.findings
    assert not (tmp_path / "elsewhere").exists()


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
