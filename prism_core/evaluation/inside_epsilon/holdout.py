"""The reusable holdout (Thresholdout): questions to the rows kept aside, within one budget.

Models are trained on the released synthetic rows alone. A question is how well one does; it is
answered from the synthetic rows as long as the held-out rows do not contradict them, and from the
held-out rows, with noise, where they do. The whole session is charged when it is opened.

After Dwork, Feldman, Hardt, Pitassi, Reingold and Roth 2015; the mechanism and its proof stand in
`privacy.sparse_vector`.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.errors import BudgetError, LedgerError, PlanError, PrivacyError
from prism_core.evaluation.inside_epsilon import holdout_state as state
from prism_core.evaluation.inside_epsilon import released_tables
from prism_core.evaluation.inside_epsilon.holdout_plan import UNITS, HoldoutPlan
from prism_core.evaluation.inside_epsilon.holdout_question import Question, scores
from prism_core.evaluation.tstr.learners import LEARNER_LABELS, check_classes, fit
from prism_core.privacy import sparse_vector
from prism_core.privacy.ledger.charging import charging
from prism_core.privacy.ledger.fingerprint import fingerprint
from prism_core.privacy.ledger.rules import CHARGED_STEPS
from prism_core.privacy.mechanisms import check_noise_of_table
from prism_core.privacy.noise import NoiseSource, SecureNoise, SeededNoise

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prism_core.data.encoding import EncodedTable
    from prism_core.evaluation.inside_epsilon.holdout_state import Entry, Session
    from prism_core.privacy.ledger import Ledger

CHARGED = CHARGED_STEPS["holdout"].charged
"""The stamp of a session that was charged to a ledger."""
REHEARSED = CHARGED_STEPS["holdout"].rehearsed

SOURCES: dict[str, str] = {
    state.SYNTHETIC: "synthetic rows; the holdout agrees within the tolerance",
    state.HOLDOUT: "holdout, with noise",
    state.LOST: "lost when a run stopped; counted as an answer from the holdout",
}
"""Where an answer came from, in words."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a question is told; differentially private as part of its session.

    Attributes:
        entry: question, source and value.
        again: whether it had been asked before; then the stored answer is told.
        session: where the session stands; its `left` and `count` may be shown.
    """

    entry: Entry
    again: bool
    session: Session

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise in the value; 0 for one from the synthetic rows."""
        if self.entry.source != state.HOLDOUT:
            return 0.0
        return self.session.plan.answer_error * self.entry.question.range


def open_holdout(
    plan: HoldoutPlan,
    synthetic: EncodedTable,
    holdout: EncodedTable,
    *,
    workspace: Path,
    ledger: Ledger | None,
    asset: str = "",
    why: str = "",
    seed: int | None = None,
    key: bytes | None = None,
    local: dict[str, str] | None = None,
    noise: NoiseSource | None = None,
) -> Session:
    """Open a session: charge all of it, then draw the first threshold and store it.

    Spends: `plan.spent`, charged to the asset of the training rows and synced before the first
    noise is drawn. The charge stands whatever happens later: a session that is lost is spent.

    Args:
        plan: from `design_holdout`.
        synthetic: the released rows; every model is trained on these.
        holdout: the real rows that took no part in the release, one a person.
        workspace: in which folder the session is kept (mode 0700).
        ledger: the workspace's ledger; None for public rows only.
        asset: the data asset's name in the ledger.
        why: purpose, for the ledger.
        seed: of known noise, for public rows only.
        key: 32 secret bytes with which the held-out rows were drawn; made when None.
        local: where rows and run stand on this machine, for whoever asks later.
        noise: by default secure, or known from the seed.

    Raises:
        PlanError: when the tables do not fit the plan.
        PrivacyError: for private rows without a ledger or with known noise, or a model that
            would be trained on rows that are not a release's.
        EvaluationError: when the synthetic rows show one class only: no question could be answered.
        OverspentError: when the asset's lifetime budget is too small; nothing was read.
        LedgerError: when the session cannot be stored.
    """
    source = noise or _noise(seed, 0)
    check_holdout_tables(plan, synthetic, holdout)
    check_noise_of_table(holdout, source)
    # Before the charge: nothing could ever be asked of one class.
    check_classes(synthetic, plan.target)
    if ledger is None and not holdout.public:
        raise PrivacyError(
            "Questions to private rows are charged to a data asset. Name its ledger.",
            field="ledger",
        )
    key = secrets.token_bytes(32) if key is None else key
    # Folder and room come first: nothing is charged that could not be stored.
    place = state.make(workspace)
    try:
        with (
            state.room(place, plan.schema, 0) as room,
            charging(
                "holdout",
                plan.price,
                ledger,
                asset,
                public=holdout.public,
                noise=source,
                why=why or "reusable holdout",
            ) as charge,
        ):
            # From here on noise is drawn, so the charge stands.
            charge.touch()
            session = state.Session(
                place=place,
                plan=plan,
                charge=charge.number,
                asset="" if charge.number is None else asset,
                # Of released rows a plain hash will do: they are public.
                synthetic=digest(synthetic),
                standing=sparse_vector.opened(plan.scales, holdout, source),
                key=key,
                # Keyed: a plain hash of a few rows could be found by trying.
                rows=fingerprint(holdout, key),
                seed=seed,
                local=dict(local or {}),
            )
            state.write(session, room)
    finally:
        state.remove(place)  # only where no session was written
    return session


