"""The reusable holdout: sensitivity, charge, what is on disk and when, refusals, the command."""

from __future__ import annotations

import itertools
import json
import math
import stat
import threading
from dataclasses import replace

import numpy as np
import pytest

from prism_core.cli import main
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
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
from prism_core.evaluation.inside_epsilon.holdout import (
    ask_holdout,
    entry_dict,
    open_holdout,
    status,
)
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
from tests.support.noise import Script

pytestmark = pytest.mark.privacy
FAR = 10**12
"""Noise far below any threshold, and as a threshold far above any gap."""


def schema_of(classes: int = 2, *, nullable: bool = False) -> Schema:
    return Schema(
        columns=(
            Column(name="x", kind="ordinal", levels=tuple(range(6))),
            Column(name="z", kind="boolean"),
            Column(name="y", kind="categorical", levels=tuple(range(classes)), nullable=nullable),
        ),
        one_row_per_person=True,
    )


def rows(n: int, schema: Schema, seed: int = 0, *, public: bool = False) -> EncodedTable:
    rng = np.random.default_rng(seed)
    x, z = rng.integers(0, 6, n), rng.integers(0, 2, n)
    top = schema["y"].level_count - 1
    y = np.clip(np.round(x / 5 * top + rng.normal(0, 0.3, n)), 0, top).astype(int)
    return EncodedTable(schema=schema, codes=np.stack([x, z, y], axis=1), public=public)


SCHEMA = schema_of()
MADE, HELD = rows(400, SCHEMA, 1, public=True), rows(300, SCHEMA, 2)
ALL, ONE, LOSS = (
    question(SCHEMA, "y"),
    question(SCHEMA, "y", features=("x",)),
    question(SCHEMA, "y", metric="log_loss"),
)


def plan_of(epsilon: float = 2.0, n: int = HELD.n, **others):
    return design_holdout(SCHEMA, "y", n, epsilon, 1e-6, **others)


class Frozen(Script):
    """The outputs themselves are given, whatever was handed over."""

    def add_discrete_laplace(self, counts, scale):
        self.asked.append((int(counts[0]), scale))
        return np.array([self.outputs.pop(0)])


@pytest.fixture
def work(tmp_path):
    ledger = Ledger(tmp_path / "work")
    ledger.register("ward", epsilon=4.0, delta=1e-6)

    def start(plan=None, noise=None, held=HELD):
        return open_holdout(
            plan or plan_of(answers=2),
            MADE,
            held,
            workspace=tmp_path / "work",
            ledger=ledger,
            asset="ward",
            noise=noise or Script(FAR),
        )

    start.ledger, start.folder = ledger, tmp_path / "work"
    return start


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


# --- what is told --------------------------------------------------------------------------------


