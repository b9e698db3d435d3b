"""Spend form: who pays for a charged step, its confirmation, and the button that begins it.

One form for every page that charges. What the step costs stands above it, in the page's own words.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
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
from prism_core.privacy.ledger.rules import CHARGED_STEPS, Step, check_rules
from prism_core.text.markdown import plain
from prism_core.text.numbers import eps_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.tables.raw_table import RawTable
    from prism_core.privacy.ledger.charging import Price


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
    def price(self) -> Price:
        """What the gate charges."""
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
        on: what it is spent on, where the button does not say it: " on a comparator".
        begun: from when on it stays spent even if it fails: "counting has begun"; "" where it
            cannot fail so late.
        label: of the button.
        rehearsal_label: of the button on public rows; there nothing is charged, nor confirmed.
        button: key of the button where it is not the usual one.
        icon: of the button.
        tick: whether a box is ticked to confirm it, in place of the asset's name to type.
        attempt: counts the runs, so that each is confirmed by itself.
        busy: what is said while the page itself works.
        rows: whose marks the workspace remembers; the open table's where None.
    """

    kind: Step
    key: str
    step: str
    label: str
    rehearsal_label: str
    on: str = ""
    begun: str = ""
    button: str = ""
    icon: str = ":material/verified_user:"
    tick: bool = False
    attempt: int = 0
    busy: str = ""
    rows: RawTable | BigTable | None = None


def cautions(plan: Chargeable, when: str = "") -> None:
    """What is to be known beside the cost of a step: unchecked cells, and the plan's warnings.

    Args:
        plan: of the step.
        when: from when on the cells can be counted, where columns are still to be learned.
    """
    confirmation.say_unchecked(when)
    confirmation.show_warnings(plan.warnings)


def spend_form(
    spending: Spending,
    plan: Chargeable,
    run: Callable[[], None],
    *,
    place: AbstractContextManager[object] | None = None,
) -> None:
    """Who pays, the confirmation, the button; then the marks of the rows, and the run.

    Args:
        spending: what the page says of it.
        plan: what is confirmed.
        run: see `confirmed_run`.
        place: where the asset is entered; here where None.
    """
    with place or nullcontext():
        covered = pays(spending, plan)
    if covered is not None:
        confirmed_run(spending, plan, run, ready=covered)


def pays(spending: Spending, plan: Chargeable) -> bool | None:
    """The seed, or the entries of the ledger; True when the asset's lifetime budget covers it.

    A page with a checklist shows this beside it, and `confirmed_run` below.

    Returns:
        None where the workspace's rules do not let the step be charged at all, which is said.
    """
    if project().data.public:
        asset_entry.seed(f"{spending.key}_seed")
        return True
    try:
        # Whether an approval is there is for the page to say: it names the plan, which may change.
        check_rules(
            spending.kind, access.workspace(), approved=CHARGED_STEPS[spending.kind].approvable
        )
    except PrismError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None
    return asset_entry.section(plan.price, plan.delta, spending.step)


def confirmed_run(
    spending: Spending,
    plan: Chargeable,
    run: Callable[[], None],
    *,
    ready: bool,
) -> None:
    """The confirmation and the button; then the marks of the rows, and the run.

    Args:
        spending: what the page says of it.
        plan: what is confirmed.
        run: charges and works, or starts the process that does. No widget is touched in it, so no
            click can come between the charge and the work.
        ready: whether the asset covers it, and all else that the page asks for is there.
    """
    public = project().data.public
    if public:
        st.caption("These rows are public: the noise is known and nothing is charged.")
        missing = ""
    else:
        missing = _unconfirmed(spending, plan)
    pressed = st.button(
        spending.rehearsal_label if public else spending.label,
        type="primary",
        icon=spending.icon,
        key=spending.button or f"{spending.key}_run",
        # Not by the confirmation: a name is sent by the very click that would find it disabled.
        disabled=not (ready and (public or asset_entry.word())),
    )
    # A click may come from a screen that showed the button before it was disabled.
    if not (pressed and ready):
        return
    if missing:
        st.error(f"{missing} Nothing was run.", icon=":material/keyboard:")
        return
    with st.spinner(spending.busy) if spending.busy else nullcontext(), mistakes():
        # Before the charge: a step killed right after it must not leave rows that pass for public.
        public_claim.remember(plan.hash, spending.rows)
        run()
        st.rerun()


def _unconfirmed(spending: Spending, plan: Chargeable) -> str:
    """The box to tick, or the asset's name to type; what is still to be done there, or ""."""
    word = plain(asset_entry.word())
    owed = asset_entry.owing(plan.price.prior)
    # With learning that is still owed: what is confirmed has to be the whole amount.
    amount = eps_text(plan.price.with_owed(owed).spent.epsilon)
    learning = "" if owed is None else ", the cost of learning included"
    stays = f", even if it fails once {spending.begun}" if spending.begun else ""
    sentence = (
        f"This spends epsilon {amount} of “{word or 'the asset'}”{spending.on}{learning}. "
        f"It cannot be undone{stays}."
    )
    key = f"{spending.key}_confirm_{spending.attempt}"
    subject = confirmation.subject(plan.hash, owed)
    if spending.tick:
        agreed = confirmation.ticked(key, sentence, subject)
        return "" if agreed else "Tick the box above to confirm."
    if not word:
        st.info("Name the data asset first.", icon=":material/info:")
        return "Name the data asset."
    typed = confirmation.typed_word(
        key,
        f"{sentence} To go on, type **{word}**",
        subject,
        lambda text: bool(text.strip()) and same_asset(text, asset_entry.word()),
    )
    return "" if typed else f"Type “{word}” into the field above to confirm."
