"""Which columns the models on screen learn from: the protected features S, or all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.keep import keep, showing
from dashboard.parts.inspect_work import ask, inspection
from prism_core.evaluation import predict, sentences

if TYPE_CHECKING:
    from prism_core.evaluation import Prediction, Subject


def choice() -> None:
    """One choice for all cards and curves; nothing where S leaves no column out."""
    now = inspection()
    inner = now.subject.from_s
    if inner is None:
        return
    words = {
        True: f"The protected features S alone ({len(inner.features):,})",
        False: f"All columns ({len(now.subject.features):,})",
    }
    if now.s_alone is None:
        now.s_alone = sentences.s_first(regime())
    key = showing("inspect_columns", now.s_alone)
    st.segmented_control(
        "The models learn from", list(words), default=now.s_alone, format_func=words.__getitem__,
        key=key, required=True, on_change=keep, args=(now, "s_alone", key),
        help="Holds for every number, card and curve below, here and under Subgroups.",
    )  # fmt: skip


def regime() -> str:
    """How the protected features of the release were found."""
    return str(inspection().certificate["task"].get("regime", ""))


def chosen() -> Subject:
    """What is inspected, with the columns that were chosen."""
    return _with(s_alone=bool(inspection().s_alone))


def _with(*, s_alone: bool) -> Subject:
    subject = inspection().subject
    return (subject.from_s or subject) if s_alone else subject


def name(learner: str, *, s_alone: bool) -> str:
    """What a learner's results from these columns are kept under."""
    return f"{learner}:S" if s_alone else learner


def prediction(learner: str | None = None) -> Prediction | None:
    """A learner's scores from the chosen columns, by default the target's first learner's.

    None while they are worked out.
    """
    return _predicted(learner, s_alone=chosen().s_alone)


def other() -> Prediction | None:
    """The first learner's scores from the other columns; None where there are none, or not yet."""
    if inspection().subject.from_s is None:
        return None
    return _predicted(None, s_alone=not chosen().s_alone)


def _predicted(learner: str | None, *, s_alone: bool) -> Prediction | None:
    subject = _with(s_alone=s_alone)
    learner = subject.learners[0] if learner is None else learner
    key = name(learner, s_alone=subject.s_alone)
    return ask(f"predict:{key}", lambda tell: predict(subject, learner, tell))
