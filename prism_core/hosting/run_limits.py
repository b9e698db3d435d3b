"""What runs may take on a server: how many at once, memory, how long folders stay, uploads."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from prism_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

UPLOAD_MB = 256
"""As much as is read into memory at all."""

MOST_WORKERS = 64

_RANGES: dict[str, tuple[float, float, str]] = {
    "workers": (1, MOST_WORKERS, f"a whole number from 1 to {MOST_WORKERS}"),
    "memory_gb": (1, 4096, "a number of gigabytes from 1 to 4096"),
    "kept_days": (1, 3650, "a number of days from 1 to 3650"),
    "upload_mb": (1, UPLOAD_MB, f"a whole number of megabytes from 1 to {UPLOAD_MB}"),
}
_WHOLE = ("workers", "upload_mb")


@dataclass(frozen=True, kw_only=True)
class RunLimits:
    """Bounds for the runs of the dashboard.

    Attributes:
        workers: how many runs work at once; the others wait in order. None for no bound.
        memory_gb: memory that one process of a run may take, None for no bound.
        kept_days: how long the folder of a step stays that nobody came back for.
        upload_mb: how large an uploaded file may be; a larger one is refused before it is read.

    Raises:
        ConfigError: naming the entry.
    """

    workers: int | None = None
    memory_gb: float | None = None
    kept_days: float = 7
    upload_mb: int = UPLOAD_MB

    def __post_init__(self) -> None:
        for name, (least, most, allowed) in _RANGES.items():
            value = getattr(self, name)
            if value is None:
                continue
            kind = int if name in _WHOLE else (int, float)
            right = isinstance(value, kind) and not isinstance(value, bool)
            if not right or not least <= value <= most:
                raise ConfigError(f"{name} in the hosting file must be {allowed}.", field=name)


ENTRIES = tuple(one.name for one in fields(RunLimits))


def hosted_limits(entries: Mapping[str, object]) -> RunLimits:
    """The limits of a server: one run for each core, where the hosting file says nothing else.

    Args:
        entries: of its section [runs]; their names are known.

    Raises:
        ConfigError: naming the entry that is not usable.
    """
    cores = min(os.cpu_count() or 1, MOST_WORKERS)  # a larger machine is no error of the file
    return replace(RunLimits(workers=cores), **entries)
