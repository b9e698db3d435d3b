"""The comparators by name, each with its source and what it is in a curator's words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from prism_core.errors import PlanError
from prism_core.text.suggestions import suggestion

MethodName: TypeAlias = Literal["independent", "mst", "aim"]

NEIGHBOURS = "replace one person; the number of persons is public"
"""What every comparator of this room protects: the same as a release, whatever its paper takes."""

AS_PUBLISHED = "add or remove one person"
"""What the papers of MST and AIM take. Their noise at the same (epsilon, delta) is smaller by a
factor of sqrt(2): a marginal's counts move by 1 in l2 there, and by sqrt(2) here."""


@dataclass(frozen=True, kw_only=True)
class Comparator:
    """A general-purpose private synthesizer; it knows no target.

    Attributes:
        name: in configurations and commands.
        title: for people.
        sentence: what it does, in a curator's words.
        reference: where it is published.
        neighbours: the relation under which it runs here.
        published_neighbours: the relation of its paper.
    """

    name: MethodName
    title: str
    sentence: str
    reference: str
    neighbours: str = NEIGHBOURS
    published_neighbours: str = AS_PUBLISHED


_KNOWS_NOTHING = "It does not know which column is to be predicted."

COMPARATORS: dict[MethodName, Comparator] = {
    "independent": Comparator(
        name="independent",
        title="Independent columns",
        sentence="Counts every column by itself with noise and draws the columns independently. "
        f"{_KNOWS_NOTHING}",
        reference="the baseline of all marginal-based synthesizers",
        published_neighbours=NEIGHBOURS,
    ),
    "mst": Comparator(
        name="mst",
        title="MST",
        sentence="Counts every column, then joins all columns by a tree of the pairs that depend "
        f"on each other most, found with noise. {_KNOWS_NOTHING}",
        reference="McKenna, Miklau, Sheldon 2021, arXiv 2108.04978",
    ),
    "aim": Comparator(
        name="aim",
        title="AIM",
        sentence="Counts, round after round, the columns, pairs or triples that its model still "
        f"gets most wrong, all of them equally important. {_KNOWS_NOTHING}",
        reference="McKenna, Mullins, Sheldon, Miklau 2022, arXiv 2201.12677",
    ),
}


def comparator(name: str) -> Comparator:
    """The comparator of that name.

    Raises:
        PlanError: when there is none.
    """
    for known in get_args(MethodName):
        if name == known:
            return COMPARATORS[known]
    raise PlanError(
        f"method must be one of {', '.join(COMPARATORS)}.{suggestion(name, COMPARATORS)}",
        field="method",
    )
