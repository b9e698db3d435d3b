"""The folder a run leaves: synthetic rows, public description, certificate."""

from __future__ import annotations

import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.bundle import manifest
from prism_core.bundle.bundle_files import (
    CERTIFICATE,
    FORMER,
    GRAPH,
    LOCAL,
    MANIFEST,
    MEANING,
    MEASUREMENTS,
    NEEDED,
    OPTIONAL,
    PARQUET,
    PLAN,
    PRIVATE_EVALUATION,
    SCENARIOS,
    SCHEMA,
    SIGNATURE,
    SYNTHETIC,
    json_text,
    read_json,
)
from prism_core.bundle.certificate import Facts
from prism_core.bundle.write.contents import texts
from prism_core.data.schema import schema_file
from prism_core.data.tables.spreadsheet import csv_text
from prism_core.errors import BundleError, ConfigError, EvaluationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.data.schema.schema import Schema
    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.curator_statement import CuratorStatement
    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.synthesis.release import Release

__all__ = [
    "CERTIFICATE",
    "GRAPH",
    "LOCAL",
    "MEANING",
    "MEASUREMENTS",
    "PARQUET",
    "PLAN",
    "PRIVATE_EVALUATION",
    "SCENARIOS",
    "SCHEMA",
    "SYNTHETIC",
    "BundleFolder",
    "check_bundle_folder",
    "check_out_folder",
    "check_outside_run",
    "is_run",
    "read",
    "read_plan",
    "write",
]


@dataclass(frozen=True, kw_only=True)
class BundleFolder:
    """A written run, as far as evaluation needs it."""

    path: Path
    schema: Schema
    certificate: dict[str, Any]
    local: dict[str, Any]

    @property
    def synthetic(self) -> Path:
        """The synthetic rows: the Parquet file, whose cells are as they were drawn."""
        # In the CSV cells that a spreadsheet would run are changed.
        parquet = self.path / PARQUET
        return parquet if parquet.is_file() else self.path / SYNTHETIC


def check_out_folder(out: str | Path, *, again: bool = False) -> None:
    """Refuse the folder of a run that cannot be written, before anything is spent on it.

    Args:
        out: the folder.
        again: whether a run that stands there may be replaced.

    Raises:
        ConfigError: when nothing may be made there, or it holds files: those of a run may be
            replaced on request, others never.
    """
    folder = Path(out).absolute()
    # A run is put in place by a rename, which needs rights in the parent.
    check_bundle_folder(folder.parent if folder.is_dir() else folder)
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not is_run(folder):
        raise ConfigError(
            f"The folder {folder.name!r} holds files that are not of a run. Name a new folder; "
            "nothing was run.",
            field="out",
        )
    if not again:
        raise ConfigError(
            f"The folder {folder.name!r} holds an earlier run. Name a new folder, or say --replace "
            "if that run is to go; nothing was run.",
            field="out",
        )


def check_bundle_folder(folder: Path) -> None:
    """Refuse a folder in which nothing can be written.

    Raises:
        ConfigError: when it is a file, or nothing may be made there.
    """
    folder = folder.absolute()
    # Missing parents are made, so the nearest folder that exists decides.
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise ConfigError(
            f"The folder {folder.name!r} cannot be written. Name another one, or check your "
            "permissions; nothing was run.",
            field="out",
        )


def check_outside_run(out: Path) -> None:
    """Refuse a file in the folder of a run: its manifest lists its files, and no other.

    Raises:
        BundleError: in that case.
    """
    folder = out.resolve().parent
    if folder.is_dir() and is_run(folder):
        raise BundleError(
            "The folder of a run holds the files of its manifest and no other. Name a place "
            "outside it.",
            field="out",
        )


def is_run(folder: Path) -> bool:
    """Whether a folder holds a run and nothing else. Reads names only."""
    present = {path.name for path in folder.iterdir()}
    # Files of former versions too, or their runs could not be replaced.
    known = {*NEEDED, *OPTIONAL, *FORMER, MANIFEST, SIGNATURE, LOCAL}
    return CERTIFICATE in present and present <= known


