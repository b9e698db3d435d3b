"""Figures of the house: how large its rooms are, who imports whom, how often a plan is designed.

    python tests/house.py [--json] [--root DIR] [--list FIGURE]

Everything but `planner_calls` is read from the syntax of the files under `--root` (by default the
checkout that holds this script), so any checkout can be counted. `planner_calls` runs one tiny
release of that checkout and is null where that cannot be done. `--list` names the files or rooms
behind a figure.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import io
import json
import os
import subprocess
import sys
import tempfile
import tokenize
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

PACKAGES = ("prism_core", "dashboard")
OPTION = "max_three_way"
"""The option that stands for all: every file that names it has to be touched for another one."""

PLANNER = "design"
_PRAGMAS = ("fmt:", "noqa", "type:", "pyright:", "pragma:")
_SECONDS = 300.0


@dataclass(frozen=True)
class File:
    """One Python file of a checkout.

    Attributes:
        path: relative to the checkout.
        text: its content.
    """

    path: Path
    text: str = field(repr=False)

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, filename=str(self.path))

    @property
    def module(self) -> str:
        """Its dotted name; of a package without the `__init__`."""
        parts = self.path.with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def room(self) -> str:
        """`prism_core/<folder or top-level module>`, likewise in the dashboard."""
        parts = self.path.with_suffix("").parts
        return parts[0] if parts[1] == "__init__" else "/".join(parts[:2])

    @cached_property
    def imports(self) -> tuple[ast.Import | ast.ImportFrom, ...]:
        """All of them: those for types alone and those within functions, too."""
        return tuple(n for n in ast.walk(self.tree) if isinstance(n, ast.Import | ast.ImportFrom))

    @property
    def import_lines(self) -> int:
        spans = [range(one.lineno, (one.end_lineno or one.lineno) + 1) for one in self.imports]
        return len({line for span in spans for line in span})

    @cached_property
    def comments(self) -> tuple[str, ...]:
        """The texts after the hash; a hash in a string is none."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return tuple(
            token.string.lstrip("#").strip() for token in tokens if token.type == tokenize.COMMENT
        )

    @property
    def skips(self) -> int:
        return sum(comment.startswith("fmt: skip") for comment in self.comments)

    @property
    def reasons(self) -> int:
        """Comments that are no order to a tool."""
        return sum(not comment.startswith(_PRAGMAS) for comment in self.comments)


def files_of(root: Path, *folders: str) -> list[File]:
    """The Python files of some folders of a checkout, in order."""
    paths = [path for folder in folders for path in sorted((root / folder).rglob("*.py"))]
    return [
        File(path.relative_to(root), path.read_text(encoding="utf-8"))
        for path in paths
        if "__pycache__" not in path.parts
    ]


@dataclass
class House:
    """A checkout as it is written.

    Attributes:
        root: its folder.
    """

    root: Path

    @cached_property
    def product(self) -> list[File]:
        return files_of(self.root, *PACKAGES)

    @cached_property
    def tests(self) -> list[File]:
        return files_of(self.root, "tests")

    @cached_property
    def edges(self) -> set[tuple[File, File]]:
        """Who imports whom, within the product."""
        homes = {file.module: file for file in self.product}
        return {
            (file, homes[name])
            for file in self.product
            for statement in file.imports
            for name in _imported(file, statement, homes)
            if homes[name] != file
        }

    def one_importer(self) -> list[str]:
        """Files that exactly one other file imports, each with that file."""
        importers: dict[File, list[File]] = defaultdict(list)
        for importer, imported in self.edges:
            importers[imported].append(importer)
        return sorted(
            f"{file.path} < {who[0].path}" for file, who in importers.items() if len(who) == 1
        )

    def room_cycles(self) -> list[str]:
        """Pairs of rooms that import each other; a package's own face is no room."""
        rooms = ((one.room, other.room) for one, other in self.edges)
        pairs = {(a, b) for a, b in rooms if a != b and not {a, b} & set(PACKAGES)}
        return sorted(f"{a} <> {b}" for a, b in pairs if a < b and (b, a) in pairs)

    def option_files(self) -> list[str]:
        return [str(file.path) for file in self.product if OPTION in file.text]

    def fmt_skips(self) -> list[str]:
        return [f"{f.path} {f.skips}" for f in [*self.product, *self.tests] if f.skips]

    def figures(self) -> dict[str, Any]:
        """Every figure that is read from the syntax."""
        lines = sum(len(file.text.splitlines()) for file in self.product)
        imports = sum(file.import_lines for file in self.product)
        reasons = sum(file.reasons for file in self.product)
        return {
            "files": len(self.product),
            "lines": lines,
            "import_share": round(imports / max(1, lines), 4),
            "one_importer": len(self.one_importer()),
            "fmt_skips": sum(file.skips for file in [*self.product, *self.tests]),
            "comments_per_100": round(100 * reasons / max(1, lines), 2),
            "room_cycles": self.room_cycles(),
            "option_files": len(self.option_files()),
            "tests": sum(_tests_in(file) for file in self.tests),
        }


