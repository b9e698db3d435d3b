"""Child processes of Python: the folder one stands in is no place that they load code from.

`python -m` and `python -c` put the current folder first on the path, so that an `h11.py` that lies
beside somebody's data would be run. `-P` leaves that folder out. Not `-I`: it would ignore
PYTHONPATH, too, which is the user's own, and where clusters keep their packages.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SAFE_PATH = "PYTHONSAFEPATH"
"""The variable that says the same as `-P`; versions of Python before 3.11 ignore it."""

_SECRET = re.compile("KEY|PASS|SECRET|TOKEN|CREDENTIAL|PRISM_LEDGER", re.IGNORECASE)


def python(*arguments: object) -> list[str]:
    """The command that runs this Python with arguments, without the current folder on its path."""
    return [sys.executable, "-P", *map(str, arguments)]


def environment() -> dict[str, str]:
    """Variables for another program that opens what somebody else made; no secret is among them.

    Such a program may be made to do anything: the key of the dashboard and passwords of databases
    stand in variables, too, and the address of the ledger may hold one.
    """
    return {name: value for name, value in os.environ.items() if not _SECRET.search(name)}


@contextmanager
def spawning() -> Iterator[None]:
    """Meanwhile processes of `multiprocessing` start as `python` does.

    It begins them, and one that looks after them, by a `python -c` that takes no option.
    """
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(SAFE_PATH, None)
        else:
            os.environ[SAFE_PATH] = before
