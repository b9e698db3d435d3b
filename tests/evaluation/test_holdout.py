"""The reusable holdout: sensitivity, charge, what is told, refusals, the command."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from prism_core.cli import main
from prism_core.data.encoding import EncodedTable
from prism_core.errors import (
    BudgetError,
    EvaluationError,
    LedgerError,
    OverspentError,
    PlanError,
    PrivacyError,
    TaskError,
)
from prism_core.evaluation import LEARNERS, fit
from prism_core.evaluation.inside_epsilon import holdout_state as state
from prism_core.evaluation.inside_epsilon.holdout import ask_holdout, open_holdout
from prism_core.evaluation.inside_epsilon.holdout_plan import UNITS, design_holdout
from prism_core.evaluation.inside_epsilon.holdout_question import (
    LOSS_CAP,
    METRICS,
    question,
    scores,
)
from prism_core.evaluation.tstr.scoring import accuracy
from prism_core.privacy.accountants.accountant import accountant
from prism_core.privacy.accountants.conversions import epsilon_to_rho
from prism_core.privacy.events import AboveThresholdEvent, LaplaceEvent, event_dict
from prism_core.privacy.ledger import Ledger, composition
from prism_core.privacy.noise import SeededNoise
from prism_core.privacy.sparse_vector import SparseVector, asked, opened
from tests.support.holdouts import ALL, FAR, HELD, LOSS, MADE, ONE, SCHEMA, plan_of, rows, schema_of
from tests.support.noise import Script

pytestmark = pytest.mark.privacy


class Frozen(Script):
    """The outputs themselves are given, whatever was handed over."""

    def add_discrete_laplace(self, counts, scale):
        self.asked.append((int(counts[0]), scale))
        return np.array([self.outputs.pop(0)])


# --- sensitivity ---------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(("classes", "nullable"), [(2, False), (2, True), (3, False)])
def test_every_small_holdout_and_every_replaced_row(classes, nullable, learner):
    """T-SENS on the exact totals and gaps: at most `UNITS`, and at least half of it is reached."""
    schema = schema_of(classes, nullable=nullable)
    fitted = fit(learner, rows(200, schema, 1, public=True), target="y")
    people = list(itertools.product((0, 5), (1,), range(schema["y"].size)))
    held = list(itertools.product(people, repeat=2))
    for metric in METRICS:
        totals = {}
        for codes in held:
            table = EncodedTable(schema=schema, codes=np.array(codes))
            found = scores(fitted, metric, table, "y")
            assert found.dtype == np.int64
            assert found.min() >= 0
            assert found.max() <= UNITS
            totals[codes] = int(found.sum())
        moves = [
            (totals[codes], totals[(*codes[:place], other, *codes[place + 1 :])])
            for codes in held
            for place in range(2)
            for other in people
        ]
        assert UNITS / 2 <= max(abs(a - b) for a, b in moves) <= UNITS
        for expected in (0, UNITS // 3, UNITS, 2 * UNITS):  # what is compared with the threshold
            assert max(abs(abs(expected - a) - abs(expected - b)) for a, b in moves) <= UNITS


def test_scores_are_those_of_the_metrics():
    fitted = fit(LEARNERS[0], MADE, target="y")
    proba, y = fitted.probabilities(HELD), HELD.column("y")
    assert scores(fitted, "accuracy", HELD, "y").sum() == round(accuracy(y, proba) * HELD.n) * UNITS
    loss = np.minimum(-np.log(proba[np.arange(HELD.n), y]), LOSS_CAP)
    found = scores(fitted, "log_loss", HELD, "y") / UNITS * LOSS_CAP
    assert np.abs(found - loss).max() <= LOSS_CAP / UNITS / 2 * (1 + 1e-9)
    gone = schema_of(nullable=True)
    codes = np.array(rows(50, gone, 3).codes)
    codes[:10, 2] = gone["y"].missing_code
    table = EncodedTable(schema=gone, codes=codes)
    fitted = fit(LEARNERS[0], rows(200, gone, 1, public=True), target="y")
    assert (scores(fitted, "accuracy", table, "y")[:10] == 0).all()
    assert (scores(fitted, "log_loss", table, "y")[:10] == UNITS).all()


def test_what_is_handed_over_moves_with_one_row_and_nothing_else_does(work, tmp_path):
    """T-RECORD: frozen outputs on a neighbour: the same calls, scales and answers."""
    codes = np.array(HELD.codes)
    codes[7] = [5 - codes[7, 0], 1 - codes[7, 1], 1 - codes[7, 2]]
    seen, told = [], []
    for held in (HELD, replace(HELD, codes=codes)):
        # Opening; ALL: below; ONE: above and its number, chosen free of the rows; LOSS: below.
        noise = Frozen(0, -FAR, FAR, 1_500_000, 0, -FAR)
        session = work(plan_of(0.5, answers=2), noise, held)
        for asks in (ALL, ONE, LOSS):
            session = ask_holdout(session.place, asks, MADE, held, noise=noise).session
        seen.append(noise.asked)
        told.append([(e.source, e.value) for e in session.entries])
        assert session.left == 1
    assert told[0] == told[1]
    assert [source for source, _ in told[0]] == ["synthetic", "holdout", "synthetic"]
    assert len(seen[0]) == len(seen[1]) == 6
    for (first, scale), (second, same) in zip(*seen, strict=True):
        assert scale == same
        assert abs(first - second) <= UNITS
    assert any(first != second for (first, _), (second, _) in zip(*seen, strict=True))
    scales = plan_of(0.5, answers=2).scales
    assert [scale for _, scale in seen[0]] == [
        scales.threshold_scale,
        scales.question_scale,
        scales.question_scale,
        scales.answer_scale,
        scales.threshold_scale,
        scales.question_scale,
    ]


# --- accounting ----------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0, 8.0])
@pytest.mark.parametrize("answers", [1, 2, 10, 300])
def test_the_plan_never_spends_more_than_it_says(epsilon, answers):
    plan = plan_of(epsilon, answers=answers)
    assert 0.999 * epsilon < plan.spent.epsilon <= epsilon
    above, told = plan.scales.round
    rounds = UNITS / plan.scales.threshold_scale + 2 * UNITS / plan.scales.question_scale
    assert above.epsilon == pytest.approx(rounds)
    assert above.epsilon >= rounds
    assert told.epsilon == pytest.approx(UNITS / plan.scales.answer_scale)
    rho = answers * (above.epsilon**2 + told.epsilon**2) / 2
    assert plan.spent.rho == pytest.approx(rho)
    assert rho <= epsilon_to_rho(epsilon, 1e-6)
    assert plan.scales.pure_epsilon == pytest.approx(answers * (above.epsilon + told.epsilon))
    assert plan_of(epsilon, answers=answers).hash == plan.hash
    assert plan_of(epsilon, answers=answers, questions=5).hash != plan.hash


def test_the_ledger_counts_the_event_by_its_own_formula():
    event = AboveThresholdEvent(threshold_scale=4.0, question_scale=16.0, sensitivity=2.0)
    assert event.epsilon == pytest.approx(0.75)
    assert event.rho == pytest.approx(0.28125)
    scales = SparseVector(
        sensitivity=2, threshold_scale=4.0, question_scale=16.0, answer_scale=8.0, answers=3
    )
    cost = composition.cost([event_dict(scales.event)])
    assert cost.rho == pytest.approx(3 * (0.28125 + LaplaceEvent(scale=8.0).rho))
    assert cost.rho <= scales.event.rho <= cost.rho * (1 + 1e-9)
    assert accountant("zcdp").spent([scales.event], 1e-6).rho == scales.event.rho
    for missing in ("threshold_scale", "question_scale", "sensitivity"):
        with pytest.raises(LedgerError, match="cannot account"):
            composition.cost([{k: v for k, v in event_dict(event).items() if k != missing}])


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, None])
def test_unusable_scales_are_refused(bad):
    good = {
        "sensitivity": 1,
        "threshold_scale": 1.0,
        "question_scale": 1.0,
        "answer_scale": 1.0,
        "answers": 1,
    }
    for name in good:
        with pytest.raises(PrivacyError, match=name):
            SparseVector(**good | {name: bad})
    for name in ("threshold_scale", "question_scale", "sensitivity"):
        with pytest.raises(PrivacyError, match=name):
            AboveThresholdEvent(
                **{"threshold_scale": 1.0, "question_scale": 1.0, "sensitivity": 1.0} | {name: bad}
            )


def test_the_charge_stands_before_the_first_noise_and_holds_the_whole_session(work):
    states = []
    plan = plan_of(answers=2)
    noise = Script(before=lambda: states.append([c.state for c in Ledger(work.folder).charges()]))
    session = work(plan, noise)
    assert states == [["reserved"]]
    (charge,) = work.ledger.charges()
    assert (charge.state, charge.plan, charge.why) == ("done", plan.hash, "reusable holdout")
    assert charge.rho == plan.spent.rho
    assert charge.events == tuple(event_dict(event) for event in plan.events)
    assert session.charge == charge.id
    for asks in (ALL, ONE, LOSS):  # questions cost nothing more
        ask_holdout(session.place, asks, MADE, HELD, noise=Script(-FAR))
    assert len(work.ledger.charges()) == 1
    assert work.ledger.verify().ok


def test_too_large_a_session_draws_nothing_and_a_failure_stands(work):
    noise = Script()
    with pytest.raises(OverspentError):
        work(plan_of(4.5), noise)
    assert noise.asked == []
    assert state.places(work.folder) == ()

    def broken():
        raise RuntimeError

    with pytest.raises(RuntimeError):
        work(plan_of(1.0), Script(before=broken))
    assert [charge.state for charge in work.ledger.charges()] == ["failed"]
    assert list((work.folder / state.FOLDER).iterdir()) == []


# --- refusals ------------------------------------------------------------------------------------


def test_what_does_not_fit_is_refused_before_anything_is_compared(work, tmp_path):
    noise = Script()
    where = {"workspace": tmp_path / "w", "ledger": None, "noise": noise}
    with pytest.raises(PrivacyError, match="trained on released rows"):
        open_holdout(plan_of(), replace(MADE, public=False), HELD, **where)
    with pytest.raises(PrivacyError, match="charged to a data asset"):
        open_holdout(plan_of(), MADE, HELD, **where)
    with pytest.raises(PrivacyError, match="Seeded noise"):
        open_holdout(
            plan_of(), MADE, HELD, workspace=tmp_path, ledger=work.ledger, asset="ward", seed=1
        )
    with pytest.raises(PlanError, match="does not have that many"):
        open_holdout(plan_of(n=7), MADE, HELD, **where)
    session = work()
    with pytest.raises(PlanError, match="not the synthetic rows"):
        ask_holdout(session.place, ALL, rows(400, SCHEMA, 9, public=True), HELD, noise=noise)
    with pytest.raises(PlanError, match="not the held-out rows"):
        ask_holdout(session.place, ALL, MADE, rows(300, SCHEMA, 9), noise=noise)
    seeded = SeededNoise(np.random.default_rng(0))
    with pytest.raises(PrivacyError, match="Seeded noise"):
        asked(
            session.plan.scales,
            session.standing,
            HELD,
            lambda _t: 0,
            expected=0,
            tolerance=0,
            noise=seeded,
        )
    with pytest.raises(PrivacyError, match="Seeded noise"):
        opened(session.plan.scales, HELD, seeded)
    assert noise.asked == []
    assert state.read(session.place) == session
    with pytest.raises(LedgerError, match="cannot be read"):
        ask_holdout(tmp_path / "none", ALL, MADE, HELD)


def test_the_same_rows_in_another_order_are_the_same_rows(work):
    session = work()
    turned = HELD.take(np.arange(HELD.n)[::-1])
    noises = Script(-FAR), Script(-FAR)
    ask_holdout(session.place, ALL, MADE, turned, noise=noises[0])
    ask_holdout(work(plan_of(1.0)).place, ALL, MADE, HELD, noise=noises[1])
    assert noises[0].asked[0][0] == noises[1].asked[0][0]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"epsilon": math.nan}, BudgetError, "epsilon must be"),
        ({"answers": 0}, BudgetError, "answers .0. must"),
        ({"answers": True}, BudgetError, "answers"),
        ({"tolerance": math.nan}, BudgetError, "tolerance"),
        ({"tolerance": 1.0}, BudgetError, "tolerance"),
        ({"questions": 0}, BudgetError, "questions"),
        ({"n": 1}, BudgetError, "at least 2"),
    ],
)
def test_an_unusable_plan_is_refused(change, error, words):
    with pytest.raises(error, match=words):
        plan_of(**change)


def test_a_plan_says_when_noise_would_decide():
    assert "chance alone" in plan_of(0.2).warning
    assert plan_of(8.0, n=5_000).warning == ""
    with pytest.raises(TaskError, match="not a column"):
        design_holdout(SCHEMA, "w", 100, 1.0)
    with pytest.raises(PrivacyError, match="protects one row"):
        design_holdout(replace(SCHEMA, one_row_per_person=False), "y", 100, 1.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"metric": "auc"}, "Only means over rows"),
        ({"learner": "oracle"}, "must be one of"),
        ({"features": ["y"]}, "other than the target"),
        ({"features": []}, "none is named"),
    ],
)
def test_an_unusable_question_is_refused(change, words):
    with pytest.raises(EvaluationError, match=words):
        question(SCHEMA, "y", **change)


# --- the command ---------------------------------------------------------------------------------


def test_the_command_charges_once_and_answers_again_and_again(make_run, tmp_path, capsys):
    config, folder, out = make_run(public=False, asset=40.0), tmp_path / "work", tmp_path / "out"

    def prism(*words) -> tuple[int, str, str]:
        status = main.main([*map(str, words), "--workspace", str(folder)])
        return status, *capsys.readouterr()

    assert prism("release", config, "--out", out)[0] == 0
    held = config.parent / "holdout.csv"
    code, text, _ = prism("holdout", "open", out, "--holdout", held, "--epsilon", 20)
    assert code == 0
    assert "session 1 (charge 2)" in text
    assert "10 of 10 answers left" in text
    code, text, _ = prism("holdout", "ask", 1, "--feature", "age", "--json")
    assert code == 0
    first = json.loads(text)
    assert not first["asked_before"]
    code, text, _ = prism("holdout", "ask", 1, "--feature", "age", "--json")
    assert json.loads(text) == first | {"asked_before": True}
    code, text, _ = prism("holdout", "ask", 1, "--metric", "log_loss")
    assert code == 0
    assert "answers left" in text
    code, text, _ = prism("holdout", "status")
    assert "2 asked" in text
    code, text, _ = prism("holdout", "status", 1, "--json")
    assert len(json.loads(text)["asked"]) == 2
    assert len(Ledger(folder).charges()) == 2
    code, text, _ = prism("ledger", "show", 2)
    assert "of above threshold" in text
    for words, said in (
        (("holdout", "ask", 7), "There is no session 7"),
        (("holdout", "ask", 1, "--feature", "nobody"), "'nobody' is none"),
        (("holdout", "ask", 1, "--holdout", config.parent / "train.csv"), "not the held-out rows"),
        (
            ("holdout", "open", out, "--holdout", held, "--epsilon", 500),
            "maximum of this workspace",
        ),
        (
            ("holdout", "open", out, "--holdout", held, "--epsilon", 500, "--epsilon-above-limit"),
            "lifetime epsilon",
        ),
        (("holdout", "open", out, "--holdout", held, "--epsilon", 1, "--seed", 1), "public only"),
    ):
        code, _, err = prism(*words)
        assert (code, said in err) == (2, True), err


def test_a_rehearsal_on_public_rows_is_repeatable_and_not_charged(make_run, tmp_path, capsys):
    config, out, told = make_run(), tmp_path / "out", []
    assert main.main(["release", str(config), "--out", str(out), "--seed", "1"]) == 0
    for name in ("one", "two"):
        folder = tmp_path / name
        where = ["--workspace", str(folder)]
        held = str(config.parent / "holdout.csv")
        command = ["holdout", "open", str(out), "--holdout", held, "--epsilon", "1", "--seed", "3"]
        assert main.main([*command, *where]) == 0
        for feature in ("age", "smoker", "ward"):
            assert main.main(["holdout", "ask", "1", "--feature", feature, *where]) == 0
        capsys.readouterr()
        assert main.main(["holdout", "status", "1", "--json", *where]) == 0
        told.append(json.loads(capsys.readouterr().out))
    assert told[0] == told[1]
    assert told[0]["stamp"] == "rehearsal on public rows, not charged"
    assert told[0]["charge"] is None
