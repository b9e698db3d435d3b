"""What does not fit the declaration: an error on public rows, a check asked for on private ones."""

from __future__ import annotations

import stat
from dataclasses import replace

import pandas as pd
import pytest

from prism_core.cli import main
from prism_core.data.coverage import ClippedWarning, check_covered, coverage
from prism_core.data.schema import look_file, schema_file
from prism_core.data.schema.column import Column
from prism_core.data.schema.looks import UNCHECKED, Changed, Look, checked
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import from_frame
from prism_core.errors import SchemaError, TableError
from prism_core.rehearsal.stand_in_rows import from_rows

LOOK = Look(did="counted cells outside", file="t.csv", when="2026-01-02 14:05")


def with_grade(schema, **changes) -> Schema:
    columns = [replace(c, **changes) if c.name == "grade" else c for c in schema.columns]
    return replace(schema, columns=tuple(columns))


def as_pandas_writes(frame):
    """Whole numbers with a blank among them."""
    grade = frame["grade"] + ".0"
    grade.iloc[0] = ""
    return frame.assign(grade=grade)


def released(config, out, *more) -> int:
    return main.main(["release", str(config), "--out", str(out), *more])


# --- public rows ----------------------------------------------------------------------------


def test_whole_numbers_written_with_decimals_are_the_levels(make_run, schema, frame, tmp_path):
    declared = with_grade(schema, levels=("1", "2", "3"), nullable=True)
    config = make_run(frame=as_pandas_writes(frame), schema=declared, budget={"epsilon": 50.0})
    assert released(config, tmp_path / "out", "--seed", "1") == 0
    made = pd.read_csv(tmp_path / "out" / "synthetic.csv", dtype=str)["grade"]
    real = frame["grade"].value_counts(normalize=True)
    assert made.value_counts(normalize=True).sub(real).abs().max() < 0.15


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"levels": ("one", "two")}, "more than half of the cells are none of the declared levels"),
        ({"levels": ("one", "two"), "other": "two"}, "not one cell is a declared level"),
        ({"levels": ("one", "two"), "nullable": True}, "would all become missing"),
        ({"levels": ("1",)}, "or declare other, the level"),
        ({"kind": "date", "levels": (), "lower": 0.0, "upper": 9_999.0}, "are no days"),
        ({"kind": "boolean", "levels": ()}, "none of the declared levels"),
    ],
)
def test_public_rows_that_do_not_fit_are_refused(
    make_run, schema, tmp_path, capsys, changes, words
):
    config = make_run(schema=with_grade(schema, **changes))
    assert released(config, tmp_path / "out", "--seed", "1") == 2
    said = capsys.readouterr().err
    assert "Column 'grade': " in said
    assert words in said
    assert not (tmp_path / "out").exists()


def test_numbers_beyond_the_bounds_are_clipped_as_declared_and_it_is_said(
    make_run, schema, tmp_path, capsys
):
    far = {"kind": "numeric", "levels": (), "lower": 100.0, "upper": 300.0}
    config = make_run(schema=with_grade(schema, **far))
    assert released(config, tmp_path / "out", "--seed", "1") == 0
    assert "Column 'grade': more than half of the cells lie beyond" in capsys.readouterr().err
    assert main.main(["check", str(config)]) == 0
    assert "are clipped to them" in capsys.readouterr().out


def test_in_python_clipping_is_a_warning(schema, frame):
    declared = with_grade(schema, kind="numeric", levels=(), lower=100.0, upper=300.0)
    with pytest.warns(ClippedWarning, match="'grade'"):
        check_covered(declared, from_frame(frame))


def test_texts_that_are_no_numbers_are_refused(schema, frame):
    declared = with_grade(schema, kind="numeric", levels=(), lower=0.0, upper=9.0)
    grade = frame["grade"].where(pd.Series(range(len(frame))) % 3 == 0, "high")
    with pytest.raises(TableError, match="are no numbers") as caught:
        check_covered(declared, from_frame(frame.assign(grade=grade)))
    assert caught.value.field == "grade"


