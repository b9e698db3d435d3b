"""Where a graph, a schema or a table comes from: a file or a text. One rule.

A `Path` is a file, and bytes are content. A `str` of several lines is text. One of one line is a
file where there is one of that name, or where it looks like a path: it ends as files of its kind
do and holds no arrow. So `read_dag("dag.json")` reads the file, and says that there is none where
it is missing; `read_dag("A -> Y")` reads the text. A schema of one line is text where it begins
with a brace, and a table is never one line.

What comes from a browser or from inside another file never goes through here: no text of somebody
else's may become a path. It is content, see `formats.parse` and `schema_io.loads`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

Source: TypeAlias = str | bytes | os.PathLike[str]


@dataclass(frozen=True)
class Kind:
    """What one line of text of a kind looks like.

    Attributes:
        endings: of files of that kind, in lower case; a line that ends so is a path.
        sign: what a text of one line bears, where it does not end so; None where a text has
            several lines.
    """

    endings: frozenset[str]
    sign: re.Pattern[str] | None = None


GRAPH = Kind(
    frozenset({".json", ".csv", ".dag", ".txt", ".dot", ".gv", ".gml", ".graphml", ".bif", ".gz"}),
    re.compile(r"->|<-|--|[\[\]{}<>]|^[^/\\]*$"),
)
SCHEMA = Kind(frozenset({".yaml", ".yml", ".json"}), re.compile(r"^\s*\{"))
TABLE = Kind(frozenset({".csv", ".txt", ".tsv", ".parquet"}))

_LONGEST = 4_096  # a path has no more signs
_ARROW = re.compile(r"->|<-")


def located(source: Source, kind: Kind) -> Path | str | bytes:
    """A path for a file, whether it is there or not; text and bytes for content.

    Nothing is read.
    """
    if isinstance(source, bytes):
        return source
    if not isinstance(source, str):
        return Path(source)
    if "\n" in source or "\r" in source or len(source) > _LONGEST or not source.strip():
        return source
    path = Path(source)
    if _is_there(path):
        return path
    if path.suffix.lower() in kind.endings and not _ARROW.search(source):
        return path
    return source if kind.sign is not None and kind.sign.search(source) else path


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # no name of a file: too long, or a null character
        return False
