"""People who have logged in: their names, so that a project can be shared with one of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from prism_core import files
from prism_core.hosting import audit_log
from prism_core.text import untrusted

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.hosting.identity import Identity

FILE = "people.json"


def seen(workspace: Path, person: Identity) -> None:
    """Note a login, and the person's name where it is new.

    Raises:
        ConfigError: when the audit log cannot be written.
        OSError: when the names cannot be written.
    """
    audit_log.note(workspace, person, "login")
    # One at a time: two logins must not write over each other's names.
    with files.alone(files.folder(workspace / audit_log.FOLDER)):
        known = names(workspace)
        if known.get(person.subject) != person.name:
            content = json.dumps(known | {person.subject: person.name}, ensure_ascii=False)
            files.replace(workspace / FILE, content.encode("utf-8"))


def names(workspace: Path) -> dict[str, str]:
    """Names by subject; nothing where nobody has logged in yet."""
    try:
        text = untrusted.text_of(workspace / FILE, untrusted.CONFIG)
        found = untrusted.from_json(text, untrusted.CONFIG)
    except (OSError, ValueError):
        return {}
    return {str(who): str(name) for who, name in found.items()} if isinstance(found, dict) else {}
