"""Entries of epsilon, delta and the accountant."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.budget.edited_design import choose, entry, key_of
from dashboard.common import confirmation
from dashboard.common.fields import epsilon_entry, keeping, replaced, showing
from dashboard.session.shelf import project
from prism_core.planning.wishes.task import OPTIONS
from prism_core.privacy.accountants.accountant import CHARGEABLE, available
from prism_core.text.numbers import delta_text

if TYPE_CHECKING:
    from dashboard.session.designs import BudgetEntries

PRESETS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
LEAST, MOST = 0.01, 20.0
"""Ends of the slider; the text entry takes any epsilon."""

_STEPS = 20  # of the slider, for every factor of ten


def grid() -> tuple[float, ...]:
    """Epsilons of the slider: equal steps of the logarithm, in two digits, with the presets."""
    first, last = (round(math.log10(end) * _STEPS) for end in (LEAST, MOST))
    steps = {float(f"{10 ** (step / _STEPS):.2g}") for step in range(first, last + 1)}
    # A step beside a preset gives way to it, so that the slider meets the preset itself.
    near = {step for step in steps for preset in PRESETS if abs(step / preset - 1.0) < 0.03}
    return tuple(sorted((steps - near) | set(PRESETS)))


GRID = grid()
"""Epsilons of the slider and of the curves."""


def section(entries: BudgetEntries) -> None:
    """The entries of the privacy loss that is allowed."""
    epsilon_entry(
        entries,
        key_of("epsilon"),
        "Privacy budget (epsilon)",
        help="Bounds how much any one person can change what is released. Smaller is more private. "
        "0.5 and 0,5 are the same.",
    )
    epsilon_slider(entries, "epsilon_slider", label="Epsilon on a logarithmic scale")
    confirmation.tick_above_maximum(entries.epsilon, key_of("epsilon_above_limit"))
    preset = entries.epsilon if entries.epsilon in PRESETS else None
    key = entry("epsilon_preset", preset)
    st.pills(
        "Common values",
        PRESETS,
        format_func=lambda value: f"{value:g}",
        key=key,
        default=preset,
        on_change=_take,
        args=(entries, key),
        label_visibility="collapsed",
    )


def delta_section(entries: BudgetEntries) -> None:
    """Delta, and how privacy losses are added up."""
    default = delta_text(1 / project().data.n ** 2)
    st.text_input(
        "Chance that the bound fails (delta)",
        value=entries.delta,
        placeholder=f"1/n² = {default}",
        help="Probability that the bound does not hold. Leave empty for 1/n².",
        **keeping(entries, "delta", key_of("delta"), entries.delta),
    )
    _accounting(entries)


def epsilon_slider(entries: BudgetEntries, name: str, *, label: str) -> None:
    """A logarithmic slider for epsilon; it stands exactly where the text entry does."""
    here = _on_slider(entries.epsilon)
    # By what is shown: two options with one label could not be told apart.
    known = {f"{value:g}": value for value in GRID}
    options = sorted(GRID if f"{here:g}" in known else {*GRID, here})
    value = known.get(f"{here:g}", here)
    key = showing(key_of(name), value)
    st.select_slider(
        label,
        options,
        value,
        format_func=lambda value: f"{value:g}",
        key=key,
        on_change=_take,
        args=(entries, key),
        label_visibility="collapsed",
    )


def _on_slider(epsilon: float) -> float:
    """Where an epsilon stands on the slider; an unusable one stands at the nearest end."""
    # `not >`, because NaN may be typed and is nowhere on the slider.
    if not epsilon > 0.0:
        return LEAST
    return min(MOST, max(LEAST, epsilon))


def _take(entries: BudgetEntries, key: str) -> None:
    chosen = None if replaced(key) else st.session_state[key]
    # A pill that is clicked again is let go, and says no epsilon.
    if chosen is not None:
        entries.epsilon = float(chosen)


def _accounting(entries: BudgetEntries) -> None:
    """The accountants that fit: what is charged composes, what was learned is deducted as zCDP."""
    state = project()
    words = OPTIONS["budget.accountant"].choices
    fitting = {name: words[name] for name in available()}
    if not state.data.public:
        fitting = {name: text for name, text in fitting.items() if name in CHARGEABLE}
    learned = (
        bool(state.data.schema and state.data.schema.prior)
        or state.structure.graph.prior is not None
    )
    if learned:
        fitting = {"zcdp": words["zcdp"]}
    # Rows called private, or learning, may have ruled out the one that was chosen before.
    if entries.accountant not in fitting:
        entries.accountant = "zcdp"
    if len(fitting) == 1:
        st.caption(
            "Accounting: zCDP, by which what learning spent is deducted."
            if learned
            else "Accounting: zCDP, which composes over all releases of an asset."
        )
        return
    label = OPTIONS["budget.accountant"].words
    choose(entries, "accountant", label, fitting, help="How privacy losses are added up.")
    if entries.accountant == "pld":
        st.caption(
            "About 5% less noise for the same epsilon and delta, where nothing is chosen "
            "when the release runs: a causal or graphical regime with the model naive Bayes "
            "(under *Model details*). The ledger charges the zCDP amount of that noise, "
            "which is a little more than the release's own epsilon."
        )
