"""Configuration: one TOML file that describes a run, as values and back."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import tomli_w

from prism_core.data.tables.address import Address, parse
from prism_core.errors import ConfigError
from prism_core.planning.wishes.curator_statement import CuratorStatement
from prism_core.planning.wishes.options import check_known, option, read, read_values, write
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.text import untrusted


@dataclass(frozen=True, kw_only=True)
class TableConfig:
    """Where the rows and their public description stand.

    Attributes:
        train: file of the training rows (see docs/files.md); or the address of a table that is not
            read into memory: a pattern of files or a database URL.
        holdout: rows kept aside for evaluation, if any.
        schema: YAML or JSON schema.
        dag: graph file, if any.
        public: whether the rows are public. Only public tables may be run with a seed, and
            they are not charged.
        separator, encoding: how a CSV is written.
        although_charged: the curator's statement that public rows are public although the
            workspace knows them as private; see `table_identity`.
    """

    train: Path | Address = field(metadata=option("text"))
    holdout: Path | Address | None = field(default=None, metadata=option("text"))
    schema: Path = field(metadata=option("text"))
    dag: Path | None = field(default=None, metadata=option("text"))
    public: bool = field(default=False, metadata=option("flag"))
    separator: str = field(default=",", metadata=option("text"))
    encoding: str = field(default="utf-8", metadata=option("text"))
    although_charged: bool = field(
        default=False, metadata=option("flag", written=lambda table: table.although_charged)
    )


@dataclass(frozen=True, kw_only=True)
class AssetConfig:
    """The data asset that is charged."""

    name: str = field(metadata=option("text"))
    lifetime_epsilon: float = field(metadata=option("number"))
    lifetime_delta: float | None = field(default=None, metadata=option("number"))
    why: str = field(default="", metadata=option("text"))


@dataclass(frozen=True, kw_only=True)
class DomainConfig:
    """How much of the budget goes into learning the domain.

    Attributes:
        share: of rho.
        delta_share: of delta, for stable histograms.
    """

    share: float = field(default=0.10, metadata=option("number"))
    delta_share: float = field(default=0.10, metadata=option("number"))


@dataclass(frozen=True, kw_only=True)
class GraphConfig:
    """How a blanket is learned where there is no graph.

    Attributes:
        share: of rho.
        members: most columns in the blanket.
    """

    share: float = field(default=0.20, metadata=option("number"))
    members: int = field(default=8, metadata=option("whole"))


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
    statement: CuratorStatement = field(default_factory=CuratorStatement)


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
    check_known(document, [item.name for item in fields(RunConfig)], "The configuration")
    task, budget, synthesis = wishes_from(document)
    return RunConfig(
        # Not `read`: names of files become paths only here, where their folder is known.
        table=_table(read_values(TableConfig, document.get("table", {}), "table"), folder),
        task=task,
        budget=budget,
        synthesis=synthesis,
        asset=read(AssetConfig, document["asset"], "asset") if "asset" in document else None,
        domain=read(DomainConfig, document.get("domain", {}), "domain"),
        graph=read(GraphConfig, document.get("graph", {}), "graph"),
        statement=read(CuratorStatement, document.get("statement", {}), "statement"),
    )


def wishes_from(document: dict[str, Any]) -> tuple[Task, Budget, Synthesis]:
    """The sections [task], [budget] and [synthesis]; other entries are not looked at.

    Raises:
        ConfigError: for an unknown entry or one of the wrong kind; other PrismErrors for values.
    """
    return (
        read(Task, document.get("task", {}), "task"),
        read(Budget, document.get("budget", {}), "budget"),
        read(Synthesis, document.get("synthesis", {}), "synthesis"),
    )


def wishes_dict(task: Task, budget: Budget, synthesis: Synthesis) -> dict[str, Any]:
    """Plain values that `wishes_from` reads back."""
    return {"task": write(task), "budget": write(budget), "synthesis": write(synthesis)}


def _table(part: dict[str, Any], folder: Path) -> TableConfig:
    # An absolute name stays as it is: joining drops the folder before it.
    paths: dict[str, Any] = {key: folder / part[key] for key in ("schema", "dag") if key in part}
    for key in ("train", "holdout"):
        if key in part:
            paths[key] = parse(part[key], folder).opened
    plain = ("public", "although_charged", "separator", "encoding")
    rest = {key: part[key] for key in plain if key in part}
    return TableConfig(**paths, **rest)


def dumps(config: RunConfig) -> str:
    """The configuration as TOML that `load` reads back."""
    document = {
        "table": write(config.table),  # addresses without their passwords
        **wishes_dict(config.task, config.budget, config.synthesis),
    }
    if config.domain != DomainConfig():
        document["domain"] = write(config.domain)
    if config.graph != GraphConfig():
        document["graph"] = write(config.graph)
    if config.asset is not None:
        document["asset"] = write(config.asset)
    if config.statement.some:
        document["statement"] = config.statement.to_dict()
    return tomli_w.dumps(document)
