"""Entries of the pages Release and Report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime


@dataclass
class ReportEntries:
    """What is put into the copy of the report, beyond the bundle's own.

    Attributes:
        date: the day that is printed, if any.
        rehearsed, private: rehearsals, and numbers inside epsilon.
        outside: numbers that read real rows without noise; off unless the curator opts in.
    """

    date: datetime.date | None = None
    rehearsed: bool = False
    private: bool = False
    outside: bool = False
