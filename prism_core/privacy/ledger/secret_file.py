"""Files of a workspace that only this user may read, and secrets made on first use."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

BYTES = 32
"""Length of a secret."""


def secret(path: Path) -> bytes:
    """The secret in a file; made on first use, readable by this user only.

    Raises:
        OSError: when it cannot be read or made, or is not whole.
    """
    if not path.exists():
        draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        append_bytes(draft, secrets.token_bytes(BYTES))
        try:
            os.link(draft, path)  # whole or not at all; the first of two processes wins
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    key = path.read_bytes()
    if len(key) != BYTES:
        raise OSError("the secret is not whole")
    return key


def append_bytes(path: Path, content: bytes) -> None:
    """Add to a private file and sync it."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(handle, "wb", buffering=0) as file:
        file.write(content)
        os.fsync(file.fileno())
