"""The record of what opened the rows: closed, written and read again, never a figure."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_core.data.schema import schema_file
from prism_core.data.schema.codebook_source import CodebookSource
from prism_core.data.schema.looks import (
    ACTS,
    Changed,
    Look,
    check_looks,
    file_name,
    from_list,
    merged,
    redeclared,
    sentences,
    this_minute,
    to_list,
    unsourced,
)
from prism_core.data.schema.schema import PROVENANCES
from prism_core.errors import SchemaError
from prism_core.learning.domain.domain_plan import design_domain
from prism_core.learning.domain.outline_io import dumps_outline, loads_outline
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Task

pytestmark = pytest.mark.privacy
WHEN = "2026-01-02 14:05"
COUNT = Look(did="counted cells outside", file="stays.csv", when=WHEN)
SOURCED = Changed(columns=("ward",), declared_from="codebook 3.2, page 14", when="2026-01-02 14:09")
BARE = Changed(columns=("ward",), declared_from="", when="2026-01-02 14:09")

lines = st.text(st.characters(categories=("L", "N", "P", "Zs")), min_size=1, max_size=20).filter(
    lambda text: text == text.strip() and text.isprintable()
)
moments = st.datetimes().map(lambda day: day.replace(year=2020 + day.year % 50))
minutes = moments.map(lambda day: day.strftime("%Y-%m-%d %H:%M"))
seen = st.builds(Look, did=st.sampled_from(ACTS), file=lines.map(file_name), when=minutes)
made = st.builds(
    Changed,
    columns=st.lists(lines, min_size=1, max_size=3, unique=True).map(tuple),
    declared_from=lines | st.just(""),
    when=minutes,
)
records = st.tuples(seen, st.lists(seen | made, max_size=4)).map(lambda both: (both[0], *both[1]))


@given(records)
def test_a_record_is_read_as_it_was_written(record):
    assert from_list(to_list(record)) == record


@given(records, records)
def test_putting_records_together_loses_nothing_and_repeats_nothing(one, other):
    both = merged(one, other)
    assert merged(both, one) == merged(both, other) == both
    assert set(both) == {*one, *other}
    if all(_in_time(record) for record in (one, other)):
        assert _in_time(both)
    places = iter(both)  # where a clock was set back, a change stays behind the look it followed
    assert all(event in places for event in one)


def _in_time(record):
    return [event.when for event in record] == sorted(event.when for event in record)


def test_the_same_look_twice_in_a_minute_is_two_looks():
    assert merged((COUNT, COUNT), (COUNT,)) == (COUNT, COUNT)
    assert "opened 2 times" in sentences((COUNT, COUNT))[0]
    assert "opened once" in sentences((COUNT,))[0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Look(did="guessed", file="a", when=WHEN),  # type: ignore[arg-type]
        lambda: Look(did="previewed rows", file="/home/x/a.csv", when=WHEN),
        lambda: Look(did="previewed rows", file="", when=WHEN),
        lambda: Look(did="previewed rows", file="a\nb", when=WHEN),
        lambda: Look(did="previewed rows", file="a", when="yesterday"),
        lambda: Look(did="previewed rows", file="a", when="2026-1-2 14:05"),
        lambda: Changed(columns=(), declared_from="", when=WHEN),
        lambda: Changed(columns=("a", "a"), declared_from="", when=WHEN),
        lambda: Changed(columns=("a",), declared_from=" x", when=WHEN),
        lambda: Changed(columns=("a",), declared_from=None, when=WHEN),  # type: ignore[arg-type]
        lambda: from_list("a"),
        lambda: from_list([{"did": "previewed rows", "file": "a", "when": WHEN, "cells": 12}]),
        lambda: from_list([{"changed": "ward", "when": WHEN}]),
        lambda: from_list([3]),
    ],
)
def test_what_is_no_event_is_refused(make):
    with pytest.raises(SchemaError):
        make()


def test_a_change_without_a_source_is_private_whatever_the_schema_says(schema):
    codebook = CodebookSource(name="survey.csv", sha256="0a" * 32, format="redcap")
    for provenance in PROVENANCES:
        if provenance == "dp":
            continue
        source = codebook if provenance == "codebook" else None
        entries = {"provenance": provenance, "codebook": source}
        if provenance == "private rows":
            assert replace(schema, **entries, looks=(COUNT, BARE)).looks
            continue
        with pytest.raises(SchemaError, match="no source is named"):
            replace(schema, **entries, looks=(COUNT, BARE))
        assert replace(schema, **entries, looks=(COUNT, SOURCED)).looks
    with pytest.raises(SchemaError, match="first of the looks"):
        replace(schema, looks=(SOURCED,))
    check_looks((COUNT, BARE), "declared", ["another column"])  # the column is gone


def test_the_last_change_of_a_column_counts():
    later = replace(SOURCED, when="2026-01-02 15:00")
    assert unsourced((COUNT, BARE), ["ward"]) == ("ward",)
    assert unsourced((COUNT, BARE, later), ["ward"]) == ()
    assert unsourced((COUNT, later, BARE), ["ward"]) == ("ward",)


def test_a_change_is_recorded_only_after_a_look_and_only_where_something_changed():
    before, now = {"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}
    known = {"source": "book", "when": WHEN}
    assert redeclared((), (), before, now, **known) == ()
    assert redeclared((COUNT,), (), before, before, **known) == (COUNT,)
    (_, change) = redeclared((COUNT,), (), before, now, **known)
    assert change == Changed(columns=("b", "c"), declared_from="book", when=WHEN)
    (_, gone) = redeclared((COUNT,), (), now, before, **known)
    assert gone.columns == ("b", "c")
    persons = Look(did="counted persons", file="a", when=WHEN)
    assert redeclared((persons,), (), before, now, **known) == (persons,)
    # A file that tells of more than is on record tells its changes itself.
    assert redeclared((), (COUNT, SOURCED), {}, now, **known) == (COUNT, SOURCED)
    assert redeclared((COUNT,), (COUNT, SOURCED), before, now, **known) == (COUNT, SOURCED)
    assert len(redeclared((COUNT, SOURCED), (COUNT,), before, now, **known)) == 3
    # A whole document restates what had no source; a change of another column does not.
    assert redeclared((COUNT, BARE), (), {"ward": 1}, {"ward": 1}, **known, whole=True)[-1] == (
        Changed(columns=("ward",), declared_from="book", when=WHEN)
    )
    assert redeclared((COUNT, BARE), (), {"ward": 1}, {"ward": 1}, **known) == (COUNT, BARE)


def test_the_name_of_a_file_is_no_place():
    assert file_name("/home/meyer/stays 2024.csv") == "stays 2024.csv"
    assert file_name("C:\\data\\stays.csv") == "stays.csv"
    assert file_name("a\nb") == "a b"
    assert file_name("") == file_name("///") == "a table without a name"
    Look(did="previewed rows", file=file_name("x" * 999), when=this_minute())


def test_schema_and_outline_carry_it_through_their_files(schema):
    carried = replace(schema, looks=(COUNT, SOURCED))
    again = schema_file.loads(schema_file.dumps(carried))
    assert again == carried
    assert schema_file.loads(schema_file.dumps(carried, format="json")) == carried
    outline = loads_outline(
        schema_file.dumps(carried).replace(
            "- name: grade",
            "- {name: dose2, kind: numeric, lower: 0, upper: 9, learn: true}\n- name: grade",
            1,
        )
    )
    assert outline.looks == carried.looks
    assert loads_outline(dumps_outline(outline)).looks == carried.looks
    plan = design_domain(outline, 1.0, 1e-6, 500)
    columns = [request.column(0, 9, (4.0,)) for request in outline.requests]
    assert plan.schema(columns, plan.prior(1)).looks == carried.looks


def test_a_look_makes_another_plan_and_no_look_makes_none(schema):
    def planned(found):
        return design(
            Brief(found, Task(target="readmitted", regime="predictive", k=6), Budget(), 300)
        )

    plain, told = planned(schema), planned(replace(schema, looks=(COUNT,)))
    assert plain.hash == planned(replace(schema, looks=())).hash != told.hash
    assert told.to_dict()["looks"] == to_list((COUNT,))
    assert "looks" not in plain.to_dict()


def test_plan_on_the_command_line_says_it(make_run, schema, capsys):
    from prism_core.cli.main import main

    assert main(["plan", str(make_run(schema=replace(schema, looks=(COUNT, SOURCED))))]) == 0
    out = capsys.readouterr().out
    assert "Before the plan the rows were opened once without noise" in out
    assert "“stays.csv”" in out
    assert "codebook 3.2, page 14" in out
