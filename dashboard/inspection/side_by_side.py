"""This release beside earlier ones of the same project, in one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common.widgets import mistakes
from dashboard.inspection import comparator_form
from dashboard.inspection.figure import table
from dashboard.inspection.results import ask, inspection
from dashboard.key import access
from dashboard.session.shelf import project
from prism_core.errors import EvaluationError, PrismError
from prism_core.evaluation import CHOOSING, Candidate, CandidateScores, Subject, compare_candidates
from prism_core.evaluation.score_text import amount, ends
from prism_core.rehearsal.trial import rehearsed_candidate, stand_in_subject
from prism_core.runs.finished_run import candidate
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dashboard.session.inspection import ComparatorResult, Progress, StandInGround


def section() -> None:
    """The warning, the choice, and the table."""
    st.warning(CHOOSING, icon=":material/visibility_lock:")
    _add()
    comparator_form.section()
    now = inspection()
    # Each once, this release first: the other lines are compared with the first.
    folders = list(dict.fromkeys([now.folder, *project().release.earlier, *now.compared]))
    rivals = tuple(project().inspection.comparators.found)
    if len(folders) < 2 and not rivals:
        st.info(
            "There is no other release to compare with yet. Earlier runs of this session come "
            "here by themselves; others when you name their folder.",
            icon=":material/info:",
        )
    # Taken here: the work runs in a thread, which has no session to ask.
    subject = now.subject
    # Comparators are only ever added, so their number says which they are.
    name = f"compare:{len(rivals)}:" + "\n".join(str(folder) for folder in folders)
    found = ask(name, lambda tell: _compared(subject, folders, rivals, tell))
    if found is None:
        return
    standings, left_out = found
    table([_row(standing, on) for standing, on in standings], "compare")
    st.caption(
        "All scores are learned from all columns. Differences are to the first line on the same "
        "rows, with 95% intervals on the same resamples of the test rows; where 0 lies inside, the "
        "rows do not tell the two apart. The intervals hold the test rows alone: another run's "
        "noise would move a line, too."
    )
    if rivals:
        st.caption(
            "Lines scored on stand-in rows have a ceiling of their own and are to be read against "
            "each other only. There the world does not shift: a causal plan leaves out what only "
            "goes along with the target, and a method that keeps it scores higher until the world "
            "shifts; the page Rehearse shows both. A comparator on private rows that was charged "
            "is kept in the folder comparators of the workspace."
        )
    for reason in left_out:
        st.caption(plain(reason))
    if project().data.test is None:
        st.caption(
            "The rows kept aside were drawn from the same file for this run. An earlier run drew "
            "others, so some of its training rows may be among them: read its line as optimistic."
        )


def _compared(
    subject: Subject, folders: Sequence[Path], rivals: Sequence[ComparatorResult], tell: Progress
) -> tuple[list[tuple[CandidateScores, str]], list[str]]:
    """Every folder that can be read, this release first, then comparators; and why others are not.

    Each line comes with the rows it is scored on.
    """
    found: list[Candidate] = []
    left_out: list[str] = []
    for number, folder in enumerate(folders):
        name = f"{number}: {_short(folder)}" if number else "this release"
        try:
            known = candidate(folder, name)
            if known.synthetic.schema.columns != subject.schema.columns:
                raise EvaluationError("It has other columns than this release.")
            found.append(known)
        except PrismError as error:
            left_out.append(f"{name} is left out. {error}")
    for rival in rivals:
        if rival.ground is None:
            known = rival.candidate
            if known.synthetic.schema.columns == subject.schema.columns:
                found.append(known)
            else:
                left_out.append(
                    f"{known.name} is left out. It has other columns than this release."
                )
    lines = [
        (standing, "real rows kept aside") for standing in compare_candidates(subject, found, tell)
    ]
    for ground, lone in _grounds(rivals):
        try:
            ours = rehearsed_candidate(
                ground.plan, ground.rows, lone[0].epsilon or 1.0, ground.seed, name="this plan"
            )
            lone = [ours, *lone]
        except PrismError as error:
            left_out.append(f"This plan is left out on the stand-in rows. {error}")
        scored = compare_candidates(stand_in_subject(ground.rows), lone, tell)
        lines += [(standing, "stand-in rows") for standing in scored]
    return lines, left_out


def _grounds(rivals: Sequence[ComparatorResult]) -> list[tuple[StandInGround, list[Candidate]]]:
    """Rehearsed comparators by their rows, plan, seed and epsilon, in order."""
    groups: list[tuple[StandInGround, list[Candidate]]] = []
    for rival in rivals:
        if rival.ground is None:
            continue
        for ground, lone in groups:
            # `is`: the same entries give the same object (`rehearsal_run.stand_in`).
            same = ground.rows is rival.ground.rows and ground.seed == rival.ground.seed
            same = same and ground.plan == rival.ground.plan
            if same and lone[0].epsilon == rival.candidate.epsilon:
                lone.append(rival.candidate)
                break
        else:
            groups.append((rival.ground, [rival.candidate]))
    return groups


def _row(found: CandidateScores, on: str) -> dict[str, object]:
    free = "rehearsal" if "rehearsal" in found.stamp else "none"
    numeric = found.rmse is not None
    score, floor = ("R²", "always the mean") if numeric else ("AUC", "guessing")
    more: dict[str, object] = {}
    if found.rmse is not None:
        more = {
            "RMSE, trained on synthetic": found.rmse.value,
            "95% interval, RMSE synthetic": ends(found.rmse.interval, amount),
            "RMSE, trained on real": found.rmse.ceiling,
            "95% interval, RMSE real": ends(found.rmse.ceiling_interval, amount),
        }
    elif found.calibration_error is not None:
        more = {
            "calibration error": found.calibration_error.value,
            "95% interval, calibration": ends(found.calibration_error.interval),
        }
    apart = {None: "", True: "told apart", False: "not told apart"}[found.told_apart]
    return {
        "release": found.name,
        "method": found.method,
        "kind": found.stamp,
        "regime": found.regime or "knows no target",
        "epsilon": found.epsilon,
        "neighbours": found.neighbours.split(";")[0],
        "charge": free if found.charge is None else f"number {found.charge}",
        "scored on": on,
        "synthetic rows": found.rows,
        f"{score}, trained on synthetic": found.score.value,
        "95% interval, synthetic": ends(found.score.interval),
        "less the first line": found.difference,
        "95% interval, difference": ends(found.difference_interval),
        "by the test rows": apart,
        f"{score}, trained on real": found.score.ceiling,
        "95% interval, real": ends(found.score.ceiling_interval),
        f"{score}, {floor}": found.score.floor,
        **more,
        "pairs with target (TV)": found.task_distance,
        "columns (l1)": found.column_distance,
        "note": found.score.note,
    }


def _short(folder: Path) -> str:
    """Runs of this session stand in folders called result; their parents tell them apart."""
    return folder.parent.name if folder.name == "result" else folder.name


def _add() -> None:
    if not access.names_places():
        return
    with st.expander("Add a release from a folder on this machine", icon=":material/folder_open:"):
        text = st.text_input(
            "Folder that `prism release` or `prism comparator` wrote", key="compare_folder"
        )
        if st.button("Add this folder", key="compare_add") and text.strip():
            with mistakes():
                # It is read with the rights of whoever started the app.
                access.require_own_machine()
                folder = Path(text.strip())
                # Read once now, so that a folder that is none is refused here and not left out of
                # every table.
                candidate(folder, "")
                inspection().compared.append(folder)
                st.rerun()
