"""What every test may use: hypothesis profiles, strategies by type, and a tiny run on disk."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from prism_core.data.schema import schema_file
from prism_core.data.schema.code_groups import CodeGroups
from prism_core.data.schema.column import Column
from prism_core.data.schema.level import day_text, level_text, level_value
from prism_core.data.schema.schema import Schema
from prism_core.errors import SchemaError
from prism_core.samples import catalogue
from prism_core.structure.dag import Dag
from tests.support import postgres, spark
from tests.support.approvals import SAID
from tests.support.tables import CANARY, small_frame, small_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pandas as pd

_SLOW_MACHINES = [HealthCheck.too_slow]
settings.register_profile(
    "ci",
    derandomize=True,
    max_examples=50,
    deadline=None,
    database=None,
    suppress_health_check=_SLOW_MACHINES,
)
settings.register_profile(
    "local", max_examples=50, deadline=None, suppress_health_check=_SLOW_MACHINES
)
settings.register_profile(
    "deep", max_examples=3_000, deadline=None, suppress_health_check=_SLOW_MACHINES
)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "local")
)


CHAINS: tuple[Callable[[pytest.Item], bool], ...] = (
    lambda item: item.nodeid.startswith("tests/browser/"),
    lambda item: item.nodeid.startswith("tests/static/test_static.py::test_pyright"),
    lambda item: "spark" in item.nodeid.lower(),
)
"""Each is begun at once, by a worker of its own: tests with a browser wait for each other, the type
checker is one test, and a Spark is started by every worker that meets a test of it."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    yield  # what is left out goes
    items[:] = _chains_first(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def _chains_first(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """The same tests in an order in which a chain stands where a worker begins.

    `--dist worksteal` gives every worker an equal stretch of the list and lets those who are done
    take from the end of the longest.
    """
    if workers < len(CHAINS):
        return items
    chains = [[item for item in items if of_chain(item)] for of_chain in CHAINS]
    ordered = [item for item in items if not any(of_chain(item) for of_chain in CHAINS)]
    begin = 0
    for worker, chain in enumerate(chains):
        ordered[begin:begin] = chain
        begin += (len(items) - begin) // (workers - worker)
    return ordered


# --- strategies, found by type: @given(st.from_type(Schema)) --------------------------------

# Any Unicode but surrogates and control characters, and the characters that formats trip over.
_CHARACTERS = st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from("\n\t,;|\"'#:-{}[]&")
_TRAPS = (
    "NA",
    "nan",
    "null",
    "~",
    "no",
    "yes",
    "on",
    "true",
    "True",
    "False",
    "1",
    "01",
    "1.0",
    "1e3",
    "0x1F",
    "12:30",
    "1_000",
    "2020-01-01",
    "<<",
    "=",
    "inf",
    ".inf",
    "-",
    "?",
    "!x",
    "&a",
    "*a",
    "a: b",
    "a #b",
    "=1+1",
    '"',
    "''",
    "\ufeff",
)


def labels() -> st.SearchStrategy[str]:
    """Texts without white space around them, hostile ones more often than by chance."""
    texts = st.text(_CHARACTERS, min_size=1, max_size=8).map(str.strip)
    return (texts | st.sampled_from(_TRAPS)).filter(lambda text: text and text == text.strip())


def names() -> st.SearchStrategy[str]:
    """Column and node names: one line, without white space around them."""
    plain = labels().map(lambda text: text.replace("\n", "_").replace("\ufeff", "_").strip())
    return plain.filter(bool)


def _levels() -> st.SearchStrategy[tuple[Any, ...]]:
    whole = st.integers(-(2**62), 2**62) | st.integers(-9, 9)
    real = st.floats(allow_nan=False, allow_infinity=False)
    kinds = [labels(), whole, real, st.booleans(), labels() | whole | real | st.booleans()]
    return st.sampled_from(kinds).flatmap(
        lambda kind: st.lists(
            kind, min_size=1, max_size=5, unique_by=(level_text, _value_or_text)
        ).map(tuple)
    )


def _value_or_text(level: Any) -> object:
    value = level_value(level)
    return level_text(level) if value is None else value


@st.composite
def _categorical(draw: st.DrawFn) -> Column:
    levels = draw(_levels())
    choice = st.none() | st.sampled_from(levels)
    return Column(
        name=draw(names()),
        kind=draw(st.sampled_from(["categorical", "ordinal"])),
        levels=levels,
        nullable=draw(st.booleans()),
        fill=draw(choice),
        other=draw(choice),
        description=draw(labels() | st.just("")),
    )


@st.composite
def _grouped(draw: st.DrawFn) -> Column:
    every = draw(st.lists(labels(), min_size=1, max_size=8, unique=True))
    groups = draw(st.lists(labels(), min_size=1, max_size=len(every), unique=True))
    codes = [every[place :: len(groups)] for place in range(len(groups))]
    weight = st.floats(0.0, 1e6)
    weights = [[draw(weight) for _ in part] for part in codes] if draw(st.booleans()) else []
    known = CodeGroups(
        groups=tuple(groups),
        codes=tuple(map(tuple, codes)),
        weights=tuple(tuple(part) if sum(part) > 0.0 else (1.0,) * len(part) for part in weights),
    )
    choice = st.none() | st.sampled_from(groups)
    return Column(
        name=draw(names()),
        kind=draw(st.sampled_from(["categorical", "ordinal"])),
        groups=known,
        nullable=draw(st.booleans()),
        fill=draw(choice),
        other=draw(choice),
    )


@st.composite
def _gridded(draw: st.DrawFn, kind: str) -> Column:
    decimals = 0 if kind == "date" else draw(st.integers(0, 6))
    low, high = (-719_162, 2_932_896) if kind == "date" else (-(10**6), 10**6)
    grid = sorted(draw(st.sets(st.integers(low, high), min_size=2, max_size=6)))
    lower, *inner, upper = (value / 10**decimals for value in grid)
    edges = [lower, *inner] if draw(st.booleans()) else inner
    if draw(st.booleans()):  # the last digit of a float is often wrong
        edges = [float(np.nextafter(edge, upper)) for edge in edges]
    return Column(
        name=draw(names()),
        kind=kind,
        lower=lower,
        upper=upper,
        edges=tuple(edges),  # type: ignore[arg-type]
        decimals=decimals,
        nullable=draw(st.booleans()),
        fill=draw(st.none() | st.integers(low, high)),
    )


@st.composite
def _real(draw: st.DrawFn) -> Column:
    numbers = st.floats(-1e9, 1e9, allow_nan=False)
    cuts = sorted(draw(st.sets(numbers, min_size=2, max_size=6)))
    return Column(
        name=draw(names()),
        kind="numeric",
        lower=cuts[0],
        upper=cuts[-1],
        edges=tuple(cuts[1:-1]),
        nullable=draw(st.booleans()),
        fill=draw(st.none() | numbers),
    )


_SPECIAL = (
    -9,
    -9.0,
    "-9",
    97,
    99.5,
    ".a",
    ".z",
    "refused",
    "-99.0",
    "098",
    "9999-12-31",
    "1900",
    0,
)


@st.composite
def _with_special(draw: st.DrawFn, columns: st.SearchStrategy[Column]) -> Column:
    """A column with special values inside the bounds and outside, where it takes them."""
    column = draw(columns)
    near = [number for number in (*column.bounds, *column.edges) if draw(st.booleans())]
    days = column.kind == "date"
    inside = [day_text(number) if days else number for number in near]
    value = st.sampled_from(_SPECIAL) | st.integers(-99, 99) | st.floats(-9e15, 9e15) | labels()
    if inside:
        value |= st.sampled_from(inside)
    try:
        return replace(column, special=tuple(draw(st.lists(value, max_size=4))))
    except SchemaError:  # two are the same, or a bin has no other value
        return replace(column, special=(".a", "refused"))


@st.composite
def _boolean(draw: st.DrawFn) -> Column:
    choice = st.none() | st.booleans()
    return Column(
        name=draw(names()),
        kind="boolean",
        nullable=draw(st.booleans()),
        fill=draw(choice),
        other=draw(choice),
    )


@st.composite
def _schemas(draw: st.DrawFn) -> Schema:
    columns = st.lists(
        st.from_type(Column), min_size=2, max_size=5, unique_by=lambda column: column.name
    )
    persons = draw(st.none() | st.integers(1, 10**6))
    taken = draw(columns)
    person_id = draw(names().filter(lambda name: name not in {c.name for c in taken}))
    return Schema(
        columns=tuple(taken),
        provenance=draw(st.sampled_from(["declared", "public twin"])),
        one_row_per_person=persons is None and draw(st.booleans()),
        person_id=None if persons is None else person_id,
        persons=persons,
    )


@st.composite
def _dags(draw: st.DrawFn) -> Dag:
    nodes = draw(st.lists(names(), min_size=1, max_size=6, unique=True))
    order = draw(st.permutations(nodes))
    pairs = [(u, v) for i, u in enumerate(order) for v in order[i + 1 :]]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return Dag(nodes=tuple(nodes), edges=tuple(edges))


st.register_type_strategy(
    Column,
    _categorical()
    | _grouped()
    | _boolean()
    | _gridded("numeric")
    | _gridded("date")
    | _real()
    | _with_special(_gridded("numeric"))
    | _with_special(_gridded("date"))
    | _with_special(_real()),
)
st.register_type_strategy(Schema, _schemas())
st.register_type_strategy(Dag, _dags())


# --- a small table with every kind of column -------------------------------------------------


_MAIN = sys.modules["__main__"]


@pytest.fixture(autouse=True)
def _main_stays():
    """A page that AppTest ran is left as `__main__`; new processes would run it once more."""
    yield
    sys.modules["__main__"] = _MAIN


@pytest.fixture
def canary() -> str:
    """A text that stands in private cells only."""
    return CANARY


@pytest.fixture
def schema() -> Schema:
    """See `small_schema`."""
    return small_schema()


@pytest.fixture
def frame() -> pd.DataFrame:
    """300 generated rows of `schema`, as text."""
    return small_frame()


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace of one test: named, and not made."""
    folder = tmp_path / "workspace"
    monkeypatch.setenv("PRISM_WORKSPACE", str(folder))
    return folder


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Address of a PostgreSQL server, with the login of its owner; started once."""
    with postgres.started() as address:
        yield address


@pytest.fixture(scope="session")
def standalone_spark() -> Iterator[spark.Standalone]:
    """A standalone master of Spark with one worker; started once."""
    with spark.started() as found:
        yield found


@pytest.fixture
def ledger_database(postgres_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Ledgers of the test are kept in an empty database, by an insert-only login; its address."""
    address = postgres.fresh_ledger(postgres_server)
    monkeypatch.setenv("PRISM_LEDGER", address)
    return address


@pytest.fixture(params=["file", pytest.param("database", marks=postgres.NEEDED)])
def either_store(request: pytest.FixtureRequest) -> str:
    """Ledgers of the test are kept in a file, then in a database."""
    if request.param == "database":
        request.getfixturevalue("ledger_database")
    return request.param


@pytest.fixture(scope="session")
def small() -> tuple[Schema, pd.DataFrame]:
    """The same schema and rows for fixtures that live longer than a test; not to be changed."""
    return small_schema(), small_frame()


@pytest.fixture(scope="session")
def spurious() -> catalogue.Sample:
    """The benchmark whose consequences stop predicting, made once; not to be changed."""
    return catalogue.load("scm_spurious")


# --- the command line ------------------------------------------------------------------------


class Ran(NamedTuple):
    """A command: its exit status and what it wrote."""

    status: int
    out: str
    err: str

    @property
    def both(self) -> str:
        """Everything it wrote."""
        return self.out + self.err


@pytest.fixture
def prism(workspace: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run a command of `prism` in this process, in the test's own workspace."""
    from prism_core.cli import main

    def run(*arguments: object) -> Ran:
        capsys.readouterr()
        status = main.main([str(argument) for argument in arguments])
        return Ran(status, *capsys.readouterr())

    return run


# --- a run on disk ---------------------------------------------------------------------------


@pytest.fixture
def make_run(tmp_path: Path, schema: Schema) -> Callable[..., Path]:
    """Write a run's files; returns the path of its configuration.

    Keyword arguments: `name` of the folder, `frame`, `schema`, `public`, `asset` (lifetime epsilon
    or None), and sections of the configuration to add to.
    """

    def make(
        *,
        name: str = "run",
        frame: pd.DataFrame | None = None,
        schema: Schema = schema,
        public: bool = True,
        asset: float | None = None,
        **sections: dict[str, Any],
    ) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (small_frame() if frame is None else frame).to_csv(folder / "train.csv", index=False)
        small_frame(seed=8).to_csv(folder / "holdout.csv", index=False)
        schema_file.save(schema, folder / "schema.yaml")
        (folder / "dag.csv").write_text(
            "from,to\nage,readmitted\nsmoker,readmitted\nreadmitted,ward\n", encoding="utf-8"
        )
        document: dict[str, dict[str, Any]] = {
            "table": {
                "train": "train.csv",
                "holdout": "holdout.csv",
                "schema": "schema.yaml",
                "dag": "dag.csv",
                "public": public,
            },
            "task": {"target": "readmitted", "regime": "causal"},
            "synthesis": {"model": "naive_bayes", "rows": 200},
            "statement": dict(SAID),
        }
        if asset is not None:
            document["asset"] = {"name": "ward 7", "lifetime_epsilon": asset}
        for section, entries in sections.items():
            document.setdefault(section, {}).update(entries)
        config = folder / "config.toml"
        config.write_text(toml(document), encoding="utf-8")
        return config

    return make


def toml(document: dict[str, dict[str, Any]]) -> str:
    """Flat sections as TOML; JSON literals are TOML literals for what is used here."""
    lines: list[str] = []
    for section, entries in document.items():
        lines.append(f"[{section}]")
        lines += [f"{key} = {_literal(value)}" for key, value in entries.items()]
    return "\n".join(lines) + "\n"


def _literal(value: object) -> str:
    if isinstance(value, float):
        return repr(value)  # nan and inf are TOML, as Python writes them
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {_literal(v)}" for k, v in value.items()) + "}"
    return json.dumps(value)
