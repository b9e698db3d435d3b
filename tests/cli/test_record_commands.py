"""T-RECORD for whole commands on tables that are not read into memory.

Each command runs on two tables that differ in one row, with the noisy outputs of the first run
frozen in the second. Whatever differs then came from the rows without noise. Deterministic: no
false alarms.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prism_core.cli import main
from prism_core.planning.wishes.task import REGIMES
from prism_core.runs import inputs, step_account
from tests.support.noise import Tape
from tests.support.tables import small_frame

pytestmark = pytest.mark.privacy

ROWS = 300
HOSTILE = {
    "age": 1e300,
    "smoker": None,
    "grade": math.nan,
    "ward": "CANARY7f3a\nx" * 50,
    "seen": pd.Timestamp("9999-12-31").date(),
    "dose": 9.0,
    "readmitted": "no",
}


def rows(hostile: bool, seed: int = 7, *, floats: bool = False) -> pa.Table:
    """`small_frame` with types: numbers with NaN and without null or infinity beside it.

    With `floats` the levels are stored as floats, too.

    No dose but the hostile one is above 2, which is an edge's bin: minimum and maximum of the
    others say nothing of it.
    """
    frame = small_frame(ROWS, seed)
    age, grade = (frame[name].astype(float).to_numpy().copy() for name in ("age", "grade"))
    dose = np.minimum(frame["dose"].astype(float).to_numpy(), 0.9)
    age[::5], grade[::7], dose[::3] = math.nan, math.nan, math.nan
    columns = {
        "age": pa.array(age, from_pandas=False),
        "smoker": pa.array(frame["smoker"] == "true"),
        "grade": pa.array(grade, from_pandas=False) if floats else pa.array(frame["grade"]),
        "ward": pa.array(frame["ward"], pa.string()),
        "seen": pa.array(pd.to_datetime(frame["seen"]).dt.date, pa.date32()),
        "dose": pa.array(dose, from_pandas=False),
        "readmitted": pa.array(frame["readmitted"], pa.string()),
    }
    table = pa.table(columns)
    if not hostile:
        return table
    cells = HOSTILE if floats else {**HOSTILE, "grade": "9e9"}
    lone = pa.table(
        {
            name: pa.array([cell], table.schema.field(name).type, from_pandas=False)
            for name, cell in cells.items()
        }
    )
    return pa.concat_tables([table.slice(0, 1), lone, table.slice(2)])


class Play:
    """Two runs of a command on neighbours, and what each said, wrote and asked of the noise."""

    def __init__(self, monkeypatch, capsys) -> None:
        self.tapes: list[Tape] = []
        self.said: list[tuple[int, str, str]] = []
        self.capsys = capsys
        monkeypatch.setattr(inputs, "IN_MEMORY", 0)
        monkeypatch.setattr(step_account, "SecureNoise", self._noise)
        monkeypatch.setattr(step_account, "fresh_rng", lambda: np.random.default_rng(3))

    def _noise(self) -> Tape:
        return self.tapes[-1]

    def run(self, *arguments: object) -> int:
        """One run; its exit status. What it said is kept but for times, folders and charges."""
        self.tapes.append(Tape(self.tapes[0].outputs if self.tapes else None, seed=6))
        status = main.main([str(one) for one in arguments])
        told = self.capsys.readouterr()
        self.said.append((status, hidden(told.out), hidden(told.err)))
        return status

    def forget(self) -> None:
        """What was played so far is no part of the comparison."""
        self.tapes.clear()
        self.said.clear()

    def check(self) -> float:
        """Control flow and words are the same; true vectors move by their sensitivity at most."""
        assert self.said[0] == self.said[1]
        before, after = (tape.asked for tape in self.tapes)
        assert len(before) == len(after)
        moved = 0.0
        for (kind, truth, how), (kind_, truth_, how_) in zip(before, after, strict=True):
            assert (kind, how, truth.shape) == (kind_, how_, truth_.shape)
            change = (truth - truth_).astype(float)
            if kind == "gaussian":
                assert math.sqrt(float((change**2).sum())) <= math.sqrt(2.0)
            else:
                assert np.abs(change).max() <= how[1] * (1 + 1e-9)
            moved = max(moved, float(np.abs(change).max()))
        return moved


@pytest.fixture
def play(monkeypatch, capsys):
    return Play(monkeypatch, capsys)


def hidden(text: str) -> str:
    text = re.sub(r'("seconds": )[0-9.]+|[0-9a-f-]{32,36}|/[^ "]*', r"\1", text)
    return re.sub(r"before|after|(charge(\"?:)?) [0-9]+", r"\1", text)


@pytest.fixture
def runs(make_run):
    """Configurations of the two runs, which differ in one row of their table."""

    def make(*, floats=False, **sections):
        made = []
        for name in ("before", "after"):
            table = {"train": "train.parquet", "holdout": "holdout.parquet"}
            given = {**sections, "table": table | sections.get("table", {})}
            path = make_run(name=name, public=False, asset=9.0, **given)
            for file, seed in (("train", 7), ("holdout", 8)):
                table = rows(name == "after", seed, floats=floats)
                pq.write_table(table, path.parent / f"{file}.parquet", row_group_size=90)
            made.append(path)
        return made

    return make


def published(folder) -> dict[str, object]:
    """What a release publishes, but for times, and what names the charge."""
    certificate = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    shown = {key: certificate[key] for key in ("task", "guarantee", "stamp", "plan_sha256")}
    files = ("plan.json", "schema.yaml", "synthetic.csv", "dag.json")
    return {**shown, **{name: (folder / name).read_bytes() for name in files}}


@pytest.mark.parametrize("floats", [False, True], ids=["texts", "floats"])
@pytest.mark.parametrize("regime", REGIMES)
def test_release(play, runs, regime, floats):
    made = []
    for path in runs(floats=floats, task={"regime": regime, "k": 3}):
        out = path.parent / "out"
        assert play.run("release", path, "--out", out, "--workspace", path.parent / "ws") == 0
        made.append(published(out))
    assert made[0] == made[1]
    assert play.check() == 1.0


def test_learning_a_graph(play, runs):
    for path in runs(task={"target": "readmitted", "regime": "predictive"}):
        out = path.parent / "graph.json"
        assert play.run("learn-dag", path, "--out", out, "--workspace", path.parent / "ws") == 0
    assert play.check() > 0.0


OUTLINE = """
one_row_per_person: true
columns:
  - {name: age, kind: numeric, lower: 0, upper: 150, integer: true, learn: {cells: 75, bins: 4}}
  - {name: dose, kind: numeric, lower: 0, upper: 16, learn: {cells: 64, bins: 4}, nullable: true}
  - {name: ward, kind: categorical, learn: true}
  - {name: grade, kind: categorical, learn: true}
  - {name: readmitted, kind: boolean}
