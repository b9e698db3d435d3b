"""A PostgreSQL server of our own, for tests that need one."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = shutil.which("pg_ctl") or next(
    (str(path) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))), None
)
PASSWORD = "canary%40secret"  # as it stands in an address: an encoded @

NEEDED = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="needs PostgreSQL's programs"),
    pytest.mark.skipif(importlib.util.find_spec("psycopg") is None, reason="needs psycopg"),
]


def needing(test: Any) -> Any:
    """A test with all of `NEEDED`, where its module has others without them."""
    for mark in NEEDED:
        test = mark(test)
    return test


@contextmanager
def started() -> Iterator[str]:
    """Address of a fresh server on the loopback that wants a password."""
    assert PROGRAM is not None
    folder = Path(tempfile.mkdtemp(prefix="prism-pg-"))
    bins = Path(PROGRAM).resolve().parent
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    secret = folder / "password"
    secret.write_text(PASSWORD.replace("%40", "@"), encoding="utf-8")
    who = {"user": "postgres"} if os.geteuid() == 0 else {}  # PostgreSQL refuses to run as root
    if who:
        for path in (folder, secret):
            shutil.chown(path, "postgres")

    def run(name: str, *arguments: str) -> None:
        subprocess.run(
            [str(bins / name), *arguments], check=True, capture_output=True, cwd=folder, **who
        )

    data = folder / "data"
    run("initdb", "-D", str(data), "-U", "prism", "-A", "scram-sha-256", f"--pwfile={secret}")
    options = f"-h 127.0.0.1 -p {port} -k {folder}"
    run("pg_ctl", "-D", str(data), "-w", "-l", str(folder / "log"), "-o", options, "start")
    try:
        yield f"postgres://prism:{PASSWORD}@127.0.0.1:{port}/postgres"
    finally:
        run("pg_ctl", "-D", str(data), "-m", "immediate", "stop")
        shutil.rmtree(folder)


def crash(server: str) -> None:
    """SIGKILL to the process of one connection: the whole server recovers, as after a crash."""
    from prism_core.privacy.ledger import postgres_store

    with postgres_store.connected(server, patience=30.0) as db:
        found = db.execute("SELECT pg_backend_pid()").fetchone()
        assert found is not None
        os.kill(found[0], signal.SIGKILL)


def recovered(server: str) -> None:
    """Wait until a server that crashed answers again."""
    from prism_core.privacy.ledger import postgres_store

    with postgres_store.connected(server, patience=30.0) as db:
        db.execute("SELECT 1")


def load(server: str, table: str, rows: list[tuple[object, ...]], columns: dict[str, str]) -> None:
    import psycopg

    with psycopg.connect(server.replace("postgres://", "postgresql://")) as connection:
        kinds = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
        connection.execute(f"create table {table} ({kinds})")
        marks = ", ".join(["%s"] * len(columns))
        with connection.cursor() as cursor:
            cursor.executemany(f"insert into {table} values ({marks})", rows)


WRITER = "prism_writer"


def fresh_ledger(server: str) -> str:
    """An empty ledger in the server, made by its owner; the address of the insert-only login."""
    import psycopg

    from prism_core.privacy.ledger import postgres_schema, postgres_store

    with psycopg.connect(server, autocommit=True) as db:
        db.execute("SELECT 1")
        db.execute(f"DROP SCHEMA IF EXISTS {postgres_schema.SCHEMA} CASCADE")
    postgres_store.initialise(server, WRITER)
    with psycopg.connect(server, autocommit=True) as db:
        db.execute(f"ALTER ROLE {WRITER} PASSWORD '{PASSWORD.replace('%40', '@')}'")
    return server.replace("//prism:", f"//{WRITER}:")
