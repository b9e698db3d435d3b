"""This release beside earlier ones of the same project, in one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.parts import key_entry
from dashboard.parts.inspect_figure import table
from dashboard.parts.inspect_work import ask, inspection
from dashboard.state import project
from dashboard.widgets import mistakes, plain
from prism_core.bundle import writer
from prism_core.errors import EvaluationError, PrismError
from prism_core.evaluation import CHOOSING, compare
from prism_core.workspace import candidate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dashboard.parts.inspect_work import Progress
    from prism_core.evaluation import Candidate, Standing, Subject


def section() -> None:
    """The warning, the choice, and the table."""
    st.warning(CHOOSING, icon=":material/visibility_lock:")
    _add()
    now = inspection()
    folders = list(dict.fromkeys([now.folder, *project().earlier, *now.compared]))
    if len(folders) < 2:
        st.info(
            "There is no other release to compare with yet. Earlier runs of this session come "
            "here by themselves; others when you name their folder.",
            icon=":material/info:",
        )
    subject = now.subject
    name = "compare:" + "\n".join(str(folder) for folder in folders)
    found = ask(name, lambda tell: _compared(subject, folders, tell))
    if found is None:
        return
    standings, left_out = found
    table([_row(standing) for standing in standings], "compare")
    for reason in left_out:
        st.caption(plain(reason))
    if project().test is None:
        st.caption(
            "The rows kept aside were drawn from the same file for this run. An earlier run drew "
            "others, so some of its training rows may be among them: read its line as optimistic."
        )


def _compared(
    subject: Subject, folders: Sequence[Path], tell: Progress
) -> tuple[tuple[Standing, ...], list[str]]:
    """Every folder that can be read, this release first; and why others are left out."""
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
    return compare(subject, found, tell), left_out


def _row(found: Standing) -> dict[str, object]:
    return {
        "release": found.name, "kind": found.stamp, "regime": found.regime,
        "epsilon": found.epsilon, "synthetic rows": found.rows,
        "AUC, trained on synthetic": found.auc.value, "AUC, trained on real": found.auc.ceiling,
        "AUC, guessing": found.auc.floor, "calibration error": found.calibration_error,
        "pairs with target (TV)": found.task_distance, "columns (l1)": found.column_distance,
        "note": found.auc.note,
    }  # fmt: skip


def _short(folder: Path) -> str:
    """Runs of this session stand in folders called result; their parents tell them apart."""
    return folder.parent.name if folder.name == "result" else folder.name


def _add() -> None:
    with st.expander("Add a release from a folder on this machine", icon=":material/folder_open:"):
        if not key_entry.given("compare_key", "compare the runs of this session"):
            return
        text = st.text_input("Folder that `prism release --out` wrote", key="compare_folder")
        if st.button("Add this folder", key="compare_add") and text.strip():
            with mistakes():
                folder = Path(text.strip())
                writer.read(folder)
                inspection().compared.append(folder)
                st.rerun()
