"""Stand-in rows: public tables that a rehearsal runs on in place of the private one."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core import files
from prism_core.data.coverage import check_covered
from prism_core.data.encoding import EncodedTable, encode, set_aside
from prism_core.data.schema import schema_file
from prism_core.errors import ConfigError, EvaluationError, PrismError, PrivacyError
from prism_core.evaluation.tstr.learners import labelled
from prism_core.evaluation.tstr.predictive import MAX_CLASSES
from prism_core.planning.search.rows_per_person import MEAN_ROWS
from prism_core.samples.additive_scm import (
    ODDS,
    SHIFTS,
    AdditiveScm,
    Edge,
    Shift,
    Strength,
    sparse_graph,
)
from prism_core.structure import formats
from prism_core.text import untrusted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from prism_core.data.schema.schema import Schema
    from prism_core.data.tables.raw_table import RawTable
    from prism_core.structure.dag import Dag

MOST_ROWS = 100_000
"""Training rows drawn at most. With fewer rows than the real table the same noise weighs more, so
a capped rehearsal is on the cautious side."""

HOLDOUT_ROWS = 5_000
"""Rows that a learner is scored on."""

_DOCUMENT, _CODES, _TRAIN = "stand_in.json", "stand_in.npz", "train"
_PERSON = ".person"  # behind the name of a table: whose its rows are

NEIGHBOURS = 8
"""Columns related to the target in the graph that is assumed where none is known."""


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """A public training table and what learners are scored on.

    Attributes:
        title: what the rows are, in a sentence.
        target: the column to be predicted.
        dag: the graph that plans may use; None when none is known.
        train: the rows that a run measures; public.
        holdouts: fresh rows by shift; always holds `none`.
        notes: sentences for the reader: what was capped, which shift is not defined and why.

    Raises:
        PrivacyError: when a table is not public.
        EvaluationError: when nothing can be learned or scored.
    """

    title: str
    target: str
    dag: Dag | None
    train: EncodedTable = field(repr=False)
    holdouts: Mapping[Shift, EncodedTable] = field(repr=False)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "holdouts", MappingProxyType(dict(self.holdouts)))
        tables = (self.train, *self.holdouts.values())
        if not all(table.public for table in tables):
            raise PrivacyError(
                "A rehearsal runs on public rows only: drawn, packaged or uploaded as public.",
                field="stand_in",
            )
        if "none" not in self.holdouts or any(t.schema != self.schema for t in tables):
            raise EvaluationError(
                "A stand-in needs holdout rows without a shift, in its own schema.",
                field="stand_in",
            )
        column = self.schema[self.target]
        if not 2 <= column.level_count <= MAX_CLASSES:
            raise EvaluationError(
                f"{self.target} must have between 2 and {MAX_CLASSES} levels to be predicted.",
                field="target",
            )
        for table in tables:
            if len(np.unique(labelled(table, self.target).column(self.target))) < 2:
                raise EvaluationError(
                    f"The stand-in rows show a single class of {self.target}, so nothing can be "
                    "learned or scored. Choose other rows, or another seed.",
                    field="stand_in",
                )

    @property
    def schema(self) -> Schema:
        """The declared domain."""
        return self.train.schema

    @property
    def shifts(self) -> tuple[Shift, ...]:
        """The shifts that are defined for these rows."""
        return tuple(self.holdouts)

    @cached_property
    def hash(self) -> str:
        """SHA-256 of everything that a run could see."""
        document = {
            "schema": schema_file.to_dict(self.schema),
            "target": self.target,
            "edges": None if self.dag is None else sorted(self.dag.edges),
            # What learning a graph cost is deducted from the plan: its noise is another one.
            "graph": None if self.dag is None else self.dag.provenance,
            "spent": None
            if self.dag is None or self.dag.prior is None
            else self.dag.prior.to_dict(),
        }
        digest = hashlib.sha256(json.dumps(document, sort_keys=True, default=list).encode())
        for name, table in (("train", self.train), *sorted(self.holdouts.items())):
            digest.update(f"{name} {table.codes.shape}".encode())
            # In one order of memory, whichever the codes are held in.
            digest.update(np.ascontiguousarray(table.codes).tobytes())
        return digest.hexdigest()


def save(stand_in: StandIn, folder: Path) -> None:
    """Write a stand-in for another process, into a folder that exists."""
    document = {
        "title": stand_in.title,
        "target": stand_in.target,
        "notes": list(stand_in.notes),
        "schema": schema_file.dumps(stand_in.schema),
        "dag": None if stand_in.dag is None else formats.write(stand_in.dag, "node-link"),
    }
    # No sync: rows that go with the power are drawn or read again.
    files.replace(folder / _DOCUMENT, json.dumps(document).encode(), sync=False)
    tables = {_TRAIN: stand_in.train, **stand_in.holdouts}
    codes: dict[str, Any] = {name: table.codes for name, table in tables.items()}
    codes |= {
        f"{name}{_PERSON}": table.person
        for name, table in tables.items()
        if table.person is not None
    }
    # In memory first: the file is then replaced as a whole.
    content = io.BytesIO()
    np.savez(content, **codes)
    files.replace(folder / _CODES, content.getvalue(), sync=False)


def load(folder: Path) -> StandIn:
    """The stand-in that `save` wrote.

    Raises:
        ConfigError: when a file of it is gone, damaged or cut short.
    """
    try:
        return _loaded(folder)
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        EOFError,
        PrismError,
        zipfile.BadZipFile,
        zlib.error,
        # zipfile raises these two for a compression it does not know and for an encrypted member.
        NotImplementedError,
        RuntimeError,
    ):
        raise ConfigError(
            "The rows of this rehearsal cannot be read: a file is gone or damaged. Choose the "
            "stand-in rows again.",
            field="stand_in",
        ) from None


def _loaded(folder: Path) -> StandIn:
    text = untrusted.text_of(folder / _DOCUMENT, untrusted.STAND_IN)
    document = untrusted.from_json(text, untrusted.STAND_IN)
    schema = schema_file.loads(document["schema"])
    dag = None if document["dag"] is None else formats.parse(document["dag"]).dag
    with (
        (folder / _CODES).open("rb") as file,  # numpy leaves it open where it is no archive
        # No pickle: loading one runs code from the file.
        np.load(file, allow_pickle=False) as codes,
    ):
        people = {
            name.removesuffix(_PERSON): codes[name] for name in codes if name.endswith(_PERSON)
        }
        tables = {
            name: EncodedTable(
                schema=schema, codes=codes[name], public=True, person=people.get(name)
            )
            for name in codes
            if not name.endswith(_PERSON)
        }
    train = tables.pop(_TRAIN)
    return StandIn(
        title=document["title"],
        target=document["target"],
        notes=tuple(document["notes"]),
        dag=dag,
        train=train,
        holdouts={shift: tables[shift] for shift in SHIFTS if shift in tables},
    )


def people_of(people: int, max_rows: int, mean: float = MEAN_ROWS) -> NDArray[np.int64] | None:
    """Whose each row is, of invented people with several rows; None where each has one.

    The distribution is declared and no draw: as many people have 1, 2, ... rows as the geometric
    law says, cut at `max_rows`.
    """
    if max_rows == 1:
        return None
    more = (mean - 1.0) / mean  # chance of another row
    # Midpoints of equal parts of (0, 1): the law's quantiles, with nothing drawn.
    ranks = (np.arange(people) + 0.5) / people
    kept = 1 + np.floor(np.log(ranks) / np.log(more)).astype(np.int64)
    return np.repeat(np.arange(people), np.minimum(kept, max_rows))


def from_graph(
    schema: Schema,
    target: str,
    n: int,
    dag: Dag | None = None,
    *,
    strength: Strength = "medium",
    strengths: Mapping[Edge, Strength] | None = None,
    seed: int = 0,
    holdout: int = HOLDOUT_ROWS,
) -> StandIn:
    """Rows drawn from the graph and the declared domain alone; see `samples.additive_scm`.

    Args:
        schema: the declared domain.
        target: Y.
        n: rows to draw, `MOST_ROWS` at most.
        dag: the graph; a random sparse one when None.
        strength: of the edges.
        strengths: of single edges.
        seed: of the made-up world and its rows.
        holdout: rows to score on.
    """
    schema = schema.without_looks()
    notes: list[str] = []
    rows = min(n, MOST_ROWS)
    if rows < n:
        notes.append(
            f"{rows:,} rows are drawn in place of {n:,}: the noise weighs {n / rows:.3g} times as "
            "much as it would, so the real table will do better."
        )
    if dag is None:
        notes.append(
            f"No graph is known, so a random sparse one stands in: {target} has up to "
            f"{NEIGHBOURS} related columns, half of them causes and half effects."
        )
    drawn = dag or sparse_graph(schema, target, NEIGHBOURS, seed)
    world = AdditiveScm(
        schema=schema,
        dag=drawn,
        target=target,
        strength=strength,
        strengths=strengths or {},
        seed=seed,
    )
    linked: dict[Shift, tuple[str, ...]] = {
        "children": world.dag.children(target),
        "parents": world.dag.parents(target),
    }
    shifts: list[Shift] = ["none", *(shift for shift, names in linked.items() if names)]
    notes += [
        f"{target} has no {shift} in the graph, so that shift is not defined."
        for shift, names in linked.items()
        if not names
    ]
    # A stream of its own: graph and world come from others of this seed.
    rng = np.random.default_rng([seed, 1])

    def drawn_rows(people: int, shift: Shift = "none") -> EncodedTable:
        person = people_of(people, schema.max_rows)
        many = people if person is None else len(person)
        codes = world.draw(many, rng, shift)
        return EncodedTable(schema=schema, codes=codes, public=True, person=person)

    train = drawn_rows(rows)
    holdouts: dict[Shift, EncodedTable] = {shift: drawn_rows(holdout, shift) for shift in shifts}
    if train.person is not None:
        notes.append(
            f"The {rows:,} persons have {train.n:,} rows together, by an invented distribution "
            f"({MEAN_ROWS:g} on average before max_rows); rows of one person are as unlike as "
            "those of two."
        )
    return StandIn(
        title=f"{rows:,} invented rows drawn from the {'graph' if dag else 'assumed graph'} "
        f"(assumed: a cause multiplies the odds by {ODDS[strength]:g}"
        f"{', or as entered' if strengths else ''})",
        target=target,
        dag=dag,
        train=train,
        notes=tuple(notes),
        holdouts=holdouts,
    )


def from_sample(name: str) -> StandIn:
    """The rows of a packaged sample, with its own columns, graph and target.

    Raises:
        ConfigError: when there is no sample of that name.
    """
    from prism_core.samples import catalogue

    sample = catalogue.load(name)
    tests: dict[Shift, RawTable] = {sample.shift: sample.test}
    if sample.shift != "none":
        tests = {"none": catalogue.fresh(name), **tests}
    rng = np.random.default_rng(0)  # chooses the rows of a person, where there are several
    holdouts: dict[Shift, EncodedTable] = {
        shift: encode(sample.schema, raw, public=True, rng=rng) for shift, raw in tests.items()
    }
    undefined = [shift for shift in ("children", "parents") if shift not in holdouts]
    return StandIn(
        title=f"the packaged sample “{sample.title}” ({sample.train.rows:,} generated rows)",
        target=sample.target,
        dag=formats.parse(sample.dag_json).dag,
        train=encode(sample.schema, sample.train, public=True, rng=rng),
        holdouts=holdouts,
        notes=(f"The sample does not come with this shift: {', '.join(undefined)}.",),
    )


def from_rows(
    schema: Schema, target: str, raw: RawTable, dag: Dag | None = None, *, seed: int = 0
) -> StandIn:
    """Rows of a public file of the same layout, a fifth of them kept aside (5,000 at most).

    Spends nothing: the rows are public; the private table is not among the arguments.

    Args:
        schema: the declared domain, in which the file is encoded.
        target: Y.
        raw: the public rows; every row counts, a person-ID column is not looked at.
        dag: the graph that plans may use.
        seed: of the cut.

    Raises:
        TableError: when a declared column is missing or there are too few rows, or when the
            declaration cannot be meant for these (`data.coverage`).
    """
    schema = schema.without_looks()
    check_covered(schema, raw)
    table = encode(schema.without_person(), raw, public=True)
    # Each row as another person: nobody says whose the rows of a file are.
    person = None if schema.contribution.single else np.arange(table.n)
    table = EncodedTable(schema=schema, codes=table.codes, public=True, person=person)
    kept = min(HOLDOUT_ROWS, max(1, table.n // 5))
    rng = np.random.default_rng(seed)
    if table.n > MOST_ROWS + kept:
        table = table.take(rng.permutation(table.n)[: MOST_ROWS + kept])
    train, holdout = set_aside(table, kept, rng)
    return StandIn(
        title=f"{train.n:,} rows of the public file {raw.name!r}, which may be of real people",
        target=target,
        dag=dag,
        train=train,
        holdouts={"none": holdout},
        notes=("Nobody knows the mechanisms behind a file, so no shift is defined for it.",),
    )
