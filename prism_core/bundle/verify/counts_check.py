"""Checks of the noisy counts, of the noise they claim, and of the rows drawn from them.

Are they those that the plan asks for, do they hold as much noise as they claim (exact counts in
their place do not), and do the synthetic rows follow from them?
"""

from __future__ import annotations

import io
import math
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from prism_core.bundle.bundle_files import CLOSE, PARQUET, SYNTHETIC
from prism_core.data.coverage import rows_outside
from prism_core.data.tables.raw_table import from_frame, read_table
from prism_core.data.tables.spreadsheet import csv_text, raw_csv_text, read_csv
from prism_core.planning.regimes import Aim, leaks
from prism_core.synthesis.fine_counts import parts_of
from prism_core.synthesis.release import draw, fit_model
from prism_core.synthesis.totals import CountedMeasurement, counted_measurements
from prism_core.text import untrusted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

    from prism_core.data.linear_queries import LinearQuery
    from prism_core.planning.plan import Plan
    from prism_core.planning.queries import Query
    from prism_core.synthesis.measure import Measurement

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

_FAR = 12.0
"""Standard deviations. Noise goes beyond with probability below 1e-30."""


def measured_findings(plan: Plan, measurements: Sequence[Measurement]) -> list[str]:
    """Where plan and noisy counts differ. Reads no private row."""
    # Of two columns both a product and, picked later, their counts may be measured; and a pair
    # again, with what was kept back.
    queries = plan.with_fine
    wanted = dict(_numbered((_kind_of(query), query) for query in queries))
    measured = list(_numbered(((m.clique, m.query, m.fine), m) for m in measurements))
    planned = {query.clique for query in queries}
    found: list[str] = []
    for key, m in measured:
        label = " × ".join(m.clique)
        query = wanted.get(key)
        if m.clique not in planned:
            found.append(f"The marginal {label} was measured and is not in the plan.")
        elif query is None and key[1] > 0:
            found.append(f"The marginal {label} was measured more often than planned.")
        elif query is None:
            found.append(f"Of the marginal {label} something else was measured than planned.")
        # The sigma wanted was computed here, and another machine may find other last digits.
        elif not math.isclose(m.sigma, query.sigma, rel_tol=CLOSE, abs_tol=0.0):
            found.append(f"The marginal {label} has another sigma than the plan gives it.")
    order = [key for key, _ in measured]
    for (clique, *_), _ in wanted.keys() - set(order):
        found.append(f"The marginal {' × '.join(clique)} is in the plan and was not measured.")
    # A marginal that is missing or new changes the order as well, and was named already.
    if not found and order != list(wanted):
        found.append("The measurements are not in the order of the plan.")
    return found


def _kind_of(query: Query) -> tuple[tuple[str, ...], LinearQuery | None, bool]:
    return query.clique, query.linear, query.kind == "fine"


def parts_findings(plan: Plan, measurements: Sequence[Measurement]) -> list[str]:
    """Whether the parts of coarsened columns are those that their fine counts give.

    Anything else would be a second channel: parts of one's own choice may say anything of rows.
    """
    if plan.parts is None:
        return []
    again = parts_of(plan, measurements)
    return [
        f"The parts of {one.name!r} are not those that its noisy fine counts give."
        for one, other in zip(plan.parts, again, strict=True)
        if one != other
    ]


def _numbered(entries: Iterable[tuple[_Key, _Value]]) -> Iterator[tuple[tuple[_Key, int], _Value]]:
    """The entries with how often their key was there before."""
    before: Counter[_Key] = Counter()
    for key, value in entries:
        yield (key, before[key]), value
        before[key] += 1


def structure_findings(
    target: str, s: Collection[str], measurements: Sequence[Measurement]
) -> list[str]:
    """The regime guard: Y is measured with S only, and no background edge has Y as an end.

    With it the model factorises so that Y is independent of every other column given S.

    Args:
        target: Y.
        s: the features S.
        measurements: what was measured.
    """
    found: list[str] = []
    for m in measurements:
        label = " × ".join(m.clique)
        if target not in m.clique:
            continue
        outside = [name for name in m.clique if name != target and name not in s]
        if outside:
            found.append(
                f"The regime guard does not hold: {label} measures {target!r} with "
                f"{outside[0]!r}, which is not in S."
            )
        elif len(m.clique) == 1:
            found.append(f"{target!r} was measured by itself, which no plan does.")
    return found


def structures_findings(aims: Sequence[Aim], measurements: Sequence[Measurement]) -> list[str]:
    """The regime guard of several targets: S_t cuts Y_t off every other feature.

    Args:
        aims: targets with their features.
        measurements: what was measured.
    """
    cliques = [m.clique for m in measurements]
    targets = {aim.target for aim in aims}
    alone = [clique[0] for clique in cliques if len(clique) == 1 and clique[0] in targets]
    return [
        f"The regime guard does not hold: what was measured lets {name!r}, which is not among its "
        f"features, say something about the target {target!r}."
        for target, name in leaks(aims, cliques)
    ] + [f"{name!r} was measured by itself, which no plan does." for name in alone]


