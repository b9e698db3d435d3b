"""Look at the rows, written into the schema file that a configuration names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.data.schema import looks, schema_file
from prism_core.errors import SchemaError
from prism_core.text import untrusted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from prism_core.data.schema.looks import Look


def record(path: Path, look: Look) -> None:
    """Add a look to the events of a schema file; all else stays as it is written there.

    The file is replaced as a whole, with its own mode. Where an entry cannot be added to the text
    (its events stand in one line), the file is written anew: the same values, without comments.

    Raises:
        SchemaError: when the file is no schema, or cannot be written.
    """
    # What a link points to is written, and the link stays.
    path = path.resolve()
    text = untrusted.read_text(path, untrusted.SCHEMA)
    document = schema_file.parse(text)
    if not isinstance(document, dict):
        raise SchemaError("A schema needs a list named 'columns'.", field="columns")
    events = looks.to_list(looks.from_list(document.get("looks", ())))
    wanted = {**document, "looks": [*events, look.to_dict()]}
    # Each is read back first: what looks like the list may stand inside a text of several lines.
    _put(path, next(found for found in _texts(text, wanted, look) if _is(found, wanted)))


def _is(text: str, wanted: dict[str, Any]) -> bool:
    try:
        return schema_file.parse(text) == wanted
    except SchemaError:
        return False


def _texts(text: str, wanted: dict[str, Any], look: Look) -> Iterator[str]:
    """Candidates, from the least change to the largest; the last one always holds what is wanted.

    An entry in braces is YAML in a list of either style.
    """
    if not text.lstrip().startswith("{"):
        lines = text.rstrip("\n").split("\n")
        item = f"- {json.dumps(look.to_dict())}"
        if "looks:" not in lines:
            yield "\n".join([*lines, "looks:", item, ""])
        else:
            first = end = lines.index("looks:") + 1
            # YAML lets the entries of a list stand at the margin as well as further in.
            while end < len(lines) and lines[end][:1] in ("-", " ", "#"):
                end += 1
            indent = lines[first][: -len(lines[first].lstrip())] if first < end else ""
            yield "\n".join([*lines[:end], indent + item, *lines[end:], ""])
        yield schema_file.dump(wanted)
    yield json.dumps(wanted, indent=2, ensure_ascii=False) + "\n"


def _put(path: Path, text: str) -> None:
    try:
        files.give(path, text.encode("utf-8"))
    except OSError:
        raise SchemaError(
            f"The schema file {path.name!r} cannot be written, and a look at the rows has to be "
            "recorded in it. Check your permissions; nothing was counted.",
            field="schema",
        ) from None
