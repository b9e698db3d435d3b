"""Numbers of numpy are numbers: every value takes them as what they are in plain Python."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np


def plain(value: Any) -> Any:  # noqa: ANN401
    """A numpy scalar as the plain value that it holds; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def plain_fields(record: Any) -> None:  # noqa: ANN401
    """Put plain values into the fields of a frozen record, and into those that hold a tuple.

    To be called first in `__post_init__`, so that checks, hashes and files see plain values.
    """
    for item in fields(record):
        value = getattr(record, item.name)
        if isinstance(value, tuple) and any(isinstance(each, np.generic) for each in value):
            object.__setattr__(record, item.name, tuple(map(plain, value)))
        elif isinstance(value, np.generic):
            object.__setattr__(record, item.name, value.item())
