"""Steps from page to page, and what is missing to go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.errors import PrismError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dashboard.session.project import Project


@dataclass(frozen=True, kw_only=True)
class Step:
    """One page of the flow.

    Attributes:
        page: file of the page.
        title: its name.
        icon: its icon in Streamlit's own icon font.
        missing: a sentence that says what is missing before this page is done, or "".
        optional: whether later pages do without it.
    """

    page: str
    title: str
    icon: str
    missing: Callable[[Project], str]
    optional: bool = False


_OF_STRUCTURE = ("dag", "edges", "nodes", "target", "further", "k")
"""Fields that are entered on the page Structure."""


def _data(project: Project) -> str:
    # First: only the rows are missing, and the sentences below ask for what is entered already.
    gone = project.data.rows_let_go
    if project.data.raw is None and gone is not None:
        return (
            f"The rows of {gone.name} were removed from memory while nobody used them. "
            "Load the same file again: everything entered is kept."
        )
    if project.data.raw is None and not project.data.awaits_table:
        return "Load a table, open a sample, or begin with a codebook and a number of persons."
    if project.data.to_learn:
        return "Learn the columns that are ticked Learn, or declare them."
    if project.data.rows_to_learn is not None:
        return "Learn how many rows of a person are used, or type it."
    if project.data.schema is None:
        return "Declare what the columns may hold."
    if not project.data.schema.people_declared:
        if project.data.person_hint:
            return (
                "Say how rows and people relate: how many different persons there are, or that "
                "every person has one row."
            )
        return "Say how rows and people relate."
    return ""


def _structure(project: Project) -> str:
    if _data(project):
        return "Declare the table first."
    if project.structure.target is None:
        return "Choose the column to be predicted."
    try:
        project.plan()
    except PrismError as error:
        # Any other mistake is corrected on the page Budget, which says it.
        return str(error) if error.field in _OF_STRUCTURE else ""
    return ""


def _budget(project: Project) -> str:
    if _data(project) or project.structure.target is None:
        return "Choose what is to be predicted first."
    try:
        project.plan()
    except PrismError as error:
        return str(error)
    return ""


def _rehearse(project: Project) -> str:
    return "" if project.rehearsing.asked is not None else "Try designs out, if you like."


def _release(project: Project) -> str:
    return "" if project.release.folder is not None else "Run the synthesis."


def _inspect(project: Project) -> str:
    return "" if project.inspection.shown is not None else "Compare synthetic and real rows."


def _report(project: Project) -> str:
    return "" if project.release.folder is not None else "Run the synthesis."


DONE_ICON = ":material/check_circle:"

STEPS: tuple[Step, ...] = (
    Step(page="data/page.py", title="Data", icon=":material/table:", missing=_data),
    Step(page="structure/page.py", title="Structure", icon=":material/hub:", missing=_structure),
    Step(page="budget/page.py", title="Budget", icon=":material/tune:", missing=_budget),
    Step(
        page="rehearse/page.py",
        title="Rehearse",
        icon=":material/theater_comedy:",
        missing=_rehearse,
        optional=True,
    ),
    Step(
        page="release/page.py", title="Release", icon=":material/verified_user:", missing=_release
    ),
    Step(
        page="inspection/page.py", title="Inspect", icon=":material/monitoring:", missing=_inspect
    ),
    Step(page="report/page.py", title="Report", icon=":material/description:", missing=_report),
)


START = "start/page.py"
"""Before the steps: what this is, and ways into it."""

AFTER_SAMPLE = "structure/page.py"
"""Where a sample that is opened on Start leads, with the key or without: its table is declared."""

GALLERY = "gallery/page.py"
"""Beside the steps: stories on public rows."""

COMMITTEE = "committee/page.py"
"""Beside the steps, in the hosted form: protocols that wait for a decision, and the records."""

_ADDRESSES = {"inspection": "inspect"}
"""Of the pages whose package cannot be named like their address: `inspect` is a standard module."""


def url_path(page: str) -> str:
    """The address of a page, by its file: every page is the `page.py` of a package of its own."""
    package = page.split("/")[0]
    return _ADDRESSES.get(package, package)


DEMO = "--demo"
"""Handed to the app when it opens with the gallery."""


def first_gap(project: Project, before: str) -> tuple[Step, str] | None:
    """The first step before `before` that is not done, and what it misses."""
    for step in STEPS:
        if step.title == before:
            return None
        missing = "" if step.optional else step.missing(project)
        if missing:
            return step, missing
    return None
