"""Identity of a table: the marks it is known by, and whether public rows are known as private.

A table is known again by its file, and by its rows as text, whatever their order. Marks depend on
the rows. They stay in the curator's session, or with a key in her workspace
(`privacy.ledger.fingerprint`); they are compared, and nothing else follows from them.

Public rows are measured with known noise, shown, and charged to nobody. So whoever takes a file as
public asks `check_public`: does this session, this configuration or this workspace know the same
file, or the same rows, as private? The answer depends on the rows. It is a refusal on the
curator's own screen, before anything is done with them; she may overrule it, and nothing else
follows from it. So it is with a test file, which must not be the table itself (`check_test`).
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pandas.util import hash_pandas_object

from prism_core.data.tables.address import sheet_digest, split_sheet
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import KnownPrivateError, TableError
from prism_core.privacy.ledger import Ledger, default_workspace, fingerprint
from prism_core.privacy.ledger.store_choice import present

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from prism_core.data.engines.out_of_core import BigTable

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
        files = raw.address.files()
        return frozenset(filter(None, (file_mark(path, raw.address.sheet) for path in files)))
    return frozenset([f"address {raw.address.shown}"])


def file_mark(place: Path, sheet: str = "") -> str:
    """The mark of a file's content, "" where it cannot be read; kept while the file is the same.

    Args:
        place: the file, for a workbook perhaps with `#` and a sheet behind it.
        sheet: the sheet, where the place does not name it.
    """
    path, named = split_sheet(place)
    try:
        # A link and what it points to are one file, and one entry of the cache.
        found = path.resolve().stat()
        digest = _file_digest(path.resolve(), found.st_size, found.st_mtime_ns)
    except OSError:
        return ""
    return f"file {sheet_digest(digest, sheet or named)}"


# _changed is there for the cache: a file that was written again is read again.
@lru_cache(maxsize=256)
def _file_digest(path: Path, size: int, _changed: int) -> str:
    with path.open("rb") as file:
        if size <= WHOLE:
            return hashlib.file_digest(file, "sha256").hexdigest()
        digest = hashlib.sha256(f"{size}".encode())
        for number in range(_BLOCKS):
            file.seek((size - _BLOCK) * number // (_BLOCKS - 1))
            digest.update(file.read(_BLOCK))
    return digest.hexdigest()


def _rows(raw: RawTable) -> str:
    """SHA-256 over the names of the columns and the sorted digests of the rows."""
    names = sorted(raw.header)
    # A name may hold what UTF-8 has no bytes for.
    whole = hashlib.sha256(repr((names, raw.rows)).encode("utf-8", "backslashreplace"))
    digests: Any = hash_pandas_object  # pandas types it as an object
    # A copy, because it is sorted in place and may be a view of the frame's own memory.
    rows = digests(raw.frame[names], index=False).to_numpy().copy()
    rows.sort()
    whole.update(rows.tobytes())
    return f"rows {whole.hexdigest()}"


def check_apart(test: RawTable, table: RawTable | BigTable, person_id: str | None) -> None:
    """Refuse test rows of people who are in the table, too. Spends nothing.

    The answer depends on the rows, as that of `check_test`. Of a table that is not in memory
    nothing is compared.

    Raises:
        TableError: when a person is on both sides; no ID is in it.
    """
    if person_id is None or not isinstance(table, RawTable):
        return
    if person_id not in test.header or person_id not in table.header:
        return
    if set(test.column(person_id)) & set(table.column(person_id)):
        raise TableError(
            f"{test.name!r} has rows of people who are in {table.name!r}, too, by their "
            f"{person_id!r}. Split the table by person: what somebody's other rows taught is no "
            "test.",
            field="holdout",
        )


def check_test(test: RawTable, table: RawTable | BigTable, person_id: str | None = None) -> None:
    """Refuse a test file with rows or people of the table; whichever came first. Spends nothing.

    Raises:
        TableError: when the two are the same file, hold the same rows, or rows of the same people;
            no cell is in it.
    """
    check_apart(test, table, person_id)
    if marks(test) & marks(table):
        raise TableError(
            f"{test.name!r} and {table.name!r} are the same file or hold the same rows: what the "
            "table is made from cannot test it. Load a file of other people, or keep a share of "
            "the table aside.",
            field="holdout",
        )


OVERRULED = "although_charged"
"""The entry of a configuration's [table], and the option, by which the curator overrules."""


def check_public(
    raw: RawTable | BigTable,
    *,
    private: AbstractSet[str] = frozenset(),
    said: AbstractSet[str] = frozenset(),
    workspace: Path | None = None,
    how: str = f"state it: {OVERRULED} = true under [table], or --{OVERRULED.replace('_', '-')}",
) -> frozenset[str]:
    """Refuse rows as public that are known as private; gives their marks. Spends nothing.

    Args:
        raw: the rows that somebody calls public.
        private: marks of what the session or the configuration holds as private.
        said: marks of what the curator said to be public nevertheless.
        workspace: whose memory of charged rows is asked; by default the ledger's folder.
        how: she may overrule the refusal, as the end of a sentence.

    Raises:
        KnownPrivateError: saying as what the rows are known, and never a cell.
    """
    found = marks(raw)
    if found & said:
        return found
    where = ""
    if found & private:
        where = "were loaded as private before"
    else:
        folder = default_workspace() if workspace is None else workspace
        # Looked for first, because opening a ledger makes its file.
        charges = Ledger(folder).charges() if present(folder) else None
        assets = fingerprint.assets_of(folder, found, charges)
        if assets:
            where = f"were charged as private, under {', '.join(f'“{name}”' for name in assets)}"
    if where:
        raise KnownPrivateError(
            f"{raw.name!r} is to be taken as public, and the same file or the same rows "
            f"{where}. Public rows are protected by nothing. Choose rows that everybody may see; "
            f"if everybody may see these, {how}. Nothing was done with them.",
            field="public",
        )
    return found


def remember_private(ledger: Ledger, asset: str, raw: RawTable | BigTable, plan: str = "") -> None:
    """Remember what is to be charged to an asset, so that it does not pass for public later.

    It counts once a charge of the plan follows. Spends nothing: what is remembered of the rows
    stays in the workspace, under its key.

    Args:
        ledger: the workspace's ledger.
        asset: the name the rows are to be charged under.
        raw: the rows.
        plan: SHA-256 of the plan that is to be charged; "" counts at once.

    Raises:
        LedgerError: when the workspace cannot be written.
    """
    ledger.remember(asset, marks(raw), plan)
