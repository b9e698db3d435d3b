"""Whatever stands in a file, a reader gives a value or an error of ours, which tells no cell."""

from __future__ import annotations

import ast
import os
import re
import sys
import time
import traceback
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from prism_core.errors import PrismError
from tests.fuzz.mutants import mutants
from tests.fuzz.readers import READERS
from tests.fuzz.shop import Shop
from tests.fuzz.steps import bounded, watched
from tests.support.tables import CANARY

pytestmark = pytest.mark.privacy

PACKAGE = Path(__file__).parents[2] / "prism_core"
EXAMPLES = 120
SECONDS = float(
    os.environ.get("PRISM_FUZZ_SECONDS")
    or (60 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 3)
)
"""Of the long run, for each reader."""

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@pytest.fixture(scope="session")
def shop(tmp_path_factory):
    return Shop(tmp_path_factory.mktemp("shop"))


@pytest.fixture(scope="session")
def cases(shop):
    """By name, each made when it is first asked for."""
    made = {}

    def get(name):
        if name not in made:
            made[name] = READERS[name].make(shop)
        return made[name]

    return get


def check(name: str, read, content: bytes) -> None:
    """The property."""
    try:
        with bounded(READERS[name].steps):
            read(content)
    except PrismError as error:
        told = f"{error.field} {''.join(traceback.format_exception(error))}"
        assert CANARY not in told


def of_reader(name, case):
    return mutants(case.seeds, READERS[name].syntax, case.fixed)


READING = re.compile(
    r"(load|read|parse|open)s?(_[a-z]+)*|from_(dict|text|json|toml|yaml|list|bytes)|[a-z]+_from"
)
"""What functions are called that make values of a file, a text or plain values."""

ELSEWHERE = {
    "cli/holdout_command.py:_open": "a command",
    "cli/ledger_command.py:open_ledger": "a command",
    "data/engines/duckdb_engine.py:_open_duckdb_file": "a database's own file: DuckDB reads it",
    "data/engines/servers.py:open_server": "a server",
    "data/engines/stored_table.py:from_dict": "where this process has put its own codes",
    "data/engines/stored_table.py:_read": "where this process has put its own codes",
    "data/tables/parquet_child.py:read": "in another process: by `parquet.read`",
    "data/tables/statistical_child.py:read": "in another process: by `read_statistical`",
    "data/tables/workbook_child.py:read": "in another process: by `read_workbook`",
    "evaluation/inside_epsilon/holdout.py:open_holdout": "opens a session, of no file",
    "evaluation/inside_epsilon/holdout_state.py:open": "a property",
    "evaluation/tstr/prediction.py:learned_from": "a sentence",
    "learning/domain/domain_counts.py:loads": "where this process has put its own counts",
    "reproduction/adult_table.py:load": "a table, by `read_table`",
    "reproduction/results.py:load_results": "a path: `Book.from_text` is here",
    "reproduction/networks.py:load": "what pgmpy ships",
    "reproduction/networks.py:read": "what pgmpy ships",
    "samples/catalogue.py:load": "makes a sample",
    "synthesis/engine/cache.py:load": "compiled code",
    "synthesis/engine/cache.py:load_meanwhile": "compiled code",
    "synthesis/reference/mbi_fit.py:load_mbi": "a package",
    "synthesis/select/adaptive.py:_open": "rounds that are open",
    "runs/step_account.py:open_account": "the account of a step, in a ledger",
    "runs/inputs.py:open_rows": "a path: both kinds of table are here",
}
"""Why a function that is called like a reader needs no entry."""


def test_every_reader_is_here(shop, cases):
    """Functions that are called like readers come up while the valid files are read.

    A new one needs an entry in `readers`, or a line in `ELSEWHERE` that says why not.
    """
    for name in READERS:
        cases(name)
    with watched() as seen:
        for name in READERS:
            for content in cases(name).seeds:
                cases(name).read(content)
    called = {(Path(code.co_filename).resolve(), code.co_firstlineno) for code in seen}
    missing = {
        f"{path.relative_to(PACKAGE)}:{node.name}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and READING.fullmatch(node.name.lstrip("_"))
        if not any((path, line) in called for line in _lines(node))
    }
    assert sorted(missing) == sorted(ELSEWHERE)


def _lines(node: ast.FunctionDef) -> tuple[int, ...]:
    """Where its code begins, by Python's count: at the first decorator, if there is one."""
    return (node.lineno, *(decorator.lineno for decorator in node.decorator_list))


@pytest.mark.parametrize("name", READERS)
def test_a_valid_file_is_read(name, cases):
    """Else the changes below would be changes of nothing."""
    for content in cases(name).seeds:
        cases(name).read(content)


@pytest.mark.parametrize("name", READERS)
def test_a_reader_gives_a_value_or_an_error_of_ours(name, cases):
    case = cases(name)

    @settings(
        max_examples=max(3, int(EXAMPLES * READERS[name].share)),
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=_QUIET,
    )
    @given(of_reader(name, case))
    def holds(content: bytes) -> None:
        check(name, case.read, content)

    holds()


@pytest.mark.long
@pytest.mark.parametrize("name", READERS)
def test_a_reader_for_as_long_as_is_asked(name, cases, record_property):
    """HYPOTHESIS_PROFILE=deep: a minute for each reader; PRISM_FUZZ_SECONDS: as many seconds."""
    case, count, ends, start = cases(name), 0, time.monotonic() + SECONDS, time.time_ns()
    while time.monotonic() < ends:

        @seed(start + count)
        @settings(
            max_examples=500,
            deadline=None,
            database=None,
            suppress_health_check=_QUIET,
            phases=[Phase.generate, Phase.shrink],
        )
        @given(of_reader(name, case))
        def holds(content: bytes) -> None:
            nonlocal count
            if time.monotonic() < ends:
                count += 1
                check(name, case.read, content)

        holds()
    record_property("inputs", count)
    sys.stdout.write(f"{name}: {count} inputs\n")
    assert count > 0
