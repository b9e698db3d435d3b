"""The catalogue of samples: generated rows, their schema, true graph and a run description.

Each is generated anew from a fixed seed, so nothing needs to be downloaded or installed
beside the package, and no row belongs to a person.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from prism_core import files
from prism_core.data.schema import schema_file
from prism_core.data.tables.raw_table import RawTable, from_frame
from prism_core.errors import ConfigError
from prism_core.samples import readmission, readmission_stays, scm
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pandas as pd

    from prism_core.data.schema.schema import Schema
    from prism_core.samples.additive_scm import Shift

TRAIN_FILE = "train.csv"
TEST_FILE = "test.csv"
SCHEMA_FILE = "schema.yaml"
DAG_FILE = "dag.json"
CONFIG_FILE = "config.toml"

_GENERATED = "generated rows: runs are rehearsals, nothing is charged"


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A table with everything a run needs.

    Attributes:
        name: how the sample is asked for.
        title: a short heading.
        description: two sentences for a curator.
        train: the rows that a run measures.
        test: the held-out rows; for a shift benchmark from the shifted distribution.
        schema: the declared domain.
        dag_json: the true graph as node-link JSON, every column a node.
        config_toml: a run description that refers to the files `write` makes.
        target: the column to predict.
        shift: what is different in `test`: nothing, the target's children no longer depend on
            it, or its parents' margins have moved.
    """

    name: str
    title: str
    description: str
    train: RawTable
    test: RawTable
    schema: Schema
    dag_json: str = field(repr=False)
    config_toml: str = field(repr=False)
    target: str
    shift: Shift = "none"


@dataclass(frozen=True, kw_only=True)
class _Recipe:
    title: str
    description: str
    tables: Callable[[np.random.Generator], tuple[pd.DataFrame, pd.DataFrame]]
    schema: Callable[[], Schema]
    edges: Callable[[], tuple[tuple[str, str], ...]]
    target: str
    seed: int
    rows: int
    shift: Shift = "none"


_RECIPES: dict[str, _Recipe] = {
    "readmission": _Recipe(
        title="Hospital readmission within 30 days",
        description="A generated table of hospital stays with 24 clinical columns, empty "
        "laboratory values and the graph that made it. Use it to see which columns cause a "
        "readmission and which, such as a later emergency visit, are only consequences of one.",
        tables=readmission.tables,
        schema=readmission.schema,
        edges=readmission.edges,
        target=readmission.TARGET,
        seed=2030,
        rows=20_000,
    ),
    "readmission_stays": _Recipe(
        title="Hospital stays of people who come back",
        description="Generated stays of 20,000 people, 1 to 12 stays each, of which up to three "
        "are used. Whether somebody comes back depends on earlier stays, so one stay of each "
        "person shows little of those who come back most.",
        tables=readmission_stays.tables,
        schema=readmission_stays.schema,
        edges=readmission_stays.edges,
        target=readmission_stays.TARGET,
        seed=2033,
        rows=20_000,
    ),
    "scm_spurious": _Recipe(
        title="Benchmark: effects stop predicting",
        description="Two causes, ten consequences and ten noise columns around one outcome, as in "
        "the paper. In the test rows the consequences say nothing any more, so only a table made "
        "for the causes still predicts.",
        tables=scm.spurious_tables,
        schema=scm.scm_schema,
        edges=scm.scm_edges,
        target=scm.TARGET,
        seed=2031,
        rows=5_000,
        shift="children",
    ),
    "scm_marginal": _Recipe(
        title="Benchmark: other people, same causes",
        description="The same graph, as in the paper, but in the test rows the two causes are "
        "higher than in training. The consequences still predict, so a table made for the whole "
        "Markov blanket does best.",
        tables=scm.marginal_tables,
        schema=scm.scm_schema,
        edges=scm.scm_edges,
        target=scm.TARGET,
        seed=2032,
        rows=5_000,
        shift="parents",
    ),
}

SAMPLES: tuple[str, ...] = ("readmission", "readmission_stays", "scm_spurious", "scm_marginal")


def load(name: str) -> Sample:
    """Generate a sample; the same name always gives the same rows.

    Raises:
        ConfigError: when there is no sample of that name.
    """
    recipe = _recipe(name)
    # From its seed alone, in one draw: the test rows follow the training rows in the stream.
    train, test = recipe.tables(np.random.default_rng(recipe.seed))
    schema = recipe.schema()
    return Sample(
        name=name,
        title=recipe.title,
        description=recipe.description,
        train=from_frame(train, TRAIN_FILE),
        test=from_frame(test, TEST_FILE),
        schema=schema,
        dag_json=dag_text(schema.names, recipe.edges()),
        config_toml=config_text(target=recipe.target, regime="causal", k=8, rows=recipe.rows),
        target=recipe.target,
        shift=recipe.shift,
    )


def _recipe(name: str) -> _Recipe:
    if name not in _RECIPES:
        raise ConfigError(
            f"There is no sample named {name!r}. Choose one of {', '.join(SAMPLES)}."
            f"{suggestion(name, SAMPLES)}",
            field="sample",
        )
    return _RECIPES[name]


def title(name: str) -> str:
    """The heading of a sample, without making its rows.

    Raises:
        ConfigError: when there is no sample of that name.
    """
    return _recipe(name).title


