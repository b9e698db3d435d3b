"""Rows in memory have a lifetime: while somebody has the project open, and there is room.

A browser tab that is closed tells nobody, and Streamlit keeps what was uploaded in a session until
it forgets the session, which may be never. So every project that may hold rows is known here, a
thread looks at them once a minute, and what nobody has open any more is let go: the rows and what
was read from them. What is declared, drawn, planned and paid for stays, and the rows come back when
the same file is loaded again (`project_rows.take_back`).
"""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.project_rows import held_bytes, let_go
from prism_core.workspace import IN_MEMORY

if TYPE_CHECKING:
    from collections.abc import Callable

    from dashboard.state import Project

KEPT = 600.0
"""Seconds that rows stay when no tab has the project open: a reload, or a laptop that sleeps."""

IDLE = 600.0
"""Seconds after which the rows of an open tab may go, too, where there is no room."""

MOST = 6 * IN_MEMORY
"""Bytes of rows of all projects together; of more, those looked at the longest ago go first."""

_EVERY = 60.0

_known: WeakValueDictionary[int, Project] = WeakValueDictionary()
_left: dict[str, float | None] = {}  # of sessions that ran: since when they are gone
_lock = threading.Lock()


def know(state: Project) -> None:
    """Watch a project: it may hold rows."""
    with _lock:
        _known[id(state)] = state


def touch(state: Project, now: float | None = None) -> None:
    """Note that this session looks at the project now."""
    know(state)
    state.used = time.monotonic() if now is None else now
    session = session_id()
    with _lock:
        if session:
            state.sessions.add(session)
            _left[session] = None


def session_id() -> str:
    """Of the session that runs, "" outside of one."""
    context = get_script_run_ctx(suppress_warning=True)
    return "" if context is None else context.session_id


def is_open(session: str) -> bool:
    """Whether a browser is connected to the session."""
    return runtime.exists() and runtime.get_instance().is_active_session(session)


def sweep(
    now: float | None = None, opened: Callable[[str], bool] = is_open, most: int = MOST
) -> list[Project]:
    """Let go of rows that nobody has open, and of more than there is room for; those projects.

    Args:
        now: seconds on the clock of `time.monotonic`.
        opened: whether a session is open.
        most: bytes that there is room for.
    """
    now = time.monotonic() if now is None else now
    with _lock:
        held = [(state, held_bytes(state)) for state in _known.values()]
        gone = _gone_sessions(now, opened)
    here: dict[int, bool] = {}
    dropped, staying = [], []
    for state, size in held:
        here[id(state)] = any(map(opened, tuple(state.sessions)))
        if here[id(state)]:
            state.left = None
        elif state.left is None:
            state.left = now
        over = state.left is not None and now - state.left >= KEPT
        if size:
            (dropped if over else staying).append((state, size))
    total = sum(size for _, size in staying)
    for state, size in sorted(staying, key=lambda one: (here[id(one[0])], one[0].used)):
        if total > most and (not here[id(state)] or now - state.used >= IDLE):
            total -= size
            dropped.append((state, size))
    for state, _ in dropped:
        let_go(state)
    for session in gone:
        forget_uploads(session)
    if dropped or gone:
        give_back()
    return [state for state, _ in dropped]


def _gone_sessions(now: float, opened: Callable[[str], bool]) -> list[str]:
    """Sessions that are gone for good; under the lock."""
    found = []
    for session, since in tuple(_left.items()):
        if opened(session):
            _left[session] = None
        elif since is None:
            _left[session] = now
        elif now - since >= KEPT:
            del _left[session]
            found.append(session)
    return found


def forget_uploads(session: str, file_id: str | None = None) -> None:
    """Let go of one file that Streamlit keeps for a session, or of all."""
    if not runtime.exists():
        return
    manager = runtime.get_instance().uploaded_file_mgr
    if file_id is None:
        manager.remove_session_files(session)
        return
    remove = getattr(manager, "remove_file", None)  # of the manager in memory, the one there is
    if remove is not None:
        remove(session_id=session, file_id=file_id)


def give_back() -> None:
    """Hand what was freed back to the system: allocators keep it otherwise."""
    gc.collect()
    with suppress(ImportError):
        import pyarrow as pa

        pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # of glibc; other systems give back by themselves
        ctypes.CDLL(None).malloc_trim(0)


def watch() -> None:
    """Begin to look once a minute; called once a process."""
    threading.Thread(target=_watch, name="rows-held", daemon=True).start()


def _watch() -> None:
    while True:
        time.sleep(_EVERY)
        with suppress(Exception):  # the next look finds what this one left
            sweep()
