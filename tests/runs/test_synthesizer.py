"""The facade: fit once, sample as often as wanted."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import (
    BudgetError,
    OverspentError,
    PlanError,
    PrivacyError,
    TableError,
    TaskError,
)
from prism_core.planning.wishes.task import Synthesis
from prism_core.privacy.ledger import Ledger
from prism_core.structure.dag import Dag
from prism_core.synthesizer import PrismSynthesizer, SameRowsWarning, UncheckedWarning
from tests.support.refusals import refused

DAG = Dag(nodes=("age", "readmitted"), edges=(("age", "readmitted"),))


@pytest.fixture
def make(schema):
    def build(**changes) -> PrismSynthesizer:
        entries = {
            "schema": schema,
            "target": "readmitted",
            "dag": DAG,
            "ledger": None,
            "synthesis": Synthesis(model="naive_bayes"),
        }
        return PrismSynthesizer(**{**entries, **changes})

    return build


def test_fit_and_sample(make, schema, frame):
    fitted = make().fit(frame)
    assert fitted.release_.stamp == "release without a ledger"
    rows = fitted.sample(50)
    assert list(rows.columns) == list(schema.names)
    assert len(rows) == 50
    assert rows["age"].between(18, 89).all()
    again = [fitted.sample(50, np.random.default_rng(3)) for _ in range(2)]
    pd.testing.assert_frame_equal(*again)


def test_typed_and_raw_tables_are_the_same(make, frame):
    typed = frame.astype({"age": int, "grade": int, "dose": float})
    for table in (typed, RawTable(frame)):
        assert make().fit(table).release_.plan.n == 300


@pytest.mark.parametrize("rows", [0, -1, 2.5, float("nan"), True, "10", None])
def test_rows_are_a_whole_number_above_0(make, frame, rows):
    fitted = make().fit(frame)
    with refused(PlanError, "rows"):
        fitted.sample(rows)


def test_sample_comes_after_fit(make):
    with pytest.raises(PlanError, match="Call fit before sample"):
        make().sample(5)


@pytest.mark.privacy
def test_the_ledger_must_be_named_or_refused(schema):
    with pytest.raises(TypeError, match="ledger"):
        PrismSynthesizer(schema=schema, target="readmitted")


@pytest.mark.privacy
def test_every_fit_is_charged_and_sampling_is_not(make, frame, tmp_path):
    ledger = Ledger(tmp_path)
    ledger.register("ward 7", epsilon=1.0, delta=1e-5)
    fitted = make(ledger=ledger, asset="ward 7", epsilon=0.7).fit(frame)
    assert fitted.release_.stamp == "release"
    for _ in range(3):
        fitted.sample(10)
    assert [charge.state for charge in ledger.charges()] == ["done"]
    with pytest.raises(OverspentError, match="lifetime epsilon of 1;"):
        make(ledger=ledger, asset="ward 7", epsilon=0.9).fit(frame)
    assert len(ledger.charges()) == 1


@pytest.mark.privacy
def test_two_fits_differ(make, frame):
    first, second = (make().fit(frame).release_.measurements for _ in range(2))
    assert any((a.values != b.values).any() for a, b in zip(first, second, strict=True))


def test_refusals_pass_through(make, frame, schema):
    with pytest.raises(TaskError, match="is not a column"):
        make(target="Y").fit(frame)
    with pytest.raises(TableError, match="no such column"):
        make().fit(frame.drop(columns="age"))
    with pytest.raises(PrivacyError, match="protects one row"):
        make(schema=Schema(columns=schema.columns)).fit(frame)


def test_persons_are_the_unit(make, schema, frame):
    people = Schema(columns=schema.columns, person_id="who", persons=100)
    fitted = make(schema=people).fit(frame.assign(who=[i % 100 for i in range(300)]))
    assert fitted.release_.plan.n == 100
    assert "who" not in fitted.sample(5).columns
    with pytest.raises(PrivacyError, match="declares 100 persons"):
        make(schema=people).fit(frame.assign(who=range(300)))


def test_the_ways_of_choosing_reach_the_plan(make, frame):
    wide = {"regime": "predictive", "k": 2, "dag": None}
    for rule in ("one_shot", "mutual_information"):
        made = make(**wide, selection=rule).fit(frame).release_
        assert made.plan.task.selection == rule
        assert len(made.plan.s) == 2
    quick = Synthesis(iterations=20, rows=50)
    found = make(**{**wide, "k": 3}, three_way="cmi", synthesis=quick).fit(frame).release_.plan
    assert found.task.three_way == "cmi"
    assert any(query.kind == "three-way" for query in found.queries)
    with pytest.raises(TaskError, match="selection must be one of"):
        make(selection="best")
    with pytest.raises(TaskError, match="three_way must be one of"):
        make(three_way="all")


def test_the_accountant_changes_the_noise(make, frame, tmp_path):
    pytest.importorskip("dp_accounting")
    ledger = Ledger(tmp_path)
    ledger.register("ward 7", epsilon=2.0, delta=1e-5)
    sigmas = []
    for name in ("zcdp", "pld"):
        plan = make(accountant=name, ledger=ledger, asset="ward 7").fit(frame).release_.plan
        sigmas.append(plan.queries[0].sigma)
    assert 0.8 < sigmas[1] / sigmas[0] < 0.97
    charges = ledger.charges()
    assert charges[1].rho > charges[0].rho  # the ledger is charged what composes
    with pytest.raises(BudgetError, match="charged under zCDP"):
        make(accountant="basic", ledger=ledger, asset="ward 7").fit(frame)


@pytest.mark.privacy
def test_the_same_rows_under_a_second_name_are_told(make, frame, tmp_path):
    ledger = Ledger(tmp_path)
    for name in ("ward 7", "ward seven"):
        ledger.register(name, epsilon=1.0, delta=1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UncheckedWarning)
        first = make(ledger=ledger, asset="ward 7", epsilon=0.2).fit(frame)
        assert first.notice_ == ""
        make(ledger=None).fit(frame)  # nothing is remembered without a ledger
    second = make(ledger=ledger, asset="ward seven", epsilon=0.2)
    with pytest.warns(SameRowsWarning, match="already charged under .*ward 7"):
        second.fit(frame)
    assert "ward 7" in second.notice_
    assert second.release_.stamp == "release"  # told, not refused
    second.fit(frame.iloc[:250])
    assert second.notice_ == ""


def test_where_bins_are_found_rows_drawn_later_are_those_of_the_release(make):
    rng = np.random.default_rng(0)
    age = rng.integers(18, 95, 20_000)
    ill = rng.random(20_000) < np.where(age < 40, 0.1, np.where(age < 70, 0.3, 0.9))
    found = Column(
        name="age",
        kind="numeric",
        lower=0,
        upper=120,
        decimals=0,
        edges=tuple(range(10, 120, 10)),
        open_bins=True,
    )
    schema = Schema(
        columns=(found, Column(name="readmitted", kind="boolean")), one_row_per_person=True
    )
    rows = pd.DataFrame({"age": age.astype(str), "readmitted": np.where(ill, "true", "false")})
    fitted = make(schema=schema, synthesis=Synthesis(), epsilon=4.0).fit(rows)
    assert fitted.release_.plan.parts is not None
    drawn = pd.to_numeric(fitted.sample(5_000)["age"])
    assert drawn.between(15, 99).mean() > 0.97  # decoded by the declared bins some are 110 and more
    assert abs(drawn.mean() - pd.to_numeric(fitted.release_.table["age"]).mean()) < 1.5
