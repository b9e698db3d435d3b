"""A bound on the steps of a reader, and which functions it came through."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType

MOST = 3_000_000
"""Most calls of a reader, of Python and of C; a valid file takes less than a twentieth of it."""
HANG = 120.0
"""Seconds after which a reader that makes no calls (it waits, or a pattern runs) is stopped."""


class TooManyStepsError(BaseException):
    """A reader does not come to its end. No reader catches it."""


@contextmanager
def bounded(most: int = MOST) -> Iterator[list[int]]:
    """No more than so many calls; gives a list that holds their number."""
    made = [0]

    def count(frame: FrameType, event: str, value: object) -> None:
        made[0] += 1
        if made[0] > most:
            sys.setprofile(None)
            raise TooManyStepsError

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooManyStepsError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, HANG)
    sys.setprofile(count)
    try:
        yield made
    finally:
        sys.setprofile(None)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def watched() -> Iterator[set[CodeType]]:
    """The functions that are called meanwhile."""
    seen: set[CodeType] = set()

    def note(frame: FrameType, event: str, value: object) -> None:
        if event == "call":
            seen.add(frame.f_code)

    sys.setprofile(note)
    try:
        yield seen
    finally:
        sys.setprofile(None)
