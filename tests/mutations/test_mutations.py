"""T-MUT: planted bugs are noticed by the tests named for them, so those tests can fail.

Minutes together: `pytest -m mutation`, or `python tests/mutations/run.py`. That every one still
applies is checked in every run of the suite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mutations import run
from mutations.catalogue import CATALOGUE, Mutation

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.mutation, pytest.mark.slow]


def test_killers_pass_without_a_bug_on_the_copy_that_is_tested(tmp_path):
    """A copy that cannot pass would kill everything; and it is the copy that they import.

    Every killer passes on the tree itself in this same run of the suite; here some stand for all.
    """
    run.copy(tmp_path)
    probe = tmp_path / "tests" / "unit" / "test_probe.py"
    probe.write_text(
        "import prism_core\n\ndef test_here():\n"
        f"    assert prism_core.__file__.startswith({str(tmp_path)!r})\n",
        encoding="utf-8",
    )
    status, output = run.run_tests(tmp_path, str(probe), *run.killers(CATALOGUE[::9]))
    assert status == run.PASSED, output


@pytest.mark.parametrize("mutation", CATALOGUE, ids=lambda mutation: mutation.name)
def test_the_bug_is_noticed(mutation):
    status, output = run.verdict(mutation, run.killers((mutation,)))
    assert status == run.FAILED, output


def test_every_bug_still_applies(tmp_path: Path):
    package = run.ROOT / "prism_core"
    for mutation in CATALOGUE:
        copied = tmp_path / mutation.file
        copied.parent.mkdir(parents=True, exist_ok=True)
        text = (package / mutation.file).read_text(encoding="utf-8")
        copied.write_text(text, encoding="utf-8")
        mutation.apply(tmp_path)
        assert copied.read_text(encoding="utf-8") != text


def test_names_are_distinct_and_the_thirteen_of_the_notes_are_there():
    assert len({mutation.name for mutation in CATALOGUE}) == len(CATALOGUE) >= 13


@pytest.mark.parametrize("text", ["nothing of it", "twice twice"], ids=["gone", "ambiguous"])
def test_a_mutation_that_no_longer_applies_is_an_error(tmp_path: Path, text):
    (tmp_path / "file.py").write_text(text, encoding="utf-8")
    stale = Mutation(name="stale", file="file.py", edits=(("twice", "x"),), killers=())
    with pytest.raises(ValueError, match="no longer applies"):
        stale.apply(tmp_path)
    assert (tmp_path / "file.py").read_text(encoding="utf-8") == text
