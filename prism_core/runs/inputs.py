"""Inputs of a run: from a configuration or a run's folder to schema, graph, rows and plan."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.coverage import check_covered
from prism_core.data.encoding import EncodedTable, encode, set_aside
from prism_core.data.engines.coded_query import many_come_home
from prism_core.data.engines.engine import CountingEngine
from prism_core.data.engines.engine_table import one_scan
from prism_core.data.engines.stored_table import MOST_ROWS, StoredTable
from prism_core.data.schema import schema_file
from prism_core.data.table_identity import check_public, remember_private
from prism_core.data.tables.address import Address, parse, split_sheet
from prism_core.data.tables.header import check_columns
from prism_core.data.tables.raw_table import RawTable, read_table
from prism_core.errors import PrivacyError, TableError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.structure import formats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.schema.schema import Schema
    from prism_core.data.source import Rows
    from prism_core.planning.asked_marginals import AskedMarginals
    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.config import RunConfig
    from prism_core.privacy.ledger import Ledger
    from prism_core.structure.dag import Dag


IN_MEMORY = 256 * 2**20
"""Files of more bytes than this are not read into memory."""

EVALUATED = 1_000_000
"""Most rows of a large table that an evaluation draws into memory."""


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """What a run starts from.

    Attributes:
        schema, dag: public.
        raw: the private rows: as text, or behind a database.
        n: number of training rows or declared persons; public.
    """

    schema: Schema
    dag: Dag | None
    raw: RawTable | BigTable = field(repr=False)
    n: int


def gather(config: RunConfig, workspace: Path | None = None, *, graph: bool = True) -> Inputs:
    """Read the files that a configuration names. Spends nothing.

    A table that is not read into memory is opened and its rows are counted; n is public.

    Args:
        config: the configuration.
        workspace: where temporary files may stand; by default the ledger's folder.
        graph: whether to read the graph; a step that is to learn one does without.
    """
    schema = schema_file.load(config.table.schema)
    dag = formats.read(config.table.dag) if graph and config.table.dag is not None else None
    raw = configured_rows(config, config.table.train, workspace, columns=schema.header)
    # Where persons are declared they are who is protected and counted; else each row is a person.
    return Inputs(schema=schema, dag=dag, raw=raw, n=schema.persons or raw.rows)


def check_claim(config: RunConfig, raw: RawTable | BigTable, workspace: Path | None = None) -> None:
    """Refuse rows that the configuration calls public and the workspace knows as private.

    Spends nothing; the answer depends on the rows, see `table_identity`.

    Raises:
        KnownPrivateError: unless the configuration says `although_charged`.
    """
    if config.table.public and not config.table.although_charged:
        check_public(raw, workspace=workspace)


def configured_rows(
    config: RunConfig,
    place: Path | Address,
    workspace: Path | None = None,
    *,
    columns: Sequence[str],
) -> RawTable | BigTable:
    """Open one of the configuration's tables, as `open_rows` does.

    Args:
        config: says how a file is written, and whether its rows are public.
        place: where the table stands.
        workspace: for temporary files, and whose memory of charged rows is asked; by default the
            ledger's folder.
        columns: declared names that its header must hold.

    Raises:
        TableError: for a table that cannot be read, or lacks a declared column.
        KnownPrivateError: for rows that are called public; see `check_claim`.
    """
    raw = open_rows(
        place,
        workspace,
        columns=columns,
        separator=config.table.separator,
        encoding=config.table.encoding,
    )
    check_claim(config, raw, workspace)
    return raw


def fits_memory(place: Path | Address) -> bool:
    """Whether a table is read into memory: a single file of moderate size."""
    if not isinstance(place, Path):
        return False
    file, _ = split_sheet(place)
    # A file that is missing takes this way, too: `read_table` has the words for it.
    return not file.is_file() or file.stat().st_size <= IN_MEMORY


def open_rows(
    place: Path | Address,
    workspace: Path | None = None,
    *,
    columns: Sequence[str] = (),
    separator: str = ",",
    encoding: str = "utf-8",
) -> RawTable | BigTable:
    """Open a table: a file of moderate size in memory, all else behind a database.

    Args:
        place: a file (of a workbook with `#` and a sheet behind it), or the address of a table.
        workspace: where temporary files may stand; by default the ledger's folder.
        columns: declared names that its header must hold, where there is a declaration: looked at
            before anything else, so that a file without a header is not taken for one row less.
        separator: the separator of a CSV.
        encoding: its text encoding.

    Raises:
        TableError: when it cannot be read, or lacks a declared column.
    """
    if isinstance(place, Path):
        if fits_memory(place):
            raw = read_table(place, separator=separator, encoding=encoding)
            check_columns(columns, raw.header, raw.name)
            return raw
        place = Address("file", str(place))
    from prism_core.data.engines.out_of_core import open_table
    from prism_core.privacy.ledger.ledger import default_workspace

    # In the workspace, for this user only, and not in a shared temporary folder.
    folder = default_workspace() if workspace is None else workspace
    big = open_table(place, folder, separator=separator, encoding=encoding)
    try:
        check_columns(columns, big.header, big.name)
    except TableError:
        # Its temporary files hold private rows and would stay behind.
        big.close()
        raise
    return big


def address(text: str) -> Path | Address:
    """A path, or the address of a table that is no single file.

    Raises:
        TableError: for a URL that is not one of a table.
    """
    return parse(text).opened


def plan_for(config: RunConfig, inputs: Inputs) -> Plan:
    """The plan of a configuration; no row is read but to count them. Spends nothing."""
    return design(
        Brief(
            inputs.schema,
            config.task,
            config.budget,
            inputs.n,
            dag=inputs.dag,
            synthesis=config.synthesis,
        )
    )


def some_rows(raw: RawTable | BigTable, rows: int = 100_000) -> RawTable:
    """Rows as text for what the curator asks for on screen; of a large table the first ones.

    Spends nothing: the rows are private.
    """
    return raw if isinstance(raw, RawTable) else raw.some(rows)


def people(raw: RawTable | BigTable, person_id: str) -> int:
    """Number of different IDs of a person-ID column; public, like the number of rows.

    Spends nothing.
    """
    if isinstance(raw, RawTable):
        return int(raw.column(person_id).nunique())
    return raw.people(person_id)


def split(table: Rows, rows: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Training and holdout rows, in memory or in files; see `data.encoding.set_aside`.

    Spends nothing: both parts are as private as the table.
    """
    if isinstance(table, EncodedTable):
        return set_aside(table, rows, rng)
    assert isinstance(table, StoredTable), "rows that came home"
    return table.set_aside(rows, rng)


