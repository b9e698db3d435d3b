"""Adult Income, prepared as in the paper.

The paper uses the integer-coded CSV that is distributed with Private-PGM (48,842 rows). It is
read from a path, never shipped. Without a path the table is fetched from OpenML and coded to
the same layout as far as that is possible; see `fetch`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import RawTable, from_frame, read_table
from prism_core.errors import TableError
from prism_core.samples import catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.data.schema.column_rules import Kind

PATH_VARIABLE = "PRISM_ADULT_CSV"
TARGET = "income>50K"
BINNED = ("age", "capital-gain", "capital-loss", "hours-per-week")
BINS = 8
TEST_SHARE = 0.2

# Number of codes of every column, from the domain file distributed with the table.
SIZES: dict[str, int] = {
    "age": 85,
    "workclass": 9,
    "education-num": 16,
    "marital-status": 7,
    "occupation": 15,
    "relationship": 6,
    "race": 5,
    "sex": 2,
    "capital-gain": 100,
    "capital-loss": 100,
    "hours-per-week": 99,
    TARGET: 2,
}

DESCRIPTIONS: dict[str, str] = {
    "age": "Age, as years above 16.",
    "workclass": "Kind of employer, coded.",
    "education-num": "Years of education, in 16 steps.",
    "marital-status": "Marital status, coded.",
    "occupation": "Occupation, coded.",
    "relationship": "Role in the household, coded.",
    "race": "Race in the census record, coded.",
    "sex": "Sex in the census record, coded.",
    "capital-gain": "Capital gains of the year, in steps of 1,000 dollars.",
    "capital-loss": "Capital losses of the year, in steps of 50 dollars.",
    "hours-per-week": "Usual working hours a week, less 1.",
    TARGET: "Income above 50,000 dollars a year: the outcome to predict.",
}

# A plausible graph, not a known one: what precedes in life causes what follows, and income
# comes before what is earned or lost by investing it.
CAUSES: dict[str, tuple[str, ...]] = {
    "age": (),
    "workclass": ("age", "education-num"),
    "education-num": ("age", "race", "sex"),
    "marital-status": ("age", "sex", "race"),
    "occupation": ("education-num", "sex", "workclass"),
    "relationship": ("marital-status", "sex", "age"),
    "race": (),
    "sex": (),
    "capital-gain": (TARGET, "age"),
    "capital-loss": (TARGET, "age"),
    "hours-per-week": ("occupation", "sex", "age", "workclass"),
    TARGET: (
        *("age", "workclass", "education-num", "marital-status", "occupation"),
        *("race", "sex", "hours-per-week"),
    ),
}


@dataclass(frozen=True)
class AdultData:
    """The prepared table.

    Attributes:
        train: 39,073 rows when the paper's table is used.
        test: 9,769 rows.
    """

    train: RawTable
    test: RawTable


def load(path: str | Path | None = None, *, seed: int = 0) -> AdultData:
    """Read Adult, drop fnlwgt and native-country and split it as in the paper.

    Args:
        path: the integer-coded CSV; by default the environment variable PRISM_ADULT_CSV,
            and without it OpenML.
        seed: chooses the split.

    Raises:
        TableError: when the file is not the integer-coded table, or OpenML cannot be reached.
    """
    chosen = path or os.environ.get(PATH_VARIABLE)
    raw = read_table(chosen) if chosen else fetch()
    absent = [name for name in SIZES if name not in raw.header]
    if absent:
        raise TableError(
            f"The file {raw.name!r} is not the integer-coded Adult table: it has no column "
            f"{absent[0]!r}. Point {PATH_VARIABLE} to the adult.csv distributed with Private-PGM.",
            field="header",
        )
    kept = RawTable(raw.frame.loc[:, list(SIZES)], raw.name)
    return split(kept, seed)


def fetch() -> RawTable:
    """Adult from OpenML (version 2), coded to the layout of the paper's file.

    Ages, education, hours and the steps of capital gains and losses match the paper's file.
    Categories are numbered in sorted order, missing last, so their codes may differ from the
    paper's: results agree statistically, not row by row.

    Raises:
        TableError: when OpenML cannot be reached.
    """
    from sklearn.datasets import fetch_openml

    try:
        fetched: Any = fetch_openml("adult", version=2, as_frame=True)
    except (OSError, ValueError):
        raise TableError(
            "The Adult table cannot be fetched from OpenML. Download adult.csv as distributed "
            f"with Private-PGM and point {PATH_VARIABLE} to it."
        ) from None
    return from_frame(coded(fetched.frame), "adult (OpenML)")


def coded(frame: pd.DataFrame) -> pd.DataFrame:
    """The OpenML frame in integer codes; see `fetch`."""
    # The value that code 0 stands for in the paper's file, and the width of a step.
    first = {"age": 16, "hours-per-week": 1, "education-num": 1}
    step = {"capital-gain": 1_000, "capital-loss": 50}
    result = {}
    for name in SIZES:
        if name in first:
            codes = frame[name].astype(int) - first[name]
        elif name in step:
            codes = frame[name].astype(int) // step[name]
        elif name == TARGET:
            codes = frame["class"].astype(str).str.strip().eq(">50K").astype(int)
        else:
            texts = frame[name].astype(object)
            order = {text: code for code, text in enumerate(sorted(texts.dropna().unique()))}
            codes = [order.get(text, len(order)) for text in texts]
        result[name] = codes
    return pd.DataFrame(result)


def split(raw: RawTable, seed: int, test_share: float = TEST_SHARE) -> AdultData:
    """A split that keeps the share of high incomes, as the paper makes it, by scikit-learn.

    For reproducing the paper only, on public rows; spends nothing. A stratified split depends
    on values, so a release must use an unstratified one.

    Args:
        raw: the rows.
        seed: shuffles the rows.
        test_share: share of the test rows, rounded up.

    Raises:
        TableError: when the share is not between 0 and 1.
    """
    from sklearn.model_selection import train_test_split

    if not 0 < test_share < 1:
        raise TableError(f"test_share ({test_share}) must lie between 0 and 1.", field="test_share")
    parts = train_test_split(
        list(range(raw.rows)), test_size=test_share, random_state=seed, stratify=raw.frame[TARGET]
    )
    train, test = ([int(place) for place in part] for part in parts)
    return AdultData(
        RawTable(raw.take(train).frame, catalogue.TRAIN_FILE),
        RawTable(raw.take(test).frame, catalogue.TEST_FILE),
    )


def schema(train: RawTable) -> Schema:
    """The domain of the paper, with quantile edges from the training rows.

    The edges count as public, as in the paper, and the provenance says so. Equal quantiles
    fall together, so that capital gains and losses keep the two bins 0 and above 0. Spends
    nothing, for public rows only: edges read from private rows would be a violation.
    """
    return Schema(
        columns=tuple(_column(name, train) for name in SIZES),
        provenance="public twin",
        one_row_per_person=True,
    )


def _column(name: str, train: RawTable) -> Column:
    size, description = SIZES[name], DESCRIPTIONS[name]
    if name not in BINNED:
        kind: Kind = "ordinal" if name == "education-num" else "categorical"
        return Column(name=name, kind=kind, levels=tuple(range(size)), description=description)
    values = train.frame[name].astype(float).to_numpy()
    quantiles = np.unique(np.quantile(values, np.arange(1, BINS) / BINS))
    return Column(
        name=name,
        kind="numeric",
        lower=0.0,
        upper=float(size - 1),
        edges=tuple(float(edge) for edge in quantiles),
        decimals=0,
        description=description,
    )


def dag_json() -> str:
    """The plausible graph as node-link JSON."""
    pairs = [(cause, name) for name, causes in CAUSES.items() for cause in causes]
    return catalogue.dag_text(SIZES, pairs)


def config_toml() -> str:
    """The paper's run: eight selected features, epsilon 1, 5,000 synthetic rows."""
    return catalogue.config_text(
        target=TARGET,
        regime="predictive",
        k=8,
        rows=5_000,
        public="a public benchmark: runs are rehearsals, nothing is charged",
        one_row="Each row is a person who was asked in the census.",
    )


def write(path: str | Path | None, out: str | Path, seed: int = 0) -> tuple[Path, ...]:
    """Write the prepared table and its description, ready for a run, into `out`.

    Args:
        path: as for `load`.
        out: the folder to write to.
        seed: chooses the split.

    Returns:
        The paths of train.csv, test.csv, schema.yaml, dag.json and config.toml.
    """
    data = load(path, seed=seed)
    return catalogue.write_files(
        out,
        train=data.train,
        test=data.test,
        schema=schema(data.train),
        dag_json=dag_json(),
        config_toml=config_toml(),
    )
