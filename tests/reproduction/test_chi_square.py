"""The paper's score is not private, and no release can reach it."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import prism_core
from prism_core.reproduction.chi_square import chi_square_not_private
from tests.support.enumeration import worst_move

pytestmark = pytest.mark.privacy

ROOT = Path(prism_core.__file__).parent.parent
FORBIDDEN = "prism_core.reproduction.chi_square"


@pytest.mark.parametrize("n", [2, 3, 8, 1_000, 10**6])
def test_the_witness_one_replaced_row_moves_it_by_one(n):
    assert chi_square_not_private(np.array([[n - 1, 0], [0, 1]])) == pytest.approx(1.0)
    assert chi_square_not_private(np.array([[n, 0], [0, 0]])) == 0.0


@pytest.mark.parametrize(("shape", "n"), [((2, 2), 2), ((2, 2), 8), ((2, 3), 6), ((3, 3), 4)])
def test_its_sensitivity_is_one_whatever_n(shape, n):
    assert worst_move(shape, n, chi_square_not_private) == pytest.approx(1.0)


def modules() -> dict[str, ast.Module]:
    """Every module of the product by its dotted name."""
    found = {}
    for package in ("prism_core", "dashboard"):
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imports(tree: ast.Module) -> set[str]:
    """All names a module may import, also inside functions and by a text given to importlib."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.update({node.value} if node.value.startswith("prism_core.") else ())
    return found


def reachable(trees: dict[str, ast.Module], roots: list[str]) -> set[str]:
    """Modules that importing the roots can lead to; importing a module imports its packages."""
    seen: set[str] = set()
    queue = list(roots)
    while queue:
        name = queue.pop()
        if name in seen or name not in trees:
            continue
        seen.add(name)
        queue += [name.rsplit(".", 1)[0]] if "." in name else []
        queue += sorted(imports(trees[name]))
    return seen


def test_no_release_path_reaches_it():
    trees = modules()
    assert FORBIDDEN in trees
    roots = [name for name in trees if not name.startswith("prism_core.reproduction")]
    assert {"prism_core.synthesis.release", "prism_core.cli.main", "dashboard.jobs.child"} <= set(
        roots
    )
    found = reachable(trees, roots)
    assert "prism_core.reproduction.stories" in found  # the walk does enter the room
    assert FORBIDDEN not in found
    for name in found:
        assert "chi_square" not in ast.unparse(trees[name])


def test_the_walk_sees_an_import_hidden_in_a_function():
    trees = modules()
    for hidden in (
        f"def f():\n    from {FORBIDDEN} import chi_square_not_private",
        "def f():\n    from prism_core.reproduction import chi_square",
        f"import importlib\nimportlib.import_module('{FORBIDDEN}')",
    ):
        planted = {**trees, "prism_core.synthesis.select": ast.parse(hidden)}
        assert FORBIDDEN in reachable(planted, ["prism_core.synthesis.release"])
