"""The runs that learn a domain or a graph: plan, gate, work, and the file of what was learned.

What is paid for is kept (`runs.recovery_file`) until the file is whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core import files
from prism_core.bundle.write.bundle_folder import check_bundle_folder, check_outside_run
from prism_core.data.schema import schema_file
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import ConfigError
from prism_core.learning.domain.domain_counts import StoredCounts, count_there
from prism_core.learning.domain.domain_plan import DomainPlan, design_domain
from prism_core.learning.domain.learned_domain import LearnedDomain, learn_domain
from prism_core.learning.graph.graph_plan import GraphPlan, design_graph
from prism_core.learning.graph.learned_graph import LearnedDag, learn_graph
from prism_core.runs import recovery_file
from prism_core.structure import formats

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.schema.schema import Schema
    from prism_core.data.source import Rows
    from prism_core.learning.domain.requests import Outline
    from prism_core.planning.wishes.config import RunConfig
    from prism_core.runs.step_account import StepAccount


def check_schema_place(out: Path, declared: Path) -> None:
    """Refuse a place for a learned schema before any row is read.

    Raises:
        ConfigError: for a folder, or the file that declares what is to be learned.
        BundleError: for a file in the folder of a run.
    """
    # Overwriting the declaration would lose what was asked for, and so the way to learn again.
    if out.is_dir() or out.resolve() == declared.resolve():
        raise ConfigError("--out must name a new file for the learned schema.", field="out")
    check_bundle_folder(out.parent)
    check_outside_run(out)


def domain_plan(config: RunConfig, outline: Outline, rows: int) -> DomainPlan:
    """What a configuration learns of an outline's columns. Spends nothing.

    Args:
        config: budget and shares.
        outline: the declared columns.
        rows: of the table, for an outline that declares no number of persons.
    """
    return design_domain(
        outline,
        config.budget.epsilon,
        config.budget.delta,
        outline.persons or rows,
        share=config.domain.share,
        delta_share=config.domain.delta_share,
        above_limit=config.budget.above_limit,
    )


def countable(plan: DomainPlan, raw: RawTable | BigTable) -> RawTable | StoredCounts:
    """What a domain is learned from: a table in memory, or what its database has counted.

    Asked for before an account is opened, so that a database that fails leaves nothing behind.
    Reads private rows where they stand; spends nothing.

    Raises:
        PrismError: when the table does not fit the plan, or its database fails.
    """
    return raw if isinstance(raw, RawTable) else count_there(plan, raw)


def run_learn_domain(
    plan: DomainPlan,
    raw: RawTable | BigTable | StoredCounts,
    out: Path,
    account: StepAccount,
    *,
    public: bool,
    remember: RawTable | BigTable | None = None,
) -> LearnedDomain:
    """Learn a domain and write its schema.

    Spends: `plan.spent`, see `learn_domain`.

    Args:
        plan: from `domain_plan`.
        raw: the training rows, or what a database has counted of them.
        out: the new schema file.
        account: who is charged.
        public: whether the rows are public.
        remember: the table as it was read, so that it does not pass for public once it is charged;
            None where the caller has remembered it.

    Raises:
        PrismError: as `learn_domain`, and before anything is charged where the disk has no room.
        BundleError: when the file could not be written after all; what was paid for is kept.
    """
    # Before the charge: a run killed right after it must not leave rows that pass for public.
    account.remember(remember, plan.hash)

    def keep(learned: LearnedDomain) -> None:
        texts = {out.name: schema_file.dumps(learned.schema)}
        room.keep("domain", learned.charge, texts)

    # Before the charge: a full disk must be known while nothing is spent.
    with recovery_file.reserved_space(account.ledger, recovery_file.SMALL) as room:
        learned = learn_domain(
            plan,
            raw,
            ledger=account.ledger,
            asset=account.asset,
            why=account.why,
            noise=account.noise,
            rng=account.rng,
            public=public,
            keep=keep,
        )
        out.parent.mkdir(parents=True, exist_ok=True)
        schema_file.save(learned.schema, out)
    return learned


def check_graph_place(out: Path) -> None:
    """Refuse a place for a learned graph before any row is read.

    Raises:
        ConfigError: for a file that is there, or of another format.
        BundleError: for a file in the folder of a run.
    """
    if out.exists() or out.suffix != ".json":
        raise ConfigError(
            "--out must name a new .json file: no other format holds what the graph cost.",
            field="out",
        )
    check_bundle_folder(out.parent)
    check_outside_run(out)


def graph_plan(config: RunConfig, schema: Schema, n: int) -> GraphPlan:
    """What a configuration learns of the graph round its target. Spends nothing.

    Args:
        config: target, budget and shares.
        schema: the declared columns.
        n: number of rows or persons.
    """
    return design_graph(
        schema,
        config.task.target,
        config.budget.epsilon,
        config.budget.delta,
        n,
        share=config.graph.share,
        members=config.graph.members,
        above_limit=config.budget.above_limit,
    )


def run_learn_graph(
    plan: GraphPlan,
    table: Rows,
    out: Path,
    account: StepAccount,
    *,
    remember: RawTable | BigTable | None = None,
) -> LearnedDag:
    """Learn the blanket of a target and write it as a graph.

    Spends: `plan.spent`, see `learn_graph`.

    Args:
        plan: from `graph_plan`.
        table: the training rows.
        out: the new file.
        account: who is charged.
        remember: the table as it was read, see `run_learn_domain`.

    Raises:
        PrismError: as `learn_graph`, and before anything is charged where the disk has no room.
        BundleError: when the file could not be written after all; what was paid for is kept.
    """
    account.remember(remember, plan.hash)

    def keep(learned: LearnedDag) -> None:
        texts = {out.name: formats.write(learned.dag, "node-link")}
        room.keep("graph", learned.charge, texts)

    with recovery_file.reserved_space(account.ledger, recovery_file.SMALL) as room:
        learned = learn_graph(
            plan,
            table,
            ledger=account.ledger,
            asset=account.asset,
            why=account.why,
            noise=account.noise,
            keep=keep,
        )
        write_graph(formats.write(learned.dag, "node-link"), out)
    return learned


def write_graph(text: str, out: Path) -> None:
    """Write a graph's text as a new file."""
    out.parent.mkdir(parents=True, exist_ok=True)
    files.give(out, text.encode("utf-8"))
