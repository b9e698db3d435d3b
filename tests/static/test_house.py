"""The figures of the house, on a small tree of files that was made for them."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest

from tests import house

SKIP = "# fmt: " + "skip"
FILES = {
    "pyproject.toml": """
        [project]
        scripts = {prism = "prism_core.door:main"}
        """,
    "prism_core/__init__.py": "",
    "prism_core/planning/__init__.py": "",
    "prism_core/planning/design.py": f"""
        from __future__ import annotations
        # Two of them: a reason, and an order to a tool.
        from typing import (
            Any,
        )

        def design(task: str, *, max_three_way: int = 1) -> Any:
            return [task, "# no comment", max_three_way]  {SKIP}
        """,
    "prism_core/planning/size.py": """
        def cells():
            from prism_core.bundle import writer

            return writer
        """,
    "prism_core/bundle/__init__.py": "",
    "prism_core/bundle/writer.py": """
        from typing import TYPE_CHECKING

        from prism_core.planning.design import design

        if TYPE_CHECKING:
            from ..planning import size

        def write(task):
            return design(task)
        """,
    "prism_core/door.py": """
        import sys
        from prism_core.planning.design import design as planned
        from .bundle.writer import write

        class EncodedTable:
            pass

        def main(arguments):
            EncodedTable()
            return int(planned("y", max_three_way=2) == write("y"))
        """,
    "dashboard/__init__.py": "",
    "dashboard/jobs.py": """
        import os, subprocess, sys
        from pathlib import Path

        def start(plan, rows, asset, seed, name=""):
            place = Path(os.environ["PRISM_WORKSPACE"])
            place.mkdir()
            (place / "synthetic.csv").write_text(str(plan))
            code = "from prism_core.bundle.writer import write; write('y')"
            subprocess.Popen([sys.executable, "-P", "-c", code])
        """,
    "tests/test_one.py": f"""
        def test_a(): ...

        class TestB:
            def test_b(self): ...
            def helper(self): ...  {SKIP}
        """,
    "tests/support.py": "def test_no(): ...",
}


@pytest.fixture
def root(tmp_path):
    """The tree on disk."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_lines(text), encoding="utf-8")
    return tmp_path


def _lines(text: str) -> str:
    return dedent(text).lstrip()


def test_what_is_read_from_the_syntax(root):
    product = [text for name, text in FILES.items() if name.startswith(house.PACKAGES)]
    lines = sum(len(_lines(text).splitlines()) for text in product)
    assert house.House(root).figures() == {
        "files": 9,
        "lines": lines,
        "import_share": round(13 / lines, 4),
        "one_importer": 1,
        "fmt_skips": 2,
        "comments_per_100": round(100 / lines, 2),
        "room_cycles": ["prism_core/bundle <> prism_core/planning"],
        "option_files": 2,
        "tests": 2,
    }


def test_what_is_behind_a_figure_is_named(root, capsys):
    house.main(["--root", str(root), "--list", "one_importer"])
    assert capsys.readouterr().out.splitlines() == [
        "prism_core/planning/size.py < prism_core/bundle/writer.py"
    ]
    house.main(["--root", str(root), "--list", "option_files"])
    assert capsys.readouterr().out.splitlines() == [
        "prism_core/door.py",
        "prism_core/planning/design.py",
    ]


def test_the_planner_is_counted_by_whatever_name_and_process_it_is_called(root, capsys):
    house.main(["--root", str(root), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["planner_calls"] == {"command": 2, "dashboard_job": 1}
    assert found["files"] == 9


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        ("dashboard/jobs.py", "def begin(plan, rows): ...", {"command": 2, "dashboard_job": None}),
        (
            "dashboard/jobs.py",
            "def start(plan, asset, no): ...",
            {"command": 2, "dashboard_job": None},
        ),
        ("prism_core/door.py", "def main(arguments): return 2", None),
        ("prism_core/planning/design.py", "def plan(): ...", None),
    ],
    ids=["no job is found", "the job cannot be started", "the command fails", "no planner"],
)
def test_what_cannot_be_run_is_null(root, file, text, found):
    (root / file).write_text(text, encoding="utf-8")
    assert house.planner_calls(house.House(root)) == found


def test_the_text_names_every_figure(root, capsys):
    house.main(["--root", str(root)])
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == [*house.House(root).figures(), "planner_calls"]
