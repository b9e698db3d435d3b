"""One TOML file describes a run."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli_w

from prism_core.errors import ConfigError
from prism_core.planning.task import Budget, Shares, Synthesis, Task

_TABLE_KEYS = {"train", "holdout", "schema", "dag", "public", "separator", "encoding"}
_ASSET_KEYS = {"name", "lifetime_epsilon", "lifetime_delta", "why"}
_KEYS: dict[str, set[str]] = {
    "table": _TABLE_KEYS,
    "task": {"target", "regime", "k", "weights", "max_joint_cells"},
    "budget": {"epsilon", "delta", "accountant", "allocation", "shares"},
    "synthesis": {"model", "sampling", "rows", "iterations"},
    "asset": _ASSET_KEYS,
}


@dataclass(frozen=True, kw_only=True)
class TableConfig:
    """Where the rows and their public description stand.

    Attributes:
        train: CSV or Parquet file of the training rows.
        holdout: rows kept aside for evaluation, if any.
        schema: YAML or JSON schema.
        dag: graph file, if any.
        public: whether the rows are public. Only public tables may be run with a seed, and
            they are not charged.
        separator, encoding: how a CSV is written.
    """

    train: Path
    schema: Path
    holdout: Path | None = None
    dag: Path | None = None
    public: bool = False
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
class RunConfig:
    """A run, as data."""

    table: TableConfig
    task: Task
    budget: Budget = field(default_factory=Budget)
    synthesis: Synthesis = field(default_factory=Synthesis)
    asset: AssetConfig | None = None


def load(path: str | Path) -> RunConfig:
    """Read a configuration; file names in it are relative to its own folder.

    Raises:
        ConfigError: when it is not TOML or misses something; other PrismErrors for values.
    """
    source = Path(path)
    try:
        document = tomllib.loads(source.read_text(encoding="utf-8"))
    except OSError:
        raise ConfigError(
            f"The configuration {source.name!r} cannot be read.", field="config"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The configuration {source.name!r} is not valid TOML: {error}.", field="config"
        ) from None
    return from_dict(document, folder=source.parent)


def from_dict(document: dict[str, Any], *, folder: Path) -> RunConfig:
    """A configuration from plain values."""
    _known(document, set(_KEYS), "the configuration")
    for section, keys in _KEYS.items():
        part = document.get(section, {})
        if not isinstance(part, dict):
            raise ConfigError(f"[{section}] must be a section.", field=section)
        _known(part, keys, f"[{section}]")
    budget = dict(document.get("budget", {}))
    if "shares" in budget:
        budget["shares"] = _make(Shares, budget["shares"], "budget.shares")
    asset = document.get("asset")
    return RunConfig(
        table=_table(document.get("table", {}), folder),
        task=_make(Task, document.get("task", {}), "task"),
        budget=_make(Budget, budget, "budget"),
        synthesis=_make(Synthesis, document.get("synthesis", {}), "synthesis"),
        asset=None if asset is None else _make(AssetConfig, asset, "asset"),
    )


def _known(part: dict[str, Any], keys: set[str], where: str) -> None:
    unknown = sorted(set(part) - keys)
    if unknown:
        raise ConfigError(
            f"{where} has an unknown entry {unknown[0]!r}. Allowed: {', '.join(sorted(keys))}.",
            field=unknown[0],
        )


def _make(kind: type, values: object, section: str) -> Any:  # noqa: ANN401
    if not isinstance(values, dict):
        raise ConfigError(f"[{section}] must be a section.", field=section)
    try:
        return kind(**values)
    except TypeError:
        raise ConfigError(
            f"[{section}] misses an entry or holds one of the wrong kind.", field=section
        ) from None


def _table(part: dict[str, Any], folder: Path) -> TableConfig:
    for key in ("train", "schema"):
        if not isinstance(part.get(key), str):
            raise ConfigError(f"[table] needs {key}, the name of a file.", field=f"table.{key}")
    if not isinstance(part.get("public", False), bool):
        raise ConfigError("[table] public must be true or false.", field="table.public")
    paths = {
        key: folder / part[key] for key in ("train", "schema", "holdout", "dag") if key in part
    }
    rest = {key: part[key] for key in ("public", "separator", "encoding") if key in part}
    return TableConfig(**paths, **rest)


def dumps(config: RunConfig) -> str:
    """The configuration as TOML that `load` reads back."""
    table = config.table
    document: dict[str, Any] = {
        "table": {
            key: str(value) if isinstance(value, Path) else value
            for key in ("train", "holdout", "schema", "dag", "public", "separator", "encoding")
            if (value := getattr(table, key)) is not None
        },
        "task": _plain(config.task, ("target", "regime", "k", "max_joint_cells")),
        "budget": _plain(config.budget, ("epsilon", "delta", "accountant", "allocation")),
        "synthesis": _plain(config.synthesis, ("model", "sampling", "rows", "iterations")),
    }
    if config.task.weights:
        document["task"]["weights"] = dict(config.task.weights)
    document["budget"]["shares"] = _plain(
        config.budget.shares, ("selection", "choice", "task", "background")
    )
    if config.asset is not None:
        document["asset"] = _plain(
            config.asset, ("name", "lifetime_epsilon", "lifetime_delta", "why")
        )
    return tomli_w.dumps(document)


def _plain(value: object, keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: found for key in keys if (found := getattr(value, key)) is not None}
