"""Evaluations of rows that stand in a database: the numbers of the same rows in a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from prism_core.data.engines.out_of_core import BigTable
from prism_core.data.schema.schema import Schema
from prism_core.runs import inputs
from tests.support import postgres, spark
from tests.support.charges import charges
from tests.support.engines import write_texts
from tests.support.tables import small_frame

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

pytestmark = [
    pytest.mark.privacy,
    # A command ends its process, and with it the connection that nobody closed.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@dataclass
class Places:
    """Puts a table of texts into one of the databases."""

    kind: str
    folder: Path
    request: pytest.FixtureRequest

    def put(self, frame: pd.DataFrame, name: str) -> str:
        """The address of these rows."""
        path = self.folder / f"{name}.parquet"
        write_texts(frame, path)
        if self.kind == "files":
            return str(self.folder / f"{name}*.parquet")
        if self.kind == "duckdb":
            with duckdb.connect(str(self.folder / f"{name}.db")) as db:
                db.execute(f"CREATE TABLE {name} AS FROM read_parquet('{path}')")
            return f"duckdb:///{self.folder / f'{name}.db'}?table={name}"
        if self.kind == "spark":
            master = self.request.getfixturevalue("standalone_spark").master
            return f"spark://{path}?master={master}"
        server = self.request.getfixturevalue("postgres_server")
        test = "".join(c if c.isalnum() else "_" for c in self.request.node.name)[-40:].lower()
        rows = list(frame.itertuples(index=False))
        postgres.load(server, f"{name}_{test}", rows, dict.fromkeys(frame.columns, "text"))
        return f"{server}?table={name}_{test}"


SERVED = [
    pytest.param("postgres", marks=postgres.NEEDED),
    pytest.param("spark", marks=spark.NEEDED),
]


@pytest.fixture(params=["files", "duckdb", *SERVED])
def places(request, tmp_path) -> Places:
    return Places(request.param, tmp_path, request)


@pytest.fixture
def stored(monkeypatch) -> list[int]:
    """How often all codes of a table came home."""
    found: list[int] = []
    store = BigTable.store
    monkeypatch.setattr(BigTable, "store", lambda *a, **k: (found.append(1), store(*a, **k))[1])
    return found


def numbers(text: str) -> list[tuple[Any, ...]]:
    """The scores of an evaluation; intervals are of resamples, which follow the order of rows."""
    return [
        (row["name"], row["learner"], row["subject"], row["value"], row["floor"], row["ceiling"])
        for row in json.loads(text)["metrics"]
    ]


def test_an_evaluation_is_that_of_a_file(places, prism, make_run, tmp_path, stored):
    """With the training rows in a database, too, for the ceiling."""
    config = make_run()
    out = tmp_path / "out"
    assert prism("release", config, "--out", out, "--seed", 1).status == 0
    file = prism("evaluate", out, "--holdout", config.parent / "holdout.csv", "--json")
    held = places.put(small_frame(seed=8), "held")
    train = places.put(small_frame(), "train")
    there = prism("evaluate", out, "--holdout", held, "--train", train, "--json")
    assert (there.status, there.err) == (0, "")
    found, wanted = numbers(there.out), numbers(file.out)
    assert [row[:3] for row in found] == [row[:3] for row in wanted]
    for mine, theirs in zip(found, wanted, strict=True):
        # Floors and ceilings are of resamples and of models, which follow the order of rows.
        assert mine[3] == (None if theirs[3] is None else pytest.approx(theirs[3], abs=1e-9))
        assert [one is None for one in mine[4:]] == [one is None for one in theirs[4:]]
    assert stored == []


def test_private_numbers_are_those_of_a_file(places, prism, make_run, tmp_path, stored):
    """With the same known noise, number for number."""
    config = make_run()
    out = tmp_path / "out"
    assert prism("release", config, "--out", out, "--seed", 1).status == 0
    told = []
    for place in (config.parent / "holdout.csv", places.put(small_frame(seed=8), "held")):
        command = ("evaluate", out, "--holdout", place, "--private", 4, "--seed", 3)
        ran = prism(*command, "--holdout-public", "--json")
        assert ran.status == 0
        told.append(json.loads(ran.out))
    assert told[0] == told[1]
    assert stored == []


def test_private_numbers_are_charged_once(places, prism, make_run, tmp_path):
    config = make_run(public=False, asset=9.0)
    out = tmp_path / "out"
    assert prism("release", config, "--out", out).status == 0
    held = places.put(small_frame(seed=8), "held")
    assert prism("evaluate", out, "--holdout", held, "--private", 1, "--json").status == 0
    assert charges(tmp_path) == ["done", "done"]


@pytest.fixture(params=["files", *SERVED[:1]])
def few_places(request, tmp_path) -> Places:
    return Places(request.param, tmp_path, request)


@pytest.mark.parametrize("persons", [False, True])
def test_a_session_draws_its_rows_again(
    few_places: Places,
    persons: bool,
    prism: Callable[..., Any],
    make_run: Callable[..., Path],
    tmp_path: Path,
    schema: Schema,
    monkeypatch: pytest.MonkeyPatch,
):
    """Of more rows than are evaluated, and of several rows of a person."""
    frame, other = small_frame(), small_frame(seed=8)
    if persons:
        schema = Schema(columns=schema.columns, person_id="who", persons=150)
        frame["who"] = [f"p{row % 150}" for row in range(300)]
        other["who"] = [f"q{row % 150}" for row in range(300)]
    else:
        monkeypatch.setattr(inputs, "EVALUATED", 120)
    config = make_run(public=False, asset=9.0, schema=schema, frame=frame)
    out = tmp_path / "out"
    assert prism("release", config, "--out", out).status == 0
    held = few_places.put(other, "held")
    opened = prism("holdout", "open", out, "--holdout", held, "--epsilon", 2, "--json")
    assert opened.status == 0, opened.err
    assert json.loads(opened.out)["n_holdout"] == (150 if persons else 120)
    place = ("--holdout", held)  # a password is in no file of the session
    for metric in ("accuracy", "log_loss", "accuracy"):
        asked = prism("holdout", "ask", 1, "--metric", metric, *place, "--json")
        assert asked.status == 0, asked.err
    assert json.loads(asked.out)["asked_before"]
    assert charges(tmp_path) == ["done", "done"]
    other.loc[:, "age"] = "33"
    changed = few_places.put(other, "changed")
    ran = prism("holdout", "ask", 1, "--feature", "smoker", "--holdout", changed)
    assert ran.status == 2
    assert "not the held-out rows" in ran.err
