"""Does a protocol's hash belong to the settings that people read in it? No row is needed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from prism_core.errors import ConfigError
from prism_core.planning.plan import plain_digest

if TYPE_CHECKING:
    from collections.abc import Mapping

_SAME = {
    "people": "n", "task.target": "target", "task.regime": "regime", "budget.epsilon": "epsilon",
    "budget.delta": "delta", "budget.accountant": "accountant", "budget.tilt": "tilt",
    "budget.above_limit": "above_limit", "budget.allocation": "allocation",
    "synthesis.model": "model",
    "synthesis.sampling": "sampling", "synthesis.iterations": "iterations",
    "synthesis.pairs": "pairs",
}  # fmt: skip
"""Entries of the settings, and the same ones of the plan."""


def check_own(protocol: Mapping[str, Any]) -> None:
    """Refuse a protocol whose parts were put together from several.

    The hash is computed again from the protocol's own plan, columns and edges, to the digit on any
    machine, as no number is; and the plan must hold the settings' own entries. Settings that the
    plan does not list, such as the pools' shares, are compared when it is released.

    Args:
        protocol: the document, with a dictionary of settings.

    Raises:
        ConfigError: naming the entry that does not belong to the others.
    """
    plan, settings = protocol.get("plan"), protocol["settings"]
    if not isinstance(plan, dict):
        raise ConfigError("The protocol does not hold its plan.", field="protocol")
    rows = settings.get("synthesis.rows") or settings.get("people")
    pairs = [(name, settings.get(name), plan.get(key)) for name, key in _SAME.items()]
    for name, here, there in [*pairs, ("synthesis.rows", rows, plan.get("rows"))]:
        if not _equal(here, there):
            _refuse(f"its plan has another {name} than its settings")
    if _further(settings) != _listed(plan.get("targets", [])):
        _refuse("its plan has other further targets than its settings")
    edges = _edges(settings)
    if edges is not None and protocol.get("plan_sha256") != plain_digest(
        plan, _schema(settings), edges if "graph.provenance" in settings else None
    ):
        _refuse("plan_sha256 is not the hash of its plan, columns and edges")


def _equal(here: object, there: object) -> bool:
    if isinstance(here, float) and isinstance(there, float):
        return math.isfinite(here) and here == there
    return type(here) is type(there) and here == there


def _further(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Weights of the further targets, by name."""
    start = "task.further."
    return {name[len(start) :]: value for name, value in settings.items() if name.startswith(start)}


def _listed(targets: object) -> dict[str, Any] | None:
    """The same as a plan lists them after its first target; None for anything else."""
    if not isinstance(targets, list) or not all(isinstance(each, dict) for each in targets):
        return None
    return {str(each.get("name")): each.get("weight") for each in targets[1:]}


def _schema(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as plain values, from its entries in the settings."""
    found = {name[7:]: value for name, value in settings.items() if name.startswith("schema.")}
    return found | {
        "columns": [value for name, value in settings.items() if name.startswith("column.")]
    }


def _edges(settings: Mapping[str, Any]) -> list[tuple[str, str]] | None:
    """The graph's edges; None where a name holds an arrow, so that they cannot be told."""
    found: list[tuple[str, str]] = []
    for name in settings:
        if name.startswith("edge."):
            ends = name[5:].split(" → ")
            if len(ends) != 2:
                return None
            found.append((ends[0], ends[1]))
    return found


def _refuse(why: str) -> None:
    raise ConfigError(
        f"The protocol contradicts itself: {why}. Write it again with `prism protocol`; nothing "
        "was approved.",
        field="protocol",
    )