def in_memory(table: Rows, rng: np.random.Generator) -> EncodedTable:
    """The rows for an evaluation; of a stored table at most `EVALUATED`, drawn uniformly.

    Spends nothing: the codes are as private as the rows.
    """
    if isinstance(table, EncodedTable):
        return table
    assert isinstance(table, StoredTable), "rows that came home"
    return table.sample(EVALUATED, rng)


def ready(
    schema: Schema,
    raw: RawTable | BigTable,
    *,
    public: bool,
    rng: np.random.Generator,
    asked: AskedMarginals | None = None,
) -> Rows:
    """The rows ready to be measured: as codes, here or in private files, or where they stand.

    Spends nothing. Where it is known which marginals will be asked for, a database counts them
    itself, here: a database that fails later costs nothing, as no row is read after the charge.
    Only a table with more rows than can be kept at home is asked again, for what private choices
    decide on.

    Args:
        schema: the declared domain.
        raw: the rows.
        public: whether they are public.
        rng: draws the row of a person, in memory.
        asked: what a release asks for; None where the rows themselves are needed.

    Raises:
        TableError: for public rows that the declaration cannot be meant for (`data.coverage`); of a
            large table the first ones are looked at. Of private rows nothing is looked at.
    """
    # Whether private rows fit is for the curator to ask; an error would tell about them.
    if public:
        check_covered(schema, some_rows(raw))
    if isinstance(raw, RawTable):
        return encode_rows(schema, raw, public=public, rng=rng)
    if asked is not None and _counts_itself(schema, raw, asked):
        table = raw.counted_there(schema, public=public)
        table.prefetch(asked.cliques)
        return table
    return raw.store(schema, public=public)