def size_findings(plan: Plan, measurements: Sequence[Measurement]) -> list[str]:
    """Do the noisy counts fit n, and each other where cliques share a column?

    The sum of a marginal's noise has standard deviation sigma sqrt(cells), the difference of two
    margins that of both. Beyond 12 of them the counts are not what is claimed.
    """
    least, most = plan.contribution.totals(plan.n)
    total = f"n = {plan.n:,}" if least == most == plan.n else f"{least:,} to {most:,}"
    found = [
        _does_not_add_up(m, total) for m in measurements if m.fine and not _adds_up(m, least, most)
    ]
    margins: dict[str, CountedMeasurement] = {}
    for m in counted_measurements(measurements):
        if not _adds_up(m, least, most):
            found.append(_does_not_add_up(m, total))
        for axis, name in enumerate(m.clique):
            # Each is compared with the first alone: all pairs would be quadratic in a wide plan.
            other = margins.setdefault(name, m)
            if other is not m and not _agree(m, other, axis, other.clique.index(name)):
                found.append(
                    f"The noisy counts of {m.label} and {other.label} disagree about "
                    f"{name!r} by more than their noise."
                )
    return found


def _adds_up(m: Measurement | CountedMeasurement, least: int, most: int) -> bool:
    spread = _FAR * m.sigma * math.sqrt(m.values.size) + 1.0
    # In float64: forged counts could overflow an integer sum so that it fits.
    return least - spread <= float(m.values.sum(dtype="float64")) <= most + spread


def _does_not_add_up(m: Measurement | CountedMeasurement, total: str) -> str:
    label = m.label if isinstance(m, CountedMeasurement) else " × ".join(m.clique)
    return f"The noisy counts of {label} do not add up to about {total}."


def _agree(one: CountedMeasurement, other: CountedMeasurement, axis: int, other_axis: int) -> bool:
    first = one.values.sum(axis=tuple(i for i in range(one.values.ndim) if i != axis))
    second = other.values.sum(axis=tuple(i for i in range(other.values.ndim) if i != other_axis))
    # A value of the margin sums size / values cells, each with noise of variance sigma^2.
    variance = (one.sigma**2 * one.values.size + other.sigma**2 * other.values.size) / first.size
    return bool((abs(first - second) <= _FAR * math.sqrt(variance) + 1.0).all())


RARE = 1e-9
"""How often noise that is what it claims is called too small: once in 1e9 bundles."""

_CHOSEN = ("interaction", "three-way", "adaptive", "tree")

_LEAST_SIGMA = 1.0
"""Noise in whole numbers has the variance sigma^2 only from here on (but for 1e-6); less is left
out."""


def noise_findings(plan: Plan, measurements: Sequence[Measurement]) -> list[str]:
    """Whether the noise is smaller than claimed, as far as n and shared columns tell.

    The true counts are not known, but two things about them are: every marginal adds up to n, and
    marginals that share a column agree about it. So these are sums of squares of standard normal
    variables, to which the true counts add nothing:

    - per marginal, ((sum - n) / (sigma sqrt(cells)))^2: 1 degree of freedom; where people have
      several rows that count one each, the total is not known: their weighted mean stands for it,
      and one degree is lost;
    - per column in J marginals, the squared distances of its J margins, each less its own mean,
      from their mean weighted by 1 / variance: (J - 1) (values - 1) degrees.

    All of them are independent of each other: the total and the main effects of a table of
    independent noise of one variance are orthogonal contrasts. The whole is a chi-square, and less
    than its 1e-9 quantile is wrong. Noise is in whole numbers: every sum and margin is taken one
    count farther off than it is (triangle inequality), which more than makes up for it.

    Margins of marginals that were chosen at run time are left out: the choice looks at the noise of
    those before, so their distances are no chi-square. Their sums are: their own noise is fresh.

    A linear query counts with the counts that it holds (`counted`); their noise is a sum of rows of
    its own, independent of that of any other measurement.

    False alarms: below 1e-9 a bundle. Few marginals cannot get that far down, however exact, and
    then nothing is claimed; nor of one exact marginal among many noisy ones. Spends nothing.

    Args:
        plan: the plan made again; its n.
        measurements: the noisy counts, with the sigmas they claim.
    """
    from scipy.special import gammainc

    known = [m for m in counted_measurements(measurements) if m.sigma >= _LEAST_SIGMA]
    chosen = {query.clique for query in plan.queries if query.kind in _CHOSEN}
    squares = slack = 0.0
    least, most = plan.contribution.totals(plan.n)
    degrees = len(known) if least == most else max(0, len(known) - 1)
    sums = np.array([float(m.values.sum(dtype="float64")) for m in known])
    variances = np.array([m.sigma**2 * m.values.size for m in known])
    if known:
        total = least if least == most else np.average(sums, weights=1.0 / variances)
        # The first kind of the docstring: one degree for each marginal.
        squares += float(((sums - total) ** 2 / variances).sum())
        slack += float((1.0 / variances).sum())
    for name, size in plan.sizes.items():
        shared = [m for m in known if name in m.clique and m.measured not in chosen]
        if len(shared) > 1:
            weights = np.array([size / (m.sigma**2 * m.values.size) for m in shared])
            # The second kind: J margins round their mean, each of which sums to 0.
            squares += _distance(np.array([_margin(m, name) for m in shared]), weights)
            slack += size * float(weights.sum())
            degrees += (len(shared) - 1) * (size - 1)
    # The triangle inequality of the docstring: every sum and margin one count farther off.
    largest = (math.sqrt(squares) + math.sqrt(slack)) ** 2
    # The chi-square distribution function; `scipy.stats` has it by name, but imports slowly.
    if not degrees or gammainc(degrees / 2.0, largest / 2.0) >= RARE:
        return []
    return [
        "The noisy counts have less noise than they claim: they fit n and each other too well to "
        "have been measured with these sigmas."
    ]


