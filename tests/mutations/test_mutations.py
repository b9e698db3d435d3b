"""T-MUT: planted bugs are noticed by the tests named for them, so those tests can fail.

Minutes together: `pytest -m mutation`, or `python tests/mutations/run.py`. That every one still
applies is checked in every run of the suite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.mutations import run
from tests.mutations.catalogue import CATALOGUE, Edit, Mutation

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.mutation, pytest.mark.slow]


def test_killers_pass_without_a_bug_on_the_copy_that_is_tested(tmp_path):
    """A copy that cannot pass would kill everything; and it is the copy that they import.

    Every killer passes on the tree itself in this same run of the suite; here some stand for all.
    """
    run.copy(tmp_path)
    probe = tmp_path / "tests" / "privacy" / "test_probe.py"
    probe.write_text(
        "import prism_core\n\ndef test_here():\n"
        f"    assert prism_core.__file__.startswith({str(tmp_path)!r})\n",
        encoding="utf-8",
    )
    status, output = run.run_tests(tmp_path, str(probe), *run.killers(CATALOGUE[::120]))
    assert status == run.PASSED, output


@pytest.mark.long
@pytest.mark.parametrize("mutation", CATALOGUE, ids=lambda mutation: mutation.name)
def test_the_bug_is_noticed(mutation):
    status, output = run.verdict(mutation, run.killers((mutation,)))
    assert status == run.FAILED, output


@pytest.mark.parametrize("mutation", CATALOGUE, ids=lambda mutation: mutation.name)
def test_the_bug_still_applies(mutation):
    for edit in mutation.edits:
        path, text = edit.planted(run.ROOT)
        assert path.read_bytes() != text


def test_names_are_distinct_and_the_thirteen_of_the_notes_are_there():
    assert len({mutation.name for mutation in CATALOGUE}) == len(CATALOGUE) >= 13


def _tree(folder: Path, text: str) -> Path:
    path = folder / "prism_core" / "file.py"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    ["", "def f():\n    return 2\n", "def f():\n    return one + one\n", "def g():\n    one\n"],
    ids=["gone", "changed", "ambiguous", "another function"],
)
def test_a_mutation_that_no_longer_applies_is_an_error(tmp_path: Path, text):
    path = _tree(tmp_path, text)
    stale = Mutation(name="stale", edits=(Edit(where="f", old="one", new="x"),), killers=())
    with pytest.raises(ValueError, match="no longer applies"):
        stale.apply(tmp_path)
    assert path.read_text(encoding="utf-8") == text


def test_a_bug_that_is_no_python_is_an_error(tmp_path: Path):
    _tree(tmp_path, "def f():\n    return one\n")
    with pytest.raises(ValueError, match="no Python"):
        Edit(where="f", old="one", new="x y").planted(tmp_path)


def test_a_bug_is_found_however_the_line_is_written(tmp_path: Path):
    path = _tree(tmp_path, "class A:\n    def f(self):\n        if (1 +\n            one): pass\n")
    Edit(where="A.f", old="if 1 + one:\n    pass", new="if one:\n    y\nz").planted(tmp_path)
    changed = Mutation(name="b", edits=(Edit(where="A.f", old="1 + one", new="one"),), killers=())
    changed.apply(tmp_path)
    assert "if (one): pass" in path.read_text(encoding="utf-8")
