"""Learning how many rows of a person to use: what is counted, what is chosen, what is written."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import prism_core
from prism_core.cli import main
from prism_core.data.schema import schema_file
from prism_core.data.tables.raw_table import RawTable, from_frame
from prism_core.errors import PlanError, SchemaError
from prism_core.learning.domain.domain_plan import design_domain
from prism_core.learning.domain.learned_domain import chosen_bound, learn_domain, rows_kept
from prism_core.learning.domain.outline_io import dumps_outline, has_requests, loads_outline
from prism_core.learning.domain.requests import CategoryRequest, Outline, RowsRequest
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Task
from prism_core.privacy.ledger import Ledger
from tests.support.noise import Tape
from tests.support.outlines import Y
from tests.support.receipts import without_receipts

TEXT = """
person_id: who
persons: 1000
learn: max_rows
columns:
  - {name: ward, kind: categorical, levels: [north, south]}
  - {name: y, kind: boolean}
"""


def table(*rows: int, names: str = "abcdefgh") -> RawTable:
    """So many rows of each person."""
    who = [name for name, often in zip(names, rows, strict=False) for _ in range(often)]
    return RawTable(pd.DataFrame({"who": who, "y": ["yes"] * len(who)}, dtype=object))


def plan_for(persons: int, most: int = 3, epsilon: float = 1.0):
    asked = Outline(
        columns=(Y,), person_id="who", persons=persons, learn_rows=RowsRequest(most=most)
    )
    return design_domain(asked, epsilon, 1e-3, persons, share=0.5)


def run(plan, raw, noise):
    return learn_domain(plan, raw, ledger=None, noise=noise, rng=np.random.default_rng(0))


def handed_over(rows, most=3, names="abcdefgh"):
    tape = Tape()
    run(plan_for(len(rows), most), table(*rows, names=names), tape)
    ((counts, _),) = tape.counts
    return counts


@pytest.mark.privacy
@pytest.mark.parametrize("persons", [2, 3])
def test_every_small_table_of_people_and_every_replaced_person(persons):
    """T-SENS on the exact vector: one cell a person, whatever she has; sqrt(2) is reached."""
    worst = 0.0
    vectors = {rows: handed_over(rows) for rows in itertools.product(range(1, 6), repeat=persons)}
    for rows, vector in vectors.items():
        few = [rows.count(1), rows.count(2)]
        assert vector.tolist() == [*few, persons - sum(few)]
        for place, other in itertools.product(range(persons), range(1, 6)):
            moved = vectors[(*rows[:place], other, *rows[place + 1 :])]
            worst = max(worst, float(np.linalg.norm(vector - moved)))
    assert worst == math.sqrt(2.0)


@pytest.mark.privacy
@pytest.mark.parametrize("neighbour", [(2, 900), (1, 1), (2, 3)])
def test_replayed_on_a_neighbour_nothing_but_the_true_vector_moves(neighbour):
    """T-RECORD: other rows, and many more of them, of one person; another name, too."""
    before = (2, 1, 3, 1, 1, 2)
    after = list(before)
    after[neighbour[0]] = neighbour[1]
    plan = plan_for(len(before))
    tape = Tape()
    first = run(plan, table(*before), tape)
    replay = Tape(tape.outputs)
    second = run(plan, table(*after, names="abXdefgh"), replay)
    assert [(c.shape, s) for c, s in tape.counts] == [(c.shape, s) for c, s in replay.counts]
    schemas = [without_receipts(found.schema) for found in (first, second)]
    assert schemas[0] == schemas[1]
    assert schemas[0].prior == plan.prior()
    assert np.linalg.norm(tape.counts[0][0] - replay.counts[0][0]) <= math.sqrt(2.0)


@pytest.mark.privacy
@pytest.mark.parametrize(("frozen", "chosen"), [([0, 0, 6], 3), ([0, 6, 0], 2), ([6, 0, 0], 1)])
def test_what_is_chosen_follows_the_noisy_counts_alone(frozen, chosen):
    plan = plan_for(6, epsilon=1_000.0)
    for rows in ((1,) * 6, (9,) * 6, (1, 2, 3, 3, 1, 2)):
        schema = run(plan, table(*rows), Tape([np.array(frozen)])).schema
        assert schema.max_rows == chosen


@pytest.mark.privacy
def test_another_number_of_persons_is_refused_before_noise():
    with pytest.raises(PlanError) as refused:
        run(plan_for(3), table(1, 2), Tape())
    assert refused.value.field == "n"


@pytest.mark.privacy
def test_it_costs_a_gaussian_of_one_cell_and_leaves_the_rest():
    plan = plan_for(1_000)
    (event,) = plan.events
    assert (event.label, event.sensitivity) == ("learning rows per person", math.sqrt(2.0))
    whole = plan.spent.rho + plan.left_rho
    assert plan.spent.rho == pytest.approx(0.5 * whole, rel=1e-9)
    both = plan_for(1_000).outline
    two = design_domain(replace(both, columns=(CategoryRequest(name="w"), Y)), 1.0, 1e-3, 1_000)
    assert [e.label for e in two.events] == ["learning w", "learning rows per person"]
    assert two.events[0].sigma == two.events[1].sigma


# --- the rule --------------------------------------------------------------------------------


def people_of(rows_per_person, most):
    return np.bincount(np.minimum(rows_per_person, most), minlength=most + 1)[1:]


def test_rows_kept_are_those_of_the_table_where_there_is_no_noise():
    rows = np.random.default_rng(1).geometric(1 / 2.3, 5_000)
    kept = rows_kept(people_of(rows, 10), 5_000)
    np.testing.assert_allclose(kept, [np.minimum(rows, m).sum() for m in range(1, 11)])


@pytest.mark.parametrize("noisy", [[-900, 5, -3], [0, 0, 0], [10**6, -(10**6), 7], [3, 3, 10**9]])
def test_whatever_the_noise_says_rows_are_kept_as_people_can_have_them(noisy):
    kept = rows_kept(np.array(noisy), 100)
    steps = np.diff(kept, prepend=0.0)
    assert steps[0] == 100
    assert (steps >= 0).all()
    assert (np.diff(steps) <= 0).all()
    assert 1 <= chosen_bound(np.array(noisy), 100, [2, 2], 0.1) <= 3


def test_more_rows_are_taken_where_people_come_often_and_the_budget_is_large():
    once, often = np.full(20_000, 1), np.random.default_rng(2).geometric(1 / 6, 20_000)
    sizes = [4] * 10

    def chosen(rows, rho):
        return chosen_bound(people_of(rows, 10), 20_000, sizes, rho)

    assert chosen(once, 10.0) == 1
    by_budget = [chosen(often, rho) for rho in (1e-4, 1e-2, 1e-1, 1.0, 100.0)]
    assert by_budget == sorted(by_budget)
    assert by_budget[0] == 1
    assert by_budget[-1] == 10


# --- files, command line, facade -------------------------------------------------------------


@pytest.mark.parametrize(
    ("learn", "most"),
    [
        ("max_rows", 10),
        ("{max_rows: true}", 10),
        ("{max_rows: {}}", 10),
        ("{max_rows: {most: 4}}", 4),
    ],
)
def test_an_outline_asks_for_it_and_comes_back(learn, most):
    text = TEXT.replace("learn: max_rows", f"learn: {learn}")
    assert has_requests(text)
    found = loads_outline(text)
    assert found.learn_rows == RowsRequest(most=most)
    assert loads_outline(dumps_outline(found)) == found


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("learn: max_rows", "learn: rows", "learn"),
        ("learn: max_rows", "learn: {bins: 3}", "learn"),
        ("learn: max_rows", "learn: {max_rows: 3}", "learn.max_rows"),
        ("learn: max_rows", "learn: {max_rows: {least: 3}}", "learn.max_rows"),
        ("learn: max_rows", "learn: {max_rows: {most: 1}}", "learn.max_rows.most"),
        ("learn: max_rows", "learn: {max_rows: {most: 101}}", "learn.max_rows.most"),
        ("learn: max_rows", "learn: max_rows\nmax_rows: 3", "max_rows"),
        ("learn: max_rows", "learn: max_rows\nweighting: persons", "weighting"),
        ("person_id: who\npersons: 1000", "one_row_per_person: true", "person_id"),
    ],
)
def test_what_cannot_be_learned_is_refused_by_name(old, new, field):
    with pytest.raises(SchemaError) as refused:
        loads_outline(TEXT.replace(old, new))
    assert refused.value.field == field


def test_a_schema_that_is_still_to_be_learned_is_none():
    with pytest.raises(SchemaError, match="learn-domain"):
        schema_file.loads(TEXT)


def stays(persons: int = 1_000) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(persons), rng.integers(2, 7, persons))
    return pd.DataFrame(
        {
            "who": who.astype(str),
            "ward": rng.choice(["north", "south"], len(who)),
            "y": rng.choice(["yes", "no"], len(who)),
        }
    )


@pytest.mark.privacy
def test_learned_charged_released_and_told(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.register("stays", epsilon=20.0, delta=1e-6)
    raw, rng = from_frame(stays()), np.random.default_rng(1)
    plan = prism_core.design_domain(loads_outline(TEXT), 20.0, 1e-6, 1_000)
    learned = prism_core.learn_domain(plan, raw, ledger=ledger, asset="stays", rng=rng)
    schema = learned.schema
    # With the noise of this budget nobody is missed: people have 2 to 6 rows, all alike likely.
    assert schema.max_rows > 1
    assert (schema.provenance, schema.weighting) == ("declared", "rows")
    assert schema.rows_learned
    assert schema_file.loads(schema_file.dumps(schema)) == schema
    task = Task(target="y", regime="predictive", k=1)
    later = design(Brief(schema, task, Budget(epsilon=20.0, delta=1e-6), 1_000))
    assert later.contribution.max_rows == schema.max_rows
    table = prism_core.encode(schema, raw, rng=rng)
    prism_core.release(later, table, ledger=ledger, asset="stays", rng=rng)
    first, second = ledger.charges()
    assert first.rho == plan.spent.rho
    assert second.rho == later.total


def test_from_the_command_line(tmp_path, workspace, capsys):
    stays().to_csv(tmp_path / "train.csv", index=False)
    (tmp_path / "outline.yaml").write_text(TEXT, encoding="utf-8")
    (tmp_path / "learn.toml").write_text(
        '[table]\ntrain = "train.csv"\nschema = "outline.yaml"\npublic = true\n'
        '[task]\ntarget = "y"\nregime = "predictive"\nk = 1\n[budget]\nepsilon = 20.0\n',
        encoding="utf-8",
    )
    asked = ["learn-domain", str(tmp_path / "learn.toml"), "--out", str(tmp_path / "s.yaml")]
    assert main.main([*asked, "--seed", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["columns"] == []
    schema = schema_file.load(tmp_path / "s.yaml")
    assert document["max_rows"] == schema.max_rows
    assert main.main([*asked[:-1], str(tmp_path / "t.yaml"), "--seed", "1"]) == 0
    assert f"max_rows = {schema.max_rows} in" in capsys.readouterr().out


def test_a_column_to_be_learned_does_not_have_the_name_of_the_rows_of_a_person():
    """Else the papers would say of it that rows were counted."""
    with pytest.raises(SchemaError, match="'rows per person'") as refused:
        Outline(columns=(Y, CategoryRequest(name="rows per person")), one_row_per_person=True)
    assert refused.value.field == "columns"
