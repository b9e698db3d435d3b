"""A table without its header, or with another, is refused at every door, before anything else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prism_core import PrismSynthesizer
from prism_core.data.engines.out_of_core import open_table
from prism_core.data.tables.address import Address
from prism_core.data.tables.header import check_columns, check_header, check_names
from prism_core.data.tables.raw_table import from_frame, read_table
from prism_core.errors import TableError
from prism_core.runs import inputs
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


def without_header(frame: pd.DataFrame, canary: str) -> str:
    """The rows alone; the first holds the canary."""
    rows = frame.copy()
    rows.loc[0, "ward"] = canary
    return rows.to_csv(index=False, header=False)


def outline(folder: Path) -> None:
    """Let the schema have a column that is to be learned."""
    text = (folder / "schema.yaml").read_text()
    (folder / "schema.yaml").write_text(
        text.replace("columns:", "columns:\n- {name: dose2, kind: categorical, learn: true}", 1)
    )


def before(config: Path, tmp_path: Path) -> dict[str, list[object]]:
    """Every command that opens the training table."""
    what_if = tmp_path / "what-if.toml"
    what_if.write_text('[[scenario]]\nname = "more"\n[scenario.budget]\nepsilon = 2.0\n')
    out = tmp_path / "out"
    return {
        "check": ["check", config],
        "plan": ["plan", config],
        "what-if": ["plan", config, "--what-if", what_if],
        "wish": ["plan", config, "--target-error", 0.05],
        "protocol": ["protocol", config, "--out", out / "p.json"],
        "rehearse": ["rehearse", config, "--seeds", 1],
        "stand-in": ["rehearse", config, "--stand-in", config.parent / "train.csv"],
        "release": ["release", config, "--out", out, "--seed", 1],
        "learn-domain": ["learn-domain", config, "--out", out / "schema.yaml", "--seed", 1],
        "learn-dag": ["learn-dag", config, "--out", out / "dag.json", "--seed", 1],
        "comparator": ["comparator", config, "--method", "mst", "--out", out, "--seed", 1],
    }


DOORS = (
    "check",
    "plan",
    "what-if",
    "wish",
    "protocol",
    "rehearse",
    "stand-in",
    "release",
    "learn-domain",
    "learn-dag",
    "comparator",
)


@pytest.mark.privacy
@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("door", DOORS)
def test_a_table_without_its_header_is_refused_and_its_first_line_is_not_shown(
    door, large, prism, make_run, frame, canary, tmp_path, monkeypatch
):
    if large and door == "stand-in":
        pytest.skip("reads its table into memory")
    config = make_run()
    (config.parent / "train.csv").write_text(without_header(frame, canary))
    if door == "learn-domain":
        outline(config.parent)
    if large:
        monkeypatch.setattr(inputs, "IN_MEMORY", 0)
    ran = prism(*before(config, tmp_path)[door])
    said = ran.both
    assert ran.status == 2
    assert said.startswith("prism: header: The first line of 'train.csv' does not hold the names")
    assert said.count("\n") == 1
    assert canary not in said
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("door", DOORS)
def test_names_in_another_case_are_named_with_those_they_may_stand_for(
    door, prism, make_run, frame, tmp_path
):
    config = make_run()
    other = frame.rename(columns={"age": "AGE", "readmitted": " Readmitted"})
    other.to_csv(config.parent / "train.csv", index=False)
    if door == "learn-domain":
        outline(config.parent)
    ran = prism(*before(config, tmp_path)[door])
    said = ran.both
    assert ran.status == 2
    assert said.startswith("prism: header: The names of columns in 'train.csv' are not those")
    assert "it has 'AGE' for 'age', 'Readmitted' for 'readmitted'. Did you mean the same?" in said


@pytest.mark.privacy
def test_rows_after_a_run_are_looked_at_in_the_same_way(prism, make_run, frame, canary, tmp_path):
    config = make_run()
    run, bare = tmp_path / "made", tmp_path / "bare.csv"
    assert prism("release", config, "--out", run, "--seed", 1)[0] == 0
    bare.write_text(without_header(frame, canary))
    good = config.parent / "holdout.csv"
    for command in (
        ["evaluate", run, "--holdout", bare],
        ["evaluate", run, "--holdout", good, "--train", bare],
        ["evaluate", run, "--holdout", bare, "--private", 1, "--holdout-public", "--seed", 1],
        [
            "holdout",
            "open",
            run,
            "--holdout",
            bare,
            "--epsilon",
            1,
            "--holdout-public",
            "--seed",
            1,
        ],
    ):
        ran = prism(*command)
        said = ran.both
        assert ran.status == 2, said
        assert said.startswith("prism: header: The first line of 'bare.csv' does not hold"), said
        assert canary not in said


@pytest.mark.privacy
def test_a_frame_without_names_is_refused_before_anything_is_asked(schema, frame, canary):
    bare = read_table(without_header(frame, canary).encode(), name="bare.csv")
    synthesizer = PrismSynthesizer(
        schema=schema, target="readmitted", ledger=None, regime="predictive"
    )
    with pytest.raises(TableError, match="does not hold the names of columns") as caught:
        synthesizer.fit(bare)
    assert canary not in str(caught.value)
    with pytest.raises(TableError, match="'AGE' for 'age'"):
        synthesizer.fit(frame.rename(columns={"age": "AGE"}))


@pytest.mark.privacy
def test_a_value_that_is_the_name_of_a_column_is_not_shown():
    """`Other` is somebody's value here: one name alone makes no header."""
    with pytest.raises(TableError) as caught:
        check_columns(["other", "age", "sex"], ["Other", "43", "F"], "t.csv")
    assert "Other" not in str(caught.value)


