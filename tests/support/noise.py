"""Noise sources for tests: they say that they are secure, and what they answer is known.

Each refuses what it is not made for, so that a mechanism that a test did not expect is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prism_core.privacy.noise import SeededNoise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from prism_core.privacy.ledger.ledger import Ledger


class Unasked:
    """Noise that nothing may be asked of."""

    secure = True

    def add_discrete_gaussian(self, counts: NDArray[np.int64], sigma: float) -> NDArray[np.int64]:
        raise AssertionError("Gaussian noise was drawn")

    def add_discrete_laplace(self, counts: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
        raise AssertionError("Laplace noise was drawn")

    def exponential_choice(
        self, scores: NDArray[np.float64], epsilon: float, sensitivity: float
    ) -> int:
        raise AssertionError("a choice was drawn")

    def top_k(
        self, scores: NDArray[np.float64], k: int, epsilon: float, sensitivity: float
    ) -> tuple[int, ...]:
        raise AssertionError("choices were drawn")


class Exact(Unasked):
    """Adds no noise to counts, and notes what was handed over with its sigma.

    Args:
        before: called before every answer; may raise.
        add: what is added to every count.
        choice: the index of every choice; None refuses choices.
    """

    def __init__(
        self, before: Callable[[], object] | None = None, *, add: int = 0, choice: int | None = None
    ) -> None:
        self.calls: list[tuple[NDArray[np.int64], float]] = []
        self._before, self._add, self._choice = before, add, choice

    def _come_before(self) -> None:
        if self._before is not None:
            self._before()

    def add_discrete_gaussian(self, counts: NDArray[np.int64], sigma: float) -> NDArray[np.int64]:
        self._come_before()
        self.calls.append((np.array(counts), sigma))
        return counts + self._add

    def exponential_choice(
        self, scores: NDArray[np.float64], epsilon: float, sensitivity: float
    ) -> int:
        self._come_before()
        if self._choice is None:
            return super().exponential_choice(scores, epsilon, sensitivity)
        return self._choice


class Best(Exact):
    """Takes the highest score, adds no noise, and notes what was chosen from.

    Args:
        stop_after: the last score stands for "nothing more": it is taken after so many choices and
            not before; None where there is no such score.
    """

    def __init__(self, stop_after: int | None = None) -> None:
        super().__init__()
        self.choices: list[tuple[list[float], float, float]] = []
        self.stop_after = stop_after

    def exponential_choice(
        self, scores: NDArray[np.float64], epsilon: float, sensitivity: float
    ) -> int:
        self.choices.append((list(scores), epsilon, sensitivity))
        if self.stop_after is None:
            return int(np.argmax(scores))
        stop = len(self.choices) > self.stop_after
        return len(scores) - 1 if stop else int(np.argmax(scores[:-1]))

    def top_k(
        self, scores: NDArray[np.float64], k: int, epsilon: float, sensitivity: float
    ) -> tuple[int, ...]:
        self.choices.append((list(scores), epsilon, sensitivity))
        return tuple(int(index) for index in np.argsort(-scores)[:k])


class Asked(NamedTuple):
    """What a mechanism handed over: true counts or scores, and its scales."""

    kind: str
    value: NDArray[Any]
    scales: tuple[float, ...]


class Tape(Unasked):
    """Draws and keeps, or plays what another tape kept: `Tape(first.outputs)` (T-RECORD).

    Args:
        frozen: the answers in order; None draws them.
        seed: of what is drawn.
    """

    def __init__(self, frozen: Iterable[Any] | None = None, *, seed: int = 3) -> None:
        self.asked: list[Asked] = []
        self.outputs: list[Any] = []
        self.frozen = None if frozen is None else iter(list(frozen))
        self.source = SeededNoise(np.random.default_rng(seed))

    @property
    def counts(self) -> list[tuple[NDArray[np.int64], float]]:
        """The counts that noise was added to, each with its sigma."""
        return [(value, scales[0]) for kind, value, scales in self.asked if kind == "gaussian"]

    @property
    def played(self) -> bool:
        """Whether nothing is left of what was frozen."""
        return self.frozen is None or next(self.frozen, None) is None

    def _answer(self, asked: Asked, draw: Callable[[], Any]) -> Any:
        self.asked.append(asked)
        self.outputs.append(draw() if self.frozen is None else next(self.frozen))
        return self.outputs[-1]

    def add_discrete_gaussian(self, counts: NDArray[np.int64], sigma: float) -> NDArray[np.int64]:
        return self._answer(
            Asked("gaussian", counts.copy(), (sigma,)),
            lambda: self.source.add_discrete_gaussian(counts, sigma),
        )

    def exponential_choice(
        self, scores: NDArray[np.float64], epsilon: float, sensitivity: float
    ) -> int:
        return self._answer(
            Asked("choice", scores.copy(), (epsilon, sensitivity)),
            lambda: self.source.exponential_choice(scores, epsilon, sensitivity),
        )

    def top_k(
        self, scores: NDArray[np.float64], k: int, epsilon: float, sensitivity: float
    ) -> tuple[int, ...]:
        return self._answer(
            Asked("choice", scores.copy(), (epsilon, sensitivity, k)),
            lambda: self.source.top_k(scores, k, epsilon, sensitivity),
        )


class Script(Unasked):
    """Laplace noise by a script: outputs in order, else none; notes what was asked for."""

    def __init__(self, *outputs: int, before: Callable[[], object] | None = None) -> None:
        self.outputs, self.before = list(outputs), before
        self.asked: list[tuple[int, float]] = []

    def add_discrete_laplace(self, counts: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
        if self.before is not None:
            self.before()
        self.asked.append((int(counts[0]), scale))
        return counts + (self.outputs.pop(0) if self.outputs else 0)


class Watching(SeededNoise):
    """Says it is secure, looks into the ledger before it answers, and breaks at a given call.

    Args:
        ledger: holds one charge, which is reserved; None is not looked at.
        breaks_at: the call that raises RuntimeError, counted from one.
    """

    secure = True

    def __init__(self, ledger: Ledger | None = None, breaks_at: int = 99) -> None:
        super().__init__(np.random.default_rng(4))
        self.ledger, self.breaks_at, self.calls = ledger, breaks_at, 0

    def _look(self) -> None:
        self.calls += 1
        if self.ledger is not None:
            assert [charge.state for charge in self.ledger.charges()] == ["reserved"]
        if self.calls == self.breaks_at:
            raise RuntimeError

    def add_discrete_gaussian(self, counts: NDArray[np.int64], sigma: float) -> NDArray[np.int64]:
        self._look()
        return super().add_discrete_gaussian(counts, sigma)

    def exponential_choice(
        self, scores: NDArray[np.float64], epsilon: float, sensitivity: float
    ) -> int:
        self._look()
        return super().exponential_choice(scores, epsilon, sensitivity)
