"""Bundles for tests, made once, and the tools of somebody who forges them."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.bundle import bundle_files, manifest
from prism_core.bundle.reader import read_bundle
from prism_core.bundle.write import bundle_folder
from prism_core.data.encoding import encode
from prism_core.data.schema.schema_file import load
from prism_core.data.tables.raw_table import RawTable
from prism_core.planning.brief import Brief
from prism_core.planning.choices import Choices, replay
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.events import GaussianEvent
from prism_core.privacy.learning_charge import LearningCharge
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.noise import SeededNoise
from prism_core.structure.dag import Dag
from prism_core.synthesis.release import release

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

    from prism_core.data.schema.schema import Schema
    from prism_core.planning.choices import Stages
    from prism_core.planning.plan import Plan
    from prism_core.synthesis.release import Release

DAG = Dag(
    nodes=("age", "readmitted", "ward", "smoker"),
    edges=(("age", "readmitted"), ("smoker", "readmitted"), ("readmitted", "ward")),
)
TASKS = {
    # Pairs, one-ways, a 3-way marginal and a forest, the last two chosen at run time.
    "causal": Task(target="readmitted", max_joint_cells=0, three_way="cmi"),
    "predictive": Task(target="readmitted", regime="predictive", k=3),
}


def charged(
    schema: Schema,
    frame: pd.DataFrame,
    workspace: Path,
    task: Task,
    synthesis: Synthesis | None = None,
) -> Release:
    """A release of private rows, charged to the workspace's ledger."""
    table = encode(schema, RawTable(frame))
    plan = design(
        Brief(schema, task, Budget(), table.n, dag=DAG, synthesis=synthesis or Synthesis())
    )
    ledger = Ledger(workspace)
    ledger.register("ward 7", epsilon=9.0, delta=plan.delta)
    return release(plan, table, ledger=ledger, asset="ward 7", rng=np.random.default_rng())


def rehearsed(
    schema: Schema, frame: pd.DataFrame, seed: int = 5, task: Task = TASKS["causal"]
) -> Release:
    """A seeded run on public rows, which is not charged."""
    table = encode(schema, RawTable(frame), public=True)
    plan = design(Brief(schema, task, Budget(), table.n, dag=DAG))
    rng = np.random.default_rng(seed)
    return release(plan, table, ledger=None, noise=SeededNoise(rng), rng=rng)


def stages_of(plan: Plan) -> Stages:
    """A finished plan with the steps before it, replayed."""
    return replay(plan.brief, Choices.of(plan))


def learned(schema: Schema) -> Schema:
    """The schema as if its bounds had been learned with a part of the budget."""
    events = (GaussianEvent(sigma=40.0, label="learning age"),)
    return replace(
        schema, provenance="dp", prior=LearningCharge(events=events, delta=1e-5, plan="a" * 64)
    )


class Forger:
    """Changes a copy of a bundle; may compute the manifest anew and sign with a key of their own.

    Attributes:
        folder: the copy.
    """

    def __init__(self, original: Path, folder: Path, workspace: Path) -> None:
        self.folder = folder
        self._workspace = workspace
        shutil.copytree(original, folder)

    def seal(self) -> None:
        """Checksums anew, signed with the forger's key."""
        manifest.write_manifest(self.folder, self._workspace)

    def json(self, name: str, change: Callable[[dict[str, Any]], object]) -> None:
        """Change a JSON file, and write it as the program would."""
        document = json.loads((self.folder / name).read_text(encoding="utf-8"))
        change(document)
        (self.folder / name).write_text(bundle_files.json_text(document), encoding="utf-8")

    def measured(self, change: Callable[[list[dict[str, Any]]], object]) -> None:
        """Change the list of measurements, one a line as the program writes it."""
        path = self.folder / bundle_files.MEASUREMENTS
        document = json.loads(path.read_text(encoding="utf-8"))
        change(document["measurements"])
        lines = ",\n".join(
            json.dumps(entry, ensure_ascii=False) for entry in document["measurements"]
        )
        note = json.dumps(document["note"])
        path.write_text(f'{{"note": {note},\n"measurements": [\n{lines}\n]}}\n', encoding="utf-8")

    def text(self, name: str, old: str, new: str) -> None:
        """Replace a text that must be there."""
        path = self.folder / name
        content = path.read_text(encoding="utf-8")
        assert old in content, f"{old!r} is not in {name}"
        path.write_text(content.replace(old, new, 1), encoding="utf-8")

    def rows(self, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
        """Change the synthetic rows in both files."""
        import pandas as pd

        from prism_core.data.tables.spreadsheet import csv_text

        frame = change(pd.read_parquet(self.folder / bundle_files.PARQUET))
        frame.to_parquet(self.folder / bundle_files.PARQUET, index=False)
        (self.folder / bundle_files.SYNTHETIC).write_bytes(csv_text(frame).encode("utf-8"))

    def rewrite(self, **changes: Any) -> None:
        """Write every derived file anew, consistently: what the program itself would write.

        Args:
            changes: `schema`, `n`, `budget`, `stamp`, `charge` or `entry` that are to stand there.
        """
        from prism_core.bundle.write import contents

        bundle = read_bundle(self.folder)
        schema = changes.get("schema", bundle.schema)
        brief = replace(
            bundle.brief,
            schema=schema,
            n=changes.get("n", bundle.brief.n),
            budget=changes.get("budget", bundle.brief.budget),
        )
        stages = replace(bundle, brief=brief).stages()
        facts = replace(
            bundle.facts,
            plan_sha256=stages.final.hash,
            planned_sha256=stages.planned.hash,
            **{key: changes[key] for key in ("stamp", "charge", "entry") if key in changes},
        )
        for name, text in contents.texts(stages, facts, bundle.measurements).items():
            (self.folder / name).write_bytes(text.encode("utf-8"))

    def schema(self) -> Schema:
        """The schema in the folder."""
        return load(self.folder / bundle_files.SCHEMA)


def written(release_: Release, out: Path) -> Path:
    """The bundle of a release, with a private local.json as the command line writes it."""
    return bundle_folder.write(release_, out, local={"train": str(out.parent / "private.csv")})