def _imported(
    file: File, statement: ast.Import | ast.ImportFrom, homes: dict[str, File]
) -> set[str]:
    """The modules of the product that a statement names; of a package what is taken from it."""
    if isinstance(statement, ast.Import):
        return {alias.name for alias in statement.names} & homes.keys()
    base = statement.module or ""
    if statement.level:  # a dot is the file's own package, two the one above
        base = ".".join([*file.path.parts[: -statement.level], *filter(None, [base])])
    names = {f"{base}.{alias.name}" for alias in statement.names}
    return {name if name in homes else base for name in names} & homes.keys()


def _tests_in(file: File) -> int:
    """Test functions and methods; a parametrized one counts once."""
    if not file.path.name.startswith("test_"):
        return 0
    functions = (n for n in ast.walk(file.tree) if isinstance(n, ast.FunctionDef))
    return sum(function.name.startswith("test_") for function in functions)


# --- how often a plan is designed ------------------------------------------------------------


def planner_calls(house: House) -> dict[str, int | None] | None:
    """Calls of the planner in a release with its bundle: by the command, and in a dashboard job.

    The releases are run in processes of their own, which import this file when Python starts.

    None where there is no planner or the command fails, or for the dashboard alone where its job
    cannot be started.
    """
    planners = _defined(house, "prism_core", lambda node: node.name == PLANNER)
    if not planners:
        return None
    with tempfile.TemporaryDirectory(prefix="house-") as name:
        folder = Path(name)
        (folder / "sitecustomize.py").write_text(_AT_START, encoding="utf-8")
        environment = {
            "HOUSE_SCRIPT": (script := str(Path(__file__).resolve())),
            "HOUSE_CALLS": str(folder / "calls"),
            "HOUSE_PLANNER": planners[0][0],
            "PYTHONPATH": os.pathsep.join([name, str(house.root)]),
            "PRISM_WORKSPACE": str(folder / "workspace"),
        }
        command = [sys.executable, "-P", script, "--root", str(house.root), "--probe", name]
        # Not where we stand: a job could load another checkout from there.
        done = subprocess.run(
            command, cwd=name, env=os.environ | environment, capture_output=True, check=False
        )
    lines = [line for line in done.stdout.splitlines() if line.startswith(b'{"command"')]
    return json.loads(lines[-1]) if lines else None


_AT_START = """
import importlib, importlib.util, os, sys
_spec = importlib.util.spec_from_file_location("house_at_start", os.environ["HOUSE_SCRIPT"])
_house = sys.modules[_spec.name] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_house)
_house.note_calls(importlib.import_module(os.environ["HOUSE_PLANNER"]))
"""


def _defined(house: House, package: str, wanted: Callable[[Any], bool]) -> list[tuple[str, str]]:
    """Functions and classes of a package, wherever they stand: their modules and names."""
    return [
        (file.module, node.name)
        for file in house.product
        if file.path.parts[0] == package
        for node in file.tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and wanted(node)
    ]


def note_calls(module: ModuleType) -> None:
    """Let every call of the planner leave a line in a file; its last plan is kept."""
    planner = inspect.unwrap(getattr(module, PLANNER))
    original = FunctionType(
        planner.__code__, planner.__globals__, PLANNER, planner.__defaults__, planner.__closure__
    )
    original.__kwdefaults__ = planner.__kwdefaults__

    def noted(*args: Any, **kwargs: Any) -> Any:
        with Path(os.environ["HOUSE_CALLS"]).open("a", encoding="utf-8") as file:
            file.write("call\n")
        made["plan"] = original(*args, **kwargs)
        return made["plan"]

    # The function itself is changed, not a name: whoever imported it before holds it, too.
    made = planner.__globals__["_house"] = {"noted": noted}
    planner.__defaults__ = planner.__kwdefaults__ = None
    exec("def relay(*args, **kwargs): return _house['noted'](*args, **kwargs)", scope := {})
    planner.__code__ = scope["relay"].__code__


