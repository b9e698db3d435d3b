"""The plan for learning a domain: with what noise. No row is read, nothing is spent."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from prism_core.data.schema import schema_file
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import BudgetError
from prism_core.learning.bins import outside
from prism_core.learning.domain.requests import CategoryRequest, NumericRequest, RowsRequest
from prism_core.planning.step_plan import (
    ZcdpPlan,
    check_people,
    check_persons,
    check_rows,
    delta_in_force,
)
from prism_core.privacy.accountants.accountant import HEADROOM, accountant
from prism_core.privacy.accountants.conversions import rho_to_epsilon
from prism_core.privacy.events import (
    GaussianEvent,
    StableHistogramEvent,
    event_dict,
    release_threshold,
)
from prism_core.privacy.learning_charge import LEARNING_LABEL, LearningCharge, amount_left
from prism_core.privacy.parameters import about_budget, delta_value, epsilon_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.learning.domain.requests import Outline, Request

    Asked = Request | RowsRequest

DomainEvent = GaussianEvent | StableHistogramEvent

SHARE = 0.10
DELTA_SHARE = 0.10
WIDE_TAIL = 0.02
"""Share of the values outside the learned bounds at one end that is worth a warning."""
MOST_CATEGORIES = 10_000
"""Rarer categories than n over this take no part: noise for more cells would take minutes."""


@dataclass(frozen=True, kw_only=True)
class DomainPlan(ZcdpPlan):
    """A plan for learning a domain; epsilon and delta are of the whole release.

    Attributes:
        outline: declared columns and requests.
        share: of the whole rho that goes into learning.
        events: one for each request, in order.
        warnings: sentences for the curator.
    """

    outline: Outline
    share: float
    events: tuple[DomainEvent, ...]
    warnings: tuple[str, ...] = ()

    def prior(self, charge: int | None = None, receipt: str = "") -> LearningCharge:
        """What a later plan deducts: this step, and learning that went before it.

        Args:
            charge: number of this step's charge in the ledger.
            receipt: of that charge.
        """
        earlier = self.outline.prior
        events, receipts = self.events, (receipt,) * len(self.events)
        if earlier is not None:
            events, receipts = ((*earlier.events, *events), (*earlier.event_receipts, *receipts))
        return LearningCharge(
            events=events,
            delta=self.delta,
            plan=self.hash,
            charge=charge,
            person_id=self.outline.person_id,
            receipts=receipts if any(receipts) else (),
        )

    @cached_property
    def left_epsilon(self) -> float:
        """Epsilon, at delta, of what a release planned with the result may spend by itself.

        It and the epsilon of learning add up to more than the whole: losses compose to less
        than their sum.
        """
        return rho_to_epsilon(self.left_rho, self.delta) if self.left_rho > 0.0 else 0.0

    @cached_property
    def left_rho(self) -> float:
        """The same under zCDP."""
        return amount_left(accountant("zcdp"), self.epsilon, self.delta, self.prior())

    def schema(
        self, learned: Sequence[Column], prior: LearningCharge, max_rows: int | None = None
    ) -> Schema:
        """The schema once every column that is learned has its domain.

        Args:
            learned: these columns, in order.
            prior: what it cost.
            max_rows: as it was learned; None where it is declared.
        """
        filled = iter(learned)
        # Learning makes nothing private that was read without noise before; and where no column was
        # learned, the columns come from where they came from.
        kept = self.outline.provenance == "private rows" or not learned
        return Schema(
            columns=tuple(
                column if isinstance(column, Column) else next(filled)
                for column in self.outline.columns
            ),
            provenance=self.outline.provenance if kept else "dp",
            one_row_per_person=self.outline.one_row_per_person,
            person_id=self.outline.person_id,
            persons=self.outline.persons,
            max_rows=self.outline.max_rows if max_rows is None else max_rows,
            weighting=self.outline.weighting,
            prior=prior,
            looks=self.outline.looks,
            codebook=self.outline.codebook,
        )

    @property
    def outside(self) -> dict[str, float]:
        """By number or date: share of values that may lie outside the bounds at one end.

        From the request and the noise, never from the rows; see `learning.bins.outside`.
        """
        return {
            request.name: outside(request, event.sigma, self.n)
            for request, event in zip(self.outline.requests, self.events, strict=True)
            if isinstance(request, NumericRequest)
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; holds no fact about the rows but their number."""
        earlier = self.outline.prior
        return {
            **({} if earlier is None else {"earlier": earlier.to_dict()}),
            "epsilon": self.epsilon,
            "delta": self.delta,
            "n": self.n,
            "share": self.share,
            "columns": [_column_dict(column) for column in self.outline.columns],
            **self._rows_entry,
            "person_id": self.outline.person_id,
            "events": [event_dict(event) for event in self.events],
            "warnings": list(self.warnings),
            **self.above_limit_entry,
        }

    @property
    def _rows_entry(self) -> dict[str, Any]:
        rows = self.outline.learn_rows
        return {} if rows is None else {"learn": {"max_rows": asdict(rows)}}

    def document(self) -> dict[str, Any]:
        """See `StepPlan.document`; the columns stand in the plan."""
        return self.to_dict()


