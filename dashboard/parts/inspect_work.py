"""What an inspection keeps in the session, and its work in a thread beside the page.

A section asks for a result by name; it is worked out once. Nothing is written to disk or logged:
the results depend on private rows.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.state import project
from dashboard.widgets import plain
from prism_core.errors import CancelledError, PrismError
from prism_core.evaluation.holdout_plan import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prism_core.evaluation import PrivateEvaluation, Subject

    Progress = Callable[[float, str], None]

_SOON = 0.4  # seconds a page waits for a result before it shows how far it is


@dataclass
class Work:
    """A result under way, or there.

    Attributes:
        future: holds the result, or why there is none.
        share, text: how far it is.
        stop: whether it was asked to stop.
    """

    future: Future[Any]
    share: float = 0.0
    text: str = ""
    stop: bool = False


@dataclass
class Inspection:
    """One release beside the real rows.

    Attributes:
        folder: of the release.
        certificate: of the release.
        subject: its rows and facts.
        works: results by name.
        section: the section on screen.
        private: headline numbers bought in this session, newest last.
        s_alone: whether the scores on screen are learned from S alone; None until it is chosen.
        compared: folders of other releases chosen for the comparison.
        private_epsilon: of the next headline numbers, as it is typed.
        session_epsilon: of the next session on the holdout, likewise.
        session_tolerance: of that session, likewise.
    """

    folder: Path
    certificate: dict[str, Any]
    subject: Subject = field(repr=False)
    works: dict[str, Work] = field(default_factory=dict, repr=False)
    section: str = ""
    s_alone: bool | None = None
    private: list[PrivateEvaluation] = field(default_factory=list)
    compared: list[Path] = field(default_factory=list)
    private_epsilon: float = 0.2
    session_epsilon: float = 1.0
    session_tolerance: float = TOLERANCE

    def start(self, name: str, make: Callable[[Progress], Any]) -> Work:
        """Begin a piece of work, unless it was begun before."""
        if name not in self.works:
            work = self.works[name] = Work(future=Future())

            def tell(share: float, text: str) -> None:
                if work.stop:
                    raise CancelledError("Stopped. Nothing was kept.")
                work.share, work.text = share, text

            work.future = _pool().submit(make, tell)
        return self.works[name]

    def drop(self, *prefixes: str) -> None:
        """Forget results that were for another question, and stop those under way."""
        for name in [name for name in self.works if name.startswith(prefixes)]:
            self.works.pop(name).stop = True

    def done(self, prefix: str) -> dict[str, Any]:
        """Results that are there, of the names that start like this."""
        return {
            name: work.future.result() for name, work in self.works.items()
            if name.startswith(prefix) and work.future.done() and not work.future.exception()
        }  # fmt: skip


@st.cache_resource
def _pool() -> ThreadPoolExecutor:
    """Two threads for everybody's inspections: they take turns, and the pages stay free."""
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="inspection")


def inspection() -> Inspection:
    """The session's inspection; there is one where this is called."""
    found = project().inspection
    assert isinstance(found, Inspection)
    return found


def ask(name: str, make: Callable[[Progress], Any]) -> Any:  # noqa: ANN401  (any result)
    """The result of that name, or None while it is worked out; then a bar is shown."""
    work = inspection().start(name, make)
    try:
        return work.future.result(timeout=_SOON)
    except TimeoutError:
        _watch(name)
    except PrismError as error:
        _failed(name, str(error))
    except Exception as error:  # noqa: BLE001  (its text could hold a value; its type cannot)
        _failed(name, f"This could not be worked out ({type(error).__name__}).")
    return None


def _failed(name: str, text: str) -> None:
    st.error(plain(text), icon=":material/error:")
    if st.button("Try again", key=f"retry_{name}", icon=":material/refresh:"):
        inspection().works.pop(name, None)
        st.rerun()


@st.fragment(run_every=0.7)
def _watch(name: str) -> None:
    found = project().inspection
    work = found.works.get(name) if isinstance(found, Inspection) else None
    if work is None or work.future.done():
        st.rerun()
        return
    words = f"{work.text.capitalize()} …" if work.text else "Waiting for its turn …"
    st.progress(min(1.0, max(0.0, work.share)), text=plain(words))
    if st.button("Stop", key=f"stop_{name}", icon=":material/stop_circle:"):
        work.stop = True
        if work.future.cancel():  # not begun yet
            assert isinstance(found, Inspection)
            found.works.pop(name, None)
        st.rerun()
