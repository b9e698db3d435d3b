"""Rows that somebody calls public are asked for in one place: are they known here as private?"""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from prism_core.data import table_identity
from prism_core.data.engines.out_of_core import open_table
from prism_core.data.table_identity import check_public, file_mark, marks, remember_private
from prism_core.data.tables.address import Address
from prism_core.data.tables.raw_table import RawTable, read_table
from prism_core.errors import KnownPrivateError
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.ledger.fingerprint import MEMORY
from tests.support.refusals import refused

pytestmark = pytest.mark.privacy


# --- marks -----------------------------------------------------------------------------------


def test_the_same_rows_have_a_mark_in_common_whatever_file_they_stand_in(frame, tmp_path):
    frame = frame.astype(str)
    known = marks(read_table(frame.to_csv(index=False).encode(), name="a.csv"))
    frame.to_parquet(tmp_path / "b.parquet", index=False)
    frame.sample(frac=1.0, random_state=1)[frame.columns[::-1]].to_csv(
        tmp_path / "c.csv", index=False, sep=";"
    )
    assert known & marks(read_table(tmp_path / "b.parquet"))
    assert known & marks(read_table(tmp_path / "c.csv", separator=";"))
    other = frame.copy()
    other.iloc[0, 0] = "something else"
    assert not known & marks(read_table(other.to_csv(index=False).encode(), name="d.csv"))
    assert not known & marks(read_table(frame[:-1].to_csv(index=False).encode(), name="e.csv"))
    renamed = frame.rename(columns={frame.columns[0]: "x"})
    assert not known & marks(read_table(renamed.to_csv(index=False).encode(), name="f.csv"))


def test_a_file_by_its_path_is_known_by_its_content(frame, tmp_path):
    frame.to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "b.csv").write_bytes((tmp_path / "a.csv").read_bytes())
    loaded = marks(read_table(tmp_path / "a.csv"))
    for place in ("b.csv", "b*.csv"):
        address = Address("files" if "*" in place else "file", str(tmp_path / place))
        assert marks(open_table(address, tmp_path / "workspace")) <= loaded
    (tmp_path / "b.csv").write_text("age\n1\n")
    assert file_mark(tmp_path / "b.csv") not in loaded  # the cache asks for size and time
    assert file_mark(tmp_path / "none.csv") == ""


def test_a_very_large_file_is_known_by_blocks_from_all_over_it(tmp_path, monkeypatch):
    monkeypatch.setattr(table_identity, "WHOLE", 10)
    monkeypatch.setattr(table_identity, "_BLOCK", 4)
    monkeypatch.setattr(table_identity, "_BLOCKS", 3)
    contents = {
        "a": b"x" * 50,
        "b": b"x" * 50,
        "longer": b"x" * 51,
        "its end": b"x" * 49 + b"y",
        "its middle": b"x" * 24 + b"y" * 4 + b"x" * 22,
    }
    made = []
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        made.append(file_mark(tmp_path / name))
    assert made[0] == made[1]
    assert len(set(made)) == 4


# --- the check -------------------------------------------------------------------------------


def test_what_the_session_holds_as_private_is_not_public(frame, tmp_path):
    raw = RawTable(frame.astype(str), "open.csv")
    with refused(KnownPrivateError, "public"):
        check_public(raw, private=marks(raw), workspace=tmp_path, how="say so there")
    assert check_public(raw, private=marks(raw), said=marks(raw), workspace=tmp_path) == marks(raw)
    assert check_public(raw, workspace=tmp_path) == marks(raw)
    assert list(tmp_path.iterdir()) == []  # to ask makes nothing


def test_what_was_charged_is_not_public_and_no_cell_is_said(frame, tmp_path, canary):
    frame = frame.astype(str)
    frame.iloc[0, 0] = canary
    raw = RawTable(frame, "open.csv")
    ledger = Ledger(tmp_path)
    remember_private(ledger, " ward 7 ", raw)
    with pytest.raises(KnownPrivateError, match="under “ward 7”") as caught:
        check_public(raw, workspace=tmp_path)
    assert canary not in str(caught.value)
    other = RawTable(frame[1:].reset_index(drop=True), "other.csv")
    check_public(other, workspace=tmp_path)
    # In the file there is nothing that could be tried against guessed rows without the key.
    written = (tmp_path / MEMORY).read_text()
    assert not any(mark.split()[1] in written for mark in marks(raw))
    assert len({len(line) for line in written.splitlines() if line}) == 1


