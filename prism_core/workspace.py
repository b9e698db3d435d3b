"""From a configuration to the values a run needs: schema, graph, rows, plan."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data import schema_io
from prism_core.data.encoding import EncodedTable, encode
from prism_core.data.tables import RawTable, read_table
from prism_core.errors import PrivacyError
from prism_core.planning.design import design
from prism_core.structure import formats

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.config import RunConfig
    from prism_core.data.schema import Schema
    from prism_core.planning.plan import Plan
    from prism_core.privacy.ledger import Ledger
    from prism_core.structure.dag import Dag


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """What a run starts from.

    Attributes:
        schema, dag: public.
        raw: the private rows as text.
        n: number of training rows or declared persons; public.
    """

    schema: Schema
    dag: Dag | None
    raw: RawTable = field(repr=False)
    n: int


def gather(config: RunConfig) -> Inputs:
    """Read the files that a configuration names. Spends nothing."""
    schema = schema_io.load(config.table.schema)
    dag = None if config.table.dag is None else formats.read(config.table.dag)
    raw = read_rows(config, config.table.train)
    return Inputs(schema=schema, dag=dag, raw=raw, n=schema.persons or raw.rows)


def read_rows(config: RunConfig, path: Path) -> RawTable:
    """Rows of one of the configuration's files."""
    return read_table(path, separator=config.table.separator, encoding=config.table.encoding)


def plan_for(config: RunConfig, inputs: Inputs) -> Plan:
    """The plan of a configuration; no row is read but to count them. Spends nothing."""
    return design(
        inputs.schema, config.task, config.budget, inputs.n,
        dag=inputs.dag, synthesis=config.synthesis,
    )  # fmt: skip


def encode_rows(
    schema: Schema, raw: RawTable, *, public: bool, rng: np.random.Generator
) -> EncodedTable:
    """The rows as codes, with a person-ID column one row per person. Spends nothing."""
    table = encode(schema, raw, public=public, rng=rng)
    if schema.persons is not None and table.n != schema.persons:
        raise PrivacyError(
            f"The schema declares {schema.persons:,} persons and the person-ID column holds "
            "another number. Correct the declared number.",
            field="persons",
        )
    return table


def recognise(
    ledger: Ledger, asset: str, schema: Schema, raw: RawTable, table: EncodedTable
) -> str:
    """A warning for the curator's screen when these rows were charged under another name, or "".

    Spends nothing: what is remembered of the rows stays in the workspace. Show the warning to
    the curator, and let nothing else depend on it.

    Args:
        ledger: the workspace's ledger.
        asset: the name they are to be charged under.
        schema: the declared domain.
        raw: all rows of the file.
        table: the same, encoded; with a person-ID column one random row per person.
    """
    if schema.person_id is not None:  # the draw would make the same file look new every time
        table = encode(replace(schema, person_id=None, persons=None, one_row_per_person=True), raw)
    return ledger.recognise(asset, table)


def encode_holdout(schema: Schema, raw: RawTable, *, rng: np.random.Generator) -> EncodedTable:
    """Real rows for evaluation; there may be fewer persons than the schema declares.

    Spends nothing: the codes are as private as the rows.
    """
    return encode(schema, raw, public=False, rng=rng)


def encode_synthetic(schema: Schema, raw: RawTable) -> EncodedTable:
    """Synthetic rows as codes; no person stands behind them, so there is no person ID.

    Spends nothing: a release paid for them already.
    """
    plain = replace(schema, person_id=None, persons=None, one_row_per_person=True)
    return encode(plain, raw, public=True)


def fresh_rng() -> np.random.Generator:
    """A generator that nobody can predict, seeded by the operating system."""
    return np.random.default_rng(secrets.randbits(256))
