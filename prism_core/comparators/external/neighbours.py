"""Neighbours of other packages: what each must be told so that its guarantee holds for ours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from prism_core.errors import PrivacyError
from prism_core.privacy.accountants.conversions import epsilon_to_rho, rho_to_delta, rho_to_epsilon
from prism_core.privacy.parameters import delta_value, epsilon_value

Relation: TypeAlias = Literal["replace one person", "add or remove one person"]
Kind: TypeAlias = Literal["pure", "approximate", "zcdp"]

_CHANGES: dict[Relation, int] = {"replace one person": 1, "add or remove one person": 2}
"""Steps of a relation that replacing one person takes: out with one, in with another."""

_HAIR = 1.0 - 1e-9  # so that floats of another program stay below what was computed here


@dataclass(frozen=True, kw_only=True)
class GuaranteePart:
    """A part of what a program does when it is told epsilon E.

    Attributes:
        share: the part is (share E)-DP.
        relation: for these neighbours.
    """

    share: float
    relation: Relation

    def __post_init__(self) -> None:
        if not 0.0 < self.share < math.inf:
            raise PrivacyError("The share of a part must be a number above 0.", field="share")


@dataclass(frozen=True, kw_only=True)
class Stated:
    """The guarantee of a program that is told (E, D), as its code adds up.

    Attributes:
        kind: `pure`: parts that compose; `approximate`: (E, D) as a whole and nothing else known;
            `zcdp`: rho-zCDP for the largest rho that gives (E, D).
        parts: what it consists of; a single one of share 1 unless pure.
    """

    kind: Kind
    parts: tuple[GuaranteePart, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        whole = len(self.parts) == 1 and self.parts[0].share == 1.0
        if not self.parts or not (self.kind == "pure" or whole):
            raise PrivacyError(
                "A guarantee needs parts; with a delta it is one part of share 1.", field="parts"
            )

    @property
    def relations(self) -> str:
        """The neighbours of its parts, for people."""
        return ", in part ".join(dict.fromkeys(part.relation for part in self.parts))


@dataclass(frozen=True, kw_only=True)
class Converted:
    """How a program is run so that (epsilon, delta) holds for replacing one person.

    Attributes:
        epsilon, delta: asked for; neighbours replace one person.
        told_epsilon, told_delta: what the program is told; a pure one takes no delta.
        published: the neighbours of its own guarantee.
        rule: by which one follows from the other, for people.
    """

    epsilon: float
    delta: float
    told_epsilon: float
    told_delta: float
    published: str
    rule: str

    def __post_init__(self) -> None:
        epsilon_value(self.epsilon)
        delta_value(self.delta)
        fits = 0.0 < self.told_epsilon <= self.epsilon and 0.0 <= self.told_delta <= self.delta
        if not fits:
            raise PrivacyError("This epsilon is too small to be converted.", field="epsilon")

    def to_dict(self) -> dict[str, float | str]:
        """Plain values for JSON."""
        return dict(vars(self))


def converted(stated: Stated, epsilon: float, delta: float) -> Converted:
    """What to tell a program so that (epsilon, delta) holds for replacing one person.

    Replacing is one removal and one addition, so a guarantee for adding or removing is used k = 2
    times, for whatever the program does:

    - pure: each part of share s counts k s E (group privacy; basic composition of the parts),
    - approximate: (k E, sum over i < k of exp(i E) D) (Dwork and Roth 2014, Theorem 2.2 for
      delta 0; the sum by induction over the steps),
    - zCDP: k^2 rho (Bun and Steinke 2016, Proposition 27), which is then stated at delta by the
      same formula as everywhere here (Canonne, Kamath, Steinke 2020), as the packages do.

    Proofs for the mechanisms inside would be kinder (a count moves by sqrt(2) in l2, so 2 rho).
    The program is taken as a black box: nothing here relies on more than it states.

    Args:
        stated: the program's guarantee.
        epsilon: asked for; neighbours replace one person.
        delta: likewise.

    Raises:
        BudgetError, PrivacyError: when they are not usable.
    """
    epsilon_value(epsilon)
    delta_value(delta)
    if stated.kind == "pure":
        told, told_delta, rule = _pure(stated, epsilon)
    elif stated.kind == "approximate":
        told, told_delta, rule = _approximate(stated, epsilon, delta)
    else:
        told, told_delta, rule = _zcdp(stated, epsilon, delta)
    return Converted(
        epsilon=epsilon,
        delta=delta,
        told_epsilon=told,
        told_delta=told_delta,
        published=stated.relations,
        rule=rule,
    )


def _pure(stated: Stated, epsilon: float) -> tuple[float, float, str]:
    factor = math.fsum(_CHANGES[part.relation] * part.share for part in stated.parts)
    # A factor below 1 would tell it more than the epsilon that was asked for.
    told = epsilon / max(1.0, factor) * _HAIR
    return told, 0.0, f"all that it does with epsilon E counts {factor:g} E here"


def _approximate(stated: Stated, epsilon: float, delta: float) -> tuple[float, float, str]:
    changes = _CHANGES[stated.parts[0].relation]
    told = epsilon / changes * _HAIR
    # Each further step multiplies the delta of those before it by exp(E).
    grown = math.fsum(math.exp(step * told) for step in range(changes))
    rule = "(2 E, (1 + exp(E)) D) here" if changes == 2 else "the same here"
    return told, delta / grown * _HAIR, f"its (E, D) counts {rule}"


def _zcdp(stated: Stated, epsilon: float, delta: float) -> tuple[float, float, str]:
    changes = _CHANGES[stated.parts[0].relation]
    # k^2 rho for a group of k changes, so each may have this part.
    rho = epsilon_to_rho(epsilon, delta) / changes**2
    told, told_delta = min(epsilon, rho_to_epsilon(rho, delta)) * _HAIR, delta
    if not epsilon_to_rho(told, told_delta) <= rho:
        # A large delta allows more rho than this at any epsilon, so delta must be smaller, too.
        told = epsilon / changes
        told_delta = rho_to_delta(rho, told) * _HAIR
    return told, told_delta, f"its rho counts {changes**2} rho here (zCDP)"