@pytest.mark.privacy
def test_names_that_differ_in_case_are_told_by_their_places(tmp_path):
    (tmp_path / "t.csv").write_text("43,Meyer,meyer\n1,2,3\n")
    with pytest.raises(TableError, match="names in positions 2 and 3 that differ") as caught:
        open_table(Address("file", str(tmp_path / "t.csv")), tmp_path / "workspace")
    assert "eyer" not in str(caught.value)


@pytest.mark.privacy
def test_names_that_meet_are_told_by_their_places():
    with pytest.raises(TableError, match="positions 1 and 3; 2 and 4") as caught:
        check_header(["Meyer", "43", "Meyer", "43"], "t.csv")
    assert "Meyer" not in str(caught.value)
    assert "43" not in str(caught.value)


def test_one_absent_name_is_named():
    check_columns(["a", "b"], ["b", "x", "a"], "t.csv")
    with pytest.raises(TableError, match=r"The schema names 'c', but 't\.csv' has no such column"):
        check_columns(["a", "b", "c"], ["b", "x", "a"], "t.csv")


@pytest.mark.parametrize(
    "value", ["43", "-1.5", "1e3", "3,5", "12%", "2024-01-31", "31.01.2024", "true", "NA", "", "?"]
)
def test_what_looks_like_a_row_is_not_shown_as_names(value):
    with pytest.raises(TableError, match=r"looks like a row.* in position 2, so it is not shown"):
        check_names(["ward", value], "t.csv")


def test_ordinary_names_are_shown():
    check_names(["age", "icd10", "bmi_2024", "x1", "größe", "no."], "t.csv")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-32-be", "utf-32-le", "utf-8-sig"])
@pytest.mark.parametrize("door", ["plan", "release"])
def test_text_with_a_mark_is_read_as_the_mark_says(door, encoding, prism, make_run, tmp_path):
    """Whatever [table] calls its encoding."""
    config = make_run(table={"encoding": "latin-1"})
    train = config.parent / "train.csv"
    mark = "\ufeff" if encoding[-3:] in ("-be", "-le") else ""
    train.write_bytes((mark + train.read_text()).encode(encoding))
    command = ["plan", config, "--json"]
    if door == "release":
        command = ["release", config, "--out", tmp_path / "made", "--seed", 1, "--json"]
    ran = prism(*command)
    said = ran.both
    assert ran.status == 0, said
    assert json.loads(said)["n" if door == "plan" else "rows"] == (300 if door == "plan" else 200)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"%PDF-1.7\n", "a PDF file"),
        (b"PK\x03\x04\x14\0", "a ZIP archive, as Excel and Word"),
        (b"SQLite format 3\0", "a SQLite database"),
        (b"\x1f\x8b\x08\0", "a gzip file"),
    ],
)
def test_another_kind_of_file_is_named(content, kind):
    with pytest.raises(TableError, match=rf"is not a CSV: it is a binary file, {kind}"):
        read_table(content, name="t.csv")


def test_what_may_have_been_meant():
    known = ["age", "readmitted_30d", "ward"]
    assert (
        suggestion("Readmitted 30d", known) == " Did you mean 'readmitted_30d'? Correct the name."
    )
    assert suggestion("readmited_30d", known) == " Did you mean 'readmitted_30d'? Correct the name."
    assert suggestion("severity", known) == ""
    assert suggestion("AGE", iter(known)) == " Did you mean 'age'? Correct the name."


def test_a_frame_is_checked_by_its_own_names(frame):
    assert from_frame(frame).header == tuple(frame.columns)
