"""Private numbers: what they cost, a typed confirmation, and what came out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.common import asset_entry, confirmation, spend_form
from dashboard.common.fields import number_entry
from dashboard.inspection.figure import table
from dashboard.inspection.results import inspection
from dashboard.session.shelf import project
from prism_core.bundle.write import bundle_folder
from prism_core.errors import PrismError
from prism_core.evaluation import PrivateEvaluation, PrivatePlan, design_private
from prism_core.runs.charged_evaluation import numbers_text, run_private_numbers
from prism_core.text.markdown import plain
from prism_core.text.numbers import delta_text, eps_text

if TYPE_CHECKING:
    from pathlib import Path


def section() -> None:
    """The offer, and what was bought in this session."""
    st.markdown(
        "Everything else on this page is for your eyes only. Here a **small budget of its own** "
        "buys two numbers that a committee or the public may see: AUC and accuracy (R² and RMSE of "
        "a numeric target) of the model trained on synthetic rows, from noisy counts or sums of "
        "the rows kept aside. They belong to the same people's data, so the same lifetime budget "
        "is charged. The other side (trained on real rows) stays outside: that model is private "
        "itself."
    )
    # Numbered from the oldest: a key has to stay with its numbers when newer ones come on top.
    for number, found in enumerate(reversed(inspection().private)):
        _show(found, len(inspection().private) - number)
    try:
        _offer()
    except PrismError as error:
        st.error(plain(str(error)), icon=":material/error:")


def _offer() -> None:
    entries, cost = st.columns([1, 1.4], gap="large")
    with entries:
        number_entry(
            inspection(), "private_epsilon", "private_epsilon", "Epsilon for these numbers"
        )
        confirmation.tick_above_maximum(inspection().private_epsilon, "private_above_limit")
    plan = _plan(inspection().private_epsilon)
    with cost:
        _cost(plan)
    spend_form.spend_form(
        spend_form.Spending(
            kind="evaluation",
            key="private",
            step="This evaluation",
            begun="counting has begun",
            label="Spend and count",
            rehearsal_label="Count with known noise (rehearsal)",
            # Numbers that were bought make the next ones another purchase, to be confirmed by
            # itself.
            attempt=len(inspection().private),
            busy="Training on the synthetic rows, charging, counting …",
            rows=project().data.test,
        ),
        plan,
        lambda: _run(plan),
        place=entries,
    )


def _plan(epsilon: float) -> PrivatePlan:
    now = inspection()
    return design_private(
        now.subject.holdout.one_row_each.schema,
        now.subject.target,
        now.subject.holdout.people,
        epsilon,
        now.certificate.get("guarantee", {}).get("delta"),
        release=str(now.certificate.get("plan_sha256", "")),
        as_classes=now.subject.as_classes,
        above_limit=confirmation.above_maximum(epsilon),
    )


def _cost(plan: PrivatePlan) -> None:
    first, second, third = st.columns(3)
    first.metric(
        "Spends, ε",
        eps_text(plan.spent.epsilon),
        border=True,
        help=f"By itself, at delta {delta_text(plan.delta)}.",
    )
    if plan.numeric:
        _numeric_cost(plan, second, third)
    else:
        _class_cost(plan, second, third)
    spend_form.cautions(plan)
    st.caption(
        f"Computed from the declared columns and the {plan.n:,} rows kept aside alone; no row is "
        "read before you confirm."
    )


def _class_cost(plan: PrivatePlan, second: Any, third: Any) -> None:  # noqa: ANN401
    """The noise in the AUC and in the accuracy."""
    text = "–" if not plan.classes else f"± {1.96 * plan.expected_auc_error():.3f}"
    second.metric(
        "AUC, noise (95%)",
        text,
        border=True,
        help="If the class has a tenth of the rows kept aside; larger classes have "
        "less noise. Known before a row is read.",
    )
    third.metric(
        "Accuracy, noise (95%)", f"± {1.96 * plan.expected_accuracy_error:.3f}", border=True
    )


def _numeric_cost(plan: PrivatePlan, second: Any, third: Any) -> None:  # noqa: ANN401
    """The noise in the RMSE where it is a tenth and a quarter of the declared range."""
    for place, share, words in ((second, 0.1, "a tenth"), (third, 0.25, "a quarter")):
        noise = 1.96 * plan.expected_rmse_error(share) / share
        place.metric(
            f"RMSE of {words}, noise (95%)",
            f"± {noise:.1%}",
            border=True,
            help=f"As a part of the RMSE itself, if that is {words} of the declared range. Known "
            "before a row is read.",
        )


def _run(plan: PrivatePlan) -> None:
    """Charge and count."""
    now = inspection()
    account = asset_entry.registered(plan.delta)
    run_private_numbers(
        plan,
        now.subject.synthetic,
        now.subject.holdout.one_row_each,
        _kept,
        account,
        told=now.private.append,  # on the screen, whatever the disk says
    )


def _kept(found: PrivateEvaluation) -> Path:
    """Where the entry stays: beside the release's folder, which is finished."""
    folder = inspection().folder
    return folder.with_name(
        # By its charge: numbers bought later must not replace these.
        f"{folder.name}-charge-{found.charge}-{bundle_folder.PRIVATE_EVALUATION}"
    )


def _show(found: PrivateEvaluation, number: int) -> None:
    say, icon = (
        (st.success, ":material/verified:") if found.covered else (st.warning, ":material/warning:")
    )
    say(
        f"**{found.stamp.capitalize()}** · epsilon {eps_text(found.spent.epsilon)}, delta "
        f"{delta_text(found.spent.delta)}"
        + ("" if found.charge is None else f" · charge number {found.charge} in the ledger"),
        icon=icon,
    )
    rows = [
        {
            "score": item.name,
            "of": item.subject,
            "value": item.value,
            "noise, standard deviation": item.deviation,
            "95% from": None if item.interval is None else item.interval[0],
            "95% to": None if item.interval is None else item.interval[1],
            "note": item.note,
        }
        for item in found.numbers
    ]
    badge = ":green-badge[inside epsilon]" if found.covered else ":orange-badge[not covered]"
    st.markdown(f"{badge} {found.notice}")
    table(rows, f"private_{number}", inside=found.covered)
    st.caption(
        "The interval holds the noise alone; another sample of people would move the numbers, too. "
        "The model learned from all columns of the synthetic rows."
        + (f" Kept in {plain(str(_kept(found)))}." if _kept(found).is_file() else "")
    )
    st.download_button(
        "Certificate entry (JSON)",
        numbers_text(found).encode(),
        bundle_folder.PRIVATE_EVALUATION,
        "application/json",
        key=f"private_entry_{number}",
        icon=":material/download:",
        on_click="ignore",
    )
