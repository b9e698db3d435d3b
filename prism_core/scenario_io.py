"""Scenarios as plain values and as TOML, there and back."""

from __future__ import annotations

import copy
import tomllib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import tomli_w

from prism_core import foreign
from prism_core.config import wishes_dict, wishes_from
from prism_core.errors import ConfigError
from prism_core.planning.scenario import Scenario, figures
from prism_core.text.suggest import suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

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
        document = foreign.from_toml(text, foreign.SCENARIO)
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
    return loads(foreign.read_text(path, foreign.SCENARIO), base=base)


def exported(pairs: Sequence[tuple[Scenario, Plan]]) -> list[dict[str, Any]]:
    """Scenarios with the figures of their plans, for the bundle; all public."""
    found = []
    for scenario, plan in pairs:
        numbers = asdict(figures(plan))
        numbers["s"] = None if numbers["s"] is None else list(numbers["s"])
        found.append(to_dict(scenario) | {"figures": numbers, "plan_sha256": plan.hash})
    return found
