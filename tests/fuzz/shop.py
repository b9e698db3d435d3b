"""Valid files of every kind, made once by the product's own writers."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
import zipfile
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.bundle import manifest
from prism_core.bundle.protocol import approval_file
from prism_core.bundle.protocol.protocol import Protocol
from prism_core.bundle.write import bundle_folder
from prism_core.data.encoding import encode
from prism_core.data.schema.code_groups import CodeGroups
from prism_core.data.schema.column import Column
from prism_core.data.schema.looks import Changed, Look
from prism_core.data.tables.raw_table import RawTable
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.scenario import Scenario
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.ledger import Ledger
from tests.support import bundles, workbooks
from tests.support.approvals import STATED
from tests.support.tables import CANARY, small_frame, small_schema

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from prism_core.data.schema.schema import Schema
    from prism_core.planning.plan import Plan
    from prism_core.structure.dag import Dag


class Shop:
    """What readers read, by the writers that write it.

    Attributes:
        root: a folder for all of it.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def folder(self, name: str) -> Path:
        """A new folder, for a reader that reads files."""
        place = self.root / name.replace(" ", "-").replace(":", "")
        place.mkdir(parents=True)
        return place

    @cached_property
    def schema(self) -> Schema:
        return small_schema()

    @cached_property
    def grouped(self) -> Schema:
        """With a map of codes, a record of looks, and bounds that were paid for."""
        codes = CodeGroups(
            groups=("heart", "lung"), codes=(("I21", "I50"), ("J44",)), weights=((2.0, 1.0), (1.0,))
        )
        learned = bundles.learned(self.schema)
        looks = (
            Look(did="previewed rows", file="train.csv", when="2025-01-01 10:00"),
            Changed(columns=("age",), declared_from="the codebook", when="2025-01-01 10:01"),
        )
        return replace(
            learned,
            looks=looks,
            columns=(*learned.columns, Column(name="code", kind="categorical", groups=codes)),
        )

    @cached_property
    def frame(self) -> pd.DataFrame:
        """Rows with cells that no error may tell."""
        found = small_frame(60)
        for name in ("ward", "age", "seen"):
            found.loc[found.index % 7 == 3, name] = CANARY
        return found

    @cached_property
    def dag(self) -> Dag:
        return replace(
            bundles.DAG,
            nodes=(*bundles.DAG.nodes, "hidden_cause"),
            unmeasured=frozenset({"hidden_cause"}),
        )

    @cached_property
    def learned_dag(self) -> Dag:
        prior = bundles.learned(self.schema).prior
        return replace(bundles.DAG, provenance="dp", prior=prior)

    @cached_property
    def plan(self) -> Plan:
        return design(
            Brief(self.schema, bundles.TASKS["predictive"], Budget(), 300, dag=bundles.DAG)
        )

    @cached_property
    def scenarios(self) -> tuple[Scenario, ...]:
        return (
            Scenario(
                name="causal",
                task=Task(target="readmitted", weights={"age": 2.0}),
                budget=Budget(epsilon=0.5),
                synthesis=Synthesis(rows=50),
            ),
            Scenario(
                name="other",
                task=bundles.TASKS["predictive"],
                budget=Budget(),
                synthesis=Synthesis(),
            ),
        )

    @cached_property
    def bundle(self) -> Path:
        """The folder of a charged, signed release."""
        made = bundles.charged(
            self.schema, small_frame(), self.workspace, bundles.TASKS["causal"], Synthesis(rows=40)
        )
        considered = [
            (
                one,
                design(
                    Brief(
                        self.schema,
                        one.task,
                        one.budget,
                        300,
                        dag=bundles.DAG,
                        synthesis=one.synthesis,
                    )
                ),
            )
            for one in self.scenarios
        ]
        out = bundle_folder.write(
            made,
            self.root / "bundle",
            scenarios=considered,
            local={"train": "train.csv"},
            workspace=self.workspace,
        )
        manifest.check_manifest(out, signed=True)
        return out

    def bundle_copy(self, name: str) -> Path:
        place = self.root / f"bundle-{name}"
        shutil.copytree(self.bundle, place)
        return place

    @cached_property
    def workspace(self) -> Path:
        return self.root / "workspace"

    @cached_property
    def ledger(self) -> bytes:
        """The file of a ledger with a charge, as one file."""
        assert self.bundle.is_dir()
        ledger = Ledger(self.workspace)
        ledger.correct(1, "for the oncology team")
        with closing(sqlite3.connect(ledger.path)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return ledger.path.read_bytes()

    @cached_property
    def ledger_rows(self) -> bytes:
        """The rows of a ledger's tables, as JSON."""
        from prism_core.privacy.ledger.store import COLUMNS

        assert self.ledger
        with closing(sqlite3.connect(self.workspace / "ledger.sqlite")) as db:
            rows: dict[str, Any] = {
                table: [list(row) for row in db.execute(f"SELECT * FROM {table}")]
                for table in ("meta", *COLUMNS, "chain")
            }
        return json.dumps(rows).encode()

    @cached_property
    def protocol(self) -> str:
        return Protocol(plan=self.plan, asset="ward 7", statement=STATED).to_json()

    @cached_property
    def approval(self) -> str:
        return approval_file.approve(
            self.protocol, by="A. B.", role="chair", date="2025-01-31"
        ).dumps()

    @cached_property
    def table(self) -> bytes:
        return self.frame.to_csv(index=False).encode()

    def statistical(self, kind: str) -> bytes:
        """The rows of the table as a file of SPSS ("sav"), Stata ("dta") or SAS ("xpt")."""
        import pyreadstat

        path = self.root / f"rows.{kind}"
        write = {
            "sav": pyreadstat.write_sav,
            "dta": pyreadstat.write_dta,
            "xpt": pyreadstat.write_xport,
        }[kind]
        write(self.frame, path, **({} if kind == "xpt" else {"column_labels": list(self.frame)}))
        return path.read_bytes()

    def workbook(self, ending: str) -> bytes:
        """The rows of the table as a workbook, its parts not packed."""
        frame = self.frame.astype(str)
        rows = [list(frame), *frame.to_numpy().tolist()]
        if ending == "xls":
            return workbooks.xls("Rows", rows)
        if ending == "ods":
            return workbooks.ods({"Rows": [list(map(workbooks.ods_cell, row)) for row in rows]})
        packed = workbooks.xlsx({"Rows": rows})
        out = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(packed)) as old, zipfile.ZipFile(out, "w") as new:
            for name in old.namelist():
                new.writestr(name, old.read(name))
        return out.getvalue()

    @cached_property
    def parquet(self) -> bytes:
        content = io.BytesIO()
        self.frame.to_parquet(content, index=False)
        return content.getvalue()

    @cached_property
    def encoded(self):
        return encode(self.schema, RawTable(small_frame()), public=True)


def rng() -> np.random.Generator:
    """Known draws."""
    return np.random.default_rng(0)