"""


@pytest.mark.parametrize("train", ["train.parquet", "train*.parquet"])
@pytest.mark.parametrize("floats", [False, True], ids=["texts", "floats"])
def test_learning_a_domain(play, runs, train, floats):
    """What a database has counted is measured as what memory counts, by the types of the file."""
    learned = []
    for path in runs(floats=floats, table={"schema": "outline.yaml", "train": train}):
        (path.parent / "outline.yaml").write_text(OUTLINE, encoding="utf-8")
        out = path.parent / "schema-learned.yaml"
        assert play.run("learn-domain", path, "--out", out, "--workspace", path.parent / "ws") == 0
        learned.append(hidden(out.read_text(encoding="utf-8")))
    assert learned[0] == learned[1]
    assert play.check() == 1.0


@pytest.mark.parametrize("private", [True, False])
def test_evaluate(play, runs, private, monkeypatch):
    """Numbers outside epsilon may differ; what they are and which rows they are of may not."""
    seen = []
    encode = inputs.encode_holdout
    monkeypatch.setattr(
        inputs,
        "encode_holdout",
        lambda *given, **named: seen.append(encode(*given, **named)) or seen[-1],
    )
    first, second = runs(budget={"epsilon": 2.0})
    out = first.parent / "out"
    assert play.run("release", first, "--out", out, "--workspace", first.parent / "ws") == 0
    play.forget()
    shown = []
    for path in (first, second):
        arguments = ["evaluate", out, "--holdout", path.parent / "holdout.parquet"]
        if private:
            shown.append(path.parent / "numbers.json")
            arguments += ["--private", 1, "--out", shown[-1], "--workspace", first.parent / "ws"]
        assert play.run(*arguments) == 0
    if private:
        assert play.check() == 1.0
        assert len({hidden(path.read_text(encoding="utf-8")) for path in shown}) == 1
    else:
        assert len({re.sub("[0-9.-]+", "", out) for _, out, _ in play.said}) == 1
    half = len(seen) // 2  # the holdout, then perhaps the training rows, of each run
    before, after = (Counter(map(tuple, seen[place].codes)) for place in (0, half))
    assert (before - after).total() == (after - before).total() == 1