def design_domain(
    outline: Outline,
    epsilon: float,
    delta: float | None,
    n: int,
    *,
    share: float = SHARE,
    delta_share: float = DELTA_SHARE,
    above_limit: float | None = None,
) -> DomainPlan:
    """The plan for learning a domain from n rows. Spends nothing and reads no row.

    The delta of the stable histograms is subtracted first; what is left turns epsilon into rho;
    of that rho (less what learning other columns cost before), `share` goes in equal parts to the
    requests. `design` with the schema that comes
    out plans with the rest, so that both together never exceed (epsilon, delta).

    Args:
        outline: declared columns and requests.
        epsilon: of the whole release, learning included.
        delta: likewise; 1/n^2 when None.
        n: number of training rows (persons); public.
        share: of rho (of what is left of it), for learning; above 0 and below 1.
        delta_share: of delta, for all stable histograms together; above 0 and below 1. Unused
            when no categories are learned.
        above_limit: the workspace's maximum of epsilon that is exceeded on purpose, if one is.

    Raises:
        BudgetError: naming the field and what is allowed.
    """
    _check(epsilon, n, share, delta_share)
    delta = delta_value(delta_in_force(delta, n))
    _check_people(outline, n)
    requests = outline.requests
    histograms = sum(isinstance(request, CategoryRequest) for request in requests)
    # A union over the histograms: each may fail with its part.
    failing = delta * delta_share * HEADROOM / histograms if histograms else 0.0
    total = amount_left(accountant("zcdp"), epsilon, delta - histograms * failing, outline.prior)
    if not total > 0.0:
        raise BudgetError(
            "Learning other columns before has used up the declared budget. Raise epsilon, or "
            "declare the rest.",
            field="epsilon",
        )
    # HEADROOM keeps the float sum of the parts within the whole.
    amount = total * share * HEADROOM / len(requests)
    events = tuple(_event(request, amount, failing, n) for request in requests)
    return DomainPlan(
        outline=outline,
        epsilon=epsilon,
        delta=delta,
        n=n,
        share=share,
        events=events,
        above_limit=above_limit,
        warnings=(
            *about_budget(epsilon, delta, n, above_limit=above_limit),
            *_warnings(requests, events, n),
        ),
    )


def _check(epsilon: float, n: int, share: float, delta_share: float) -> None:
    epsilon_value(epsilon)
    check_rows(n)
    for field, value in (("share", share), ("delta_share", delta_share)):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 < value < 1.0:
            raise BudgetError(
                f"{field} must be a number above 0 and below 1, for example 0.1.",
                field=f"domain.{field}",
            )


def _check_people(outline: Outline, n: int) -> None:
    check_people(outline)
    check_persons(outline, n)
    # Names and persons are checked as those of a schema, before anything is spent.
    placeholder = [
        request.grid if isinstance(request, NumericRequest) else request.column(())
        for request in outline.columns_to_learn
    ]
    filled = iter(placeholder)
    Schema(
        columns=tuple(c if isinstance(c, Column) else next(filled) for c in outline.columns),
        one_row_per_person=outline.one_row_per_person,
        person_id=outline.person_id,
        persons=outline.persons,
        max_rows=outline.max_rows,
        weighting=outline.weighting,
    )


def _event(request: Asked, amount: float, failing: float, n: int) -> DomainEvent:
    label = f"{LEARNING_LABEL}{request.name}"
    # No delta: under zCDP Gaussian noise spends rho alone.
    event = accountant("zcdp").gaussian(amount, 0.0, label)
    if not isinstance(request, CategoryRequest):
        return event
    # Rounded up: at most MOST_CATEGORIES categories can have so many rows.
    least = -(-n // MOST_CATEGORIES)
    threshold = release_threshold(event.sigma, failing, least)
    return StableHistogramEvent(
        sigma=event.sigma, threshold=threshold, delta=failing, least=least, label=label
    )


def _warnings(requests: Sequence[Asked], events: Sequence[DomainEvent], n: int) -> tuple[str, ...]:
    found: list[str] = []
    for request, event in zip(requests, events, strict=True):
        if isinstance(event, StableHistogramEvent) and event.threshold >= n:
            found.append(
                f"{request.name}: only categories held by more than about {event.threshold:,} of "
                f"{n:,} rows would come out. Raise the share, or declare the levels."
            )
        elif isinstance(event, GaussianEvent) and isinstance(request, NumericRequest):
            # Standard deviation of a cumulative count in the middle of the grid.
            wide = event.sigma * math.sqrt(request.grid.size) / 2.0
            # A quantile bin holds n / bins rows.
            if wide * request.bins > n:
                found.append(
                    f"{request.name}: the noise ({wide:,.0f} rows at the median) is larger than "
                    "a bin. Raise the share, or ask for fewer cells or bins."
                )
            share = outside(request, event.sigma, n)
            if share > WIDE_TAIL:
                most = math.ceil(100 * share)
                found.append(
                    f"{request.name}: noise may hide up to about {most}% of the values at either "
                    "end, and they would be clipped to the learned bound. Raise the share, "
                    "ask for fewer cells, or declare the bounds."
                )
    return tuple(found)


def _column_dict(column: Column | Request) -> dict[str, Any]:
    if isinstance(column, Column):
        return schema_file.column_dict(column)
    if isinstance(column, CategoryRequest):
        return {
            "name": column.name,
            "kind": "categorical",
            "other": column.other,
            "nullable": column.nullable,
            "learn": {"max_levels": column.max_levels},
        }
    return {
        "name": column.name,
        "kind": column.kind,
        "lower": column.lower,
        "upper": column.upper,
        "decimals": column.decimals,
        "nullable": column.nullable,
        "fill": column.fill,
        "learn": {
            "bins": column.bins,
            "cells": column.cells,
            "scale": column.scale,
            "unit": column.unit,
            "tail": column.tail,
        },
        **({"special": list(column.special)} if column.special else {}),
    }
