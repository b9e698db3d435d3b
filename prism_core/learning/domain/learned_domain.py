"""A learned domain: a charged step of its own, before the release is planned."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.schema.column import Column
from prism_core.data.tables.raw_table import RawTable
from prism_core.learning.bins import learned_column
from prism_core.learning.domain.domain_counts import (
    DomainCounts,
    StoredCounts,
    check_people,
    count_there,
    memory_counts,
)
from prism_core.learning.domain.requests import CategoryRequest, NumericRequest, RowsRequest
from prism_core.planning.search.rows_per_person import table_error
from prism_core.privacy.events import GaussianEvent, StableHistogramEvent
from prism_core.privacy.ledger.charging import charging
from prism_core.privacy.mechanisms import check_noise_of_rows, noisy_counts, stable_histogram
from prism_core.privacy.noise import NoiseSource, SecureNoise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.schema.schema import Schema
    from prism_core.learning.domain.domain_plan import DomainEvent, DomainPlan
    from prism_core.privacy.accountants.accountant import Spent
    from prism_core.privacy.ledger import Ledger

_CLASSES = 2
"""Of a target that nobody has named yet."""


@dataclass(frozen=True, kw_only=True)
class LearnedDomain:
    """What learning gives out; differentially private.

    Attributes:
        schema: with the provenance `dp`; carries its cost, which `design` deducts.
        spent: what it cost, stated at the plan's delta.
        events: the same as events.
        charge: number of the ledger's charge, None where there was none.
        stamp: what kind of run it was.
    """

    schema: Schema
    spent: Spent
    events: tuple[DomainEvent, ...] = field(repr=False)
    charge: int | None
    stamp: str


def learn_domain(
    plan: DomainPlan,
    raw: RawTable | BigTable | StoredCounts,
    *,
    ledger: Ledger | None,
    asset: str = "",
    why: str = "",
    noise: NoiseSource | None = None,
    rng: np.random.Generator,
    public: bool = False,
    keep: Callable[[LearnedDomain], None] = lambda _: None,
) -> LearnedDomain:
    """Learn what the plan asks for. Reads private rows.

    Spends: `plan.spent`. With a ledger the charge is written and synced before the first
    mechanism; it stands whatever happens later, unless no mechanism ran.

    Args:
        plan: from `design_domain`.
        raw: the training rows as text; or a table behind a database, which counts them before the
            charge; or what it has counted.
        ledger: the workspace's ledger. None has to be written out and is stamped on the result.
        asset: the data asset's name in the ledger.
        why: purpose, for the ledger.
        noise: secure by default. A seeded source is for public tables only and makes the run a
            rehearsal, which is not charged.
        rng: chooses the row of every person where a person-ID column is declared.
        public: whether the rows are public.
        keep: told what was paid for while the charge is open: it must outlive a ledger that does
            not answer when it is closed.

    Raises:
        PlanError, TableError: when the table does not fit the plan.
        PrivacyError: for seeded noise on a private table.
        OverspentError: when the asset's lifetime budget is too small; of rows in memory nothing
            was read.
    """
    source = noise or SecureNoise()
    # Before anything is read or charged: known noise could be taken off again.
    check_noise_of_rows(source, public=public)
    # Before the charge: a table that does not fit costs nothing.
    counts = _counts(plan, raw, rng)
    learned: list[Column] = []
    max_rows: int | None = None
    with charging(
        "domain",
        plan.price,
        ledger,
        asset,
        public=public,
        noise=source,
        why=why or "learning the domain",
    ) as charge:
        for request, event in zip(plan.outline.requests, plan.events, strict=True):
            # The last of the requests: how much noise a row more costs follows from the learned
            # columns. Counted first: from `touch` on, before noise is drawn, the charge stands.
            if isinstance(request, RowsRequest):
                had = counts.rows_had(request)
                charge.touch()
                max_rows = _most_used(plan, learned, event, had, source, public=public)
            elif isinstance(request, NumericRequest):
                cells = counts.numbers(request)
                charge.touch()
                learned.append(_with_bins(request, event, cells, source, plan.n, public=public))
            else:
                names = counts.names(request)
                charge.touch()
                learned.append(_with_levels(request, event, names, source, plan.n, public=public))
        found = LearnedDomain(
            schema=plan.schema(learned, plan.prior(charge.number, charge.receipt), max_rows),
            spent=plan.spent,
            events=plan.events,
            charge=charge.number,
            stamp=charge.stamp,
        )
        keep(found)
    return found


def _counts(
    plan: DomainPlan, rows: RawTable | BigTable | StoredCounts, rng: np.random.Generator
) -> DomainCounts:
    if isinstance(rows, StoredCounts):
        check_people(plan, rows.n)
        return rows
    return memory_counts(plan, rows, rng) if isinstance(rows, RawTable) else count_there(plan, rows)


def _with_bins(
    request: NumericRequest,
    event: DomainEvent,
    counts: NDArray[np.int64],
    noise: NoiseSource,
    n: int,
    *,
    public: bool,
) -> Column:
    assert isinstance(event, GaussianEvent)
    noisy = noisy_counts(counts, event, noise, public=public)
    return learned_column(request, noisy, event.sigma, n)


def _with_levels(
    request: CategoryRequest,
    event: DomainEvent,
    counts: Mapping[str, int],
    noise: NoiseSource,
    n: int,
    *,
    public: bool,
) -> Column:
    assert isinstance(event, StableHistogramEvent)
    found = stable_histogram(counts, n, event, noise, public=public)
    # By name where counts tie, and levels by name: no order may come from the rows.
    largest = sorted(found, key=lambda name: (-found[name], name))[: request.max_levels]
    return request.column(tuple(sorted(largest)))


def _most_used(
    plan: DomainPlan,
    learned: Sequence[Column],
    event: DomainEvent,
    had: NDArray[np.int64],
    noise: NoiseSource,
    *,
    public: bool,
) -> int:
    """How many rows of a person the release should use, from a noisy histogram of people.

    Spends: `event`, l2 sensitivity sqrt(2).

    Proof. A person is in exactly one cell, the number of her rows, whatever the rows hold and
    however many they are. Replacing her with all rows takes 1 from one cell and gives 1 to another
    (or changes nothing), and the number of people is public: the counts move by at most sqrt(2) in
    l2. What is chosen from the noisy counts and public facts is post-processing.
    """
    assert isinstance(event, GaussianEvent)
    assert plan.outline.learn_rows is not None
    noisy = noisy_counts(had, event, noise, public=public)
    filled = iter(learned)
    columns = (c if isinstance(c, Column) else next(filled) for c in plan.outline.columns)
    return chosen_bound(noisy, plan.n, [column.size for column in columns], plan.left_rho)


def chosen_bound(noisy: NDArray[np.int64], people: int, sizes: Sequence[int], rho: float) -> int:
    """The number of rows of a person with the least expected error.

    Post-processing: everything here is computed from a noisy histogram and public facts. Of people
    of whom H(k) have k rows or more, N(m) = H(1) + ... + H(m) rows are kept where at most m of each
    are used. The m is taken for which a table of the release has the least expected error
    (`rows_per_person.table_error`).

    The release is taken to measure each column with a target of two classes, all with equal noise.

    Args:
        noisy: people by the number of their rows, from 1 on, with noise; the last cell holds those
            with more, too.
        people: how many there are; public, and the true counts add up to it.
        sizes: of the columns, in cells.
        rho: what is left for the release.

    Returns:
        From 1 to the number of cells; the smallest where several are as good.
    """
    kept = rows_kept(noisy, people).tolist()
    # Of equal shares rho_q of the rho, one for each column but the target: sigma = 1 / sqrt(rho_q).
    noise = math.sqrt(max(1, len(sizes) - 1) / rho)
    cells = _CLASSES * math.fsum(sizes) / len(sizes)
    errors = [table_error(cells, rows, m * noise) for m, rows in enumerate(kept, start=1)]
    return errors.index(min(errors)) + 1


def rows_kept(noisy: NDArray[np.int64], people: int) -> NDArray[np.float64]:
    """How many rows are kept of up to 1, 2, ... rows of a person, about; shape (cells,).

    All cells add up to the people, which is public: the excess is spread evenly, the least-squares
    estimate under that constraint. Then nobody is counted below 0, and no number of rows has more
    people than a smaller one.
    """
    counts = noisy.astype(np.float64)
    counts += (people - counts.sum()) / len(counts)
    or_more = np.cumsum(counts[::-1])[::-1]
    # Everybody has a row at least, which is public: no noise is left in this number.
    or_more[0] = people
    return np.cumsum(np.minimum.accumulate(np.clip(or_more, 0.0, people)))