def ask_holdout(
    place: Path,
    question: Question,
    synthetic: EncodedTable,
    holdout: EncodedTable,
    *,
    noise: NoiseSource | None = None,
) -> Answer:
    """Ask one question; the same question again gets the stored answer.

    Spends: nothing beyond the session's charge. That a question is under way is on disk before the
    rows are compared, and the answer before it is told. So a question that a crash ends counts as
    answered from the held-out rows, and no comparison is made twice.

    Args:
        place: the session's folder.
        question: what is asked.
        synthetic: the released rows that the session was opened with.
        holdout: the real rows that it was opened with.
        noise: as it was opened with.

    Raises:
        BudgetError: when no answer or question is left.
        PlanError: when the tables are not those of the session.
        EvaluationError: when the synthetic rows show one class only.
        LedgerError: when the session cannot be read or written; nothing was told.
    """
    # Without the lock: an answer that is stored is told at once, however long others fit.
    before = state.read(place)
    known = before.find(question)
    if known is not None:
        return Answer(entry=known, again=True, session=before)
    check_holdout_tables(before.plan, synthetic, holdout)
    _check_open(before)
    _check_same(before, synthetic, holdout)
    # Outside the lock: the fit takes long, and reads synthetic rows only.
    total, made = _totals(before.plan, question, synthetic)
    with state.alone(place):
        session = state.read(place)
        known = session.find(question)
        if known is not None:  # another process asked meanwhile
            return Answer(entry=known, again=True, session=session)
        # Stream 0 drew the first threshold.
        source = noise or _noise(session.seed, session.count + 1)
        session = _recovered(session, holdout, source)
        _check_open(session)
        # Taken before the question is written down as pending: a full disk then costs no answer.
        with state.room(place, session.plan.schema, session.count + 1) as room:
            session = replace(session, pending=question)
            state.write(session)
            session = _answered(session, question, holdout, source, total, made)
            state.write(session, room)
    return Answer(entry=session.entries[-1], again=False, session=session)


@dataclass(frozen=True, kw_only=True)
class Sessions:
    """What a workspace holds for released rows.

    Attributes:
        known: the sessions that were opened for them, oldest first.
        broken: numbers of sessions whose files cannot be read, whatever rows they were for.
    """

    known: tuple[Session, ...] = ()
    broken: tuple[str, ...] = ()


def sessions_of(workspace: Path, synthetic: EncodedTable) -> Sessions:
    """The sessions of a workspace that were opened for these released rows.

    Reads no private row and spends nothing. A broken file hides no other session.
    """
    mark = digest(synthetic)
    known, broken = [], []
    for place in state.places(workspace):
        try:
            session = state.read(place)
        except LedgerError:
            broken.append(place.name)
            continue
        if session.synthetic == mark:
            known.append(session)
    return Sessions(known=tuple(known), broken=tuple(broken))


def digest(table: EncodedTable) -> str:
    """SHA-256 of released rows, in their order. Spends nothing: a release paid for them."""
    # In one byte order: the digest is compared with one from a file.
    codes = np.ascontiguousarray(table.codes, dtype="<i4")
    # With the shape: the bytes alone do not tell 2 rows of 3 from 3 rows of 2.
    return hashlib.sha256(repr(codes.shape).encode() + codes.tobytes()).hexdigest()


def check_holdout_tables(plan: HoldoutPlan, synthetic: EncodedTable, holdout: EncodedTable) -> None:
    """Refuse tables that do not fit the plan; reads no row, spends nothing.

    Raises:
        PlanError, PrivacyError: saying what does not fit.
    """
    instead = "Give the rows that the session was opened with."
    released_tables.check_released_tables(plan.schema, plan.n, synthetic, holdout, instead)


