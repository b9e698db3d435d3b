"""Whatever stands in a file, a reader gives a value or an error of ours, which tells no cell."""

from __future__ import annotations

import ast
import os
import re
import time
import traceback
from pathlib import Path

import pytest
from conftest import CANARY
from fuzz.mutants import mutants
from fuzz.readers import READERS
from fuzz.shop import Shop
from fuzz.steps import bounded, watched
from hypothesis import HealthCheck, Phase, given, seed, settings

from prism_core.errors import PrismError

pytestmark = pytest.mark.privacy

PACKAGE = Path(__file__).parents[2] / "prism_core"
EXAMPLES = 200
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


def check(read, content: bytes) -> None:
    """The property."""
    try:
        with bounded():
            read(content)
    except PrismError as error:
        told = f"{error.field} {''.join(traceback.format_exception(error))}"
        assert CANARY not in told


def of_reader(name, case):
    return mutants(case.seeds, READERS[name].syntax, case.fixed)


@pytest.mark.parametrize("name", READERS)
def test_a_valid_file_is_read(name, cases):
    """Else the changes below would be changes of nothing."""
    for content in cases(name).seeds:
        cases(name).read(content)


@pytest.mark.parametrize("name", READERS)
def test_a_reader_gives_a_value_or_an_error_of_ours(name, cases):
    case = cases(name)

    @settings(
        max_examples=max(10, int(EXAMPLES * READERS[name].share)), derandomize=True, deadline=None,
        database=None, suppress_health_check=_QUIET,
    )  # fmt: skip
    @given(of_reader(name, case))
    def holds(content: bytes) -> None:
        check(case.read, content)

    holds()


@pytest.mark.long
@pytest.mark.parametrize("name", READERS)
def test_a_reader_for_as_long_as_is_asked(name, cases, record_property):
    """HYPOTHESIS_PROFILE=deep: a minute for each reader; PRISM_FUZZ_SECONDS: as many seconds."""
    case, count, ends, start = cases(name), 0, time.monotonic() + SECONDS, time.time_ns()
    while time.monotonic() < ends:

        @seed(start + count)
        @settings(
            max_examples=500, deadline=None, database=None, suppress_health_check=_QUIET,
            phases=[Phase.generate, Phase.shrink],
        )  # fmt: skip
        @given(of_reader(name, case))
        def holds(content: bytes) -> None:
            nonlocal count
            if time.monotonic() < ends:
                count += 1
                check(case.read, content)

        holds()
    record_property("inputs", count)
    print(f"{name}: {count} inputs")
    assert count > 0
