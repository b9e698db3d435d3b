"""Structure a release does not preserve, named: by the plan alone, and by the worst distance."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from prism_core.evaluation.fidelity.distances import variation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prism_core.evaluation.fidelity.pair_statistics import PairStatistics
    from prism_core.evaluation.subject import Measured, Subject

MAX_COLUMNS = 20
"""Columns whose 3-way marginals with the target are compared: the protected ones, then those
whose pair with the target is farthest off."""


@dataclass(frozen=True, kw_only=True)
class NotMeasured:
    """What the plan alone says is not measured; a public fact.

    Attributes:
        pairs: number of pairs of columns that lie in no measured marginal.
        all_pairs: number of pairs.
        untied: those of them that no chain of measured marginals ties together: in the synthetic
            rows the two columns are independent but for chance.
        without_target: features whose pair with the target is not measured.
        triples: number of 3-way marginals (X_i, X_j, Y) that lie in no measured marginal.
        all_triples: number of 3-way marginals with the target.
    """

    pairs: int
    all_pairs: int
    untied: int
    without_target: tuple[str, ...]
    triples: int
    all_triples: int


@dataclass(frozen=True, kw_only=True)
class Lost:
    """A marginal that was not measured, and how far off it is. Outside epsilon.

    Attributes:
        clique: its columns.
        distance: total variation distance of synthetic and real rows, 0 to 1.
        by_chance: what two samples of these sizes from one population would be apart on average.
        tied: whether a chain of measured marginals ties the columns together.
        outside_epsilon: True: read from private rows without noise.
    """

    clique: tuple[str, ...]
    distance: float
    by_chance: float
    tied: bool
    outside_epsilon: bool = True

    @property
    def label(self) -> str:
        """The columns in words."""
        return " × ".join(self.clique)


@dataclass(frozen=True)
class MeasuredGraph:
    """Which columns a list of measured marginals ties together; public.

    Attributes:
        measured: the marginals.
        parent: for every column, another one of its group (a forest of a union-find).
    """

    measured: tuple[frozenset[str], ...]
    parent: dict[str, str] = field(repr=False)

    @classmethod
    def of(cls, names: Sequence[str], measured: Sequence[Measured]) -> MeasuredGraph:
        """The graph over these columns."""
        parent = {name: name for name in names}
        found = cls(tuple(frozenset(query.clique) for query in measured), parent)
        for query in measured:
            for name in query.clique[1:]:
                parent[found.group(name)] = found.group(query.clique[0])
        return found

    def group(self, name: str) -> str:
        """One column that stands for all that are tied to this one."""
        while self.parent[name] != name:
            # Path halving keeps the ways short where unions go by no rank.
            self.parent[name] = self.parent[self.parent[name]]
            name = self.parent[name]
        return name

    def tied(self, clique: Sequence[str]) -> bool:
        """Whether all columns of a clique are tied together."""
        return len({self.group(name) for name in clique}) == 1

    def covered(self, size: int, within: str | None = None) -> set[frozenset[str]]:
        """All cliques of a size (with a column) inside a measured marginal."""
        return {
            frozenset(clique)
            for query in self.measured
            if within is None or within in query
            for clique in combinations(sorted(query), size)
            if within is None or within in clique
        }


def not_measured(subject: Subject) -> NotMeasured:
    """What the plan alone says; no row is read, so nothing is spent."""
    names, target = subject.schema.names, subject.target
    graph = MeasuredGraph.of(names, subject.measured)
    pairs = graph.covered(2)
    size, features = len(names), subject.features
    groups: dict[str, int] = {}
    for name in names:
        groups[graph.group(name)] = groups.get(graph.group(name), 0) + 1
    # By groups: a wide table has too many pairs to ask each whether it is tied.
    tied = sum(math.comb(count, 2) for count in groups.values())
    return NotMeasured(
        pairs=math.comb(size, 2) - len(pairs),
        all_pairs=math.comb(size, 2),
        untied=math.comb(size, 2) - tied,
        without_target=tuple(n for n in features if frozenset((n, target)) not in pairs),
        triples=math.comb(len(features), 2) - len(graph.covered(3, target)),
        all_triples=math.comb(len(features), 2),
    )


def lost_pairs(subject: Subject, statistics: PairStatistics, most: int = 10) -> tuple[Lost, ...]:
    """The pairs outside the measured graph that are farthest off beyond chance, worst first.

    Spends nothing and gives no guarantee: outside epsilon, for the curator only.
    """
    graph = MeasuredGraph.of(statistics.names, subject.measured)
    covered = graph.covered(2)
    rows, columns = np.triu_indices(len(statistics.names), k=1)
    values, chance = statistics.distance[rows, columns], statistics.by_chance[rows, columns]
    found: list[Lost] = []
    for place in np.argsort(chance - values, kind="stable"):
        clique = (statistics.names[rows[place]], statistics.names[columns[place]])
        if frozenset(clique) not in covered:
            found.append(
                Lost(
                    clique=clique,
                    distance=float(values[place]),
                    by_chance=float(chance[place]),
                    tied=graph.tied(clique),
                )
            )
        if len(found) == most:
            break
    return tuple(found)


def lost_triples(
    subject: Subject,
    most: int = 10,
    progress: Callable[[float, str], None] = lambda _share, _text: None,
) -> tuple[Lost, ...]:
    """The unmeasured (X_i, X_j, Y) farthest off beyond chance, among `MAX_COLUMNS` columns.

    Spends nothing and gives no guarantee: outside epsilon, for the curator only.
    """
    if subject.comparison.obstacle:
        return ()
    graph = MeasuredGraph.of(subject.schema.names, subject.measured)
    covered = graph.covered(3, subject.target)
    candidates = [
        clique
        for pair in combinations(_candidates(subject), 2)
        if frozenset(clique := subject.schema.canonical((*pair, subject.target))) not in covered
    ]
    found: list[Lost] = []
    for step, clique in enumerate(candidates):
        progress(step / len(candidates), "comparing 3-way marginals")
        apart = variation(subject.synthetic, subject.real, clique)
        found.append(
            Lost(
                clique=clique,
                distance=apart.distance,
                by_chance=apart.by_chance,
                tied=graph.tied(clique),
            )
        )
    return tuple(sorted(found, key=lambda lost: lost.by_chance - lost.distance)[:most])


def _candidates(subject: Subject) -> tuple[str, ...]:
    others = [name for name in subject.features if name not in subject.s]
    off = {
        name: variation(subject.synthetic, subject.real, (name, subject.target)).beyond
        for name in others
    }
    ranked = sorted(others, key=lambda name: -off[name])
    return (*subject.s, *ranked)[:MAX_COLUMNS]
