"""Tables behind a database: sizes, persons, holdouts, a whole release, and what errors say."""

from __future__ import annotations

import itertools
import traceback

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prism_core.data.encoding import encode
from prism_core.data.engines import out_of_core
from prism_core.data.engines.stored_table import STEP, StoredTable, draw_marks
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables import address
from prism_core.data.tables.raw_table import from_frame, read_table
from prism_core.errors import PrivacyError, TableError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.synthesis.release import release
from tests.support.engines import released_alike


@pytest.fixture
def opened(tmp_path, frame):
    """Opens a table and closes it afterwards; by default `frame` as Parquet in two files."""
    half = len(frame) // 2
    for number, part in enumerate((frame[:half], frame[half:])):
        pq.write_table(
            pa.table({n: pa.array(part[n], pa.string()) for n in part}),
            tmp_path / f"part{number}.parquet",
        )
    made = []

    def make(text: str = "part*.parquet", **style) -> out_of_core.BigTable:
        made.append(out_of_core.open_table(address.parse(text, tmp_path), tmp_path / "ws", **style))
        return made[-1]

    yield make
    for table in made:
        table.close()
    assert list((tmp_path / "ws" / "scratch").iterdir()) == []


def store(table: out_of_core.BigTable, schema: Schema, *, public: bool = False) -> StoredTable:
    return table.store(schema, public=public)


def test_a_pattern_of_files_is_one_table(opened, frame, schema):
    table = opened()
    memory = encode(schema, from_frame(frame))
    cliques = list(itertools.combinations(schema.names, 2))
    assert table.rows == len(frame)
    assert table.header == tuple(frame.columns)
    for found, wanted in zip(
        table.counted_there(schema, public=True).counts(cliques),
        memory.counts(cliques),
        strict=True,
    ):
        assert (found == wanted).all()


def test_other_separators_encodings_and_a_database_file(opened, frame, schema, tmp_path):
    frame["ward"] = "n\u00f6rd"
    memory = encode(schema, from_frame(frame)).counts([schema.names[:3], ("ward", "seen")])
    frame.to_csv(tmp_path / "t.txt", sep=";", index=False, encoding="latin-1")
    with duckdb.connect(str(tmp_path / "x.db")) as db:
        db.execute(
            'CREATE TABLE "my stays" AS SELECT * FROM read_csv(?, all_varchar = true, '
            "encoding = 'latin-1', delim = ';')",
            [str(tmp_path / "t.txt")],
        )
    for table in (
        opened("t.txt", separator=";", encoding="latin-1"),
        opened("duckdb:///x.db?table=my stays"),
        opened("duckdb:///x.db?schema=main&table=my%20stays"),
    ):
        found = table.counted_there(schema, public=True).counts(
            [schema.names[:3], ("ward", "seen")]
        )
        assert all((a == b).all() for a, b in zip(found, memory, strict=True))


