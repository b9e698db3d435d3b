"""Comparators beside the release: on stand-in rows, or with a charge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common import asset_entry, confirmation, job_view, rehearsal_run, spend_form
from dashboard.common.fields import keep, number_entry
from dashboard.common.steps import first_gap
from dashboard.common.widgets import mistakes
from dashboard.inspection.results import inspection
from dashboard.jobs import worker
from dashboard.session.inspection import ComparatorResult, StandInGround
from dashboard.session.rehearsals import scenario_of
from dashboard.session.shelf import project
from prism_core.comparators import (
    AS_PUBLISHED,
    COMPARATORS,
    NEIGHBOURS,
    ComparatorPlan,
    design_comparator,
)
from prism_core.comparators.external import (
    EXTERNAL,
    External,
    ExternalPlan,
    about,
    design_external,
    python_of,
)
from prism_core.errors import PrismError
from prism_core.planning.step_plan import delta_in_force
from prism_core.runs.finished_run import candidate
from prism_core.text.markdown import plain
from prism_core.text.numbers import eps_text

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.data.source import Rows

_ROWS = {False: "Stand-in rows, for nothing", True: "The rows of this release"}


def section() -> None:
    """The run under way, or the entries of the next one."""
    state = project()
    if state.inspection.comparators.job is not None:
        words = f"the comparator {state.inspection.comparators.job.plan.about.title}"
        job_view.section(
            "rival", lambda found: found.inspection.comparators, words, _take, doing="Running"
        )
        return
    # No run needs them any more, so the files of a stored table may go.
    state.inspection.comparators.table = state.inspection.comparators.ground = None
    with st.expander("Add a comparator", icon=":material/compare_arrows:", expanded=True):
        st.markdown(
            "A comparator is another private synthesizer. It spreads its budget over all columns, "
            "because it does not know what is to be predicted. Each runs on the same rows as a "
            "release would, with the same epsilon and delta."
        )
        if state.inspection.comparators.message:
            st.error(plain(state.inspection.comparators.message), icon=":material/error:")
        try:
            _entries()
            _offer()
        except PrismError as error:
            st.error(plain(str(error)), icon=":material/error:")


def _entries() -> None:
    rivals = project().inspection.comparators
    first, second, third = st.columns([1.2, 1, 1.4])
    first.selectbox(
        "Method",
        _offered(),
        _offered().index(rivals.method),
        format_func=lambda name: about(name).title,
        key="rival_method",
        on_change=keep,
        args=(rivals, "method", "rival_method"),
    )
    with second:
        number_entry(
            rivals,
            "epsilon",
            "rival_epsilon",
            "Epsilon of the comparator",
            value=_epsilon(),
            help="As the release's, so that both are protected alike.",
        )
    # Stand-in rows charge nobody, so no maximum holds for them.
    if rivals.own:
        confirmation.tick_above_maximum(_epsilon(), "rival_above_limit")
    own = (
        "The rows of this release, public" if project().data.public else "The private rows, charged"
    )
    third.radio(
        "Rows",
        [False, True],
        int(rivals.own),
        key="rival_own",
        on_change=keep,
        args=(rivals, "own", "rival_own"),
        format_func=lambda chosen: own if chosen else _ROWS[False],
        help="Stand-in rows are those of the page Rehearse. Your table is not touched by them.",
    )
    if rivals.method == "aim":
        st.radio(
            "AIM looks at all",
            [2, 3],
            rivals.degree - 2,
            horizontal=True,
            key="rival_degree",
            format_func={2: "pairs", 3: "triples (as published)"}.__getitem__,
            on_change=keep,
            args=(rivals, "degree", "rival_degree"),
        )
    chosen = about(rivals.method)
    st.markdown(f"**{chosen.title}.** {chosen.sentence} ({chosen.reference}.)")
    if isinstance(chosen, External):
        st.caption(f"Another program, which nobody here vouches for. {chosen.found}")
        return
    st.caption(
        f"Neighbours here: {NEIGHBOURS}, as for a release. MST and AIM as published take "
        f"neighbours that {AS_PUBLISHED}: there the same epsilon and delta need less noise by a "
        "factor of √2, and protect less."
    )


def _offered() -> list[str]:
    """Our own, and the packages that are installed; one that is chosen stays."""
    chosen = project().inspection.comparators.method
    packages = [name for name, one in EXTERNAL.items() if python_of(one) or name == chosen]
    return [*COMPARATORS, *packages]


def _told(plan: ExternalPlan) -> None:
    """Both relations, and what the package is told."""
    told = plan.told
    st.caption(
        f"Neighbours here: {NEIGHBOURS}, as for a release; those of the package: "
        f"{told.published}. So that epsilon {told.epsilon:.4g} and delta {told.delta:.2g} hold "
        f"here, it is told epsilon {told.told_epsilon:.4g}: {told.rule}."
    )


def _offer() -> None:
    state = project()
    if state.inspection.comparators.own:
        if state.release.train is None:
            st.info(
                "The training rows of this release are no longer in memory. Use `prism comparator` "
                "on the file, and add its folder below.",
                icon=":material/info:",
            )
            return
        _own(state.release.train)
        return
    gap = first_gap(state, "Rehearse")
    if gap is not None:  # entered anew since the release, which stands by itself
        st.info(
            f"On stand-in rows the plan of this project runs too: **{gap[0].title}** is not "
            f"finished. {plain(gap[1])}",
            icon=":material/info:",
        )
        return
    rows = rehearsal_run.stand_in()
    plan = _plan(rows.train)
    if isinstance(plan, ExternalPlan):
        _told(plan)
    st.caption(
        f"{plain(rows.title.rstrip('.'))}. Both the comparator and the plan of this project run "
        "on them with known noise, and are scored on fresh rows of the same kind: read these lines "
        "against each other, not against those of real rows."
    )
    asset_entry.seed("rival_seed")
    if st.button(
        "Rehearse the comparator", type="primary", icon=":material/theater_comedy:", key="rival_run"
    ):
        with mistakes():
            ground = StandInGround(
                rows=rows,
                plan=scenario_of(state.designs.plan, rows.target, "this plan"),
                seed=state.account.seed,
            )
            _start(plan, rows.train, ground)


def _epsilon() -> float:
    """What is typed, else the release's."""
    typed = project().inspection.comparators.epsilon
    guarantee = inspection().certificate.get("guarantee", {})
    return guarantee.get("declared_epsilon") or 1.0 if typed is None else typed


