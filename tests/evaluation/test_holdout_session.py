"""The session of a reusable holdout: what is told, what is on disk and when."""

from __future__ import annotations

import itertools
import json
import math
import stat
import threading
from dataclasses import replace

import numpy as np
import pytest

from prism_core.errors import BudgetError, EvaluationError, LedgerError, PrivacyError
from prism_core.evaluation import fit
from prism_core.evaluation.inside_epsilon import holdout_state as state
from prism_core.evaluation.inside_epsilon.holdout import (
    ask_holdout,
    entry_dict,
    open_holdout,
    status,
)
from prism_core.evaluation.inside_epsilon.holdout_plan import UNITS
from prism_core.evaluation.inside_epsilon.holdout_question import LOSS_CAP, question, scores
from prism_core.evaluation.tstr.scoring import accuracy
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.sparse_vector import asked
from tests.support.holdouts import ALL, FAR, HELD, LOSS, MADE, ONE, SCHEMA, plan_of
from tests.support.noise import Script

pytestmark = pytest.mark.privacy


def test_a_folder_that_is_no_number_keeps_no_session_from_being_made(tmp_path):
    (tmp_path / state.FOLDER / "²").mkdir(parents=True)
    assert state.make(tmp_path).name == "1"
    assert state.places(tmp_path) == ()


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
