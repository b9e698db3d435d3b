"""Rows in memory: which project holds them, how long, letting go of them, taking them back."""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import numpy as np
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.jobs import folders
from prism_core.data.encoding import EncodedTable
from prism_core.data.table_identity import check_apart
from prism_core.data.tables.raw_table import RawTable
from prism_core.runs.inputs import IN_MEMORY, encode_holdout, ready, split

if TYPE_CHECKING:
    from collections.abc import Callable

    from dashboard.session.project import Project
    from prism_core.data.schema.schema import Schema
    from prism_core.data.source import Rows


@dataclass
class Presence:
    """Who has a project open.

    Attributes:
        used: when a session last looked at it, on the clock of `time.monotonic`.
        left: since when none has it open.
        sessions: that look at it.
    """

    used: float = 0.0
    left: float | None = None
    sessions: set[str] = field(default_factory=set)


@dataclass(frozen=True, kw_only=True)
class LetGo:
    """A table whose rows are no longer in memory.

    Attributes:
        name: of the file.
        rows: how many; public.
        sha256: by which it is known when it is loaded again.
    """

    name: str
    rows: int
    sha256: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class RowSplit:
    """How the last run's rows were drawn and parted, so that it can be done again.

    Attributes:
        schema: in which they were encoded.
        kept: rows kept aside.
        seed: of the draws; nobody else knows it.
    """

    schema: Schema
    kept: int
    seed: int = field(repr=False)


def split_rows(state: Project, how: RowSplit) -> tuple[Rows, Rows, Rows]:
    """All rows as codes, those to be trained on, and those kept aside. Spends nothing.

    The same seed gives the same parts of a table in memory.
    """
    assert state.data.raw is not None
    rng = np.random.default_rng(how.seed)
    table = ready(how.schema, state.data.raw, public=state.data.public, rng=rng)
    if state.data.test is not None:
        # Once more: which column names the person may have been said after both were loaded.
        check_apart(state.data.test, state.data.raw, how.schema.person_id)
        return (
            table,
            table,
            encode_holdout(how.schema, state.data.test, rng=rng, public=state.data.public),
        )
    return table, *split(table, how.kept, rng)


def held_bytes(state: Project) -> int:
    """Bytes of the rows that would be let go."""
    return sum(map(_size, _tables(state)))


def let_go(state: Project) -> None:
    """Let go of every row in memory, and of what was read from rows without noise."""
    data, run, inspected = state.data, state.release, state.inspection
    for found in (inspected.shown, run.put_away[0] if run.put_away else None):
        if found is not None:
            # Work that is under way holds the rows, too, and has to stop.
            found.drop("")
            inspected.bought = found.private or inspected.bought  # it is paid for
    if run.put_away is not None:
        run.put_away = (None, run.put_away[1])
    inspected.shown = None
    if isinstance(data.raw, RawTable) and not data.sample:
        # Without a hash nothing could tell whether the same file is loaded again.
        if data.raw.sha256:
            data.rows_let_go = LetGo(name=data.name, rows=data.raw.rows, sha256=data.raw.sha256)
        data.raw = None
    if data.test is not None and not data.sample:
        data.test_let_go = LetGo(name=data.test.name, rows=data.test.rows, sha256=data.test.sha256)
        # The file is awaited from now on: no share of the rows is kept aside in its place, so that
        # n stays.
        data.test, data.test_file = None, True
    for name in ("train", "holdout"):
        if isinstance(getattr(run, name), EncodedTable):
            setattr(run, name, None)
    # Public rows as well: what is to be made room for is memory.
    state.rehearsing.public, state.rehearsing.public_sha256 = None, ""
    state.rehearsing.built = None


def take_back(state: Project, raw: RawTable, *, public: bool) -> bool:
    """Put the same file's rows back under everything that was made for them.

    The rows kept aside for the last run are parted off again as they were.

    Args:
        state: whose rows have gone from memory.
        raw: what was loaded.
        public: whether it is called public now.

    Returns:
        Whether it is the file that was let go; else nothing was changed.
    """
    gone = state.data.rows_let_go
    if gone is None or raw.sha256 != gone.sha256 or public != state.data.public:
        return False
    state.data.raw, state.data.rows_let_go = raw, None
    _part_again(state)
    return True


def take_test(state: Project, test: RawTable) -> None:
    """Take a test file; where it is the one that was let go, the last run's rows are back, too."""
    gone, state.data.test_let_go = state.data.test_let_go, None
    state.data.test, state.data.test_file = test, True
    if gone is not None and gone.sha256 == test.sha256:
        _part_again(state)


