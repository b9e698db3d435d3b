"""By what a table is known again: its file, and its rows as text, whatever their order.

Marks depend on the rows. They stay in the curator's session, or with a key in her workspace
(`privacy.ledger.fingerprint`); they are compared, and nothing else follows from them.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pandas.util import hash_pandas_object

from prism_core.data.tables import RawTable

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.data.big import BigTable

WHOLE = 2**30
"""A file of more bytes is known by its size and by blocks from all over it: a copy has the same."""
_BLOCK, _BLOCKS = 2**20, 64


def marks(raw: RawTable | BigTable) -> frozenset[str]:
    """The marks of a table; two tables with one in common are the same people's rows.

    The same bytes in another place, and the same rows in another order, with their columns in
    another order, or in another kind of file, have a mark in common. One changed cell makes other
    rows. Spends nothing: marks are as private as the rows, see the module.

    Args:
        raw: in memory; or behind a database, where files are known by their content and a table
            of a server by its address.
    """
    if isinstance(raw, RawTable):
        return frozenset([f"file {raw.sha256}"] if raw.sha256 else []) | {_rows(raw)}
    if raw.address.place in ("file", "files"):
        return frozenset(filter(None, map(file_mark, raw.address.files())))
    return frozenset([f"address {raw.address.shown}"])


def file_mark(path: Path) -> str:
    """The mark of a file's content, "" where it cannot be read; kept while the file is the same."""
    try:
        found = path.resolve().stat()
        return _file_mark(path.resolve(), found.st_size, found.st_mtime_ns)
    except OSError:
        return ""


@lru_cache(maxsize=256)
def _file_mark(path: Path, size: int, _changed: int) -> str:
    with path.open("rb") as file:
        if size <= WHOLE:
            return f"file {hashlib.file_digest(file, 'sha256').hexdigest()}"
        digest = hashlib.sha256(f"{size}".encode())
        for number in range(_BLOCKS):
            file.seek((size - _BLOCK) * number // (_BLOCKS - 1))
            digest.update(file.read(_BLOCK))
    return f"file {digest.hexdigest()}"


def _rows(raw: RawTable) -> str:
    """SHA-256 over the names of the columns and the sorted digests of the rows."""
    names = sorted(raw.header)
    whole = hashlib.sha256(repr((names, raw.rows)).encode("utf-8", "backslashreplace"))
    digests: Any = hash_pandas_object  # pandas types it as an object
    rows = digests(raw.frame[names], index=False).to_numpy().copy()
    rows.sort()
    whole.update(rows.tobytes())
    return f"rows {whole.hexdigest()}"