def test_a_session_that_could_answer_no_question_is_not_charged(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.register("ward", epsilon=4.0, delta=1e-6)
    alone = MADE.take(np.flatnonzero(MADE.column("y") == 1))
    with pytest.raises(EvaluationError, match="two classes"):
        open_holdout(plan_of(), alone, HELD, workspace=tmp_path, ledger=ledger, asset="ward")
    assert ledger.charges() == ()
    assert state.places(tmp_path) == ()


def test_near_is_the_synthetic_value_and_apart_is_the_holdout_s(work):
    session = work(noise=Script(0))
    near = ask_holdout(session.place, ALL, MADE, HELD, noise=Script(-FAR))
    made = fit(ALL.learner, MADE, target="y").probabilities(MADE)
    assert near.entry.source == "synthetic"
    assert near.entry.value == near.entry.synthetic == accuracy(MADE.column("y"), made)
    assert near.deviation == 0.0
    assert near.session.left == 2
    apart = ask_holdout(session.place, LOSS, MADE, HELD, noise=Script(FAR, 0, 5))
    fitted = fit(LOSS.learner, MADE, target="y")
    total = scores(fitted, "log_loss", HELD, "y").sum()
    assert apart.entry.source == "holdout"
    assert apart.entry.value == pytest.approx(total / (HELD.n * UNITS) * LOSS_CAP)
    assert apart.deviation == pytest.approx(plan_of(answers=2).answer_error * LOSS_CAP)
    assert apart.session.left == 1
    assert apart.session.standing.threshold == 5  # drawn anew
    noisy = ask_holdout(session.place, ONE, MADE, HELD, noise=Script(FAR, FAR))
    assert noisy.entry.value == 1.0  # within the range of the metric
    assert noisy.session.left == 0
    assert noisy.session.standing.threshold == 0


def test_the_threshold_decides_at_the_tolerance(work):
    session = work(noise=Script(7))
    noise = Script(0)
    ask_holdout(session.place, ALL, MADE, HELD, noise=noise)
    ((gap, _),) = noise.asked
    margin = session.plan.margin
    assert margin == math.floor(0.04 * HELD.n * UNITS)
    edge = margin + 7 - gap
    noise = Script(edge - 1)
    # The same columns by another learner could have another gap: a new session asks the same.
    again = work(plan_of(1.0, answers=2), Script(7))
    assert ask_holdout(again.place, ALL, MADE, HELD, noise=noise).entry.source == "synthetic"
    third = work(plan_of(0.5, answers=2), Script(7))
    assert ask_holdout(third.place, ALL, MADE, HELD, noise=Script(edge)).entry.source == "holdout"


def test_the_same_question_gets_the_stored_answer_and_no_noise(work):
    session = work()
    first = ask_holdout(session.place, ONE, MADE, HELD, noise=Script(2 * FAR, 12_345, FAR))
    assert first.entry.source == "holdout"
    noise = Script()
    again = ask_holdout(
        session.place, question(SCHEMA, "y", features=["x"]), MADE, HELD, noise=noise
    )
    assert noise.asked == []
    assert again.again
    assert again.entry == first.entry
    assert again.session.left == first.session.left == 1
    shuffled = question(SCHEMA, "y", features=["z", "x"])
    assert shuffled == ALL
    assert state.read(session.place).find(shuffled) is None


def test_when_the_answers_are_used_up_nothing_is_compared(work):
    session = work()
    for asks in (ALL, ONE):
        ask_holdout(session.place, asks, MADE, HELD, noise=Script(2 * FAR, 0, FAR))
    noise = Script()
    with pytest.raises(BudgetError, match="have been given") as refused:
        ask_holdout(session.place, LOSS, MADE, HELD, noise=noise)
    assert refused.value.field == "answers"
    assert noise.asked == []
    assert ask_holdout(session.place, ALL, MADE, HELD, noise=noise).again
    now = state.read(session.place).standing
    with pytest.raises(PrivacyError, match="have been given"):
        asked(session.plan.scales, now, HELD, lambda _t: 0, expected=0, tolerance=0, noise=noise)
    assert not state.read(session.place).open


def test_a_limit_on_questions_holds(work):
    session = work(plan_of(answers=2, questions=2))
    for asks in (ALL, ONE):
        ask_holdout(session.place, asks, MADE, HELD, noise=Script(-FAR))
    with pytest.raises(BudgetError, match="All 2 questions"):
        ask_holdout(session.place, LOSS, MADE, HELD, noise=Script(-FAR))


# --- what is on disk, and when -------------------------------------------------------------------


def test_a_question_is_on_disk_before_it_is_compared_and_its_answer_before_it_is_told(work):
    session = work()
    pending = []
    noise = Script(2 * FAR, 0, 9, before=lambda: pending.append(state.read(session.place).pending))
    told = ask_holdout(session.place, ONE, MADE, HELD, noise=noise)
    assert pending == [ONE] * 3
    stored = state.read(session.place)
    assert stored == told.session
    assert stored.pending is None


@pytest.mark.parametrize("dies_at", [0, 1, 2])
def test_a_crash_counts_as_an_answer_and_the_threshold_is_drawn_anew(work, dies_at):
    session = work()
    count = itertools.count()

    def crash():
        if next(count) == dies_at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask_holdout(session.place, ONE, MADE, HELD, noise=Script(2 * FAR, 0, 0, before=crash))
    left = state.read(session.place)
    assert (left.pending, left.left, left.count) == (ONE, 1, 1)
    noise = Script(77, -FAR)
    after = ask_holdout(session.place, ONE, MADE, HELD, noise=noise)
    scales = session.plan.scales
    assert [scale for _, scale in noise.asked] == [scales.threshold_scale, scales.question_scale]
    assert [entry.source for entry in after.session.entries] == ["lost", "synthetic"]
    assert after.session.standing.threshold == 77
    assert after.session.left == 1
    with pytest.raises(KeyboardInterrupt):
        ask_holdout(session.place, ALL, MADE, HELD, noise=Script(before=crash_now))
    with pytest.raises(BudgetError, match="have been given"):
        ask_holdout(session.place, ALL, MADE, HELD, noise=Script())


def crash_now():
    raise KeyboardInterrupt


def test_an_answer_that_cannot_be_stored_is_not_told(work, monkeypatch):
    session = work()
    whole = state.write
    calls = itertools.count()

    def full(now, room=None):
        if next(calls):
            raise LedgerError("full", field="session")
        whole(now)

    monkeypatch.setattr(state, "write", full)
    with pytest.raises(LedgerError):
        ask_holdout(session.place, ONE, MADE, HELD, noise=Script(2 * FAR))
    assert state.read(session.place).left == 1


def test_the_file_is_for_this_user_and_nothing_shown_holds_its_secrets(work):
    session = work(noise=Script(987_654_321))
    told = ask_holdout(session.place, ONE, MADE, HELD, noise=Script(-FAR))
    assert stat.S_IMODE(session.place.stat().st_mode) == 0o700
    assert stat.S_IMODE((session.place / state.FILE).stat().st_mode) == 0o600
    assert [path.name for path in session.place.iterdir()] == [state.FILE]
    assert "987654321" in (session.place / state.FILE).read_text()
    shown = [
        repr(told),
        str(told.session),
        repr(session.standing),
        json.dumps(status(told.session), allow_nan=False),
        json.dumps(entry_dict(told.session, told.entry), allow_nan=False),
        json.dumps(work.ledger.export()),
    ]
    for secret in ("987654321", session.key.hex(), repr(session.key), session.rows):
        assert not any(secret in text for text in shown)


def test_what_may_be_known_of_a_session_does_not_depend_on_the_rows(work):
    """Two opened on different rows: the same but for secrets and numbers of the ledger."""
    other = replace(HELD, codes=np.array(HELD.codes) * 0)
    shown = []
    for held in (HELD, other):
        session = work(plan_of(1.0, answers=2), Script(), held)
        ask_holdout(session.place, ALL, MADE, held, noise=Script(-FAR))
        found = status(state.read(session.place))
        shown.append({k: v for k, v in found.items() if k not in ("session", "charge")})
    assert shown[0] == shown[1]


def test_a_changed_file_answers_nothing(work):
    session = work()
    path = session.place / state.FILE
    good = json.loads(path.read_text())
    for change in (
        {"left": 3},
        {"left": True},
        {"threshold": "x"},
        {"version": 2},
        {"plan": good["plan"] | {"epsilon": 9.0}},
        {"entries": [{}]},
    ):
        path.write_text(json.dumps(good | change))
        with pytest.raises(LedgerError):
            ask_holdout(session.place, ALL, MADE, HELD, noise=Script())
    path.write_text("{")
    with pytest.raises(LedgerError):
        state.read(session.place)


def test_two_who_ask_the_same_at_once_get_one_answer(work):
    session = work()
    noises, told = [Script(2 * FAR, 10**4 * k, FAR) for k in range(4)], []

    def run(noise):
        told.append(ask_holdout(session.place, ONE, MADE, HELD, noise=noise).entry)

    threads = [threading.Thread(target=run, args=(noise,)) for noise in noises]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 4
    assert len(set(map(repr, told))) == 1
    assert sum(bool(noise.asked) for noise in noises) == 1
    assert state.read(session.place).left == 1


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
