"""Whatever is declared, rows can be drawn for it, and every code is one of the domain."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from prism_core.data.schema import Schema
from prism_core.planning.stand_in import SHIFTS, STRENGTHS, Mechanisms, sparse_graph
from prism_core.structure.dag import Dag


@st.composite
def worlds(draw: st.DrawFn) -> Mechanisms:
    schema = draw(st.from_type(Schema))
    names = draw(st.permutations(schema.names))
    pairs = [(u, v) for i, u in enumerate(names) for v in names[i + 1 :]]
    edges = tuple(draw(st.lists(st.sampled_from(pairs), unique=True)))
    return Mechanisms(
        schema=schema, dag=Dag(nodes=schema.names, edges=edges), target=names[0],
        strength=draw(st.sampled_from(STRENGTHS)), seed=draw(st.integers(0, 2**31)),
    )  # fmt: skip


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
