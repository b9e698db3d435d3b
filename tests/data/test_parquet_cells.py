"""Parquet files whose cells are unusual: none of them ends the reading."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prism_core.data.tables.raw_table import read_table


def _texts(raw: bytes) -> pa.Array:
    """A text of these bytes, whatever they are, and a plain one."""
    cells = pa.array([raw, b"plain"], pa.binary())
    return pa.StringArray.from_buffers(2, cells.buffers()[1], cells.buffers()[2])


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        (_texts(b"\xff\xfe"), ["\ufffd\ufffd", "plain"]),
        (pa.array([1, 86_400_000_000]).cast(pa.time64("us")), ["00:00:00.000001", "24:00:00"]),
        (pa.array([1, 86_400_000]).view(pa.date64()), ["1970-01-01", "1970-01-02"]),
        (pa.array([2**62, 0]).cast(pa.timestamp("us")), ["", "1970-01-01"]),
    ],
    ids=["no Unicode", "midnight at the end", "a part of a day", "a far moment"],
)
def test_a_cell_is_read_for_itself(tmp_path, cells, texts):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"v": cells, "w": ["a", "b"]}), path)
    found = read_table(path)
    assert list(found.column("v")) == texts
    assert list(found.column("w")) == ["a", "b"]
