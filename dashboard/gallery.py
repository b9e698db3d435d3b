"""The small run of a story: the one under way, and what earlier ones came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dashboard.worker import Job
    from prism_core.experiments.reproduce import Row, Story


@dataclass
class Gallery:
    """What the page Gallery remembers; it stays when another project is opened.

    Attributes:
        job: the run under way; one at a time.
        found: rows that were made here, by the story's name.
        messages: why a run ended early, by the story's name.
    """

    job: Job[Story] | None = None
    found: dict[str, tuple[Row, ...]] = field(default_factory=dict, repr=False)
    messages: dict[str, str] = field(default_factory=dict)