def test_blank_cells_that_nobody_spoke_of_are_refused(make_run, schema, frame, tmp_path, capsys):
    blank = frame.assign(grade="")
    assert released(make_run(frame=blank), tmp_path / "out", "--seed", "1") == 2
    assert "declare nullable: true, or fill" in capsys.readouterr().err.lower()
    declared = with_grade(schema, fill=2)
    config = make_run(name="filled", frame=blank, schema=declared)
    assert released(config, tmp_path / "out", "--seed", "1") == 0


def test_half_of_the_cells_may_fall_where_nobody_said(schema, frame):
    rows = len(frame)
    for wrong, misfit in ((rows // 2, ""), (rows // 2 + 1, "values")):
        grade = frame["grade"].where(pd.Series(range(rows)) >= wrong, "9")
        found = coverage(schema, from_frame(frame.assign(grade=grade)))
        assert [each.misfit for each in found if each.column.name == "grade"] == [misfit]
        assert not any(each.misfit for each in found if each.column.name != "grade")


def test_a_declared_place_for_unknown_cells_is_no_default(schema, frame):
    mostly = frame.assign(ward=["east"] * 299 + ["north"])
    assert not any(each.misfit for each in coverage(schema, from_frame(mostly)))


def test_a_stand_in_that_does_not_fit_is_refused(schema, frame):
    declared = with_grade(schema, levels=("one", "two"))
    with pytest.raises(TableError, match="'grade': more than half"):
        from_rows(declared, "readmitted", from_frame(frame))


# --- private rows ---------------------------------------------------------------------------


@pytest.mark.privacy
def test_nothing_of_a_private_run_depends_on_what_fits(make_run, schema, tmp_path, capsys):
    said = []
    for name, levels in (("fits", ("1", "2", "3")), ("strange", ("4", "5", "6"))):
        config = make_run(
            name=name, schema=with_grade(schema, levels=levels), public=False, asset=9.0
        )
        out = tmp_path / f"out-{name}"
        assert released(config, out, "--workspace", str(tmp_path / name / "ws")) == 0
        said.append(capsys.readouterr().err)
    assert said[0] == said[1]
    assert said[0].count(UNCHECKED) == 1


@pytest.mark.privacy
def test_the_check_is_recorded_before_it_counts_and_then_nobody_is_reminded(
    make_run, schema, frame, tmp_path, capsys, canary
):
    rows = frame.assign(grade=[canary] * 299 + ["1"])
    config = make_run(frame=rows, public=False, asset=9.0)
    place = config.parent / "schema.yaml"
    text = place.read_text()
    assert main.main(["plan", str(config)]) == 0
    assert UNCHECKED in capsys.readouterr().err
    assert main.main(["check", str(config), "--workspace", str(tmp_path / "ws")]) == 2
    shown = capsys.readouterr().out
    lines = {line.split()[0]: line.split()[1:] for line in shown.splitlines() if line}
    assert lines["grade"] == ["299", "2"]
    assert lines["age"][0] == "0"
    assert "Column 'grade': more than half" in shown
    assert canary not in shown
    found = schema_file.load(place)
    assert [look.to_dict() | {"when": ""} for look in found.looks] == [
        {"did": LOOK.did, "file": "train.csv", "when": ""}
    ]
    assert place.read_text().startswith(text)
    assert "299" not in place.read_text()
    assert main.main(["plan", str(config)]) == 0
    told = capsys.readouterr()
    assert UNCHECKED not in told.err
    assert "train.csv" in told.out


def test_public_rows_are_checked_without_a_record(make_run, capsys):
    config = make_run()
    text = (config.parent / "schema.yaml").read_text()
    assert main.main(["check", str(config)]) == 0
    assert "cells lie outside" in capsys.readouterr().out
    assert (config.parent / "schema.yaml").read_text() == text
    assert main.main(["plan", str(config)]) == 0
    assert UNCHECKED not in capsys.readouterr().err


@pytest.mark.privacy
def test_no_count_without_its_record(make_run, capsys, monkeypatch):
    config = make_run(public=False, asset=9.0)

    def full(*_) -> None:
        raise OSError

    monkeypatch.setattr(look_file.files, "give", full)
    assert main.main(["check", str(config)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "nothing was counted" in told.err
    assert not [name for name in config.parent.iterdir() if name.name.startswith(".")]


def test_an_evaluation_says_which_column_does_not_fit(make_run, tmp_path, frame, capsys):
    config = make_run()
    assert released(config, tmp_path / "out", "--seed", "1") == 0
    frame.assign(grade="x").to_csv(tmp_path / "holdout.csv", index=False)
    capsys.readouterr()
    command = ["evaluate", str(tmp_path / "out"), "--holdout", str(tmp_path / "holdout.csv")]
    assert main.main(command) == 0
    assert "note: holdout.csv: Column 'grade'" in capsys.readouterr().err


def test_a_change_after_a_check_asks_for_another():
    change = Changed(columns=("a",), declared_from="codebook", when=LOOK.when)
    preview = replace(LOOK, did="previewed rows")
    assert not checked(())
    assert checked((LOOK,))
    assert checked((LOOK, preview))
    assert not checked((LOOK, change))
    assert not checked((LOOK, change, preview))
    assert checked((LOOK, change, LOOK))


# --- the record -----------------------------------------------------------------------------

TWO = "columns:\n- {name: a, kind: boolean}\n# the outcome\n- {name: b, kind: boolean}\n"
EVENT = '- {did: previewed rows, file: "t.csv", when: 2026-01-01 10:00}'
TEXTS = {
    "new": TWO,
    "without an end": TWO.rstrip("\n"),
    "after the columns": f"{TWO}looks:\n{EVENT}\n",
    "before the columns": f"# codebook 3\nlooks:\n  {EVENT}\n{TWO}",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_look_is_added_and_all_else_stays_as_it_is_written(tmp_path, name):
    path = tmp_path / "s.yaml"
    path.write_text(TEXTS[name])
    path.chmod(0o640)
    before = schema_file.load(path)
    look_file.record(path, LOOK)
    after = schema_file.load(path)
    assert after.looks == (*before.looks, LOOK)
    assert after == replace(before, looks=after.looks)
    assert set(TEXTS[name].splitlines()) <= set(path.read_text().splitlines())
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    look_file.record(path, LOOK)
    assert schema_file.load(path).looks == (*before.looks, LOOK, LOOK)


@pytest.mark.parametrize("form", ["json", "yaml", "line", "braces"])
def test_a_look_is_added_to_every_writing_of_a_schema(tmp_path, schema, form):
    path = tmp_path / "s.yaml"
    seen = replace(schema, looks=(LOOK,))
    texts = {
        "json": schema_file.dumps(seen, format="json"),
        "yaml": schema_file.dumps(seen),
        "line": f"looks: [{EVENT[2:]}]\n{TWO}",
        "braces": "{columns: [{name: a, kind: boolean}]}",
    }
    path.write_text(texts[form])
    before = schema_file.load(path)
    look_file.record(path, replace(LOOK, file='a "b": {c}, #d — ü.csv'))
    after = schema_file.load(path)
    assert after.looks[:-1] == before.looks
    assert after.looks[-1].to_dict()["file"] == 'a "b": {c}, #d — ü.csv'
    assert after.columns == before.columns


def test_a_file_that_is_no_schema_is_left(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text("- 1\n")
    with pytest.raises(SchemaError, match="columns"):
        look_file.record(path, LOOK)
    assert path.read_text() == "- 1\n"


def test_advice_names_a_column_that_may_be_anything():
    column = Column(name="x", kind="numeric", lower=0.0, upper=1.0)
    (found,) = coverage(Schema(columns=(column,)), from_frame(pd.DataFrame({"x": [""] * 3})))
    assert (found.outside, found.different, found.misfit) == (3, 1, "empty")
    assert "the lower bound" in found.advice