def _part_again(state: Project) -> None:
    """The last run's rows, once every file that they came from is back."""
    data, run = state.data, state.release
    whole = data.raw is not None and (data.test is not None or not data.test_file)
    if whole and run.parted is not None and run.holdout is None:
        _, run.train, run.holdout = split_rows(state, run.parted)


def _tables(state: Project) -> list[object]:
    # A sample's rows are the same for everybody.
    own = [] if state.data.sample else [state.data.raw, state.data.test]
    built = state.rehearsing.built
    stand_in = [] if built is None else [built[1].train, *built[1].holdouts.values()]
    found = state.inspection.shown
    subject = [] if found is None else [found.subject.synthetic, found.subject.holdout]
    return [
        *own,
        state.release.train,
        state.release.holdout,
        state.rehearsing.public,
        *stand_in,
        *subject,
    ]


def _size(table: object) -> int:
    if isinstance(table, RawTable):
        return int(table.frame.memory_usage(deep=True).sum())
    # A table that is stored has its rows in files.
    return table.codes.nbytes if isinstance(table, EncodedTable) else 0


KEPT = 600.0
"""Seconds that rows stay when no tab has the project open: a reload, or a laptop that sleeps."""

IDLE = 600.0
"""Seconds after which the rows of an open tab may go, too, where there is no room."""

MOST = 6 * IN_MEMORY
"""Bytes of rows of all projects together; of more, those looked at the longest ago go first."""

_EVERY = 60.0
_CLEANS = 3600.0  # seconds between two looks for folders of runs that nobody came back for

# Weak: watching a project must not keep it in memory.
_known: WeakValueDictionary[int, Project] = WeakValueDictionary()
_left_sessions: dict[str, float | None] = {}  # of sessions that ran: since when they are gone
_lock = threading.Lock()


def register(state: Project) -> None:
    """Watch a project: it may hold rows."""
    with _lock:
        _known[id(state)] = state


def touch(state: Project, now: float | None = None) -> None:
    """Note that this session looks at the project now, and at no other one any more."""
    register(state)
    # Monotonic: a clock that is set must not let go of anybody's rows.
    state.presence.used = time.monotonic() if now is None else now
    session = session_id()
    with _lock:
        if session:
            # Else the tables that a tab left behind would stay for as long as the tab.
            for other in _known.values():
                other.presence.sessions.discard(session)
            state.presence.sessions.add(session)
            _left_sessions[session] = None


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
        # Under the lock: a session that registers a project would change what is walked here.
        held = [(state, held_bytes(state)) for state in _known.values()]
        gone = _gone_sessions(now, opened)
    here: dict[int, bool] = {}
    dropped, staying = [], []
    for state, size in held:
        # A copy, because the lock is free again and a tab may come or go meanwhile.
        here[id(state)] = any(map(opened, tuple(state.presence.sessions)))
        if here[id(state)]:
            state.presence.left = None
        elif state.presence.left is None:
            state.presence.left = now
        over = state.presence.left is not None and now - state.presence.left >= KEPT
        if size:
            (dropped if over else staying).append((state, size))
    total = sum(size for _, size in staying)
    for state, size in sorted(staying, key=lambda one: (here[id(one[0])], one[0].presence.used)):
        # Rows that somebody works with now stay, even where memory runs short.
        if total > most and (not here[id(state)] or now - state.presence.used >= IDLE):
            total -= size
            dropped.append((state, size))
    for state, _ in dropped:
        let_go(state)
    # Streamlit keeps an uploaded file beside the table that was read from it: both hold the rows.
    for session in gone:
        forget_uploads(session)
    if dropped or gone:
        give_back()
    return [state for state, _ in dropped]


def _gone_sessions(now: float, opened: Callable[[str], bool]) -> list[str]:
    """Sessions that are gone for good; under the lock."""
    found = []
    for session, since in tuple(_left_sessions.items()):
        if opened(session):
            _left_sessions[session] = None
        elif since is None:
            _left_sessions[session] = now
        elif now - since >= KEPT:
            del _left_sessions[session]
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
    # A daemon, which does not keep the process from ending.
    threading.Thread(target=_watch, name="rows-held", daemon=True).start()


def _watch() -> None:
    due = time.monotonic() + _CLEANS
    while True:
        time.sleep(_EVERY)
        with suppress(Exception):  # the next look finds what this one left
            sweep()
        if time.monotonic() > due:
            due = time.monotonic() + _CLEANS
            with suppress(Exception):
                folders.sweep()  # a server may run for months
