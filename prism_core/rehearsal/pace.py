"""How much longer a rehearsal may take, from the runs that have ended."""

from __future__ import annotations

_MINUTE, _HOUR = 60.0, 3_600.0


def pace(done: int, before: int, runs: int, seconds: float) -> str:
    """The time left in words; "" while nothing is known of it, or nothing is left.

    An estimate: runs at another epsilon or of another design may take longer or shorter, and
    loading the engine counts with those that have ended.

    Args:
        done: runs whose points are there.
        before: of these, runs that were there when this rehearsal began.
        runs: runs of the rehearsal.
        seconds: since it began.

    Example:
        >>> pace(13, 10, 150, 30.0)
        'about 23 minutes more at this pace'
    """
    if done <= before or done >= runs:
        return ""
    left = seconds * (runs - done) / (done - before)
    if left < 1.5 * _MINUTE:
        words = f"{max(1.0, left):.0f} s"
    elif left < 1.5 * _HOUR:
        words = f"{left / _MINUTE:.0f} minutes"
    else:
        words = f"{left / _HOUR:.1f} hours"
    return f"about {words} more at this pace"