_SCHEMA = """
version: 1
provenance: declared
one_row_per_person: true
columns:
- {name: a, kind: boolean}
- {name: b, kind: boolean}
- {name: y, kind: boolean}
"""
_CONFIG = """
[table]
train = "train.csv"
schema = "schema.yaml"
dag = "dag.csv"
public = true
[task]
target = "y"
regime = "causal"
[synthesis]
model = "naive_bayes"
rows = 50
"""


def probe(house: House, folder: Path) -> Iterator[dict[str, int | None]]:
    """Release a table of 64 rows by the command, then by the dashboard's job; count each time."""
    calls, tables = folder / "calls", []
    for module, name in _defined(house, "prism_core", lambda node: node.name == "EncodedTable"):
        _remember(getattr(importlib.import_module(module), name), tables)
    rows = "".join(f"{i & 1},{i >> 1 & 1},{int(i % 3 == 0)}\n" for i in range(64))
    (folder / "train.csv").write_text(f"a,b,y\n{rows}", encoding="utf-8")
    (folder / "schema.yaml").write_text(_SCHEMA, encoding="utf-8")
    (folder / "dag.csv").write_text("from,to\na,y\nb,y\n", encoding="utf-8")
    (folder / "run.toml").write_text(_CONFIG, encoding="utf-8")
    if _command(house.root)(
        ["release", str(folder / "run.toml"), "--out", str(folder / "run"), "--seed", "1"]
    ):
        return
    found = {"command": _count(calls), "dashboard_job": None}
    yield found
    calls.unlink(missing_ok=True)
    plan = importlib.import_module(os.environ["HOUSE_PLANNER"])._house["plan"]
    values = {"plan": plan, "table": tables[-1], "rows": tables[-1], "asset": None, "seed": 1}
    if _dashboard_job(house, values):
        yield found | {"dashboard_job": _count(calls)}


def _command(root: Path) -> Any:
    """What the command `prism` calls, as the project says."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["scripts"]["prism"].partition(":")
    return getattr(importlib.import_module(module), name)


def _remember(kind: type, made: list[Any]) -> None:
    """Keep whatever is made of a class from now on."""
    before = kind.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        before(self, *args, **kwargs)
        made.append(self)

    kind.__init__ = init  # type: ignore[method-assign]


def _dashboard_job(house: House, values: dict[str, Any]) -> bool:
    """Start the dashboard's job for a release and wait for it; whether it left synthetic rows.

    It is known by its name and parameters: a function `start...` of a plan and an asset.
    """
    begun: list[subprocess.Popen[bytes]] = []
    _remember(subprocess.Popen, begun)
    starters = _defined(
        house,
        "dashboard",
        lambda node: (
            node.name.startswith("start")
            and {"plan", "asset"} <= {argument.arg for argument in node.args.args}
        ),
    )
    for module, name in starters[:1]:
        start = getattr(importlib.import_module(module), name)
        start(**{key: values[key] for key in inspect.signature(start).parameters if key in values})
    for process in begun:
        process.wait(_SECONDS)
    return any(Path(os.environ["PRISM_WORKSPACE"]).rglob("synthetic.csv"))


def _count(calls: Path) -> int:
    return calls.read_text(encoding="utf-8").count("call") if calls.exists() else 0


# --- the command -----------------------------------------------------------------------------


def main(argv: list[str] | None = None) -> None:
    """Print the figures of a checkout."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1], metavar="DIR")
    parser.add_argument(
        "--list",
        choices=("one_importer", "room_cycles", "option_files", "fmt_skips"),
        help="name what a figure counts, a line each",
    )
    parser.add_argument("--probe", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    house = House(arguments.root.resolve())
    if arguments.probe is not None:
        for found in probe(house, arguments.probe):
            sys.stdout.write(f"\n{json.dumps(found)}\n")
        return
    if arguments.list is not None:
        sys.stdout.writelines(f"{line}\n" for line in getattr(house, arguments.list)())
        return
    figures = house.figures() | {"planner_calls": planner_calls(house)}
    if arguments.json:
        sys.stdout.write(f"{json.dumps(figures)}\n")
        return
    for name, value in figures.items():
        shown = f"{len(value)}  {'; '.join(value)}" if isinstance(value, list) else value
        sys.stdout.write(f"{name:17} {shown}\n")


if __name__ == "__main__":
    main()
