"""Checklist of a run, each line with what to do when it is not green."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common import attribution, binding_view, rehearsal_run
from dashboard.common.steps import STEPS, Step
from dashboard.common.widgets import mistakes, provenance_words
from prism_core.bundle.paper_values import headline
from prism_core.data.schema.looks import summary, unchecked
from prism_core.errors import PrismError
from prism_core.explain.run_time import size_text
from prism_core.planning.regimes import given_by
from prism_core.structure.independence import changes_not_covered
from prism_core.text.markdown import plain
from prism_core.text.numbers import count_text, delta_text, eps_text, score_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dashboard.session.project import Project
    from prism_core.planning.plan import Plan

_PAGES = {step.title: step for step in STEPS}


@dataclass(frozen=True, kw_only=True)
class ChecklistLine:
    """One line of the checklist.

    Attributes:
        done: whether the run may go ahead as far as this is concerned.
        text: what is so, or what is missing and what to do about it.
        step: where to mend it, None where that is on this page.
        doubt: whether it may go ahead, but should be looked at.
        rehearse: whether one click rehearses the plan.
    """

    done: bool
    text: str
    step: Step | None = None
    doubt: bool = False
    rehearse: bool = False


def planned(state: Project) -> Plan | None:
    """The plan of what is entered, None where there is a mistake in it."""
    try:
        return state.plan()
    except PrismError:
        return None


def checks(
    state: Project, *, budget_left: bool, approval: ChecklistLine | None
) -> tuple[ChecklistLine, ...]:
    """All lines. Reads no row.

    Args:
        state: the project.
        budget_left: whether an asset is named and its lifetime budget covers the run.
        approval: the line on the approval, None where there is none to be checked.
    """
    found = [_columns(state), _people(state), _graph(state), _plan(state), *_warned(state)]
    found += [*_table(state), _holdout(state)]
    # Public rows are charged to nobody, and no committee decides on a rehearsal of them.
    if not state.data.public:
        found += _rehearsed(state)
        found.append(
            ChecklistLine(
                done=True, text="Asset named, and its lifetime budget covers this release"
            )
            if budget_left
            else ChecklistLine(
                done=False,
                text="Name the asset below, with a lifetime budget that covers this release",
            )
        )
    return (*found, approval) if approval is not None else tuple(found)


def show(found: Sequence[ChecklistLine]) -> None:
    """The lines, and a way to each page where something is to be mended."""
    for check in found:
        mark = ":green[:material/check_circle:]" if check.done else ":orange[:material/pending:]"
        if check.doubt:
            mark = ":orange[:material/warning:]"
        st.markdown(f"{mark} {check.text}")
        if check.step is not None and (check.doubt or not check.done):
            st.page_link(check.step.page, label=f"Go to {check.step.title}", icon=check.step.icon)
        if check.rehearse and st.button(
            "Rehearse this plan", key="release_rehearse", icon=":material/theater_comedy:"
        ):
            with mistakes():
                rehearsal_run.start_plan()
                st.switch_page(_PAGES["Rehearse"].page)


def _columns(state: Project) -> ChecklistLine:
    assert state.data.schema is not None
    schema, step = state.data.schema, _PAGES["Data"]
    if state.data.to_learn:
        return ChecklistLine(
            done=False, text="Learn the columns that are ticked Learn, or declare them", step=step
        )
    if state.data.rows_to_learn is not None:
        return ChecklistLine(
            done=False, text="Learn how many rows of a person are used, or type it", step=step
        )
    text = f"Schema of {count_text(len(schema.columns), 'column')} ({provenance_words(schema)})"
    if schema.provenance == "private rows":
        text += ": it may give away single people. Declare it from the codebook where you can"
        return ChecklistLine(done=True, text=text, step=step, doubt=True)
    if schema.looks:
        text += f". {plain(summary(schema.looks))} The report lists it"
    # Without a table nobody could check, and the line on the table says that it is not there.
    note = "" if state.data.awaits_table else unchecked(schema.looks, public=state.data.public)
    if note:
        text += f". {note[0].upper()}{note[1:]}: *Check the declaration* on Data does"
    return ChecklistLine(done=True, text=text, step=step, doubt=bool(schema.looks) or bool(note))


def rows_kept(most: int) -> str:
    """How many rows of a person are used."""
    return "one row" if most == 1 else f"up to {most} rows"


def _people(state: Project) -> ChecklistLine:
    assert state.data.schema is not None
    schema = state.data.schema
    if not schema.people_declared:
        text = "Say how rows and people relate: protected is one person, not one row"
        return ChecklistLine(done=False, text=text, step=_PAGES["Data"])
    unit = (
        "one row per person declared"
        if schema.one_row_per_person
        else f"{rows_kept(schema.max_rows)} kept per {plain(schema.person_id or '')}"
    )
    return ChecklistLine(done=True, text=f"People: {unit}")


def _graph(state: Project) -> ChecklistLine:
    step = _PAGES["Structure"]
    missing = step.missing(state)
    if missing:
        return ChecklistLine(done=False, text=plain(missing), step=step)
    if state.designs.plan.regime == "predictive":
        graph = "no graph needed"
    else:
        edges = 0 if state.dag is None else len(state.dag.edges)
        graph = f"a graph without cycles, {count_text(edges, 'edge')}"
    text = (
        f"Target {plain(state.structure.target or '')}, {state.designs.plan.regime} regime: {graph}"
    )
    left = _not_covered(state)
    if state.dag is not None and state.dag.unmeasured and state.designs.plan.regime != "predictive":
        text += f". Not in the table: {plain(', '.join(state.dag.unmeasured))}"
    if left:
        text += f". S does not cover a change of {plain(left)}: the page Structure says more"
    return ChecklistLine(done=True, text=text, step=step if left else None, doubt=bool(left))


def _not_covered(state: Project) -> str:
    """The unmeasured nodes of which S does not cover a change; "" when there is none."""
    dag = state.dag
    if dag is None or state.designs.plan.regime == "predictive":
        return ""
    found = {
        name
        for target in state.settled_task().target_names
        for name in changes_not_covered(
            dag, target, given_by(dag, state.designs.plan.regime, target)
        )
    }
    # In the order of the graph: a set has none, and the line would change from start to start.
    return ", ".join(name for name in dag.unmeasured if name in found)


def _plan(state: Project) -> ChecklistLine:
    step = _PAGES["Budget"]
    try:
        plan = state.plan()
    except PrismError as error:
        return ChecklistLine(done=False, text=plain(str(error)), step=step)
    return ChecklistLine(
        done=True,
        text=f"Plan {plan.hash[:12]}: epsilon {eps_text(plan.budget.epsilon)}, delta "
        f"{delta_text(plan.delta)}, a model of {size_text(plan)}",
    )


def _warned(state: Project) -> list[ChecklistLine]:
    """A line for each warning of the plan: charged is charged, whatever the rows say."""
    plan = planned(state)
    if plan is None:
        return []
    step = _PAGES["Budget"]
    return [
        ChecklistLine(done=True, text=plain(each), step=step, doubt=True) for each in plan.warnings
    ]


def _rehearsed(state: Project) -> list[ChecklistLine]:
    """What a committee may expect; it sends back a protocol that does not say it."""
    plan = planned(state)
    if plan is None:
        return []
    step = _PAGES["Rehearse"]
    if state.rehearsing.job is not None:
        text = "The rehearsal is running: its figures go into the protocol"
        return [ChecklistLine(done=True, text=text, step=step, doubt=True)]
    # Of this plan alone: figures of an earlier one would promise a committee what nobody tried.
    found = headline(rehearsal_run.of_plan(), plan.budget.epsilon)
    if found is None:
        text = (
            "Rehearse this plan: without a rehearsal the protocol does not say how useful the "
            "rows would be, and a committee sends it back"
        )
        return [ChecklistLine(done=True, text=text, doubt=True, rehearse=True)]
    low, high = found.mean - (found.half or 0.0), found.mean + (found.half or 0.0)
    text = f"Rehearsed: {found.unit} {score_text(found.mean)}"
    if found.half is not None:
        text += f" ({score_text(low)} to {score_text(high)})"
    least = attribution.said(state).least
    if least is None or found.mean >= least:
        return [ChecklistLine(done=True, text=text)]
    text += f", below the {score_text(least)} that you ask for"
    return [ChecklistLine(done=True, text=text, step=step, doubt=True)]


def _table(state: Project) -> list[ChecklistLine]:
    """Whether the table is there, and is the one that the design was made for."""
    if state.data.awaits_table:
        text = (
            f"Load the table of {state.data.whole:,} persons below, once the plan is approved: "
            "then its header and its number of rows are compared with this design"
        )
        return [ChecklistLine(done=False, text=text)]
    return [
        ChecklistLine(done=check.fits, text=plain(check.text.rstrip(".")))
        for check in binding_view.checks(state)
    ]


def _holdout(state: Project) -> ChecklistLine:
    if state.data.own_test:
        if state.data.test is not None:
            text = f"A test file of its own, {count_text(state.data.test.rows, 'row')}"
            return ChecklistLine(done=True, text=text)
        text = "Load the test file on the page Data, or keep a share of the rows aside"
        return ChecklistLine(done=False, text=text, step=_PAGES["Data"])
    kept = state.data.holdout_rows
    if kept > 0:
        what = f"{count_text(kept, 'row')} kept aside for evaluation, drawn at random by person"
        return ChecklistLine(done=True, text=what)
    text = "Keep rows aside, or load a second file: without them nothing can be compared later"
    return ChecklistLine(done=False, text=text, step=_PAGES["Data"])