def _counts_itself(schema: Schema, raw: BigTable, asked: AskedMarginals) -> bool:
    """Whether a database counts all that is asked for; by public facts alone."""
    if asked.rows or not isinstance(raw.engine, CountingEngine):
        return False
    # More than can be kept at home, whatever is asked for.
    if raw.rows > MOST_ROWS:
        return True
    # Different levels are few, whatever stands in the rows; different numbers may fill the memory.
    few = not many_come_home(raw.engine.tables, schema)
    return few and asked.complete and one_scan(schema, asked.cliques)


def encode_rows(
    schema: Schema, raw: RawTable, *, public: bool, rng: np.random.Generator
) -> EncodedTable:
    """The rows as codes, with a person-ID column up to max_rows per person. Spends nothing."""
    table = encode(schema, raw, public=public, rng=rng)
    if schema.persons is not None and table.people != schema.persons:
        raise PrivacyError(
            f"The schema declares {schema.persons:,} persons and the person-ID column holds "
            "another number. Correct the declared number.",
            field="persons",
        )
    return table


def recognise(
    ledger: Ledger,
    asset: str,
    schema: Schema,
    raw: RawTable | BigTable,
    table: Rows,
    plan: str = "",
) -> str:
    """A warning for the curator's screen when these rows were charged under another name, or "".

    They are remembered, too, for when a charge of the plan stands, as what does not pass for public
    later (`table_identity`). Under another name only tables in memory are recognised. Spends
    nothing: what is remembered of the rows stays in the workspace. Show the warning to the curator,
    and let nothing else depend on it.

    Args:
        ledger: the workspace's ledger.
        asset: the name they are to be charged under.
        schema: the declared domain.
        raw: all rows of the file.
        table: the same, encoded; with a person-ID column one random row per person.
        plan: SHA-256 of the plan that is to be charged; "" counts at once.
    """
    remember_private(ledger, asset, raw, plan)
    return known_elsewhere(ledger, asset, schema, raw, table, plan)


def known_elsewhere(
    ledger: Ledger,
    asset: str,
    schema: Schema,
    raw: RawTable | BigTable,
    table: Rows,
    plan: str = "",
) -> str:
    """The warning of `recognise` alone, for rows that are remembered already. Spends nothing."""
    if not (isinstance(raw, RawTable) and isinstance(table, EncodedTable)):
        return ""
    if schema.person_id is not None:  # the draw would make the same file look new every time
        table = encode(schema.without_person(), raw)
    return ledger.recognise(asset, table, plan)


def encode_holdout(
    schema: Schema, raw: RawTable | BigTable, *, rng: np.random.Generator, public: bool = False
) -> EncodedTable:
    """Real rows for evaluation; there may be fewer persons than the schema declares.

    Of a large table at most `EVALUATED` rows, drawn uniformly by its database; the same ones for
    the same state of `rng`. Spends nothing: the codes are as
    private as the rows.

    Raises:
        TableError: for public rows that the declaration cannot be meant for; see `ready`.
    """
    if public:
        # Public rows alone: of private ones an error would tell, see `ready`.
        check_covered(schema, some_rows(raw))
    if not isinstance(raw, RawTable):
        draws = schema.person_id is not None or raw.rows > EVALUATED
        return raw.draw(schema, EVALUATED, _draw_key(rng) if draws else "", public=public)
    return encode(schema, raw, public=public, rng=rng)


def _draw_key(rng: np.random.Generator) -> str:
    """A key for a database's draw; the same for the same state of the generator.

    Hashed, because the database is told it, and it must say nothing of the generator's seed.
    """
    return hashlib.sha256(rng.bytes(32)).hexdigest()[:32]


def generator(seed: int) -> np.random.Generator:
    """A generator that anyone who knows the seed can repeat; for public rows only."""
    return np.random.default_rng(seed)


def fresh_rng() -> np.random.Generator:
    """A generator that nobody can predict, seeded by the operating system."""
    return np.random.default_rng(secrets.randbits(256))
