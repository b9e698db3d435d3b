"""A bundle that somebody changed fails, even when it was sealed again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from prism_core.bundle import bundle_files, manifest
from prism_core.bundle.certificate import REHEARSAL
from prism_core.bundle.verify import verification
from tests.support.bundles import Forger
from tests.support.verified import of_every_kind, wrong

if TYPE_CHECKING:
    from prism_core.data.schema.schema import Schema

PARTS = {"files", "checksums", "signature"}
"""Checks that a forger passes who computes the manifest anew and signs with a key of their own."""


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