def status(session: Session) -> dict[str, Any]:
    """Where a session stands, as plain values without anything secret; may be shown."""
    plan = session.plan
    return {
        "session": session.name,
        "stamp": REHEARSED if session.charge is None else CHARGED,
        "charge": session.charge,
        "asset": session.asset or None,
        "spent": {"epsilon": plan.spent.epsilon, "delta": plan.delta, "rho": plan.spent.rho},
        "pure_epsilon": plan.scales.pure_epsilon,
        "target": plan.target,
        "n_holdout": plan.n,
        "tolerance": plan.tolerance,
        "answers": plan.answers,
        "answers_left": session.left,
        **({"warnings": list(plan.warnings)} if plan.warnings else {}),
        "questions_asked": session.count,
        "questions_most": plan.questions,
        "noise_in_a_comparison": plan.comparing_error,
        "noise_in_an_answer": plan.answer_error,
        "open": session.open,
        "asked": [entry_dict(session, entry) for entry in session.entries],
    }


def entry_dict(session: Session, entry: Entry) -> dict[str, Any]:
    """One answer as plain values."""
    answer = Answer(entry=entry, again=True, session=session)
    return entry.question.to_dict() | {
        "learner": LEARNER_LABELS[entry.question.learner],
        "value": entry.value,
        "noise_deviation": answer.deviation,
        "source": entry.source,
        "source_in_words": SOURCES[entry.source],
        "on_synthetic_rows": entry.synthetic,
    }


def _noise(seed: int | None, number: int) -> NoiseSource:
    """Secure, or known by the seed: every question has a stream of its own, also later."""
    return SecureNoise() if seed is None else SeededNoise(np.random.default_rng([seed, number]))


def _check_open(session: Session) -> None:
    if session.open:
        return
    if session.left > 0:
        raise BudgetError(
            f"All {session.plan.questions:,} questions of this session were asked. Answers that "
            "were given can be read again.",
            field="questions",
        )
    raise BudgetError(
        f"{sparse_vector.USED_UP} Open another session to go on: it has a charge of its own.",
        field="answers",
    )


def _check_same(session: Session, synthetic: EncodedTable, holdout: EncodedTable) -> None:
    """The tables the session was opened with. For the curator: she holds the rows in her hand."""
    if digest(synthetic) != session.synthetic:
        raise PlanError(
            "These are not the synthetic rows that this session was opened with. Open a session "
            "for them.",
            field="synthetic",
        )
    # In constant time: how long a comparison of secrets takes would tell where they differ.
    if not hmac.compare_digest(fingerprint(holdout, session.key), session.rows):
        raise PlanError(
            "These are not the held-out rows that this session was opened with. Give the same "
            "file; rows that were set aside at random are others in every session.",
            field="holdout",
        )


def _totals(
    plan: HoldoutPlan, question: Question, synthetic: EncodedTable
) -> tuple[Callable[[EncodedTable], int], tuple[int, int]]:
    """The total of scores of a table, and that of the synthetic rows with their number."""
    # On released rows alone, so it is fixed before a row kept aside is looked at.
    fitted = fit(question.learner, synthetic, target=plan.target, features=question.features)

    def total(table: EncodedTable) -> int:
        return int(scores(fitted, question.metric, table, plan.target).sum())

    return total, (total(synthetic), synthetic.n)


def _recovered(session: Session, holdout: EncodedTable, noise: NoiseSource) -> Session:
    """After a crash: the question under way counts as answered from the held-out rows."""
    if session.pending is None:
        return session
    lost = state.Entry(question=session.pending, source=state.LOST, value=None, synthetic=None)
    return replace(
        session,
        pending=None,
        entries=(*session.entries, lost),
        standing=sparse_vector.over(session.plan.scales, session.standing, holdout, noise),
    )


def _answered(
    session: Session,
    question: Question,
    holdout: EncodedTable,
    noise: NoiseSource,
    total: Callable[[EncodedTable], int],
    made: tuple[int, int],
) -> Session:
    """The session after the comparison; nothing is told here."""
    plan, (units, rows) = session.plan, made
    told, standing = sparse_vector.asked(
        plan.scales,
        session.standing,
        holdout,
        total,
        expected=(2 * units * plan.n + rows) // (2 * rows),  # rounded to a whole number
        tolerance=plan.margin,
        noise=noise,
    )
    synthetic = units / (rows * UNITS) * question.range
    if told is None:
        source, value = state.SYNTHETIC, synthetic
    else:
        source = state.HOLDOUT
        # Noise may leave the range that a score has. Cutting it off is post-processing.
        value = min(1.0, max(0.0, told / plan.whole)) * question.range
    entry = state.Entry(question=question, source=source, value=value, synthetic=synthetic)
    return replace(session, pending=None, entries=(*session.entries, entry), standing=standing)
