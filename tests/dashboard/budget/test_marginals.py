"""Allocation, weights and locks on the page Budget."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import replace

import pytest

from dashboard.budget import marginals_table
from dashboard.budget.marginals_table import LockRow
from dashboard.session.graph import EditedGraph
from prism_core.data.schema.column import Column
from tests.support.budget_page import again, now, page, table
from tests.support.pages import texts

pytestmark = pytest.mark.app


def test_every_allocation_reaches_the_plan(project):
    test = page(project)
    shares = {}
    for rule in ("closed_form", "tilted", "uniform"):
        now(test.selectbox, "allocation").select(rule).run()
        assert project.plan().budget.allocation == rule
        shares[rule] = [query.share for query in project.plan().queries][:3]
    assert len({round(share, 12) for share in shares["uniform"]}) == 1
    assert shares["closed_form"][2] > shares["tilted"][2] > shares["uniform"][2]
    now(test.selectbox, "allocation").select("tilted").run()
    now(test.slider, "tilt").set_value(1.0).run()
    assert project.plan().queries[2].share == pytest.approx(shares["closed_form"][2])


def test_the_joint_can_be_switched_off(project):
    small = {"age", "ward"}
    project.data.schema = replace(
        project.data.schema,
        columns=tuple(
            replace(column, levels=(0, 1)) if column.name in small else column
            for column in project.data.schema.columns
        ),
    )
    project.structure.graph = EditedGraph(edges=tuple((name, "Y") for name in sorted(small)))
    project.designs.plan.joint = True
    test = page(project)
    assert next(query.kind for query in project.plan().queries) == "joint"
    now(test.toggle, "joint").set_value(False).run()
    assert next(query.kind for query in project.plan().queries) == "pair"
    assert now(again(test).toggle, "joint").value is False


def test_at_most_so_many_3_ways(project):
    project.designs.plan.three_way = "model_error"
    test = page(project)
    now(test.number_input, "max_three_way").set_value(1).run()
    assert project.plan().three_way.rounds == 1
    labels = list(table(test)["marginal"])
    assert "1 3-way marginals, once chosen" in labels


def test_adaptive_rounds_are_paid_from_the_task(project):
    project.structure.graph = EditedGraph(edges=(("age", "Y"), ("<b>$x$</b>", "Y")))
    test = page(project)
    now(test.selectbox, "three_way").set_value("adaptive").run()
    ties = project.plan().three_way  # too much noise for rounds, and not for near copies
    labels = list(table(test)["marginal"])
    assert f"up to {ties.rounds} ties of two features, once found; else the pairs again" in labels
    now(test.text_input, "epsilon").set_value("0.1").run()
    assert project.plan().three_way is None
    assert any("No adaptive round" in warning.value for warning in test.warning)
    now(test.text_input, "epsilon").set_value("20.0").run()
    rounds = project.plan().three_way.rounds
    labels = list(table(test)["marginal"])
    assert f"up to {rounds} adaptive marginals, once chosen" in labels
    assert project.plan().budget.shares.choice == 0.0
    now(test.number_input, "max_three_way").set_value(1).run()
    assert project.plan().three_way.rounds == 1


def test_numeric_columns_by_moments(project):
    age = Column(name="age", kind="numeric", lower=0.0, upper=8.0, edges=(2.0, 4.0, 6.0))
    columns = tuple(age if c.name == "age" else c for c in project.data.schema.columns)
    project.use_schema(dataclasses.replace(project.data.schema, columns=columns))
    project.structure.graph = EditedGraph(edges=(("age", "Y"), ("<b>$x$</b>", "Y")))
    project.designs.plan.joint = False
    test = page(project)
    now(test.selectbox, "numeric_queries").set_value("moments").run()
    now(test.number_input, "numeric_bins").set_value(2).run()
    assert "moments" in {query.kind for query in project.plan().queries}
    assert any("moments" in label for label in table(test)["marginal"])
    now(again(test).selectbox, "numeric_queries").set_value("thresholds").run()
    now(test.number_input, "thresholds").set_value(1).run()
    kinds = {query.kind for query in project.plan().queries}
    assert "thresholds" in kinds
    assert "moments" not in kinds


def typed(monkeypatch, project, changes, rows, rev=None):
    """What the grid hands over when something was typed into it."""
    with monkeypatch.context() as patch:
        patch.setattr(marginals_table.st, "session_state", {"table": {"edited_rows": changes}})
        entries = project.designs.plan
        marginals_table._typed(entries, rows, "table", entries.rev if rev is None else rev)


ROWS = [
    LockRow(columns=("age", "Y"), share=0.25),
    LockRow(columns=("grade", "Y"), share=0.35),
    LockRow(columns=(), share=0.1),
]


def test_a_tick_locks_the_share_that_is_shown(project, monkeypatch):
    typed(monkeypatch, project, {0: {"locked": True}}, ROWS)
    assert project.designs.plan.budget.locks == {("age", "Y"): 0.25}
    query = project.plan().queries[0]
    assert (query.locked, query.share) == (True, pytest.approx(0.25))
    # Said again with another share behind it, the lock stays where it was set.
    typed(monkeypatch, project, {0: {"locked": True}}, [LockRow(columns=("age", "Y"), share=0.1)])
    assert project.designs.plan.budget.locks == {("age", "Y"): 0.25}


def test_a_typed_share_locks_and_the_others_share_the_rest(project, monkeypatch):
    project.designs.plan.three_way = "none"  # nothing is looked for, with a lock or without
    before = [query.share for query in project.plan().queries]
    typed(monkeypatch, project, {"1": {"share": 60.0}}, ROWS)
    after = [query.share for query in project.plan().queries]
    assert after[2] != before[2]
    assert after[1] < before[1]
    assert math.fsum(after[:3]) == pytest.approx(0.8)
    assert math.fsum(after[:3]) <= 0.8
    test = page(project)
    frame = table(test)
    assert list(frame["locked"][:3]) == [False, False, True]
    assert frame.loc[frame["locked"], "share"].item() == 60.0
    assert "1 share locked" in texts(test)
    test.button(key="locks_clear").click().run()
    assert project.designs.plan.budget.locks == {}
    assert [query.share for query in project.plan().queries] == before


def test_a_table_that_was_put_away_locks_nothing_any_more(project, monkeypatch):
    before = project.designs.plan.rev
    project.designs.plan.renew()
    typed(monkeypatch, project, {"0": {"locked": True}}, ROWS, rev=before)
    assert project.designs.plan.budget.locks == {}


def test_unticking_unlocks_and_the_table_starts_anew(project, monkeypatch):
    typed(monkeypatch, project, {1: {"share": 50.0}}, ROWS)
    rev = project.designs.plan.rev
    typed(monkeypatch, project, {1: {"share": 50.0, "locked": False}}, ROWS)
    assert project.designs.plan.budget.locks == {}
    assert project.designs.plan.rev != rev


@pytest.mark.parametrize("share", [90.0, 0.0, -1.0, 300.0])
def test_a_lock_that_cannot_be_is_a_sentence_and_stays_to_be_corrected(project, monkeypatch, share):
    typed(monkeypatch, project, {1: {"share": share}}, ROWS)
    test = page(project)
    assert "lock" in texts(test).lower()
    assert "To go on" in texts(test)
    frame = table(test)
    assert frame.loc[frame["locked"], "share"].item() == share


def test_a_weight_counts_and_an_unusable_one_is_a_sentence(project):
    project.designs.plan.weights = {"age": 3.0}
    plain, weighted = page(project), project.plan().queries
    assert weighted[0].weight > weighted[1].weight
    assert not plain.error
    project.designs.plan.weights = {"age": 0.0}
    test = page(project)
    assert "weight of 'age' must be a number above 0" in texts(test)
    assert table(test, "weight")["weight"].iloc[0] == 0.0