def write(
    release: Release,
    out: str | Path,
    *,
    local: dict[str, Any] | None = None,
    scenarios: Sequence[tuple[Scenario, Plan]] = (),
    workspace: Path | None = None,
    said: CuratorStatement | None = None,
    again: bool = False,
) -> Path:
    """Write the folder; everything in it but local.json may be handed over.

    It is written beside its place and put there when it is whole: what fails leaves a former run
    as it was, and no half of a new one.

    Args:
        release: what is written.
        out: the folder.
        local: where the private files stand on this machine.
        scenarios: what else was considered, each with its plan; all public.
        workspace: whose key signs. By default that of the ledger that was charged; without
            either the bundle is not signed.
        said: who releases what for which purpose; public, in the report and the certificate.
        again: whether a run that stands in the folder is replaced.

    Raises:
        ConfigError: when the folder holds something else; see `check_out_folder`.
        BundleError: when the signing key cannot be read or made.
        OSError: when the disk is full, for example.
    """
    check_out_folder(out, again=again)
    # The name of `.` would be empty, and a draft beside it could not be named.
    folder = Path(out).absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    empty = folder.is_dir() and not any(folder.iterdir())  # perhaps the one we stand in
    # Beside the folder: a rename is a single step within one file system only.
    draft = folder.with_name(f".{folder.name}.{secrets.token_hex(8)}")
    draft.mkdir()
    try:
        facts = Facts.of(release, said)
        made = texts(release.stages, facts, release.measurements, scenarios)
        made[SYNTHETIC] = csv_text(release.table)
        for name, text in made.items():
            # Bytes: no system may put its own line ends in; `verify` compares to the byte.
            (draft / name).write_bytes(text.encode("utf-8"))
        release.table.to_parquet(draft / PARQUET, index=False)
        # Private, unlike the rest: it names places on this machine.
        files.replace(draft / LOCAL, json_text(local or {}).encode("utf-8"), sync=False)
        # Last: a folder without a manifest is known to be unfinished, and `read` refuses it.
        manifest.write_manifest(draft, workspace or release.workspace)
        # Moved into the folder that is there, so that whoever stands in it still does.
        if empty:
            _fill(draft, folder)
        else:
            _put(draft, folder)
    # An interrupted run (KeyboardInterrupt is no Exception) must leave no draft, either.
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return Path(out)


def _fill(draft: Path, folder: Path) -> None:
    """Move a draft's files into an empty folder; where that fails it is empty again."""
    moved: list[Path] = []
    try:
        # The manifest last: a folder without one is known to be unfinished.
        for path in sorted(draft.iterdir(), key=lambda path: path.name == MANIFEST):
            moved.append(path.rename(folder / path.name))
    except BaseException:
        for path in moved:
            path.unlink(missing_ok=True)
        raise
    draft.rmdir()


def _put(draft: Path, folder: Path) -> None:
    """Put a whole folder in its place; a former run goes once the new one stands there."""
    former = folder.with_name(f"{draft.name}.former")
    # Aside and not deleted: until the new run stands there the old one can come back.
    if folder.is_dir():
        folder.rename(former)
    try:
        draft.rename(folder)
    except BaseException:
        if former.is_dir():
            former.rename(folder)
        raise
    # The new run stands by now: an old file that cannot be deleted is no reason to fail.
    shutil.rmtree(former, ignore_errors=True)


def read(path: str | Path) -> BundleFolder:
    """Read a folder that `write` made.

    Raises:
        EvaluationError: when something is missing or was changed by hand.
    """
    folder = Path(path)
    needed = (SYNTHETIC, SCHEMA, CERTIFICATE, MANIFEST)  # the manifest is written last
    missing = [name for name in needed if not (folder / name).is_file()]
    if missing:
        raise EvaluationError(
            f"{folder.name!r} is not the folder of a run: {', '.join(missing)} is missing.",
            field="dir",
        )
    certified = _read_json(folder / CERTIFICATE)
    task = certified.get("task")
    if not isinstance(task, dict) or not {"target", "s"} <= set(task):
        raise EvaluationError(f"{CERTIFICATE} does not name the task.", field="dir")
    return BundleFolder(
        path=folder,
        schema=schema_file.load(folder / SCHEMA),
        certificate=certified,
        local=_read_json(folder / LOCAL) if (folder / LOCAL).is_file() else {},
    )


def read_plan(folder: BundleFolder) -> dict[str, Any]:
    """The plan of a run as plain values; empty when the folder has none.

    Raises:
        EvaluationError: when it was changed by hand into something else.
    """
    path = folder.path / PLAN
    return _read_json(path) if path.is_file() else {}


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return read_json(path)
    except BundleError as error:
        raise EvaluationError(str(error), field="dir") from None
