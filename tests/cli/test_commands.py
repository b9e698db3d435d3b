"""The rooms of the command line: a file a command, each on the parser's list, none on another's."""

from __future__ import annotations

import ast
import math
from argparse import Namespace
from pathlib import Path

import pytest

from prism_core.cli import main
from prism_core.cli.common import emit

FILES = {path.stem for path in Path(main.__file__).parent.glob("*_command.py")}


def _imports(path: Path) -> set[str]:
    """Modules of the command line that a file imports, at its top or within a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("prism_core.cli"):
            tail = (node.module or "").removeprefix("prism_core.cli").strip(".")
            found |= {tail} if tail else {name.name for name in node.names}
    return found


def test_no_command_imports_another():
    folder = Path(main.__file__).parent
    others = {name: _imports(folder / f"{name}.py") & FILES for name in FILES}
    assert {name: found for name, found in others.items() if found} == {}


def test_every_file_of_a_command_is_on_the_list():
    listed = [module.__name__.rpartition(".")[2] for module in main._COMMANDS]
    assert sorted(listed) == sorted(FILES)


@pytest.mark.privacy
def test_json_that_nobody_asked_for_keeps_back_nothing_that_was_paid_for(capsys):
    document = {"interval": [-math.inf, 1.0]}
    emit(Namespace(json=False), document, "charge 7: R² 0.5")
    assert capsys.readouterr().out == "charge 7: R² 0.5\n"
    with pytest.raises(ValueError, match="JSON"):
        emit(Namespace(json=True), document, "")
