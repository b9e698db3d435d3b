"""The keyed memory of rows: what it recognises, where it stays, and what depends on it."""

from __future__ import annotations

import json
import stat

import numpy as np
import pytest

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import LedgerError
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.ledger.fingerprint import KEY, MEMORY, fingerprint

pytestmark = pytest.mark.privacy
NAMES = "abc"


def table(codes, names=NAMES):
    schema = Schema(
        columns=tuple(Column(name=name, kind="ordinal", levels=(1, 2, 3)) for name in names),
        one_row_per_person=True,
    )
    return EncodedTable(schema=schema, codes=np.asarray(codes, dtype=np.int32))


@pytest.fixture
def codes():
    return np.random.default_rng(3).integers(0, 3, (50, 3))


@pytest.fixture
def ledger(tmp_path):
    found = Ledger(tmp_path / "work")
    for name in ("ward", "clinic", "lab"):
        found.register(name, epsilon=1.0, delta=1e-6)
    return found


def test_order_does_not_matter_and_everything_else_does(codes):
    key = b"k" * 32
    known = fingerprint(table(codes), key)
    assert len(known) == 64
    assert fingerprint(table(codes[::-1]), key) == known
    assert fingerprint(table(codes[:, [2, 0, 1]], "cab"), key) == known
    assert fingerprint(table(codes), b"j" * 32) != known
    other = codes.copy()
    other[7, 1] = (other[7, 1] + 1) % 3
    repeated = np.concatenate([codes, codes[:1]])
    for different in (other, codes[:-1], repeated, codes[:, [1, 0, 2]]):
        assert fingerprint(table(different), key) != known
    assert fingerprint(table(codes, "abd"), key) != known


def test_the_same_rows_under_another_name_are_told(ledger, codes):
    assert ledger.recognise("ward", table(codes)) == ""
    assert ledger.recognise("ward", table(codes[::-1])) == ""  # its own name is no news
    assert ledger.recognise("WARD", table(codes)) == ""
    told = ledger.recognise("clinic", table(codes[::-1]))
    assert "“ward”" in told
    assert "for you only" in told
    told = ledger.recognise("lab", table(codes))
    assert "“clinic”, “ward”" in told
    assert ledger.recognise("lab", table(codes[:-1])) == ""
    assert "“clinic”, “lab”, “ward”" in ledger.recognise(" new ", table(codes))
    assert ledger.assets() == Ledger(ledger.path.parent).assets()
    assert "new" not in {asset.name for asset in ledger.assets()}  # remembered, not registered
    with pytest.raises(LedgerError, match="needs a name"):
        ledger.recognise(" ", table(codes))


def test_it_survives_the_process_and_a_line_cut_short(ledger, codes):
    ledger.recognise("ward", table(codes))
    with (ledger.path.parent / MEMORY).open("a") as file:
        file.write('{"asset": "wa')  # a crash in the middle of a line
    assert "ward" in Ledger(ledger.path.parent).recognise("clinic", table(codes))
    assert "clinic" in Ledger(ledger.path.parent).recognise("lab", table(codes))


def test_key_and_memory_are_for_this_user_only(ledger, codes):
    ledger.recognise("ward", table(codes))
    for name in (KEY, MEMORY):
        assert stat.S_IMODE((ledger.path.parent / name).stat().st_mode) == 0o600
    key = (ledger.path.parent / KEY).read_bytes()
    assert len(key) == 32
    ledger.recognise("clinic", table(codes))
    assert (ledger.path.parent / KEY).read_bytes() == key
    left = {path.name for path in ledger.path.parent.iterdir() if "ledger" not in path.name}
    assert left == {KEY, MEMORY}  # no draft of the key stays


def test_two_workspaces_have_two_keys(tmp_path, codes):
    marks = set()
    for name in ("one", "two"):
        ledger = Ledger(tmp_path / name)
        ledger.register("ward", epsilon=1.0, delta=1e-6)
        ledger.recognise("ward", table(codes))
        marks.add(json.loads((tmp_path / name / MEMORY).read_text())["fingerprint"])
    assert len(marks) == 2


def test_the_ledger_and_its_export_hold_nothing_of_it(ledger, codes):
    empty = ledger.export()
    for name in ("ward", "clinic"):
        ledger.recognise(name, table(codes))
    lines = filter(None, (ledger.path.parent / MEMORY).read_text().splitlines())
    marks = {json.loads(line)["fingerprint"] for line in lines}
    (mark,) = marks
    exported = ledger.export()
    assert (exported["chain"], exported["charges"]) == (empty["chain"], empty["charges"])
    assert mark not in json.dumps(exported)
    for path in ledger.path.parent.glob("ledger.sqlite*"):
        assert mark.encode() not in path.read_bytes()


def test_what_is_written_has_one_size_whatever_the_rows(tmp_path, codes):
    sizes = set()
    for number, rows in enumerate((codes, codes * 0, codes[:1])):
        ledger = Ledger(tmp_path / str(number))
        ledger.register("ward", epsilon=1.0, delta=1e-6)
        ledger.recognise("ward", table(rows))
        sizes.add((ledger.path.parent / MEMORY).stat().st_size)
    assert len(sizes) == 1


def test_a_damaged_key_is_an_error_of_the_workspace(ledger, codes):
    (ledger.path.parent / KEY).write_bytes(b"short")
    with pytest.raises(LedgerError, match="fingerprints") as caught:
        ledger.recognise("ward", table(codes))
    assert caught.value.field == "workspace"
