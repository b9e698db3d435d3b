"""The notebook of a bundle: its cells run in order, and the rows come out to the byte."""

from __future__ import annotations

import ast
import json

import pytest

from prism_core.bundle.notebook import notebook
from tests.support.bundles import rehearsed, written

nbformat = pytest.importorskip("nbformat")


def run(source: str, names: dict[str, object]) -> object:
    """What a notebook shows beneath a cell: the value of its last line, None where it has none."""
    *before, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        before.append(last)
    exec(compile(ast.Module(before, type_ignores=[]), "cell", "exec"), names)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return None


def test_the_cells_make_the_rows_again(small, tmp_path, monkeypatch):
    folder = written(rehearsed(*small), tmp_path / "out")
    text = notebook(folder)
    assert text == notebook(folder)
    nbformat.validate(nbformat.reads(text, as_version=4))
    assert str(tmp_path) not in text
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    shown = [run("".join(cell["source"]), names) for cell in cells]
    assert [value for value in shown if isinstance(value, bool)] == [True]
    assert (folder / "other-rows.csv").exists()