def description(name: str) -> str:
    """Two sentences for a curator, without making the sample's rows.

    Raises:
        ConfigError: when there is no sample of that name.
    """
    return _recipe(name).description


def fresh(name: str) -> RawTable:
    """Rows like a sample's training rows, but not those: for scoring without a shift.

    Raises:
        ConfigError: when there is no sample of that name.
    """
    recipe = _recipe(name)
    # A stream of its own: the same seed alone would give the training rows again.
    train, _ = recipe.tables(np.random.default_rng([recipe.seed, 1]))
    return from_frame(train, TEST_FILE)


def write(name: str, out: str | Path) -> tuple[Path, ...]:
    """Write a sample's files into the folder `out`, which is made when it does not exist.

    Returns:
        The paths of train.csv, test.csv, schema.yaml, dag.json and config.toml.

    Raises:
        ConfigError: when there is no sample of that name, or `out` cannot be written.
    """
    sample = load(name)
    return write_files(
        out,
        train=sample.train,
        test=sample.test,
        schema=sample.schema,
        dag_json=sample.dag_json,
        config_toml=sample.config_toml,
    )


def write_files(
    out: str | Path,
    *,
    train: RawTable,
    test: RawTable,
    schema: Schema,
    dag_json: str,
    config_toml: str,
) -> tuple[Path, ...]:
    """Write a table with its description as the five files a run refers to.

    Spends nothing; for public rows, which are written as they stand.

    Raises:
        ConfigError: when `out` cannot be written.
    """
    texts = {
        TRAIN_FILE: csv_text(train),
        TEST_FILE: csv_text(test),
        SCHEMA_FILE: schema_file.dumps(schema),
        DAG_FILE: dag_json,
        CONFIG_FILE: config_toml,
    }
    folder = Path(out)
    try:
        # As bytes: the same files on every system, without translated line ends.
        files.give_all(folder, {file: text.encode("utf-8") for file, text in texts.items()})
    except OSError:
        raise ConfigError(
            f"The folder {folder.name!r} cannot be written. Check the path and your permissions.",
            field="out",
        ) from None
    return tuple(folder / file for file in texts)


def csv_text(table: RawTable) -> str:
    """The table as CSV that `read_table` reads back to the same cells. Spends nothing."""
    # The line end of Unix on every system, so that a sample has the same bytes.
    return table.frame.to_csv(index=False, lineterminator="\n")


def dag_text(names: Iterable[str], edges: Iterable[tuple[str, str]]) -> str:
    """A graph as node-link JSON, one line a node or an edge.

    Args:
        names: all nodes, in the order of the columns.
        edges: (cause, effect) pairs.

    Raises:
        ConfigError: when an edge names no node, or the graph has a cycle.
    """
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    # Counted before the edges, which would add an unknown name as a node.
    count = len(graph)
    graph.add_edges_from(edges)
    if len(graph) != count or not nx.is_directed_acyclic_graph(graph):
        raise ConfigError("The graph of a sample must be acyclic and name columns only.")
    # One line each by hand, so that people can read and change the file.
    nodes = _lines([{"id": name} for name in graph.nodes])
    links = _lines([{"source": cause, "target": effect} for cause, effect in graph.edges])
    return (
        '{\n  "directed": true,\n  "multigraph": false,\n  "graph": {},\n'
        f'  "nodes": [\n{nodes}\n  ],\n  "edges": [\n{links}\n  ]\n}}\n'
    )


def _lines(entries: list[dict[str, Any]]) -> str:
    return ",\n".join(f"    {json.dumps(entry, ensure_ascii=False)}" for entry in entries)


def config_text(
    *,
    target: str,
    regime: str,
    k: int,
    rows: int,
    public: str = _GENERATED,
    one_row: str = "Every person is invented, and drawn apart from the others.",
) -> str:
    """A run description for the files that `write_files` makes.

    Args:
        target: the column to predict.
        regime: causal, graphical or predictive.
        k: number of features the predictive regime selects.
        rows: number of synthetic rows.
        public: why the rows are public, for the reader.
        one_row: who the people are, for the committee.
    """
    # People change the regime by replacing its line, so that line carries nothing else.
    return f"""\
[table]
train = "{TRAIN_FILE}"
holdout = "{TEST_FILE}"
schema = "{SCHEMA_FILE}"
dag = "{DAG_FILE}"
public = true            # {public}

[task]
target = {json.dumps(target)}
regime = "{regime}"
k = {k}                    # columns to select; unused when the graph decides

[budget]
epsilon = 1.0            # smaller is more private
accountant = "zcdp"
allocation = "balanced"

[synthesis]
model = "pgm"
sampling = "rounded"
rows = {rows:<17} # synthetic rows to draw

[statement]              # what a committee needs to be told; here invented, like the rows
organisation = "Example Hospital"
asset = "an invented table"
purpose = "show how a release is planned and approved"
benefit = "people learn the steps before they use their own records"
harm = "none: nobody is behind a row"
recipients = "whoever has this program"
legal_basis = "none needed for invented rows"
accountable = "whoever runs the example"
contact = "office@hospital.example"
one_row = {json.dumps(one_row)}
sensitive = "none"
threshold = "0.60"
alternatives = "None: it is an example."
rows_kept = "as long as you like"
ledger_kept = "public rows are not charged"
incident = "nothing can leak"
"""
