"""Growing a blanket: who comes next, given who is in already.

Why this way. A Markov blanket is usually found by conditional independence tests of many sizes;
their statistics (chi-square, mutual information) move by ln n / n or more when one row is
replaced, and large conditioning sets have more cells than rows. Here the test statistic is R, the
total variation distance from independence, which moves by 4/n; one member at a time is conditioned
on; and the tests are one exponential mechanism a round, whose price does not grow with the number
of columns. Max-min over single members is the first step of MMPC (Tsamardinos, Brown and Aliferis
2006) cut at depth one. It drops what a member explains: copies of members and descendants behind
them. It misses co-parents that only show with a child and against every other member they do not,
and members that are weak once another one is known. There is no second phase that drops members:
measuring their conditional tables would cost as much again as finding them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prism_core.learning.graph_plan import MAX_CELLS
from prism_core.privacy.mechanisms import guard, private_choice
from prism_core.privacy.scores import conditional_association

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prism_core.data.source import Rows
    from prism_core.learning.graph_plan import GraphPlan
    from prism_core.privacy.noise import NoiseSource


def choose_members(
    table: Rows,
    plan: GraphPlan,
    noise: NoiseSource,
    step: Callable[[], None] = lambda: None,
) -> tuple[str, ...]:
    """The members of the blanket, in the order they were found; there may be none.

    Each round is an exponential mechanism over the columns left and "nobody else", which has a
    public score and ends the search. Rounds that are not run are paid for.

    Spends: the plan's event, `members` rounds of the same epsilon.

    Proof. Every column's score moves by at most `plan.sensitivity` (see `Scores`) and that of
    "nobody else" not at all; members found before are outputs, so the rounds compose adaptively.

    Args:
        table: the private rows.
        plan: holds candidates, threshold, sensitivity and budget.
        noise: where the randomness comes from.
        step: called before each round; may raise to stop.
    """
    guard(table, noise)
    scores = Scores(plan)
    left = list(plan.candidates)
    members: list[str] = []
    for _ in range(plan.members):
        step()
        index = private_choice(
            table,
            lambda rows: [*scores.of(rows, left, members), plan.threshold],
            sensitivity=plan.sensitivity,
            epsilon=plan.event.epsilon,
            noise=noise,
        )
        if index == len(left):
            break
        members.append(left.pop(index))
    return tuple(members)


@dataclass
class Scores:
    """Scores of columns given members; keeps what it computed, which is as private as the rows.

    A column's score is its least excess association with Y given one member:
    min over members Z of R(X; Y | Z) less what chance would give, and R(X; Y) less chance while
    there is no member. Tables of more than MAX_CELLS are left out, by the declared domain.

    Sensitivity: that of R(X; Y | Z), 4 / n. Proof. R(X; Y) is the case of one stratum, what chance
    gives is data-free, and a minimum of functions that move by at most c moves by at most c.
    """

    plan: GraphPlan
    _known: dict[tuple[str, ...], float] = field(default_factory=dict, repr=False)

    def of(self, rows: Rows, names: Sequence[str], members: Sequence[str]) -> list[float]:
        """The score of every name.

        Reads private rows and spends nothing by itself: for `private_choice` only.
        """
        wanted = {name: self._tests(name, members) for name in names}
        missing = [test for tests in wanted.values() for test in tests if test not in self._known]
        cliques = [(name, self.plan.target, *given) for name, *given in missing]
        for test, counts in zip(missing, rows.counts(cliques), strict=True):
            found = conditional_association(counts.reshape(*counts.shape[:2], -1))
            self._known[test] = found - self.plan.by_chance(test[0], test[1:])
        return [min(self._known[test] for test in tests) for tests in wanted.values()]

    def _tests(self, name: str, members: Sequence[str]) -> list[tuple[str, ...]]:
        cells = self.plan.schema.cells
        fitting = [
            (name, member) for member in members
            if cells((name, self.plan.target, member)) <= MAX_CELLS
        ]  # fmt: skip
        return fitting or [(name,)]
