"""Are the noisy counts those that the plan asks for, and can they be what it says?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from prism_core.bundle.compare import CLOSE
from prism_core.bundle.counted import Counted, counted
from prism_core.planning.targets import leaks

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from prism_core.planning.plan import Plan
    from prism_core.planning.targets import Aim
    from prism_core.synthesis.measure import Measurement

_FAR = 12.0
"""Standard deviations. Noise goes beyond with probability below 1e-30."""


def measured_findings(plan: Plan, measurements: Sequence[Measurement]) -> list[str]:
    """Where plan and noisy counts differ. Reads no private row."""
    # Of two columns both a product and, picked later, their counts may be measured.
    wanted = {(query.clique, query.linear): query for query in plan.queries}
    planned = {query.clique for query in plan.queries}
    found: list[str] = []
    if len({(m.clique, m.query) for m in measurements}) != len(measurements):
        found.append("A marginal was measured twice.")
    for m in measurements:
        label = " × ".join(m.clique)
        query = wanted.get((m.clique, m.query))
        if m.clique not in planned:
            found.append(f"The marginal {label} was measured and is not in the plan.")
        elif query is None:
            found.append(f"Of the marginal {label} something else was measured than planned.")
        elif not math.isclose(m.sigma, query.sigma, rel_tol=CLOSE, abs_tol=0.0):
            found.append(f"The marginal {label} has another sigma than the plan gives it.")
    order = [(m.clique, m.query) for m in measurements]
    for clique, _ in wanted.keys() - set(order):
        found.append(f"The marginal {' × '.join(clique)} is in the plan and was not measured.")
    if not found and order != [(query.clique, query.linear) for query in plan.queries]:
        found.append("The measurements are not in the order of the plan.")
    return found


def guard_findings(
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


def guards_findings(aims: Sequence[Aim], measurements: Sequence[Measurement]) -> list[str]:
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
    found: list[str] = []
    margins: dict[str, Counted] = {}
    for m in counted(measurements):
        spread = m.sigma * math.sqrt(m.values.size)
        if not abs(float(m.values.sum(dtype="float64")) - plan.n) <= _FAR * spread + 1.0:
            found.append(f"The noisy counts of {m.label} do not add up to about n = {plan.n:,}.")
        for axis, name in enumerate(m.clique):
            other = margins.setdefault(name, m)
            if other is not m and not _agree(m, other, axis, other.clique.index(name)):
                found.append(
                    f"The noisy counts of {m.label} and {other.label} disagree about "
                    f"{name!r} by more than their noise."
                )
    return found


def _agree(one: Counted, other: Counted, axis: int, other_axis: int) -> bool:
    first = one.values.sum(axis=tuple(i for i in range(one.values.ndim) if i != axis))
    second = other.values.sum(axis=tuple(i for i in range(other.values.ndim) if i != other_axis))
    variance = (one.sigma**2 * one.values.size + other.sigma**2 * other.values.size) / first.size
    return bool((abs(first - second) <= _FAR * math.sqrt(variance) + 1.0).all())
