"""Linter, formatter, type checker and import rules, as tests: what CI checks a person can, too."""

from __future__ import annotations

import doctest
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


def run(*command: str) -> None:
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-2000:]}"


@pytest.mark.parametrize("arguments", [("check",), ("format", "--check")], ids="-".join)
def test_ruff(arguments):
    run("ruff", *arguments, "prism_core", "dashboard", "tests")


def test_pyright():
    run("pyright", "--pythonpath", sys.executable)


def test_import_rules():
    run("lint-imports", "--no-cache")


EXAMPLES = sorted(
    str(path.relative_to(ROOT).with_suffix("")).replace("/", ".")
    for package in ("prism_core", "dashboard")
    for path in (ROOT / package).rglob("*.py")
    if ">>>" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_docstrings_give_what_they_say(name):
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried
    assert not failed


def test_the_readme_has_the_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [line for line in text.splitlines() if line.startswith("python3 -m venv")]
    assert len(commands) == 2
    assert commands[0].endswith("prism-dashboard")
    assert "pytest" in commands[1]


def test_ci_runs_the_readme_command_word_for_word():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    extract = next(line for line in script.splitlines() if line.startswith("command="))
    done = subprocess.run(
        ["bash", "-c", f'{extract}; printf %s "$command"'],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert done.stdout in lines
    assert "pytest" in done.stdout


def test_no_function_is_long():
    """About 40 lines; 60 is where a function has more than one idea for sure."""
    import ast

    long = []
    for path in [*ROOT.glob("prism_core/**/*.py"), *ROOT.glob("dashboard/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                if body and (body[-1].end_lineno or 0) - body[0].lineno + 1 > 60:
                    long.append(f"{path.name}:{node.lineno} {node.name}")
    assert long == []


def test_every_figure_has_words():
    """`widgets.chart` asks for them; nothing else draws one."""
    drawn = [
        path.name
        for path in ROOT.glob("dashboard/**/*.py")
        if "plotly_chart(" in path.read_text(encoding="utf-8")
    ]
    assert drawn == ["widgets.py"]