def with_people(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.assign(mrn=[str(row // 3) for row in range(len(frame))])
    frame.loc[:2, "mrn"] = ""  # an empty ID is an ID like any other
    return frame


@pytest.mark.privacy
def test_one_row_of_every_person_is_kept(opened, frame, schema, tmp_path):
    frame = with_people(frame)
    frame["row"] = [f"r{row}" for row in range(len(frame))]
    frame.to_csv(tmp_path / "people.csv", index=False)
    rows = Column(name="row", kind="categorical", levels=tuple(frame["row"]))
    people = Schema(columns=(rows, schema["age"]), person_id="mrn", persons=100)
    table = opened("people.csv")
    assert table.people("mrn") == 100
    draws = []
    for _ in range(2):
        (kept,) = store(table, people).counts([("row",)])
        assert kept.max() == 1
        assert kept.reshape(100, 3).sum(axis=1).tolist() == [1] * 100
        draws.append(kept)
    assert (draws[0] != draws[1]).any()  # alike by chance: 3**-100
    wrong = Schema(columns=people.columns, person_id="mrn", persons=99)
    with pytest.raises(PrivacyError, match="declares 99 persons") as caught:
        store(table, wrong)
    assert "100" not in str(caught.value)


@pytest.mark.statistical
def test_every_row_of_a_person_is_kept_equally_often(opened, tmp_path):
    """18,000 people choose among 3 rows: a share beyond 8 sd; false alarm below 1e-14."""
    ids = np.repeat(np.arange(18_000), 3)
    frame = pd.DataFrame({"mrn": ids.astype(str), "turn": np.tile(["a", "b", "c"], 18_000)})
    frame.to_csv(tmp_path / "turns.csv", index=False)
    turn = Column(name="turn", kind="categorical", levels=("a", "b", "c"))
    schema = Schema(columns=(turn,), person_id="mrn", persons=18_000)
    (counts,) = opened("turns.csv").counted_there(schema, public=True).counts([("turn",)])
    assert counts.sum() == 18_000
    assert np.abs(counts - 6_000).max() < 8 * np.sqrt(18_000 * 2 / 9)


@pytest.mark.privacy
def test_the_holdout_has_its_exact_size_and_shares_no_row(opened, frame, schema):
    whole = store(opened(), schema)
    train, holdout = whole.set_aside(60, np.random.default_rng(3))
    assert (train.n, holdout.n) == (240, 60)
    cliques = [schema.names[:3], ("ward",)]
    for a, b, both in zip(*(t.counts(cliques) for t in (train, holdout, whole)), strict=True):
        assert (a + b == both).all()
        assert (a.sum(), b.sum()) == (240, 60)
    drawn = holdout.sample(10**6, np.random.default_rng(4))
    assert drawn.n == 60
    assert all(
        (a == b).all() for a, b in zip(drawn.counts(cliques), holdout.counts(cliques), strict=True)
    )
    assert train.sample(7, np.random.default_rng(4)).n == 7
    for rows in (0, 300):
        with pytest.raises(TableError, match="holdout"):
            whole.set_aside(rows, np.random.default_rng(3))
    with pytest.raises(TableError, match="holdout"):
        train.set_aside(1, np.random.default_rng(3))


@pytest.mark.parametrize("rows", [1, STEP, STEP + 1, 2 * STEP + 3])
def test_a_drawn_set_has_its_size_over_several_steps(rows):
    total = 2 * STEP + 5
    marks = np.concatenate(list(draw_marks(total, rows, np.random.default_rng(rows))))
    assert (len(marks), int(marks.sum())) == (total, rows)


@pytest.mark.statistical
def test_every_set_is_equally_likely(monkeypatch):
    """All 10 sets of 2 out of 5 in steps of 2, 20,000 draws; 8 sd: false alarm below 1e-13."""
    monkeypatch.setattr("prism_core.data.engines.stored_table.STEP", 2)
    rng = np.random.default_rng(5)
    seen: dict[bytes, int] = {}
    for _ in range(20_000):
        mark = np.concatenate(list(draw_marks(5, 2, rng))).tobytes()
        seen[mark] = seen.get(mark, 0) + 1
    assert len(seen) == 10
    assert max(abs(count - 2_000) for count in seen.values()) < 8 * np.sqrt(20_000 * 0.09)


TASK = Task(target="readmitted", regime="predictive", k=2)


def plan_of(schema, n, model="naive_bayes", **task):
    return design(
        Brief(
            schema,
            Task(target="readmitted", regime="predictive", k=2, **task),
            Budget(epsilon=2.0),
            n,
            synthesis=Synthesis(model=model, rows=50, iterations=20),
        )
    )


@pytest.mark.privacy
@pytest.mark.parametrize("selection", ["greedy", "logistic"])
def test_a_release_is_the_same_from_memory_and_from_files(opened, frame, schema, selection):
    """Same counts and same known noise: same measurements, choices and rows."""
    stored = store(opened(), schema, public=True)
    memory = encode(schema, from_frame(frame), public=True)
    plan = plan_of(schema, 300, selection=selection)
    made = [released_alike(plan, table) for table in (stored, memory)]
    assert made[0].plan.hash == made[1].plan.hash
    assert (made[0].codes == made[1].codes).all()
    for ours, theirs in zip(made[0].measurements, made[1].measurements, strict=True):
        assert (ours.values == theirs.values).all()


@pytest.mark.privacy
def test_known_noise_on_private_files_is_refused(opened, schema):
    stored = store(opened(), schema)
    with pytest.raises(PrivacyError, match="Seeded noise"):
        release(
            plan_of(schema, 300),
            stored,
            ledger=None,
            rng=np.random.default_rng(1),
            noise=SeededNoise(np.random.default_rng(1)),
        )


@pytest.mark.privacy
def test_errors_never_quote_a_cell(opened, schema, frame, tmp_path, canary):
    text = frame.to_csv(index=False)
    (tmp_path / "long.csv").write_text(f"{text}{canary},1,2,3,4,5,6,7,8\n")
    (tmp_path / "quote.csv").write_text(f'{text}"{canary}\n')
    (tmp_path / "bytes.csv").write_bytes(text.encode() + canary.encode() + b"\xff\xfe,,,,,,\n")
    whole = (tmp_path / "part0.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2] + canary.encode())
    for name in ("long.csv", "quote.csv", "bytes.csv", "cut.parquet"):
        with pytest.raises(TableError) as caught:
            opened(name).counted_there(schema, public=True).counts([("age",)])
        told = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
        assert canary not in told.replace(str(tmp_path), "")
        assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("none.csv", None, "No file matches"),
        ("none*.parquet", None, "No file matches"),
        ("empty.csv", "", "is empty"),
        ("twice.csv", "a,a\n1,2\n", "more than once"),
        ("duckdb:///none.db?table=t", None, "cannot be read"),
    ],
)
def test_what_cannot_be_opened_says_why(opened, tmp_path, name, text, error):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(TableError, match=error):
        opened(name)


def test_a_table_without_rows_or_without_a_declared_column_is_refused(opened, schema, tmp_path):
    (tmp_path / "bare.csv").write_text(",".join(schema.names) + "\n")
    with pytest.raises(TableError, match="no rows"):
        store(opened("bare.csv"), schema)
    times = pa.table({"at": pa.array([], pa.time64("ns"))})  # a type that does not travel
    pq.write_table(times, tmp_path / "times.parquet")
    with pytest.raises(TableError, match="no rows"):
        store(opened("times.parquet"), schema)
    kept = [name for name in schema.names if name != "smoker"]
    (tmp_path / "other.csv").write_text(f"{','.join(kept)}\n{','.join('1' for _ in kept)}\n")
    with pytest.raises(TableError, match=r"names 'smoker'.* no such column"):
        store(opened("other.csv"), schema)


def test_files_with_different_headers_are_no_table(opened, tmp_path):
    (tmp_path / "h1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "h2.csv").write_text("b,a\n1,2\n")
    with pytest.raises(TableError, match="different headers"):
        opened("h?.csv")


@pytest.mark.privacy
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_names_that_differ_in_case_alone_are_refused_not_renamed(opened, tmp_path, kind):
    rows = pd.DataFrame({"on": ["1"], "ON": ["2"], "other": ["3"]})
    path = tmp_path / f"t.{kind}"
    rows.to_csv(path, index=False) if kind == "csv" else rows.to_parquet(path)
    with pytest.raises(TableError, match="positions 1 and 2 that differ in upper and lower case"):
        opened(path.name)


def test_names_that_differ_beyond_ascii_stay_apart(opened, tmp_path):
    pd.DataFrame({"Ä": ["1"], "ä": ["2"]}).to_csv(tmp_path / "u.csv", index=False)
    assert opened("u.csv").header == ("Ä", "ä")


def test_a_server_that_cannot_be_reached_is_an_error_without_the_password(opened):
    secret = "".join(["s3", "cr3t"])  # the traceback below shows this file's lines, too
    with pytest.raises(TableError, match=r"pip install|could not read 't'") as caught:
        opened(f"postgres://me:{secret}@127.0.0.1:1/db?table=t")
    assert secret not in "".join(traceback.format_exception(caught.value))
    assert not caught.value.__cause__  # and the fixture checks that no folder is left


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\r\nx,1\r\ny,5\r\n",
        b"a,b\nx,1\n\ny,5\n\n",
        b"\xef\xbb\xbfa,b\nx,1\n",
        b"a,b\nx,1",
        b'"a","b"\n"x","1"\n',
        b" a , b \nx,1\n",
        b'a,b\n"x\n",1\ny,4\n',
        b'a,b\n"",""\n,\n',
        b'a,b\n"x""y",1\n',
        b'a,b\nx"y,1\n',
    ],
)
def test_files_are_cut_into_cells_as_in_memory(opened, tmp_path, content):
    """Line ends, blank lines, byte order mark, quotation marks."""
    path = tmp_path / "cells.csv"
    path.write_bytes(content)
    a = Column(name="a", kind="categorical", levels=("x", "y"), nullable=True)
    b = Column(name="b", kind="numeric", lower=0, upper=9, edges=(3.0,), nullable=True)
    schema = Schema(columns=(a, b), one_row_per_person=True)
    (wanted,) = encode(schema, read_table(path)).counts([("a", "b")])
    assert (
        opened("cells.csv").counted_there(schema, public=True).counts([("a", "b")])[0] == wanted
    ).all()


def test_more_rows_than_can_be_drawn_from_are_refused_before_they_are_read(
    opened, schema, monkeypatch
):
    with pytest.raises(TableError, match="more than 1,000,000,000 rows"):
        draw_marks(10**9 + 1, 5, np.random.default_rng(1))
    monkeypatch.setattr("prism_core.data.engines.stored_table.MOST_ROWS", 299)
    with pytest.raises(TableError, match="more than 299 rows"):
        store(opened(), schema)
