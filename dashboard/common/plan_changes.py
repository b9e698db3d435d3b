"""Changes between two plans in the words of the pages, and the notice that a run is older."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dashboard.session.shelf import project
from prism_core.bundle.protocol.approval_file import SettingChange, changes, settings
from prism_core.errors import PrismError
from prism_core.planning.wishes.task import OPTIONS
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dashboard.jobs.job import Job
    from prism_core.planning.plan import Plan

_WORDS = {
    **{what: option.words for what, option in OPTIONS.items()},
    "people": "Number of people",
    "column": "Column",
    "edge": "Edge",
    "graph.provenance": "Where the graph comes from",
    "schema.provenance": "Where the columns come from",
    "schema.one_row_per_person": "One row per person",
    "schema.person_id": "Column that names the person",
    "schema.persons": "Number of persons",
    "schema.max_rows": "Rows used of a person, at most",
    "schema.weighting": "What a person's rows count",
    "schema.learned": "What learning the columns cost",
    "schema.codebook": "The codebook that the columns were read from",
    "schema.looks": "What opened the rows before the plan",
}


def entry_name(what: str) -> str:
    """An entry's name as the pages call it."""
    if what in _WORDS:
        return _WORDS[what]
    for prefix, words in _WORDS.items():
        if what.startswith(f"{prefix}."):
            return f"{words} {what.removeprefix(prefix + '.')}"
    return what[:1].upper() + what[1:]


def change_table(changes: Iterable[SettingChange], before: str) -> pd.DataFrame:
    """What differs between an earlier plan and what is entered now, an entry a row.

    Args:
        changes: the entries.
        before: title of the earlier plan's column.
    """
    rows = [(entry_name(c.what), *_pair(c.approved, c.now)) for c in changes]
    return pd.DataFrame(rows, columns=["what changed", before, "now"])


def _pair(before: object, now: object) -> tuple[str, str]:
    """Both values as text; of two descriptions of a column only what differs."""
    if isinstance(before, dict) and isinstance(now, dict):
        keys = [key for key in {**before, **now} if before.get(key) != now.get(key)]
        return _parts(before, keys), _parts(now, keys)
    return _text(before), _text(now)


def _parts(entry: dict[str, Any], keys: list[str]) -> str:
    return "; ".join(f"{key} {_text(entry[key])}" for key in keys if key in entry) or "–"


def _text(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return _parts(value, [key for key in value if key != "name"])
    if isinstance(value, list):
        if any(isinstance(each, dict) for each in value):
            return f"{len(value)} {'entry' if len(value) == 1 else 'entries'}"
        return ", ".join(map(_text, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def plan_changed_notice(job: Job[Plan] | None) -> None:
    """Say that the plan has moved on, and which entries differ; nothing while it has not.

    Args:
        job: the run that the page shows, finished or stopped.
    """
    state = project()
    # Without rows, or a number of them, nothing can be planned that the run could be held against.
    if job is None or state.data.schema is None or state.data.whole == 0:
        return
    made = f"plan {job.plan.hash[:12]}"
    try:
        found = changes(settings(job.plan), state.plan())
    except PrismError as error:
        st.warning(
            f"**This run was made with an earlier plan** ({made}). What is entered now makes no "
            f"plan: {plain(str(error))} Nothing of it is in this run.",
            icon=":material/history:",
        )
        return
    if not found:
        return
    entries = "1 entry differs" if len(found) == 1 else f"{len(found):,} entries differ"
    st.warning(
        f"**This run was made with an earlier plan** ({made}). {entries} in what is entered now, "
        "and nothing of that is in this run, its files or its report: it takes another run.",
        icon=":material/history:",
    )
    st.dataframe(
        change_table(found, "in this run"), hide_index=True, width="stretch", key="moved_on"
    )
