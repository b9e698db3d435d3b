"""Stand-in rows: they follow the graph, the stated strengths and shifts, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import from_frame, read_table
from prism_core.errors import EvaluationError, PrivacyError, StructureError, TableError
from prism_core.rehearsal import from_graph, from_rows, from_sample
from prism_core.rehearsal.stand_in_rows import MOST_ROWS, load, save
from prism_core.samples import catalogue
from prism_core.samples.additive_scm import (
    LARGEST_SCORE,
    SHIFTS,
    STRENGTHS,
    AdditiveScm,
    sparse_graph,
)
from prism_core.structure.dag import Dag


def columns(*names: str) -> Schema:
    """Two-valued columns, all that a table of odds needs."""
    return Schema(
        columns=tuple(Column(name=name, kind="boolean") for name in names), one_row_per_person=True
    )


def world(*edges: str, names: str = "ABYC", **more) -> AdditiveScm:
    return AdditiveScm(
        schema=columns(*names),
        dag=Dag(nodes=tuple(names), edges=tuple(map(tuple, edges))),
        target="Y",
        **more,
    )


def drawn(made: AdditiveScm, rows: int = 500, seed: int = 1, shift="none") -> np.ndarray:
    return made.draw(rows, np.random.default_rng(seed), shift)


def test_the_same_seed_gives_the_same_rows_and_another_world_others():
    made = world("AY", "YC")
    assert (drawn(made) == drawn(made)).all()
    assert (drawn(made) != drawn(made, seed=2)).any()
    assert (drawn(made) != drawn(replace(made, seed=9))).any()


def test_another_edge_changes_only_what_it_points_to_and_what_follows():
    """In topological order A, B, C, Y; C is drawn before Y in both worlds."""
    before, after = world("AC", "CY", names="ABCY"), world("AC", "CY", "BY", names="ABCY")
    assert (drawn(before)[:, :3] == drawn(after)[:, :3]).all()
    assert (drawn(before)[:, 3] != drawn(after)[:, 3]).any()


def test_strengths_into_one_column_are_scaled_down_together():
    names = (*(f"X{i}" for i in range(40)), "Y")
    made = AdditiveScm(
        schema=columns(*names),
        dag=Dag(nodes=names, edges=tuple((x, "Y") for x in names[:-1])),
        target="Y",
        strength="strong",
    )
    effects = [made._effects[x, "Y"] for x in names[:-1]]
    assert np.hypot.reduce(effects) == pytest.approx(LARGEST_SCORE)
    assert 0.2 < drawn(made, 4_000)[:, -1].mean() < 0.8  # not all but certain


def test_many_causes_with_many_levels_need_no_table_of_their_combinations():
    names = (*(f"X{i}" for i in range(60)), "Y")
    wide = Schema(
        columns=tuple(Column(name=n, kind="ordinal", levels=tuple(range(50))) for n in names),
        one_row_per_person=True,
    )
    made = AdditiveScm(
        schema=wide, dag=Dag(nodes=names, edges=tuple((x, "Y") for x in names[:-1])), target="Y"
    )
    assert drawn(made, 200).shape == (200, 61)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"strength": "huge"}, "strength must be one of"),
        ({"strengths": {("A", "Y"): "huge"}}, "strength must be one of"),
        ({"strengths": {("B", "A"): "weak"}}, "no edge of the graph"),
        ({"target": "Q"}, "not a column"),
    ],
)
def test_an_impossible_world_is_refused(more, words):
    made = world("AY")
    with pytest.raises(StructureError, match=words):
        replace(made, **more)


@pytest.mark.parametrize("related", [0, 1, 2, 5, 100])
def test_a_random_sparse_graph_has_the_stated_neighbours(related):
    names = tuple("ABCDEFGHY")
    dag = sparse_graph(columns(*names), "Y", related, seed=3)
    near = len(dag.parents("Y")) + len(dag.children("Y"))
    assert near == min(related, 8)
    assert len(dag.parents("Y")) - len(dag.children("Y")) in (0, 1)
    assert dag == sparse_graph(columns(*names), "Y", related, seed=3)
    assert len({sparse_graph(columns(*names), "Y", 4, seed=s).edges for s in range(5)}) > 1


# --- tables -----------------------------------------------------------------------------------


def test_rows_from_a_graph_say_what_they_are(schema):
    dag = Dag(nodes=schema.names, edges=(("age", "readmitted"), ("readmitted", "ward")))
    made = from_graph(schema, "readmitted", 700, dag, holdout=300)
    assert made.train.n == 700
    assert {table.n for table in made.holdouts.values()} == {300}
    assert made.shifts == ("none", "children", "parents")
    assert made.train.public
    assert made.notes == ()
    assert made.dag == dag
    assert made.hash == from_graph(schema, "readmitted", 700, dag, holdout=300).hash
    assert made.hash != from_graph(schema, "readmitted", 700, dag, holdout=300, seed=1).hash


def test_without_a_graph_one_is_assumed_and_said_and_not_believed(schema):
    made = from_graph(schema, "readmitted", 300)
    assert made.dag is None
    assert "random sparse one stands in" in made.notes[0]


def test_a_shift_that_the_graph_has_no_mechanism_for_is_not_offered(schema):
    dag = Dag(nodes=schema.names, edges=(("age", "readmitted"),))
    made = from_graph(schema, "readmitted", 300, dag)
    assert made.shifts == ("none", "parents")
    assert "no children in the graph" in made.notes[0]


def test_very_many_rows_are_capped_with_a_note():
    made = from_graph(columns("A", "Y"), "Y", 10 * MOST_ROWS, Dag(nodes="AY", edges=(("A", "Y"),)))
    assert made.train.n == MOST_ROWS
    assert "10 times as much" in made.notes[0]


@pytest.mark.parametrize(
    ("name", "shifts"),
    [("scm_spurious", ("none", "children")), ("scm_marginal", ("none", "parents"))],
)
def test_a_sample_stands_in_with_its_own_graph_and_shift(name, shifts):
    made = from_sample(name)
    sample = catalogue.load(name)
    assert set(made.shifts) == set(shifts)
    assert made.target == sample.target
    assert made.train.n == sample.train.rows
    # Fresh rows of the same law, not the training rows again.
    assert (made.holdouts["none"].codes != made.train.codes).any()


def test_a_public_file_stands_in_without_a_shift(schema, frame):
    raw = from_frame(frame, "open.csv")
    made = from_rows(schema, "readmitted", raw)
    assert made.train.n == 240
    assert made.holdouts["none"].n == 60
    assert made.shifts == ("none",)
    assert "no shift is defined" in made.notes[0]
    assert made.schema == schema


def test_a_public_file_is_encoded_row_by_row_whatever_the_person_is(schema, frame):
    with_id = replace(schema, one_row_per_person=False, person_id="mrn", persons=5_000)
    made = from_rows(with_id, "readmitted", from_frame(frame, "open.csv"))
    assert made.train.n == 240
    assert made.schema.person_id == "mrn"


def test_a_file_without_the_declared_columns_is_refused(schema):
    with pytest.raises(TableError, match="age"):
        from_rows(schema, "readmitted", read_table(b"a,b\n1,2\n3,4\n"))


def test_a_stand_in_travels_as_files(tmp_path, schema):
    dag = Dag(nodes=schema.names, edges=(("age", "readmitted"),))
    for made in (from_graph(schema, "readmitted", 90, dag), from_graph(schema, "readmitted", 90)):
        save(made, tmp_path)
        again = load(tmp_path)
        assert again.hash == made.hash
        assert (again.title, again.notes, again.dag) == (made.title, made.notes, made.dag)
        assert again.shifts == made.shifts
        assert again.train.public


@pytest.mark.privacy
def test_a_private_table_never_stands_in(schema):
    made = from_graph(schema, "readmitted", 100)
    private = replace(made.train, public=False)
    with pytest.raises(PrivacyError, match="public rows only"):
        replace(made, train=private)
    with pytest.raises(PrivacyError, match="public rows only"):
        replace(made, holdouts={"none": replace(made.holdouts["none"], public=False)})


def test_rows_that_teach_nothing_are_refused(schema):
    made = from_graph(schema, "readmitted", 100)
    codes = made.train.codes.copy()
    codes[:, -1] = 1
    with pytest.raises(EvaluationError, match="single class"):
        replace(made, train=EncodedTable(schema=schema, codes=codes, public=True))
    with pytest.raises(EvaluationError, match="without a shift"):
        replace(made, holdouts={"children": made.holdouts["none"]})


def test_a_target_of_too_many_classes_is_refused():
    many = Schema(
        columns=(
            Column(name="A", kind="boolean"),
            Column(name="Y", kind="ordinal", levels=tuple(range(101))),
        ),
        one_row_per_person=True,
    )
    with pytest.raises(EvaluationError, match="between 2 and"):
        from_graph(many, "Y", 500)


@st.composite
def worlds(draw: st.DrawFn) -> AdditiveScm:
    schema = draw(st.from_type(Schema))
    names = draw(st.permutations(schema.names))
    pairs = [(u, v) for i, u in enumerate(names) for v in names[i + 1 :]]
    edges = tuple(draw(st.lists(st.sampled_from(pairs), unique=True)))
    return AdditiveScm(
        schema=schema,
        dag=Dag(nodes=schema.names, edges=edges),
        target=names[0],
        strength=draw(st.sampled_from(STRENGTHS)),
        seed=draw(st.integers(0, 2**31)),
    )


@given(worlds(), st.sampled_from(SHIFTS), st.integers(0, 30))
def test_every_code_is_declared(world, shift, rows):
    codes = world.draw(rows, np.random.default_rng(0), shift)
    assert codes.shape == (rows, len(world.schema.columns))
    for column, drawn in zip(world.schema.columns, codes.T, strict=True):
        assert ((drawn >= 0) & (drawn < column.size)).all()


@given(st.from_type(Schema), st.integers(0, 9), st.integers(0, 99))
def test_a_random_graph_is_acyclic_and_over_the_columns(schema, related, seed):
    target = schema.names[-1]
    dag = sparse_graph(schema, target, related, seed)  # a Dag checks itself at birth
    assert dag.nodes == schema.names
    assert len(dag.parents(target)) + len(dag.children(target)) == min(
        related, len(schema.names) - 1
    )
