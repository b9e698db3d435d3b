"""Files, manifest, signature, hash and ledger of a bundle go together."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from prism_core.bundle import bundle_files, signing
from prism_core.bundle.reader import read_bundle
from prism_core.bundle.verify import verification
from prism_core.bundle.write import contents
from prism_core.data.counts import marginal_counts
from prism_core.data.encoding import encode
from prism_core.data.tables.raw_table import RawTable
from prism_core.planning.approval import Approval
from prism_core.planning.design import design
from prism_core.planning.plan import plan_digest
from prism_core.planning.wishes.task import Budget
from prism_core.privacy.ledger import Ledger
from tests.support.bundles import TASKS, Forger, charged, written
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
