"""The rows that a project holds in memory: how many bytes, letting go of them, taking them back.

What is declared, drawn, planned and paid for is no row and stays. A table behind a path or a
database is not held in memory, and stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.data.tables import RawTable
from prism_core.workspace import encode_holdout, ready, split

if TYPE_CHECKING:
    from dashboard.state import Project
    from prism_core.data.schema import Schema
    from prism_core.data.source import Rows


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
class Parted:
    """How the last run's rows were drawn and parted, so that it can be done again.

    Attributes:
        schema: in which they were encoded.
        kept: rows kept aside.
        seed: of the draws; nobody else knows it.
    """

    schema: Schema
    kept: int
    seed: int = field(repr=False)


def part(state: Project, how: Parted) -> tuple[Rows, Rows, Rows]:
    """All rows as codes, those to be trained on, and those kept aside. Spends nothing.

    The same seed gives the same parts of a table in memory.
    """
    assert state.raw is not None
    rng = np.random.default_rng(how.seed)
    table = ready(how.schema, state.raw, public=state.public, rng=rng)
    if state.test is not None:
        return table, table, encode_holdout(how.schema, state.test, rng=rng, public=state.public)
    return table, *split(table, how.kept, rng)


def held_bytes(state: Project) -> int:
    """Bytes of the rows that would be let go."""
    return sum(map(_size, _tables(state)))


def let_go(state: Project) -> None:
    """Let go of every row in memory, and of what was read from rows without noise."""
    for found in (state.inspection, state.put_away[0] if state.put_away else None):
        if found is not None:
            found.drop("")
            state.bought = found.private or state.bought  # it is paid for
    if state.put_away is not None:
        state.put_away = (None, state.put_away[1])
    state.inspection = None
    if isinstance(state.raw, RawTable) and not state.sample:
        if state.raw.sha256:
            state.rows_let_go = LetGo(name=state.name, rows=state.raw.rows, sha256=state.raw.sha256)
        state.raw = None
    for name in ("train", "holdout"):
        if isinstance(getattr(state, name), EncodedTable):
            setattr(state, name, None)
    state.rehearsing.public, state.rehearsing.public_sha256 = None, ""
    state.rehearsing.built = None


def take_back(state: Project, raw: RawTable, *, public: bool) -> bool:
    """Put the same file's rows back under everything that was made for them.

    The rows kept aside for the last run are parted off again as they were.

    Args:
        state: whose rows were let go.
        raw: what was loaded.
        public: whether it is called public now.

    Returns:
        Whether it is the file that was let go; else nothing was changed.
    """
    gone = state.rows_let_go
    if gone is None or raw.sha256 != gone.sha256 or public != state.public:
        return False
    state.raw, state.rows_let_go = raw, None
    if state.parted is not None and state.holdout is None:
        _, state.train, state.holdout = part(state, state.parted)
    return True


def _tables(state: Project) -> list[object]:
    own = [] if state.sample else [state.raw]  # a sample's rows are the same for everybody
    built = state.rehearsing.built
    stand_in = [] if built is None else [built[1].train, *built[1].holdouts.values()]
    found = state.inspection
    subject = [] if found is None else [found.subject.synthetic, found.subject.holdout]
    return [*own, state.train, state.holdout, state.rehearsing.public, *stand_in, *subject]


def _size(table: object) -> int:
    if isinstance(table, RawTable):
        return int(table.frame.memory_usage(deep=True).sum())
    return table.codes.nbytes if isinstance(table, EncodedTable) else 0
