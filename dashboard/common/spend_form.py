"""Spend form: who pays for a charged step, its confirmation, and the button that begins it.

One form for every page that charges. What the step costs stands above it, in the page's own words.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import streamlit as st

from dashboard.common import asset_entry, confirmation, public_claim
from dashboard.common.widgets import mistakes
from dashboard.key import access
from dashboard.session.shelf import project
from prism_core.errors import PrismError
from prism_core.planning.approval import same_asset
from prism_core.privacy.ledger.rules import check_rules
from prism_core.text.markdown import plain
from prism_core.text.numbers import eps_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.tables.raw_table import RawTable
    from prism_core.privacy.accountants.accountant import Spent
    from prism_core.privacy.learning_charge import LearningCharge
    from prism_core.privacy.ledger.rules import Step


class Chargeable(Protocol):
    """A plan of any charged step, as far as its form asks."""

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the plan."""
        ...

    @property
    def delta(self) -> float:
        """At which a new asset's lifetime is stated."""
        ...

    @property
    def spent(self) -> Spent:
        """What is charged."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is said before anything is charged."""
        ...


@dataclass(frozen=True, kw_only=True)
class Spending:
    """What a page says of its charge; everything else is the form's.

    Attributes:
        kind: of the step, as the ledger calls it.
        key: the widgets' keys begin with it.
        step: the first words of a sentence.
        promise: what follows "This spends epsilon 1 of “asset”": on what, and that it stays spent.
        label: of the button.
        rehearsal_label: of the button on public rows; there nothing is charged.
        button: key of the button where it is not the usual one.
        icon: of the button.
        attempt: counts the runs, so that each is confirmed by itself.
        busy: what is said while the page itself works.
        prior: learning before the step, which this asset may still owe.
        rows: whose marks the workspace remembers; the open table's where None.
    """

    kind: Step
    key: str
    step: str
    promise: str
    label: str
    rehearsal_label: str
    button: str = ""
    icon: str = ":material/verified_user:"
    attempt: int = 0
    busy: str = ""
    prior: LearningCharge | None = None
    rows: RawTable | BigTable | None = None


def cautions(plan: Chargeable, when: str = "") -> None:
    """What is to be known beside the cost of a step: unchecked cells, and the plan's warnings.

    Args:
        plan: of the step.
        when: from when on the cells can be counted, where columns are still to be learned.
    """
    confirmation.say_unchecked(when)
    confirmation.show_warnings(plan.warnings)


def pays(
    key: str, step: str, spent: Spent, delta: float, prior: LearningCharge | None = None
) -> bool:
    """The seed, or the entries of the ledger; True when the asset's lifetime budget covers it.

    Args:
        key: the seed's key begins with it.
        step: the first words of a sentence.
        spent: what will be charged.
        delta: at which a new asset's lifetime is stated.
        prior: learning before the step, which this asset may still owe.
    """
    if project().data.public:
        asset_entry.seed(f"{key}_seed")
        return True
    return asset_entry.section(spent, delta, step, prior=prior)


def spend_form(
    spending: Spending,
    plan: Chargeable,
    run: Callable[[], None],
    *,
    place: AbstractContextManager[object] | None = None,
    tick: str = "",
) -> None:
    """Who pays, the confirmation, the button; then the marks of the rows, and the run.

    Args:
        spending: what the page says of it.
        plan: what is confirmed.
        run: charges and works, or starts the process that does. No widget is touched in it, so no
            click can come between the charge and the work.
        place: where the asset is entered; here where None.
        tick: a box to tick, with these words, in place of the asset's name to type.
    """
    with place or nullcontext():
        if not _allowed(spending):
            return
        covered = pays(spending.key, spending.step, plan.spent, plan.delta, spending.prior)
    confirmed = _ticked(spending, plan, tick) if tick else _typed(spending, plan)
    if confirmed is None:
        return
    pressed = st.button(
        spending.rehearsal_label if project().data.public else spending.label,
        type="primary",
        icon=spending.icon,
        key=spending.button or f"{spending.key}_run",
        disabled=not (covered and confirmed),
    )
    if pressed and confirmed:
        with st.spinner(spending.busy) if spending.busy else nullcontext(), mistakes():
            # Before the charge: a step killed right after it must not leave rows that pass for
            # public.
            public_claim.remember(plan.hash, spending.rows)
            run()
            st.rerun()


def _allowed(spending: Spending) -> bool:
    """Whether the workspace's rules let the step be charged; said before it is confirmed."""
    if project().data.public:
        return True
    try:
        check_rules(spending.kind, access.workspace())
    except PrismError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return False
    return True


def _ticked(spending: Spending, plan: Chargeable, words: str) -> bool:
    key = f"{spending.key}_confirm_{spending.attempt}"
    return confirmation.ticked(key, words, confirmation.subject(plan.hash))


def _typed(spending: Spending, plan: Chargeable) -> bool | None:
    """Whether the asset's name is typed; None where there is none to type yet."""
    state, word = project(), asset_entry.word()
    if not word:
        st.info("Name the data asset first.", icon=":material/info:")
        return None
    owed = asset_entry.owing(spending.prior)
    learning = "" if owed is None else ", and the cost of learning with it,"
    what = (
        "These rows are public: nothing is charged."
        if state.data.public
        else f"This spends epsilon {eps_text(plan.spent.epsilon)} of “{plain(word)}”{learning}"
        f"{spending.promise}"
    )
    return confirmation.typed_word(
        f"{spending.key}_confirm_{spending.attempt}",
        f"{what} To go on, type **{plain(word)}**",
        confirmation.subject(plan.hash, owed),
        lambda typed: bool(typed.strip()) and same_asset(typed, word),
    )
