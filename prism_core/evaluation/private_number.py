"""One number inside epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from prism_core.evaluation.intervals import Z95

FIRM = 4.0
"""A number comes out when what it divides by is this many standard deviations of its noise."""


@dataclass(frozen=True, kw_only=True)
class PrivateNumber:
    """One number inside epsilon, with the error that its noise causes.

    Attributes:
        name: "auc" or "accuracy"; "r2" or "rmse" of a numeric target.
        subject: the class, "mean over classes", or the target.
        value: the number; None when the noise is too large for it, and then `note` says so.
        deviation: standard deviation of the noise in it (first order); None like `value`.
        note: a sentence, or "".
        limits: smallest and largest possible value; public.
        outside_epsilon: False: differentially private. True in a rehearsal.
    """

    name: str
    subject: str
    value: float | None
    deviation: float | None
    note: str = ""
    limits: tuple[float, float] = (0.0, 1.0)
    outside_epsilon: bool = False

    @property
    def interval(self) -> tuple[float, float] | None:
        """95% interval of the noise alone, within the limits."""
        if self.value is None or self.deviation is None:
            return None
        half = Z95 * self.deviation
        return max(self.limits[0], self.value - half), min(self.limits[1], self.value + half)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "name": self.name,
            "subject": self.subject,
            "value": self.value,
            "noise_deviation": self.deviation,
            "noise_interval_95": None if self.interval is None else list(self.interval),
            "note": self.note,
            "outside_epsilon": self.outside_epsilon,
        }
