"""Scenario files: plain values, TOML, and the book of scenarios that a workspace keeps by name.

A scenario is public, but what a person tries out is their own: there is no default workspace, so
two people see each other's scenarios only when both name the same folder. Names never become
file names; a project's file is named by the digest of its name.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import tomllib
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from prism_core import files
from prism_core.errors import ConfigError, PrismError
from prism_core.planning.search.comparison import figures
from prism_core.planning.wishes.config import wishes_dict, wishes_from
from prism_core.planning.wishes.scenario import Scenario, check_name
from prism_core.text import untrusted
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prism_core.planning.plan import Plan

_PARTS = ("task", "budget", "synthesis")


def to_dict(scenario: Scenario) -> dict[str, Any]:
    """Plain values that `from_dict` reads back."""
    return {
        "name": scenario.name,
        **wishes_dict(scenario.task, scenario.budget, scenario.synthesis),
    }


def from_dict(document: object, *, base: Scenario | None = None) -> Scenario:
    """A scenario from plain values.

    Args:
        document: a name and the sections task, budget, synthesis.
        base: where given, the sections hold only what differs from it. Entries replace its
            entries; `shares` is merged by pool, `weights` by feature; `locks` are replaced.

    Raises:
        ConfigError: for unknown or missing entries; other PrismErrors for values.
    """
    if not isinstance(document, dict):
        raise ConfigError("A scenario must be a table with a name.", field="scenario")
    unknown = sorted(str(key) for key in set(document) - {"name", *_PARTS})
    if unknown:
        raise ConfigError(
            f"A scenario has an unknown entry {unknown[0]!r}. Allowed: name, {', '.join(_PARTS)}."
            f"{suggestion(unknown[0], ('name', *_PARTS))}",
            field=unknown[0],
        )
    if "name" not in document:
        raise ConfigError("A scenario needs the entry name.", field="name")
    parts = {key: document[key] for key in _PARTS if key in document}
    if base is not None:
        parts = _merged(wishes_dict(base.task, base.budget, base.synthesis), parts)
    task, budget, synthesis = wishes_from(parts)
    return Scenario(name=document["name"], task=task, budget=budget, synthesis=synthesis)


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    # Shallow is enough: a section that changes is merged into a copy of its own.
    found = copy.copy(below)
    for key, value in above.items():
        old = found.get(key)
        if isinstance(value, dict) and isinstance(old, dict):
            found[key] = _merged(old, value)
        else:
            found[key] = value
    return found


def dumps(scenarios: Sequence[Scenario]) -> str:
    """TOML with one [[scenario]] table each."""
    return tomli_w.dumps({"scenario": [to_dict(scenario) for scenario in scenarios]})


def loads(text: str, *, base: Scenario | None = None) -> tuple[Scenario, ...]:
    """Scenarios of a TOML text, in order.

    Raises:
        ConfigError: when it is not TOML, holds no scenario, or uses a name twice.
    """
    try:
        document = untrusted.from_toml(text, untrusted.SCENARIO)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"The scenarios are not valid TOML: {error}.", field="scenario") from None
    listed = document.get("scenario")
    if set(document) - {"scenario"} or not isinstance(listed, list) or not listed:
        raise ConfigError(
            "The file must hold [[scenario]] tables, and nothing else.", field="scenario"
        )
    found = tuple(from_dict(item, base=base) for item in listed)
    names = [scenario.name for scenario in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"Two scenarios are named {twice[0]!r}.", field="name")
    return found


def load(path: Path, *, base: Scenario | None = None) -> tuple[Scenario, ...]:
    """Scenarios of a TOML file.

    Raises:
        ConfigError: when it cannot be read; others as for `loads`.
    """
    return loads(untrusted.read_text(path, untrusted.SCENARIO), base=base)


def exported(pairs: Sequence[tuple[Scenario, Plan]]) -> list[dict[str, Any]]:
    """Scenarios with the figures of their plans, for the bundle; all public."""
    found = []
    for scenario, plan in pairs:
        numbers = asdict(figures(plan))
        numbers["s"] = None if numbers["s"] is None else list(numbers["s"])
        found.append(to_dict(scenario) | {"figures": numbers, "plan_sha256": plan.hash})
    return found


FOLDER = "scenarios"
MOST_SCENARIOS = 200
"""Scenarios of one project."""


class ScenarioBook:
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
                # In its place, as scenarios are listed in the order in which they were first saved.
                kept[names.index(scenario.name)] = scenario
            else:
                kept.append(scenario)
            # After the change, so that a full book still takes a new version of what it holds.
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
        # Deleting must not make a folder that was not there.
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
            # One after the other: `mkdir` makes missing parents with the usual mode, whatever mode
            # is asked for.
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
            # No link is followed: one put in the file's place could point anywhere.
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            return []
        except OSError:
            raise self._failed("read") from None
        try:
            with os.fdopen(handle, "rb") as file:
                # One byte beyond the limit is enough to see that a file is too large.
                content = file.read(untrusted.SCENARIO_BOOK.size + 1)
            document = untrusted.from_json(content.decode("ascii"), untrusted.SCENARIO_BOOK)
            listed = document["scenarios"] if isinstance(document, dict) else None
            if not isinstance(listed, list):
                raise ValueError("no list")
            return [from_dict(item) for item in listed]
        # Texts that are no ASCII or no JSON are ValueErrors, too.
        except (OSError, ValueError, KeyError, PrismError):
            raise ConfigError(
                f"The file {path.name} of this workspace does not hold scenarios as this program "
                "writes them. Move it away, or choose another workspace.",
                field="workspace",
            ) from None

    def _write(self, path: Path, project: str, scenarios: list[Scenario]) -> None:
        document: dict[str, Any] = {
            "project": project,
            "scenarios": [to_dict(scenario) for scenario in scenarios],
        }
        text = json.dumps(document, ensure_ascii=True, allow_nan=False, indent=1)
        files.replace(path, text.encode("ascii"))
