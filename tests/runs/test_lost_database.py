"""A connection that is cut in the middle of a release: what it costs, and what it leaves behind."""

from __future__ import annotations

import json
import time
from datetime import date
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
import tomli_w

from prism_core.cli.main import main
from prism_core.data.engines import engine_table
from prism_core.data.engines.servers import PostgresEngine
from prism_core.data.schema import schema_file
from prism_core.privacy.ledger import Ledger
from prism_core.runs import inputs
from prism_core.structure import formats
from tests.support.bundles import DAG
from tests.support.charges import charges
from tests.support.postgres import NEEDED, load

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    *NEEDED,
    pytest.mark.privacy,
    # A command that fails ends its process, and with it the connection that nobody closed.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

KINDS = {"age": "bigint", "seen": "date", "dose": "double precision"}
READS = {"age": int, "seen": date.fromisoformat, "dose": float}
CUT = (
    "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() "
    "and datname = current_database() and state = 'active' and query like %s"
)
TASKS = {
    "causal": {"target": "readmitted", "regime": "causal", "max_joint_cells": 0},
    "predictive": {"target": "readmitted", "regime": "predictive", "k": 2},
}


class Stays:
    """A table that takes its time, in a server whose connections can be cut."""

    def __init__(self, server: str, name: str, db: Any) -> None:
        self.address = f"{server}?table={name}"
        self._name, self._db = name, db

    def view(self, where: str) -> None:
        # Without `offset` a query's own condition would come first, and leave few rows to wait for.
        self._db.execute(
            f"create or replace view {self._name} as "
            f"select * from {self._name}_rows where {where} offset 0"
        )

    def cut(self, query: str) -> Thread:
        """Cut whoever asks such a query, once; begun at once."""

        def cut() -> None:
            while not self._db.execute(CUT, [query]).fetchall():
                time.sleep(0.02)

        thread = Thread(target=cut, daemon=True)
        thread.start()
        return thread


@pytest.fixture
def stays(postgres_server, frame, request) -> Iterator[Stays]:
    import psycopg

    name = "".join(c if c.isalnum() else "_" for c in request.node.name).lower()[-40:]
    cells = [[READS.get(n, str)(cell) for cell in frame[n]] for n in frame]
    kinds = {n: KINDS.get(n, "text") for n in frame}
    load(postgres_server, f"{name}_rows", list(zip(*cells, strict=True)), kinds)
    plain = postgres_server.replace("postgres://", "postgresql://")
    with psycopg.connect(plain, autocommit=True) as db:
        found = Stays(postgres_server, name, db)
        found.view("pg_sleep(0.004) is not null")
        yield found


@pytest.fixture
def run(tmp_path, schema, stays, workspace, monkeypatch):
    (tmp_path / "schema.json").write_text(json.dumps(schema_file.to_dict(schema)))
    (tmp_path / "dag.json").write_text(formats.write(DAG, "node-link"))

    def release(task: str, out: str) -> int:
        config = {
            "table": {"train": stays.address, "schema": "schema.json", "dag": "dag.json"},
            "task": TASKS[task],
            "asset": {"name": "stays", "lifetime_epsilon": 5.0},
        }
        path = tmp_path / f"{task}.toml"
        path.write_text(tomli_w.dumps(config))
        return main(["release", str(path), "--out", str(tmp_path / out)])

    return release


def assets(workspace: Path) -> list[str]:
    if not (workspace / "ledger.sqlite").exists():
        return []
    return [asset.name for asset in Ledger(workspace).assets()]


@pytest.mark.parametrize(
    ("task", "query"),
    [
        ("causal", "COPY (SELECT h%"),
        ("causal", "COPY (SELECT CASE%"),
        ("predictive", "COPY (%"),
    ],
    ids=["cells", "counts", "codes"],
)
def test_a_cut_before_the_charge_costs_nothing(stays, run, workspace, tmp_path, task, query):
    cutting = stays.cut(query)
    assert run(task, "cut") != 0
    cutting.join()
    assert charges(tmp_path) == []
    assert assets(workspace) == []
    assert not (tmp_path / "cut").exists()
    stays.view("true")
    assert run(task, "whole") == 0
    assert charges(tmp_path) == ["done"]
    assert assets(workspace) == ["stays"]


OUTLINE = """
one_row_per_person: true
columns:
  - {name: age, kind: numeric, lower: 0, upper: 150, integer: true, learn: {cells: 75}}
  - {name: ward, kind: categorical, learn: true}
  - {name: readmitted, kind: boolean}
"""


def test_a_cut_while_a_domain_is_counted_costs_nothing(stays, workspace, tmp_path):
    (tmp_path / "outline.yaml").write_text(OUTLINE)
    config = {
        "table": {"train": stays.address, "schema": "outline.yaml"},
        "task": TASKS["predictive"],
        "asset": {"name": "stays", "lifetime_epsilon": 5.0},
    }
    path = tmp_path / "learn.toml"
    path.write_text(tomli_w.dumps(config))
    command = ["learn-domain", str(path), "--out", str(tmp_path / "learned.yaml")]
    cutting = stays.cut("COPY (SELECT c0%")
    assert main(command) != 0
    cutting.join()
    assert charges(tmp_path) == []
    assert assets(workspace) == []
    stays.view("true")
    assert main(command) == 0
    assert charges(tmp_path) == ["done"]
    learned = schema_file.load(tmp_path / "learned.yaml")
    assert learned.provenance == "dp"
    assert set(learned["ward"].levels) <= {"north", "south", "east", "west", "other"}


def test_a_cut_while_rows_are_drawn_for_private_numbers_costs_nothing(
    stays, run, workspace, tmp_path
):
    stays.view("true")
    assert run("predictive", "made") == 0
    stays.view("pg_sleep(0.004) is not null")
    numbers = tmp_path / "numbers.json"
    command = ["evaluate", str(tmp_path / "made"), "--holdout", stays.address, "--private", "1"]
    cutting = stays.cut("COPY (%")
    assert main([*command, "--out", str(numbers)]) != 0
    cutting.join()
    assert charges(tmp_path) == ["done"]
    assert not numbers.exists()
    stays.view("true")
    assert main([*command, "--out", str(numbers)]) == 0
    assert charges(tmp_path) == ["done", "done"]


def test_a_cut_after_the_charge_is_charged_once(stays, run, tmp_path, monkeypatch):
    """Only of a table of more rows than can be kept is anything read then."""
    monkeypatch.setattr(inputs, "MOST_ROWS", 10)
    monkeypatch.setattr(engine_table, "wider", lambda schema, wanted: {c: c for c in wanted})
    grouped = PostgresEngine.grouped
    cutting: list[Thread] = []

    def later(engine: PostgresEngine, query: Any) -> Any:
        if charges(tmp_path):
            cutting.append(stays.cut("COPY (SELECT CASE%"))
        return grouped(engine, query)

    monkeypatch.setattr(PostgresEngine, "grouped", later)
    assert run("predictive", "cut") != 0
    assert len(cutting) == 1
    assert charges(tmp_path) == ["failed"]
    assert not (tmp_path / "cut").exists()