# --- every way in by the command line --------------------------------------------------------


def private_then(prism, make_run, tmp_path):
    """A private table that was charged; a second configuration that calls a copy public."""
    config = make_run(public=False, asset=9.0)
    assert prism("release", config, "--out", tmp_path / "out")[0] == 0
    return config, make_run(name="again")  # the same rows, public = true


@pytest.mark.parametrize(
    "command",
    [
        ("release", "--seed", "1", "--out", "made"),
        ("learn-dag", "--exact", "--out", "made.json"),
        ("comparator", "--method", "independent", "--seed", "1", "--out", "made"),
    ],
    ids=lambda command: command[0],
)
def test_a_configuration_does_not_make_charged_rows_public(prism, make_run, tmp_path, command):
    _, again = private_then(prism, make_run, tmp_path)
    out = tmp_path / command[-1]
    asked = (*command[:-1], out, again)
    status, _, err = prism(*asked)
    assert status == 2
    assert "charged as private, under “ward 7”" in err
    assert not out.exists()
    again.write_text(again.read_text().replace("[table]", "[table]\nalthough_charged = true"))
    assert prism(*asked)[0] == 0


def test_nor_does_that_of_learning_a_domain(prism, make_run, tmp_path):
    """Learning remembers what it charges, and asks of what is called public."""
    config = make_run(public=False, asset=9.0)
    learned = ("learn-domain", config, "--out", tmp_path / "schema.yaml")
    outline = config.parent / "schema.yaml"
    text = outline.read_text().replace("  edges:", "  learn: true\n  edges:", 1)
    outline.write_text(re.sub(r"(learn: true\n)  edges:\n(?:  - .*\n)+", r"\1", text))
    assert prism(*learned)[0] == 0
    config.write_text(config.read_text().replace("public = false", "public = true"))
    status, _, err = prism("learn-domain", config, "--out", tmp_path / "again.yaml", "--seed", "1")
    assert status == 2
    assert "charged as private, under “ward 7”" in err


def test_learning_and_a_holdout_remember_what_they_charge(prism, make_run, tmp_path):
    config = make_run(public=False, asset=30.0)
    assert prism("release", config, "--out", tmp_path / "out")[0] == 0
    holdout = config.parent / "holdout.csv"
    asked = ("holdout", "open", tmp_path / "out", "--holdout", holdout, "--epsilon", "0.5")
    raw = read_table(holdout)
    check_public(raw)
    assert prism(*asked)[0] == 0
    with pytest.raises(KnownPrivateError):
        check_public(raw)
    refused = prism(*asked, "--holdout-public", "--seed", "1")
    assert refused.status == 2
    assert "charged as private, under “ward 7”" in refused.err
    assert prism(*asked, "--holdout-public", "--seed", "1", "--although-charged")[0] == 0
    private = (
        "evaluate",
        tmp_path / "out",
        "--holdout",
        holdout,
        "--private",
        "1",
        "--holdout-public",
        "--seed",
        "1",
    )
    assert prism(*private)[0] == 2
    assert prism(*private, "--although-charged")[0] == 0


def test_a_private_file_under_another_name_does_not_stand_in(prism, make_run, tmp_path):
    config = make_run(public=False, asset=9.0)
    copy = tmp_path / "open.csv"
    copy.write_bytes((config.parent / "train.csv").read_bytes())
    asked = ("rehearse", config, "--stand-in", copy, "--epsilon", "1", "--seeds", "1")
    status, _, err = prism(*asked)
    assert status == 2
    assert "loaded as private" in err
    rows = read_table(copy).frame
    (tmp_path / "other.csv").write_text(rows[1:].to_csv(index=False))
    fine = ("rehearse", config, "--stand-in", tmp_path / "other.csv", "--epsilon", "1")
    assert prism(*fine, "--seeds", "1")[0] == 0


def test_marks_take_time_in_proportion_to_the_cells():
    """A wide and long table of few different texts: a digest a row, made column by column."""
    raw = RawTable(pd.DataFrame({f"c{i}": np.full(200_000, "x") for i in range(20)}))
    assert len(marks(raw)) == 1
    assert json.dumps(sorted(marks(raw)))
