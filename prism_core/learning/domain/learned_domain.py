"""A learned domain: a charged step of its own, before the release is planned."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.encoding import encode_column, rows_per_person
from prism_core.data.schema.column import Column
from prism_core.data.schema.level import MISSING_TEXTS
from prism_core.data.tables.header import check_columns
from prism_core.data.tables.raw_table import as_texts
from prism_core.errors import PlanError
from prism_core.learning.bins import learned_column
from prism_core.learning.contribution_bound import chosen_bound
from prism_core.learning.domain.requests import NumericRequest, RowsRequest
from prism_core.privacy.events import GaussianEvent, StableHistogramEvent
from prism_core.privacy.ledger.charging import charging
from prism_core.privacy.mechanisms import check_noise_of_rows, noisy_cells, stable_histogram
from prism_core.privacy.noise import SecureNoise

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from prism_core.data.schema.schema import Schema
    from prism_core.data.tables.raw_table import RawTable
    from prism_core.learning.domain.domain_plan import DomainEvent, DomainPlan
    from prism_core.learning.domain.requests import CategoryRequest, Request
    from prism_core.privacy.accountants.accountant import Spent
    from prism_core.privacy.ledger import Ledger
    from prism_core.privacy.noise import NoiseSource

MAX_NAME = 200
"""Longer texts, and texts with control characters, are no categories: they become `other`."""


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
    raw: RawTable,
    *,
    ledger: Ledger | None,
    asset: str = "",
    why: str = "",
    noise: NoiseSource | None = None,
    rng: np.random.Generator,
    public: bool = False,
) -> LearnedDomain:
    """Learn what the plan asks for. Reads private rows.

    Spends: `plan.spent`. With a ledger the charge is written and synced before the first
    mechanism; it stands whatever happens later, unless no mechanism ran.

    Args:
        plan: from `design_domain`.
        raw: the training rows as text.
        ledger: the workspace's ledger. None has to be written out and is stamped on the result.
        asset: the data asset's name in the ledger.
        why: purpose, for the ledger.
        noise: secure by default. A seeded source is for public tables only and makes the run a
            rehearsal, which is not charged.
        rng: chooses the row of every person where a person-ID column is declared.
        public: whether the rows are public.

    Raises:
        PlanError, TableError: when the table does not fit the plan.
        PrivacyError: for seeded noise on a private table.
        OverspentError: when the asset's lifetime budget is too small; nothing was read.
    """
    source = noise or SecureNoise()
    # Before anything is read or charged: known noise could be taken off again.
    check_noise_of_rows(source, public=public)
    # Before the charge: a table that does not fit costs nothing.
    rows = _rows(plan, raw, rng)
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
            # columns.
            if isinstance(request, RowsRequest):
                # Of the whole table: of `rows` one is left for each person.
                had = rows_had(raw, plan.outline.person_id, request.most)
                charge.touch()
                max_rows = _most_used(plan, learned, event, had, source, public=public)
                continue
            cells = rows.column(request.name)
            # After the column was found and before noise is drawn: from here on the charge
            # stands.
            charge.touch()
            learned.append(_learn(request, event, cells, source, public=public))
        schema = plan.schema(learned, plan.prior(charge.number, charge.receipt), max_rows)
    return LearnedDomain(
        schema=schema,
        spent=plan.spent,
        events=plan.events,
        charge=charge.number,
        stamp=charge.stamp,
    )


def _rows(plan: DomainPlan, raw: RawTable, rng: np.random.Generator) -> RawTable:
    """One row per person, n of them; only the header and the number of rows are looked at."""
    person_id = plan.outline.person_id
    check_columns(plan.outline.header, raw.header, raw.name)
    rows = raw if person_id is None else rows_per_person(raw, person_id, rng)
    if rows.rows != plan.n:
        raise PlanError(
            f"The plan is for {plan.n:,} rows (persons) and the table does not have that many. "
            "Make the plan for this table.",
            field="n",
        )
    return rows


def _learn(
    request: Request, event: DomainEvent, cells: pd.Series, noise: NoiseSource, *, public: bool
) -> Column:
    if isinstance(request, NumericRequest):
        assert isinstance(event, GaussianEvent)
        codes: NDArray[np.int32] = encode_column(request.grid, cells)
        noisy = noisy_cells(codes, request.grid.size, event, noise, public=public)
        return learned_column(request, noisy, event.sigma, len(codes))
    assert isinstance(event, StableHistogramEvent)
    found = stable_histogram(categories(request, cells), event, noise, public=public)
    # By name where counts tie, and levels by name: no order may come from the rows.
    largest = sorted(found, key=lambda name: (-found[name], name))[: request.max_levels]
    return request.column(tuple(sorted(largest)))


def rows_had(raw: RawTable, person_id: str | None, most: int) -> NDArray[np.int64]:
    """How many rows each person has, less one, `most` and more as `most`; shape (persons,).

    Nobody's number depends on the rows of others, and the IDs are compared as `rows_per_person`
    does. Spends nothing by itself: the numbers are as private as the rows.
    """
    had = raw.frame.groupby(person_id, sort=False, dropna=False).size()
    return np.minimum(had.to_numpy(dtype=np.int64), most) - 1


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
    noisy = noisy_cells(had, plan.outline.learn_rows.most, event, noise, public=public)
    filled = iter(learned)
    columns = (c if isinstance(c, Column) else next(filled) for c in plan.outline.columns)
    return chosen_bound(noisy, plan.n, [column.size for column in columns], plan.left_rho)


def categories(request: CategoryRequest, cells: pd.Series) -> list[str | None]:
    """The category of every cell, by itself; None for missing, `other`, and what is no name."""
    texts = [text.strip() for text in as_texts(cells).str.strip()]
    other = request.other.strip()
    return [text if text != other and _is_name(text) else None for text in texts]


def _is_name(text: str) -> bool:
    return (
        len(text) <= MAX_NAME
        # A no-break space is not printable to Python, and is common in text copied from pages.
        and text.replace("\xa0", " ").isprintable()
        and text.lower() not in MISSING_TEXTS
    )
