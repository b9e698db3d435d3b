"""What is read from the ledger: assets, charges, states, corrections and balances."""

from __future__ import annotations

import unicodedata
from dataclasses import asdict, dataclass, replace
from math import inf
from typing import Any, Literal, Protocol, TypeAlias

from prism_core.errors import LedgerError
from prism_core.privacy.accountants.conversions import rho_to_epsilon

State: TypeAlias = Literal["reserved", "done", "failed", "void"]

STATES: tuple[State, ...] = ("reserved", "done", "failed", "void")

STATE_WORDS: dict[State, str] = {
    "reserved": "spent: started, and no end is recorded",
    "done": "spent: finished",
    "failed": "spent: failed after a mechanism ran",
    "void": "not spent: no mechanism ran",
}

COMPOSITION_SENTENCE = (
    "Figures are epsilons of zCDP totals: losses of several releases compose less than "
    "additively, so after 1 of a lifetime of 2.5 there is 2.23 left for one more release (at a "
    "delta of 1e-5), not 1.5."
)


def canonical(name: str) -> str:
    """What all spellings of one asset's name share: case, width and spaces do not tell.

    Nor do marks that nobody sees (a zero-width space, a soft hyphen, the mark of a text's start),
    which come along when a name is copied.
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    seen = "".join(mark for mark in folded if mark.isprintable() or mark.isspace())
    # Normalised once more: folding case can undo the normal form.
    return " ".join(unicodedata.normalize("NFKC", seen).split())


class Consent(Protocol):
    """An approval, as far as the ledger needs it; it holds for one charge."""

    @property
    def asset(self) -> str:
        """The data asset it was given for, "" where it names none."""
        ...

    @property
    def marks(self) -> tuple[str, ...]:
        """What tells it from any other, under any spelling of the asset; the newest form first."""
        ...

    @property
    def note(self) -> str:
        """What is written beside the charge; holds the first mark."""
        ...

    def check(self, plan: str, asset: str) -> None:
        """Raise PlanError when it is of another plan (a SHA-256) or another asset."""
        ...


@dataclass(frozen=True, kw_only=True)
class Asset:
    """A data asset and its lifetime budget."""

    name: str
    epsilon: float
    delta: float

    def check_lifetime(self, epsilon: float) -> None:
        """Refuse another lifetime epsilon than the one that it is registered with.

        Raises:
            LedgerError: for another one.
        """
        if self.epsilon != epsilon:
            raise LedgerError(
                f"The asset {self.name!r} is registered with a lifetime epsilon of "
                f"{self.epsilon:g}; it cannot be changed to {epsilon:g}.",
                field="lifetime_epsilon",
            )


@dataclass(frozen=True, kw_only=True)
class StateChange:
    """A state of a charge and since when it holds (UTC)."""

    state: State
    created: str


@dataclass(frozen=True, kw_only=True)
class Correction:
    """Words added to a charge later; they change no figure."""

    note: str
    who: str
    created: str


@dataclass(frozen=True, kw_only=True)
class Charge:
    """One charge with its newest state.

    Attributes:
        id: its number.
        asset: the name of the asset it is charged to.
        plan: SHA-256 of the plan.
        accountant: the accountant of the plan.
        epsilon, delta, rho: what was charged; `rho` is what composes.
        who: subject and name of the identity, or the user's name on the machine.
        why: the purpose as given.
        created: UTC time.
        state: the newest state.
        events: what the charge pays for, as plain values; `reserve` is the part that choices
            at run time may share out.
        history: all its states in order.
        corrections: words added later.
    """

    id: int
    asset: str
    plan: str
    accountant: str
    epsilon: float
    delta: float
    rho: float
    who: str
    why: str
    created: str
    state: State
    events: tuple[dict[str, Any], ...] = ()
    history: tuple[StateChange, ...] = ()
    corrections: tuple[Correction, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether it counts as spent: in every state but `void`."""
        return self.state != "void"

    @property
    def is_release(self) -> bool:
        """Whether a release that has finished was paid with it: its marginals have two columns.

        Learning and private evaluations have charges, too; theirs are of one column or of scores.
        """
        pairs = (" × " in str(event.get("label", "")) for event in self.events)
        return self.state == "done" and any(pairs)

    @property
    def used_sentence(self) -> str:
        """Why the approval of this charge's run cannot be used for another one."""
        return (
            f"This approval was used for charge {self.id} of {self.asset!r} on "
            f"{self.created[:10]} ({STATE_WORDS[self.state]}). An approval is for one run: for "
            "another one have the plan approved again, with the date and names of that decision."
        )

    def measured_with(self, column: str) -> bool:
        """Whether it paid for a marginal of this column with others, by the steps' labels."""
        parts = (str(event.get("label", "")).split(" × ") for event in self.events)
        return any(len(names) > 1 and column in names for names in parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self) | {"state_in_words": STATE_WORDS[self.state], "counts": self.counts}


@dataclass(frozen=True, kw_only=True)
class Balance:
    """What an asset has spent and has left, composed under zCDP at the asset's delta.

    Attributes:
        asset: the asset.
        spent_epsilon: epsilon of everything spent, composed.
        spent_rho: the same as zCDP, the sum over the stored events.
        total_rho: what the lifetime budget buys.
        spent_delta: delta taken by events that are only approximately zCDP; the conversions
            use the rest of the asset's delta.
        naive_epsilon: sum of the epsilons of the charges, for comparison; basic composition.
        naive_delta: sum of their deltas, which belongs to it.
        charges: number of charges that count.
    """

    asset: Asset
    spent_epsilon: float
    spent_rho: float
    total_rho: float
    spent_delta: float = 0.0
    naive_epsilon: float = 0.0
    naive_delta: float = 0.0
    charges: int = 0

    @property
    def left_rho(self) -> float:
        """What is left, as rho."""
        return max(0.0, self.total_rho - self.spent_rho)

    @property
    def left_epsilon(self) -> float:
        """The epsilon of one more release that would use up what is left."""
        delta = self.asset.delta - self.spent_delta
        # Learned names take delta before rho becomes epsilon, and may have taken all of it.
        return rho_to_epsilon(self.left_rho, delta) if self.left_rho > 0 and delta > 0 else 0.0

    def after(self, rho: float, failing: float = 0.0) -> Balance:
        """The balance once one more charge stands; writes nothing.

        Args:
            rho: of that charge.
            failing: part of delta that its events take beyond zCDP.
        """
        spent, taken = self.spent_rho + rho, self.spent_delta + failing
        left = self.asset.delta - taken
        return replace(
            self,
            spent_rho=spent,
            spent_delta=taken,
            charges=self.charges + 1,
            spent_epsilon=rho_to_epsilon(spent, left) if left > 0 else inf,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "asset": self.asset.name,
            "lifetime_epsilon": self.asset.epsilon,
            "lifetime_delta": self.asset.delta,
            # JSON has no infinity.
            "spent_epsilon_composed": self.spent_epsilon if self.spent_epsilon < inf else None,
            "spent_epsilon_naive_sum": self.naive_epsilon,
            "spent_delta_naive_sum": self.naive_delta,
            "left_epsilon": self.left_epsilon,
            "spent_rho": self.spent_rho,
            "lifetime_rho": self.total_rho,
            "left_rho": self.left_rho,
            "spent_delta": self.spent_delta,
            "charges": self.charges,
        }
