"""Other designs beside the plan: what is edited, compared, and kept by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dashboard.entries import Entries
    from prism_core.planning.scenario import Scenario

PLAN = "A"
"""The letter of the plan."""

LETTERS = ("B", "C", "D", "E")
"""Letters of the designs beside it."""


@dataclass
class Scenarios:
    """Designs of one project beside its plan. They belong to one person's session.

    Attributes:
        others: by letter.
        edited: letter of the design that the controls change.
        beside: letter of the design that the plan is compared with.
        name: typed to save the edited design by.
        saved: by name, in this session.
        shared: whether saved designs stand in a folder that others can use; on purpose only.
        folder: that folder, as typed.
        wish: error of the task marginals that is wished for, over n; as typed.
        answers: by letter: the last question about a wish, what it was asked of, value, words.
    """

    others: dict[str, Entries] = field(default_factory=dict)
    edited: str = PLAN
    beside: str = LETTERS[0]
    name: str = ""
    saved: dict[str, Scenario] = field(default_factory=dict)
    shared: bool = False
    folder: str = ""
    wish: float = 0.02
    answers: dict[str, tuple[str, tuple[object, ...], Any, str]] = field(default_factory=dict)

    @property
    def letters(self) -> tuple[str, ...]:
        """Letters in use, the plan's first."""
        return (PLAN, *sorted(self.others))

    @property
    def next_letter(self) -> str | None:
        """The first letter that is free, or None when there are enough."""
        return next((letter for letter in LETTERS if letter not in self.others), None)

    def keep(self, entries: Entries) -> str:
        """Put a copy of some entries beside the plan; gives its letter.

        Raises:
            ValueError: when no letter is free.
        """
        letter = self.next_letter
        if letter is None:
            raise ValueError("There is no letter left for another design.")
        self.others[letter] = entries.copy()
        self.beside = letter
        return letter

    def drop(self, letter: str) -> None:
        """Forget a design."""
        del self.others[letter]
        self.answers.pop(letter, None)
        self.edited = PLAN
        self.beside = min(self.others, default=LETTERS[0])

    def swap(self, plan: Entries, letter: str) -> None:
        """Make a design the plan; what was the plan takes its letter, so that nothing is lost."""
        before = plan.copy()
        plan.take(self.others[letter])
        self.others[letter] = before
        self.answers = {
            {PLAN: letter, letter: PLAN}.get(key, key): answer
            for key, answer in self.answers.items()
        }
        self.edited = PLAN
