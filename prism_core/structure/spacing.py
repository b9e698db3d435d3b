"""Points on a line, kept apart: what both the layout and the router need."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def keep_apart(
    wanted: Sequence[float],
    gaps: Sequence[float],
    low: float = -math.inf,
    high: float = math.inf,
    weights: Sequence[float] | None = None,
) -> list[float]:
    """Places in the given order that differ least, in weighted squares, from the wanted ones.

    Isotonic regression by pooling adjacent violators, after the gaps are taken off; bounds are met
    by clipping, which keeps the optimum (Best and Chakravarti 1990).

    Args:
        wanted: where each point would stand by itself, in the order they must keep.
        gaps: least distance from each point to the next; one fewer than points.
        low: where the first may stand at the least; it gives way where the gaps need more room.
        high: where the last may stand at the most.
        weights: how much each wish counts; all alike by default.
    """
    if not wanted:
        return []
    offsets = [0.0]
    for gap in gaps:
        offsets.append(offsets[-1] + gap)
    pools: list[tuple[float, float, int]] = []  # mean, weight, points
    for number, wish in enumerate(wanted):
        mean, weight, points = wish - offsets[number], weights[number] if weights else 1.0, 1
        while pools and pools[-1][0] > mean:
            before, its_weight, its_points = pools.pop()
            total = weight + its_weight
            mean = (mean * weight + before * its_weight) / total
            weight, points = total, points + its_points
        pools.append((mean, weight, points))
    highest = high - offsets[-1]
    level = [min(max(mean, low), highest) for mean, _, points in pools for _ in range(points)]
    return [base + offset for base, offset in zip(level, offsets, strict=True)]