def _delta(n: int) -> float:
    """As the release's, or as the plan's on stand-in rows; 1/n^2 where neither has one."""
    state = project()
    known = inspection().certificate.get("guarantee", {}).get("delta")
    found = (
        known if state.inspection.comparators.own else state.designs.plan.budget.budget(()).delta
    )
    return delta_in_force(found, n)


def _plan(table: Rows) -> ComparatorPlan | ExternalPlan:
    """The run as it is entered."""
    # As many synthetic rows as the release has: with more of them a learner scores better by
    # itself.
    rivals, rows = project().inspection.comparators, inspection().subject.synthetic.n
    entered = (rivals.method, table.schema, table.people, _epsilon(), _delta(table.people))
    if rivals.method in EXTERNAL:
        return design_external(*entered, rows=rows)
    most = confirmation.above_maximum(_epsilon()) if rivals.own else None
    return design_comparator(*entered, degree=rivals.degree, rows=rows, above_limit=most)


def _own(table: Rows) -> None:
    data = project().data
    plan = _plan(table)
    if isinstance(plan, ExternalPlan):
        if not data.public:
            st.warning(
                f"{plan.about.title} runs on stand-in rows and public rows only: nobody here can "
                "vouch for the noise of another package, so no private row is handed to it. Take "
                "MST or AIM for these rows.",
                icon=":material/block:",
            )
            return
        _told(plan)
    if data.public or isinstance(plan, ExternalPlan):
        asset_entry.seed("rival_seed")
        if st.button(
            "Run with known noise (rehearsal)",
            type="primary",
            icon=":material/play_arrow:",
            key="rival_run",
        ):
            with mistakes():
                _start(plan, table, None)
        return
    _charged(plan, table)


def _charged(plan: ComparatorPlan, table: Rows) -> None:
    """What the run costs, the word that confirms it, and its button."""
    state = project()
    spend_form.cautions(plan)
    st.metric(
        "Spends, ε",
        eps_text(plan.spent.epsilon),
        border=True,
        help=f"By itself, at delta {plan.delta:.2g}; a release and this one add up.",
    )
    st.caption(
        f"Computed from the declared columns and the number of {plan.schema.counted} "
        f"({plan.n:,}) alone; no row is read before you confirm. The whole amount is charged "
        "before the first count."
    )
    spend_form.spend_form(
        spend_form.Spending(
            kind="comparator",
            key="rival",
            step="This comparator",
            on=" on a comparator, not on a better release",
            begun="counting has begun",
            label="Spend and run the comparator",
            rehearsal_label="",  # public rows have a button of their own above
            attempt=state.inspection.comparators.attempt,
        ),
        plan,
        lambda: _start(plan, table, None),
    )


def _start(plan: ComparatorPlan | ExternalPlan, table: Rows, ground: StandInGround | None) -> None:
    state = project()
    # Stand-in rows are nobody's, whatever asset is named on the page.
    charged = None if ground is not None else asset_entry.chosen()
    rivals = state.inspection.comparators
    rivals.job = worker.compare(plan, table, charged, state.account.seed)
    rivals.attempt, rivals.message = rivals.attempt + 1, ""
    rivals.table, rivals.ground = table, ground  # a table behind files stays open for the run
    st.rerun()


def _take(result: Path) -> None:
    """Its rows come into the table; of what was paid for the run keeps a copy by itself."""
    rivals = project().inspection.comparators
    number = len(rivals.found) + 1
    found = candidate(result, f"comparator {number}")
    rivals.found.append(ComparatorResult(candidate=found, ground=rivals.ground))
