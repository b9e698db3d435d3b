"""The sources of the product as trees, for tests that say which function may do what."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]


def sources() -> Iterator[Path]:
    """Every Python file of the core and the dashboard."""
    for room in ("prism_core", "dashboard"):
        yield from (ROOT / room).rglob("*.py")


def nodes_by_function() -> Iterator[tuple[str, ast.AST]]:
    """Every node with the place where it stands, as in "prism_core/files.py:whole".

    What stands outside any function has the file's name alone.
    """
    for path in sources():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        yield from _below(tree, path.relative_to(ROOT).as_posix(), "")


def _below(node: ast.AST, file: str, function: str) -> Iterator[tuple[str, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _below(child, file, f"{function}.{child.name}".lstrip("."))
        else:
            yield f"{file}:{function}".rstrip(":"), child
            yield from _below(child, file, function)
