"""Scenarios kept by name in a workspace that was chosen on purpose.

A scenario is public, but what a person tries out is their own: there is no default workspace, so
two people see each other's scenarios only when both name the same folder. Names never become
file names; a project's file is named by the digest of its name.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core import files, foreign, scenario_io
from prism_core.errors import ConfigError, PrismError
from prism_core.planning.scenario import check_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prism_core.planning.scenario import Scenario

FOLDER = "scenarios"
MOST_SCENARIOS = 200
"""Scenarios of one project."""


class Book:
    """The scenarios of a workspace, by project.

    Files are for this user only (0600, in a folder of mode 0700). Every change is written beside
    the old file and takes its place in one step, under a lock: processes take turns, and a crash
    leaves the old file or the new one.

    Attributes:
        folder: where the files stand.
    """

    def __init__(self, workspace: str | Path) -> None:
        self.folder = Path(workspace) / FOLDER

    def load(self, project: str) -> tuple[Scenario, ...]:
        """The project's scenarios in the order in which they were first saved; none is ().

        Raises:
            ConfigError: when the file cannot be read, or was changed by hand.
        """
        return tuple(self._read(self._path(project)))

    def save(self, project: str, scenario: Scenario) -> None:
        """Keep a scenario; one of the same name is replaced.

        Raises:
            ConfigError: when the workspace cannot be written, or holds too many.
        """
        path = self._path(project)
        with self._alone():
            kept = self._read(path)
            names = [one.name for one in kept]
            if scenario.name in names:
                kept[names.index(scenario.name)] = scenario
            else:
                kept.append(scenario)
            if len(kept) > MOST_SCENARIOS:
                raise ConfigError(
                    f"There are {MOST_SCENARIOS} scenarios already. Delete one first.", field="name"
                )
            self._write(path, project, kept)

    def delete(self, project: str, name: str) -> None:
        """Forget a scenario; nothing happens when there is none of that name.

        Raises:
            ConfigError: when the workspace cannot be written.
        """
        path = self._path(project)
        if not self.folder.is_dir():
            return
        with self._alone():
            kept = self._read(path)
            left = [scenario for scenario in kept if scenario.name != name]
            if len(left) < len(kept):
                self._write(path, project, left)

    def _path(self, project: str) -> Path:
        digest = hashlib.sha256(check_name(project, "project").encode("utf-8")).hexdigest()
        return self.folder / f"{digest}.json"

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else writes meanwhile."""
        try:
            files.folder(files.folder(self.folder.parent) / FOLDER)
            with files.alone(self.folder):
                yield
        except OSError:
            raise self._failed("written") from None

    def _failed(self, verb: str) -> ConfigError:
        return ConfigError(
            f"The scenarios in this workspace cannot be {verb}. Check that the folder is yours "
            "and not full, or choose another workspace.",
            field="workspace",
        )

    def _read(self, path: Path) -> list[Scenario]:
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            return []
        except OSError:
            raise self._failed("read") from None
        try:
            with os.fdopen(handle, "rb") as file:
                content = file.read(foreign.SCENARIO_BOOK.size + 1)
            document = foreign.from_json(content.decode("ascii"), foreign.SCENARIO_BOOK)
            listed = document["scenarios"] if isinstance(document, dict) else None
            if not isinstance(listed, list):
                raise ValueError("no list")
            return [scenario_io.from_dict(item) for item in listed]
        except (OSError, ValueError, KeyError, PrismError):
            raise ConfigError(
                f"The file {path.name} of this workspace does not hold scenarios as this program "
                "writes them. Move it away, or choose another workspace.",
                field="workspace",
            ) from None

    def _write(self, path: Path, project: str, scenarios: list[Scenario]) -> None:
        document: dict[str, Any] = {
            "project": project,
            "scenarios": [scenario_io.to_dict(scenario) for scenario in scenarios],
        }
        text = json.dumps(document, ensure_ascii=True, allow_nan=False, indent=1)
        files.replace(path, text.encode("ascii"))
