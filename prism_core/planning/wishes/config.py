"""Configuration: one TOML file that describes a run, as values and back."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import tomli_w

from prism_core.data.tables.address import Address, parse
from prism_core.errors import ConfigError
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.task import Budget, Shares, Synthesis, Target, Task
from prism_core.text import untrusted
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable

_Kind: TypeAlias = Literal["text", "flag", "whole", "number", "section", "texts", "sections"]
_KIND_TEXT: dict[_Kind, str] = {
    "text": "a text",
    "flag": "true or false",
    "whole": "a whole number",
    "number": "a number",
    "section": "a section",
    "texts": "a list of texts",
    "sections": "a list of sections",
}
_KEYS: dict[str, dict[str, _Kind]] = {
    "table": {
        "train": "text",
        "holdout": "text",
        "schema": "text",
        "dag": "text",
        "public": "flag",
        "although_charged": "flag",
        "separator": "text",
        "encoding": "text",
    },
    "task": {
        "target": "text",
        "regime": "text",
        "k": "whole",
        "weights": "section",
        "max_joint_cells": "whole",
        "selection": "text",
        "three_way": "text",
        "max_three_way": "whole",
        "further": "sections",
        "numeric_queries": "text",
        "numeric_bins": "whole",
        "thresholds": "whole",
        "numeric_columns": "section",
    },
    "task.further": {"name": "text", "weight": "number"},
    "budget": {
        "epsilon": "number",
        "delta": "number",
        "accountant": "text",
        "allocation": "text",
        "shares": "section",
        "tilt": "number",
        "locks": "sections",
        "above_limit": "number",
    },
    "budget.shares": {
        "selection": "number",
        "choice": "number",
        "task": "number",
        "background": "number",
    },
    "budget.locks": {"columns": "texts", "share": "number"},
    "domain": {"share": "number", "delta_share": "number"},
    "graph": {"share": "number", "members": "whole"},
    "synthesis": {
        "model": "text",
        "sampling": "text",
        "rows": "whole",
        "iterations": "whole",
        "pairs": "text",
        "engine": "text",
    },
    "asset": {
        "name": "text",
        "lifetime_epsilon": "number",
        "lifetime_delta": "number",
        "why": "text",
    },
}
_NEEDED = {
    "table": ("train", "schema"),
    "task": ("target",),
    "asset": ("name", "lifetime_epsilon"),
    "budget.locks": ("columns", "share"),
    "task.further": ("name",),
}


@dataclass(frozen=True, kw_only=True)
class TableConfig:
    """Where the rows and their public description stand.

    Attributes:
        train: CSV or Parquet file of the training rows; or the address of a table that is not
            read into memory: a pattern of files or a database URL.
        holdout: rows kept aside for evaluation, if any.
        schema: YAML or JSON schema.
        dag: graph file, if any.
        public: whether the rows are public. Only public tables may be run with a seed, and
            they are not charged.
        although_charged: the curator's statement that public rows are public although the
            workspace knows them as private; see `public_rows`.
        separator, encoding: how a CSV is written.
    """

    train: Path | Address
    schema: Path
    holdout: Path | Address | None = None
    dag: Path | None = None
    public: bool = False
    although_charged: bool = False
    separator: str = ","
    encoding: str = "utf-8"


@dataclass(frozen=True, kw_only=True)
class AssetConfig:
    """The data asset that is charged."""

    name: str
    lifetime_epsilon: float
    lifetime_delta: float | None = None
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class DomainConfig:
    """How much of the budget goes into learning the domain.

    Attributes:
        share: of rho.
        delta_share: of delta, for stable histograms.
    """

    share: float = 0.10
    delta_share: float = 0.10


@dataclass(frozen=True, kw_only=True)
class GraphConfig:
    """How a blanket is learned where there is no graph.

    Attributes:
        share: of rho.
        members: most columns in the blanket.
    """

    share: float = 0.20
    members: int = 8


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """A run, as data."""

    table: TableConfig
    task: Task
    budget: Budget = field(default_factory=Budget)
    synthesis: Synthesis = field(default_factory=Synthesis)
    asset: AssetConfig | None = None
    domain: DomainConfig = field(default_factory=DomainConfig)
    graph: GraphConfig = field(default_factory=GraphConfig)


def load(path: str | Path) -> RunConfig:
    """Read a configuration; file names in it are relative to its own folder.

    Raises:
        ConfigError: when it is not TOML or misses something; other PrismErrors for values.
    """
    source = Path(path)
    try:
        document = untrusted.from_toml(
            untrusted.read_text(source, untrusted.CONFIG), untrusted.CONFIG
        )
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f"The configuration {source.name!r} is not valid TOML: {error}.", field="config"
        ) from None
    return from_dict(document, folder=source.parent)


def from_dict(document: dict[str, Any], *, folder: Path) -> RunConfig:
    """A configuration from plain values."""
    _known(document, [name for name in _KEYS if "." not in name], "The configuration")
    task, budget, synthesis = wishes_from(document)
    return RunConfig(
        table=_table(_section(document, "table"), folder),
        task=task,
        budget=budget,
        synthesis=synthesis,
        asset=AssetConfig(**_section(document, "asset")) if "asset" in document else None,
        domain=DomainConfig(**_section(document, "domain")),
        graph=GraphConfig(**_section(document, "graph")),
    )


def wishes_from(document: dict[str, Any]) -> tuple[Task, Budget, Synthesis]:
    """The sections [task], [budget] and [synthesis]; other entries are not looked at.

    Raises:
        ConfigError: for an unknown entry or one of the wrong kind; other PrismErrors for values.
    """
    task, budget = _section(document, "task"), _section(document, "budget")
    task["further"] = tuple(
        Target(**_section({"task.further": target}, "task.further"))
        for target in task.get("further", ())
    )
    if "shares" in budget:
        budget["shares"] = Shares(**_section({"budget.shares": budget["shares"]}, "budget.shares"))
    budget["locks"] = tuple(
        Lock(**_section({"budget.locks": lock}, "budget.locks")) for lock in budget.get("locks", ())
    )
    return (Task(**task), Budget(**budget), Synthesis(**_section(document, "synthesis")))


def wishes_dict(task: Task, budget: Budget, synthesis: Synthesis) -> dict[str, Any]:
    """Plain values that `wishes_from` reads back."""
    document = {
        "task": _plain(
            task,
            ("target", "regime", "k", "max_joint_cells", "selection", "three_way", "max_three_way"),
        ),
        "budget": _plain(budget, ("epsilon", "delta", "accountant", "allocation")),
        "synthesis": _plain(
            synthesis, ("model", "sampling", "rows", "iterations", "pairs", "engine")
        ),
    }
    if task.weights:
        document["task"]["weights"] = dict(task.weights)
    document["task"] |= _numeric(task)
    if task.further:
        document["task"]["further"] = [
            _plain(target, ("name", "weight")) for target in task.further
        ]
    if budget.tilt != 1.0:
        document["budget"]["tilt"] = budget.tilt
    if budget.above_limit is not None:
        document["budget"]["above_limit"] = budget.above_limit
    document["budget"]["shares"] = _plain(
        budget.shares, ("selection", "choice", "task", "background")
    )
    if budget.locks:
        document["budget"]["locks"] = [
            {"columns": list(lock.columns), "share": lock.share} for lock in budget.locks
        ]
    return document


def _numeric(task: Task) -> dict[str, Any]:
    """How numeric columns are measured, where it is not in full."""
    found: dict[str, Any] = {}
    if task.numeric_queries != "full" or task.numeric_columns:
        found = _plain(task, ("numeric_queries", "numeric_bins", "thresholds"))
    if task.numeric_columns:
        found["numeric_columns"] = dict(task.numeric_columns)
    return found


def _section(document: dict[str, Any], section: str) -> dict[str, Any]:
    """A section with known entries of the right kind, and those it cannot do without."""
    part = document.get(section, {})
    if not isinstance(part, dict):
        raise ConfigError(f"[{section}] must be a section.", field=section)
    kinds = _KEYS[section]
    _known(part, kinds, f"[{section}]")
    for key in _NEEDED.get(section, ()):
        if key not in part:
            raise ConfigError(f"[{section}] needs the entry {key}.", field=f"{section}.{key}")
    for key, value in part.items():
        if not _is_kind(value, kinds[key]):
            raise ConfigError(
                f"[{section}] {key} must be {_KIND_TEXT[kinds[key]]}.", field=f"{section}.{key}"
            )
    return dict(part)


def _is_kind(value: object, kind: _Kind) -> bool:
    if isinstance(value, bool):
        return kind == "flag"
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return False  # more than TOML promises, and more than a float can hold
    if kind in ("texts", "sections"):
        part: type = str if kind == "texts" else dict
        return isinstance(value, list) and all(isinstance(item, part) for item in value)
    kinds: dict[_Kind, tuple[type, ...]] = {
        "text": (str,),
        "flag": (),
        "whole": (int,),
        "number": (int, float),
        "section": (dict,),
    }
    return isinstance(value, kinds[kind])


def _known(part: dict[str, Any], keys: Iterable[str], where: str) -> None:
    unknown = sorted(set(part).difference(keys))
    if unknown:
        raise ConfigError(
            f"{where} has an unknown entry {unknown[0]!r}. Allowed: {', '.join(sorted(keys))}."
            f"{suggestion(unknown[0], keys)}",
            field=unknown[0],
        )


def _table(part: dict[str, Any], folder: Path) -> TableConfig:
    paths: dict[str, Any] = {key: folder / part[key] for key in ("schema", "dag") if key in part}
    for key in ("train", "holdout"):
        if key in part:
            found = parse(part[key], folder)
            paths[key] = folder / part[key] if found.place == "file" else found
    plain = ("public", "although_charged", "separator", "encoding")
    rest = {key: part[key] for key in plain if key in part}
    return TableConfig(**paths, **rest)


def dumps(config: RunConfig) -> str:
    """The configuration as TOML that `load` reads back."""
    table = config.table
    document: dict[str, Any] = {
        "table": {
            key: str(value) if isinstance(value, (Path, Address)) else value  # no password
            for key in ("train", "holdout", "schema", "dag", "public", "separator", "encoding")
            if (value := getattr(table, key)) is not None
        },
        **wishes_dict(config.task, config.budget, config.synthesis),
    }
    if table.although_charged:
        document["table"]["although_charged"] = True
    if config.domain != DomainConfig():
        document["domain"] = _plain(config.domain, ("share", "delta_share"))
    if config.graph != GraphConfig():
        document["graph"] = _plain(config.graph, ("share", "members"))
    if config.asset is not None:
        document["asset"] = _plain(
            config.asset, ("name", "lifetime_epsilon", "lifetime_delta", "why")
        )
    return tomli_w.dumps(document)


def _plain(value: object, keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: found for key in keys if (found := getattr(value, key)) is not None}
