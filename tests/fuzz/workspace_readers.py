"""Readers of what a workspace holds: ledger, settings, keys, receipts and sessions."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from prism_core.bundle import signing
from prism_core.data.schema import schema_file
from prism_core.evaluation.inside_epsilon import holdout_state
from prism_core.privacy.ledger import Ledger, chain_head, fingerprint, rules
from prism_core.privacy.ledger.store import COLUMNS
from prism_core.runs import recovery_file
from tests.fuzz.registry import Case, as_file, as_values, entry, every

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fuzz.shop import Shop


def _look_at(folder: Path) -> None:
    """All that reads a ledger; what refuses does so with an error of ours."""
    ledger = Ledger(folder)
    every(
        ledger.assets,
        ledger.charges,
        lambda: ledger.balance("ward 7"),
        ledger.verify,
        ledger.export,
        lambda: ledger.get(1),
        lambda: ledger.entry(1),
        lambda: ledger.lacking("ward 7", ()),
        lambda: ledger.register("ward 7", epsilon=9.0, delta=1e-6),
    )


@entry("ledger: file", "bytes", 0.2)
def _ledger(shop: Shop) -> Case:
    place = shop.folder("ledger")

    def read(content: bytes) -> None:
        for path in place.iterdir():
            path.unlink()
        (place / "ledger.sqlite").write_bytes(content)
        _look_at(place)

    return Case(seeds=(shop.ledger,), read=read)


@entry("ledger: rows", "json", 0.2)
def _ledger_rows(shop: Shop) -> Case:
    """A file of SQLite that holds whatever it likes under the names of our tables."""
    place = shop.folder("ledger-rows")

    def read(content: bytes) -> None:
        document = as_values(content)
        for path in place.iterdir():
            path.unlink()
        with closing(sqlite3.connect(place / "ledger.sqlite", isolation_level=None)) as db:
            db.execute("PRAGMA synchronous=OFF")
            db.execute("BEGIN")
            for table, names in {
                **COLUMNS,
                "meta": ("version",),
                "chain": ("id", "kind", "row", "digest"),
            }.items():
                db.execute(f"CREATE TABLE {table} ({', '.join(names)})")
                marks = ", ".join("?" * len(names))
                rows = document.get(table) if isinstance(document, dict) else None
                for row in rows if isinstance(rows, list) else ():
                    cells = [_cell(cell) for cell in row] if isinstance(row, list) else [_cell(row)]
                    cells = [*cells, *[None] * len(names)][: len(names)]
                    db.execute(f"INSERT INTO {table} VALUES ({marks})", cells)
            db.execute("COMMIT")
        _look_at(place)

    return Case(seeds=(shop.ledger_rows,), read=read)


def _cell(value: object) -> object:
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return float(value) if abs(value) < 10**300 else math.inf
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return value if isinstance(value, int | float | None) else json.dumps(value)


@entry("ledger: note beside it", "json")
def _head(shop: Shop) -> Case:
    assert shop.ledger
    place = shop.folder("head")
    seed = (shop.workspace / chain_head.FILE).read_bytes()
    return Case(
        seeds=(seed,),
        read=as_file(place / chain_head.FILE, lambda path: chain_head.noted(path.parent)),
    )


@entry("settings of a workspace", "toml")
def _settings(shop: Shop) -> Case:
    place = shop.folder("settings") / rules.SETTINGS
    return Case(
        seeds=(b"[release]\napproval_required = true\n",),
        read=as_file(place, lambda path: rules.approval_required(path.parent)),
    )


@entry("keys of a workspace", "bytes")
def _keys(shop: Shop) -> Case:
    assert shop.ledger
    place = shop.folder("keys")

    def read(path: Path) -> None:
        signing.public_pem(path.parent)
        signing.check_signing(path.parent)

    seed = (shop.workspace / signing.KEY).read_bytes()
    return Case(seeds=(seed,), read=as_file(place / signing.KEY, read))


@entry("fingerprints of a workspace", "json")
def _fingerprints(shop: Shop) -> Case:
    place = shop.folder("fingerprints")
    fingerprint.recognise(place, "ward 7", shop.encoded)
    fingerprint.remember(place, "ward 7", {"a" * 64})
    lines = (place / fingerprint.MEMORY).read_bytes().split()
    assert lines

    def read(path: Path) -> None:
        fingerprint.assets_of(path.parent, {"a" * 64}, None)
        fingerprint.recognise(path.parent, "clinic", shop.encoded)

    seeds = tuple(line for line in (place / fingerprint.MEMORY).read_bytes().splitlines() if line)
    return Case(seeds=seeds, read=as_file(place / fingerprint.MEMORY, read))


@entry("what was paid for", "bytes")
def _paid(shop: Shop) -> Case:
    assert shop.ledger
    place = shop.root / "paid"
    shutil.copytree(shop.workspace, place)
    (place / recovery_file.FOLDER).mkdir(exist_ok=True)
    room = recovery_file.ReservedSpace(place / recovery_file.FOLDER / "draft", Ledger(place))
    room.draft.touch()
    room.keep("domain", 1, {"schema.yaml": schema_file.dumps(shop.schema)})
    path = place / recovery_file.FOLDER / "charge-1.zip"
    return Case(
        seeds=(path.read_bytes(),), read=as_file(path, lambda _: recovery_file.contents(place, 1))
    )


@entry("session of a reusable holdout", "json")
def _session(shop: Shop) -> Case:
    from prism_core.evaluation.inside_epsilon.holdout import ask_holdout, open_holdout
    from prism_core.evaluation.inside_epsilon.holdout_plan import design_holdout
    from prism_core.evaluation.inside_epsilon.holdout_question import question

    place = shop.folder("session")
    plan = design_holdout(shop.schema, "readmitted", shop.encoded.n, 1.0, 1e-6)
    session = open_holdout(plan, shop.encoded, shop.encoded, workspace=place, ledger=None, seed=3)
    ask_holdout(session.place, question(shop.schema, "readmitted"), shop.encoded, shop.encoded)
    path = session.place / holdout_state.FILE
    return Case(
        seeds=(path.read_bytes(),), read=as_file(path, lambda _: holdout_state.read(session.place))
    )
