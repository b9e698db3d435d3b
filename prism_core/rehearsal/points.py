"""Points of a rehearsal, the metric of their scores, and the folder that stores them by content."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from prism_core import files
from prism_core.samples.additive_scm import SHIFTS, Shift

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Metric: TypeAlias = Literal["auc", "r2"]
"""Area under the ROC curve; of a numeric target 1 less the squared error over the variance."""

METRIC_TEXT: dict[Metric, str] = {"auc": "AUC", "r2": "R²"}

GUESS: dict[Metric, float] = {"auc": 0.5, "r2": 0.0}
"""What knowing nothing scores: ranking everybody alike, saying the mean of everybody."""

GUESS_TEXT: dict[Metric, str] = {"auc": "chance", "r2": "always the mean"}


def possible(metric: Metric, score: float) -> bool:
    """Whether a score can be one: an area, or at most 1 and finite (R² has no lower end)."""
    return 0.0 <= score <= 1.0 if metric == "auc" else -float("inf") < score <= 1.0


FOLDER = "rehearsals"
"""Where a workspace keeps its points."""

MOST_FILES = 200
"""Designs whose points are kept; the ones used longest ago are deleted."""


@dataclass(frozen=True, kw_only=True)
class RehearsalPoint:
    """What one run reached under one shift.

    Attributes:
        variant: name of the design.
        epsilon: of the run.
        seed: number of the run.
        shift: of the rows that were scored.
        metric: what is scored.
        score: of a learner trained on the synthetic rows.
        ceiling: of the same learner trained on the stand-in rows themselves, without noise, from
            the features that the design protects (all of them where they are chosen at run time).
        seconds: the run took, without the ceiling.
    """

    variant: str
    epsilon: float
    seed: int
    shift: Shift
    metric: Metric
    score: float
    ceiling: float
    seconds: float

    def __post_init__(self) -> None:
        if self.shift not in SHIFTS or self.metric not in METRIC_TEXT:
            raise ValueError("a point needs a known shift and metric")
        if not all(possible(self.metric, score) for score in (self.score, self.ceiling)):
            raise ValueError("a point needs scores that its metric can have")
        if not (math.isfinite(self.epsilon) and math.isfinite(self.seconds)):
            raise ValueError("a point needs a finite epsilon and time")
        if type(self.seed) is not int or not isinstance(self.variant, str):
            raise ValueError("a point needs a whole seed and a name")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


class PointStore:
    """A folder of points, one file a design, for this user only.

    What is kept comes from public rows and the declared domain. A line that cannot be read (the
    process ended while it was written) is passed over.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, key: str, variant: str) -> list[RehearsalPoint]:
        """The points of a design, under the name `variant`."""
        path = self._path(key)
        found: dict[tuple[float, int, str], RehearsalPoint] = {}
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return []
        for line in lines:
            try:
                # Under the name of now: points are kept by content, and a design may have been
                # renamed.
                point = RehearsalPoint(**(json.loads(line) | {"variant": variant}))
            except (ValueError, TypeError, OverflowError, RecursionError):
                continue
            # By run: one that two processes made counts once.
            found[point.epsilon, point.seed, point.shift] = point
        return list(found.values())

    def add(self, key: str, points: Iterable[RehearsalPoint]) -> None:
        """Keep the points of one run; other runs of the same design may write at the same time.

        Where they cannot be written a later rehearsal makes them again: no reason to stop here.
        """
        text = "".join(f"{json.dumps(point.to_dict())}\n" for point in points)
        with suppress(OSError):
            files.folder(self.folder)
            # A line end first: a line before that a full disk cut short spoils no other.
            # Not synced: a point that goes with the power is made again.
            files.append(self._path(key), f"\n{text}".encode(), sync=False)

    def prune(self) -> None:
        """Delete the files used longest ago, where that can be done."""
        with suppress(OSError):
            kept = sorted(self.folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime)
            for path in kept[:-MOST_FILES]:
                path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.jsonl"