def _margin(m: CountedMeasurement, name: str) -> NDArray[np.float64]:
    """Noisy counts of one column's values, less their mean. Shape (values,)."""
    axis = m.clique.index(name)
    others = tuple(i for i in range(m.values.ndim) if i != axis)
    margin = m.values.sum(axis=others, dtype=np.float64)
    return margin - margin.mean()


def _distance(margins: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Weighted squares around the weighted mean. Shapes (J, values) and (J,)."""
    middle = np.average(margins, axis=0, weights=weights)
    return float(weights @ ((margins - middle) ** 2).sum(axis=1))


def rows_findings(folder: Path, plan: Plan) -> list[str]:
    """Rows, columns and cells of both files against the plan. Reads synthetic rows only."""
    found: list[str] = []
    text, typed = read_csv(folder / SYNTHETIC), read_table(folder / PARQUET)
    if text.header != plan.schema.names:
        return [f"{SYNTHETIC} has other columns than the schema, or another order."]
    if text.rows != plan.rows:
        found.append(f"{SYNTHETIC} holds {text.rows:,} rows; the plan makes {plan.rows:,}.")
    found += [
        f"{SYNTHETIC} holds a value of {column.name!r} outside the declared domain."
        for column in plan.schema.columns
        # A value is judged by itself, and a column has few different ones in many rows.
        if rows_outside(column, text.column(column.name).drop_duplicates())
    ]
    if typed.header != text.header or not typed.frame.equals(text.frame):
        found.append(f"{SYNTHETIC} and {PARQUET} do not hold the same rows.")
    # Equal cells can be written in many ways (quotes, line ends), and the choice could carry data.
    if untrusted.content_of(folder / SYNTHETIC, untrusted.TABLE) != raw_csv_text(text).encode(
        "utf-8"
    ):
        found.append(f"{SYNTHETIC} is not written as this program writes it.")
    return found


def redrawn_findings(
    folder: Path, plan: Plan, measurements: Sequence[Measurement], seed: int
) -> list[str]:
    """The model fitted again and its rows drawn again must be the rows in the folder."""
    _, table = draw(plan, fit_model(plan, measurements), seed, measurements)
    # Bytes first: where they are the same, no cells have to be compared.
    if csv_text(table).encode("utf-8") == untrusted.content_of(folder / SYNTHETIC, untrusted.TABLE):
        return _parquet_findings(folder, table)
    found = read_csv(folder / SYNTHETIC).frame
    again = from_frame(table).frame
    if found.shape != again.shape or list(found.columns) != list(again.columns):
        return ["Fitted and drawn again, the noisy counts give a table of another shape."]
    changed = int((found.to_numpy() != again.to_numpy()).any(axis=1).sum())
    return [
        f"{changed:,} of {len(again):,} synthetic rows are not those that the noisy counts and the "
        "seed give."
    ]


def _parquet_findings(folder: Path, table: pd.DataFrame) -> list[str]:
    """The Parquet file to the byte, where the library that wrote it is the one that is here.

    Otherwise its rows were compared already, and what else such a file can hold is only looked
    at for entries that this program does not write.
    """
    import pyarrow.parquet as pq

    again = io.BytesIO()
    table.to_parquet(again, index=False)
    if again.getvalue() == untrusted.content_of(folder / PARQUET, untrusted.TABLE):
        return []
    theirs, ours = pq.read_metadata(folder / PARQUET), pq.read_metadata(again)
    same_writer = theirs.created_by == ours.created_by
    if same_writer or set(theirs.metadata or {}) - set(ours.metadata or {}):
        return [f"{PARQUET} is not written as this program writes it."]
    return []
