"""Counts on a worker: what counts a partition of rows where the rows are, batch by batch.

A worker need not have this package. So each function here is made by another one, and travels as
code with what it was made of; it imports NumPy and PyArrow itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from prism_core.data.engines.coded_query import KEPT, TURN
from prism_core.data.engines.grouping import ALL, MODULUS, TALLY, CountQuery
from prism_core.data.engines.pushdown import HOME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


Batches: TypeAlias = "Iterator[pa.RecordBatch]"

ANSWER = "part int, cell bigint, rows_here bigint, mark bigint, people bigint"
"""Columns of what `counter` gives, in Spark's words."""

MOST_CELLS = 100_000
"""Different cells of a column that a worker keeps."""

_UNTOLD = -2


def counter(query: CountQuery) -> Callable[[Batches], Batches]:
    """What counts a partition of coded rows.

    Returns:
        A function from batches of `CodedQuery.rows` to batches of part, cell, count, mark and
        people, as `grouping.count_sql` gives them for all rows.
    """
    sizes, wide, cells, weights = query.sizes, query.wide, query.cells, query.weights
    modulus, untold, codes_of, answer = MODULUS, _UNTOLD, _code_reader(query), _answer_writer()
    weights_of, heads_of = _weight_reader(query), _head_reader(query)

    def count(batches: Batches) -> Batches:
        import numpy as np

        # One place more, for rows with a cell that nobody was told of.
        tables = [np.zeros(size + 1, dtype=np.int64) for size in cells]
        people, mark = 0, 0
        for batch in batches:
            people += heads_of(batch)
            codes, each = codes_of(batch), weights_of(batch)
            lost = np.zeros(batch.num_rows, dtype=bool)
            line = np.ones(batch.num_rows, dtype=np.int64)
            for code, weight in zip(codes, weights, strict=True):
                lost |= code == untold
                line += code * weight
            rest = line % modulus
            mark += int((rest * rest % modulus).sum())
            for table, clique, size in zip(tables, wide, cells, strict=True):
                flat = np.zeros(batch.num_rows, dtype=np.int64)
                for place in clique:
                    flat = flat * sizes[place] + codes[place]
                flat[lost] = size
                # A large table is not gone through for each batch.
                if each is None:
                    cell, here = np.unique(flat, return_counts=True)
                    table[cell] += here
                else:
                    np.add.at(table, flat, each)
        yield from answer(tables, people, mark)

    return count


def _code_reader(query: CountQuery) -> Callable[[pa.RecordBatch], list[NDArray[np.int64]]]:
    """What gives the codes of a batch by column; `_UNTOLD` for a cell that nobody was told of."""
    homes, missing, home, untold = query.coded.homes, query.missing, HOME, _UNTOLD
    told = {name: (table["cell"], table["code"].to_numpy()) for name, table in query.told.items()}

    def codes_of(batch: pa.RecordBatch) -> list[NDArray[np.int64]]:
        import numpy as np
        import pyarrow.compute as pc

        found = []
        for place, names in enumerate(homes):
            codes = batch.column(f"c{place}").to_numpy(zero_copy_only=False).astype(np.int64)
            found.append(codes)
            away = codes == home
            # A row with a cell in none of the outputs has none; what the others hold follows below.
            codes[away] = missing[place]
            for name in names if away.any() else ():
                there = away & np.asarray(batch.column(name).is_valid())
                codes[there] = untold
                if name in told:
                    cells, values = told[name]
                    options = pc.SetLookupOptions(value_set=cells)
                    place_of = pc.call_function("index_in", [batch.column(name)], options)
                    index = place_of.fill_null(-1).to_numpy(zero_copy_only=False)
                    met = there & (index >= 0)
                    codes[met] = values[index[met]]
        return found

    return codes_of


def _weight_reader(
    query: CountQuery,
) -> Callable[[pa.RecordBatch], NDArray[np.int64] | None]:
    """What gives what each row of a batch counts; None where that is 1."""
    bound, kept = query.contribution, KEPT
    shares = [bound.weight(many) for many in range(1, bound.max_rows + 1)]
    shared = bound.shared

    def weights_of(batch: pa.RecordBatch) -> NDArray[np.int64] | None:
        import numpy as np

        if not shared:
            return None
        held = batch.column(kept).to_numpy(zero_copy_only=False)
        return np.array(shares, dtype=np.int64)[held - 1]

    return weights_of


def _head_reader(query: CountQuery) -> Callable[[pa.RecordBatch], int]:
    """What gives how many persons have their first row in a batch."""
    single, turn = query.contribution.single, TURN

    def heads_of(batch: pa.RecordBatch) -> int:
        if single:
            return batch.num_rows
        return int((batch.column(turn).to_numpy(zero_copy_only=False) == 0).sum())

    return heads_of


def _answer_writer() -> Callable[[list[NDArray[np.int64]], int, int], Batches]:
    """What makes the batches of an answer."""
    every = ALL

    def answer(tables: list[NDArray[np.int64]], people: int, mark: int) -> Batches:
        import numpy as np
        import pyarrow as pa

        def batch(
            part: int, cell: pa.Array, count: NDArray[np.int64], mark: int = 0, people: int = 0
        ) -> pa.RecordBatch:
            return pa.RecordBatch.from_arrays(
                [
                    pa.array(np.full(len(count), part, dtype=np.int32)),
                    cell,
                    pa.array(count, pa.int64()),
                    pa.array(np.full(len(count), mark, dtype=np.int64)),
                    pa.array(np.full(len(count), people, dtype=np.int64)),
                ],
                ["part", "cell", "rows_here", "mark", "people"],
            )

        for part, table in enumerate(tables):
            cell = np.flatnonzero(table)
            # The last place is that of the rows without a cell.
            places = pa.array(cell, pa.int64(), mask=cell == len(table) - 1)
            yield batch(part, places, table[cell])
        yield batch(every, pa.array([0], pa.int64()), np.array([0]), mark, people)

    return answer


def tally(most: int = MOST_CELLS) -> Callable[[Batches], Batches]:
    """What counts the different cells of every column of a partition.

    Args:
        most: cells of a column that are kept; with more, what was counted is given out.

    Returns:
        A function from batches to batches of the same columns and `grouping.TALLY`; of a row all
        but one of the columns are null.
    """
    title = TALLY

    def counted(batches: Batches) -> Batches:
        import pyarrow as pa

        found: dict[str, pa.Table] = {}
        schema = pa.schema([])

        def answer(name: str) -> Batches:
            whole = schema.append(pa.field(title, pa.int64()))
            for part in found.pop(name).to_batches():
                cells, rows = part.column("cell"), part.column("rows_sum")
                arrays = [cells if f.name == name else pa.nulls(len(rows), f.type) for f in schema]
                yield pa.RecordBatch.from_arrays([*arrays, rows], schema=whole)

        for batch in batches:
            schema = batch.schema
            for name in schema.names:
                # Added up batch by batch: all cells of a partition may be more than a worker holds.
                new = batch.column(name).drop_null().value_counts()
                parts = [pa.table({"cell": new.field("values"), "rows": new.field("counts")})]
                if name in found:
                    parts.append(found[name].rename_columns(["cell", "rows"]))
                found[name] = pa.concat_tables(parts).group_by("cell").aggregate([("rows", "sum")])
                if len(found[name]) > most:
                    yield from answer(name)
        for name in list(found):
            yield from answer(name)

    return counted
