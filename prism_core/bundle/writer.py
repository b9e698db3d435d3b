"""The folder a run leaves: synthetic rows, public description, certificate."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core.data import schema_io
from prism_core.data.schema import PROVENANCE_TEXT
from prism_core.data.tables import from_frame
from prism_core.errors import ConfigError, EvaluationError
from prism_core.structure import formats

if TYPE_CHECKING:
    from prism_core.data.schema import Schema
    from prism_core.pipeline import Release

SYNTHETIC = "synthetic.csv"
SCHEMA = "schema.yaml"
GRAPH = "dag.json"
PLAN = "plan.json"
CERTIFICATE = "certificate.json"
PRIVATE_EVALUATION = "private-evaluation.json"
"""Headline numbers inside epsilon, bought after the run; beside its folder, to be handed over."""

LOCAL = "local.json"
"""Where the private files stand on this machine; for the curator, not for handing over."""


@dataclass(frozen=True, kw_only=True)
class Folder:
    """A written run, as far as evaluation needs it."""

    path: Path
    schema: Schema
    certificate: dict[str, Any]
    local: dict[str, Any]

    @property
    def synthetic(self) -> Path:
        """The synthetic rows."""
        return self.path / SYNTHETIC


def certificate(release: Release) -> dict[str, Any]:
    """What was done and what it guarantees, as plain values."""
    plan = release.plan
    return {
        "stamp": release.stamp,
        "guarantee": {
            "epsilon": plan.guarantee.epsilon,
            "delta": plan.delta,
            "rho": plan.guarantee.rho,
            "declared_epsilon": plan.budget.epsilon,
            "accountant": plan.budget.accountant,
            "neighbours": "replace one person; the number of persons is public",
            "unit": "one row per person declared"
            if plan.schema.one_row_per_person
            else "one uniformly chosen row per person ID",
        },
        "task": {"target": plan.task.target, "regime": plan.task.regime, "s": list(plan.s)},
        "schema_provenance": plan.schema.provenance,
        "schema_provenance_text": PROVENANCE_TEXT[plan.schema.provenance],
        "domain": None if plan.schema.prior is None else plan.schema.prior.to_dict(),
        "graph_provenance": None if plan.dag is None else plan.dag.provenance,
        "graph": None if plan.dag is None or plan.dag.prior is None else plan.dag.prior.to_dict(),
        "plan_sha256": plan.hash,
        "charge": release.charge,
        "software": {"name": "prism-dashboard", "version": _version()},
    }


def check_target(out: str | Path) -> None:
    """Refuse a folder that cannot be written, before anything is spent on what goes into it.

    Raises:
        ConfigError: when `out` is a file, or nothing may be made there.
    """
    folder = Path(out).absolute()
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise ConfigError(
            f"The folder {folder.name!r} cannot be written. Name another one, or check your "
            "permissions; nothing was run.",
            field="out",
        )


def write(release: Release, out: str | Path, *, local: dict[str, Any] | None = None) -> Path:
    """Write the folder; everything in it but local.json may be handed over."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    # In the text form of the declared levels: true and false, 3 for 3.0, ISO dates.
    from_frame(release.table).frame.to_csv(folder / SYNTHETIC, index=False)
    schema_io.save(release.plan.schema, folder / SCHEMA)
    (folder / GRAPH).unlink(missing_ok=True)  # of an earlier run into the same folder
    if release.plan.dag is not None:
        (folder / GRAPH).write_text(formats.write(release.plan.dag, "node-link"), encoding="utf-8")
    _json(folder / PLAN, release.plan.to_dict())
    _json(folder / CERTIFICATE, certificate(release))
    (folder / LOCAL).touch(mode=0o600)
    (folder / LOCAL).chmod(0o600)
    _json(folder / LOCAL, local or {})
    return folder


def read(path: str | Path) -> Folder:
    """Read a folder that `write` made.

    Raises:
        EvaluationError: when something is missing or was changed by hand.
    """
    folder = Path(path)
    missing = [name for name in (SYNTHETIC, SCHEMA, CERTIFICATE) if not (folder / name).is_file()]
    if missing:
        raise EvaluationError(
            f"{folder.name!r} is not the folder of a run: {', '.join(missing)} is missing.",
            field="dir",
        )
    certified = _read_json(folder / CERTIFICATE)
    task = certified.get("task")
    if not isinstance(task, dict) or not {"target", "s"} <= set(task):
        raise EvaluationError(f"{CERTIFICATE} does not name the task.", field="dir")
    return Folder(
        path=folder,
        schema=schema_io.load(folder / SCHEMA),
        certificate=certified,
        local=_read_json(folder / LOCAL) if (folder / LOCAL).is_file() else {},
    )


def read_plan(folder: Folder) -> dict[str, Any]:
    """The plan of a run as plain values; empty when the folder has none.

    Raises:
        EvaluationError: when it was changed by hand into something else.
    """
    path = folder.path / PLAN
    return _read_json(path) if path.is_file() else {}


def _read_json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        document = None
    if not isinstance(document, dict):
        raise EvaluationError(f"{path.name} is not readable as JSON.", field="dir")
    return document


def _json(path: Path, document: dict[str, Any]) -> None:
    path.write_text(
        json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n",
        encoding="utf-8",
    )


def _version() -> str:
    try:
        return version("prism-dashboard")
    except PackageNotFoundError:
        return "unknown"
