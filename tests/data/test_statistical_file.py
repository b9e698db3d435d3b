"""Rows of SPSS, Stata and SAS: codes as they are stored, dates by their format, cell by cell."""

from __future__ import annotations

import io
import struct
import traceback

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_core.data.engines.parquet_copies import texts_as_parquet
from prism_core.data.tables import statistical_head
from prism_core.data.tables.raw_table import read_table
from prism_core.data.tables.statistical_file import program_of, read_statistical
from prism_core.data.tables.statistical_texts import display, number_texts
from prism_core.errors import TableError
from tests.support.tables import CANARY

KINDS = ("sav", "zsav", "dta", "xpt")


def written(folder, frame: pd.DataFrame, kind: str, **more: object) -> bytes:
    path = folder / f"t.{kind}"
    write = {
        "sav": pyreadstat.write_sav,
        "zsav": lambda *rest, **options: pyreadstat.write_sav(*rest, compress=True, **options),
        "dta": pyreadstat.write_dta,
        "xpt": pyreadstat.write_xport,
    }[kind]
    write(frame, path, **more)
    return path.read_bytes()


def cells(content: bytes, **style: str) -> dict[str, list[str]]:
    return read_table(content, name="t", **style).frame.to_dict("list")


@pytest.mark.parametrize("kind", KINDS)
def test_cells_are_codes_as_they_are_stored(kind, tmp_path):
    frame = pd.DataFrame(
        {
            "code": [1.0, 2.0, np.nan, 9.0],
            "dose": [0.1, -2.5, 1e20, 3.0],
            "word": ["01", "é ", "", "  x"],
        }
    )
    more = {} if kind == "xpt" else {"variable_value_labels": {"code": {1: "one", 9: "refused"}}}
    if kind in ("sav", "zsav"):
        more["missing_ranges"] = {"code": [9]}
    assert cells(written(tmp_path, frame, kind, **more)) == {
        "code": ["1", "2", "", "9"],
        "dose": ["0.1", "-2.5", "1e+20", "3"],
        "word": ["01", "é", "", "  x"]
        if kind != "xpt"
        else ["01", "é".encode().decode("cp1252"), "", "  x"],
    }


def test_extended_missing_values_are_texts(tmp_path):
    frame = pd.DataFrame({"a": [1, "a", "z", None], "b": [0.5, 1.5, "k", 2.5]})
    content = written(tmp_path, frame, "dta", missing_user_values={"a": ["a", "z"], "b": ["k"]})
    assert cells(content) == {"a": ["1", ".a", ".z", ""], "b": ["0.5", "1.5", ".k", "2.5"]}


def test_those_of_sas_too():
    texts = number_texts(*columns([None, None, 2.0], ["A", "_", None]), "sas7bdat", None)
    assert texts.tolist() == [".a", "._", "2"]


def columns(numbers: list[float | None], letters: list[str | None] | None = None):
    marks = letters or [None] * len(numbers)
    return (
        pa.chunked_array([pa.array(numbers, pa.float64())]),
        pa.chunked_array([pa.array(marks, pa.string())]),
    )


@pytest.mark.parametrize(
    ("program", "written", "number", "text"),
    [
        ("sav", "DATE11", 13_797_216_000.0, "2020-01-01"),
        ("sav", "EDATE10", -86_400.0 * 3, "1582-10-11"),
        ("sav", "MOYR8", 13_797_216_000.0, "2020-01-01"),
        ("sav", "DATETIME20", 13_797_252_000.5, "2020-01-01T10:00:00.500"),
        ("sav", "TIME8", 93_784.0, "26:03:04"),
        ("sav", "DTIME12", -61.0, "-00:01:01"),
        ("sav", "F8.2", 13_797_216_000.0, "13797216000"),
        ("sav", "WKDAY9", 3.0, "3"),
        ("sas7bdat", "DATE9", 21_915.0, "2020-01-01"),
        ("sas7bdat", "YYMMDD10", 21_915.9, "2020-01-01"),
        ("sas7bdat", "E8601DA", -1.0, "1959-12-31"),
        ("sas7bdat", "MONYY7", 21_915.0, "2020-01-01"),
        ("sas7bdat", "DATETIME20.", 1_893_456_000.0, "2020-01-01T00:00:00"),
        ("sas7bdat", "DTDATE9", 1_893_456_001.0, "2020-01-01"),
        ("xport", "TIME20.3", 3_600.25, "01:00:00.250"),
        ("sas7bdat", "BEST12", 21_915.0, "21915"),
        ("sas7bdat", "YEAR4", 21_915.0, "21915"),
        ("dta", "%td", 21_915.0, "2020-01-01"),
        ("dta", "%d", -1.0, "1959-12-31"),
        ("dta", "%tdCCYY-NN-DD", 21_915.0, "2020-01-01"),
        ("dta", "%-9.0g", 21_915.0, "21915"),
        ("dta", "%tc", 1_893_456_000_001.0, "2020-01-01T00:00:00.001"),
        ("dta", "%tcHH:MM:SS", 3_600_000.0, "01:00:00"),
        ("dta", "%tC", 1_893_456_027_000.0, "2020-01-01T00:00:00"),
        ("dta", "%tw", 61 * 52 + 1.0, "2021-01-08"),
        ("dta", "%tm", -1.0, "1959-12-01"),
        ("dta", "%tq", 241.0, "2020-04-01"),
        ("dta", "%th", 121.0, "2020-07-01"),
        ("dta", "%ty", 2020.0, "2020"),
        ("dta", "%tbmine", 5.0, "5"),
        ("dta", "%tm", 1e9, ""),
        ("dta", "%td", 1e300, ""),
        ("dta", "%tc", float("inf"), ""),
        ("sav", "DATE11", float("nan"), ""),
        ("sav", "DATETIME20", -1e15, ""),
    ],
)
def test_a_number_is_what_its_display_format_shows(program, written, number, text):
    assert number_texts(*columns([number]), program, written).tolist() == [text]


@pytest.mark.parametrize(
    ("kind", "formats"),
    [
        ("sav", {"day": "DATE11", "moment": "DATETIME20"}),
        ("dta", {"day": "%td", "moment": "%tc"}),
        ("xpt", {"day": "DATE9", "moment": "DATETIME20"}),
    ],
)
def test_days_and_moments_of_a_file(kind, formats, tmp_path):
    frame = pd.DataFrame(
        {
            "day": [pd.Timestamp("2020-02-29").date(), None],
            "moment": [pd.Timestamp("1959-12-31 23:59:59"), pd.NaT],
        }
    )
    content = written(tmp_path, frame, kind, variable_format=formats)
    assert cells(content) == {"day": ["2020-02-29", ""], "moment": ["1959-12-31T23:59:59", ""]}


NUMBERS = st.floats() | st.integers(-(10**7), 10**7).map(float) | st.none()
CELL = st.tuples(NUMBERS, st.sampled_from([None, None, "a", "_"]))
FORMATS = [
    ("sav", "F8.2"),
    ("sav", "DATE11"),
    ("sav", "DATETIME20"),
    ("sav", "TIME8"),
    ("dta", "%tC"),
    ("dta", "%tw"),
    ("dta", "%th"),
    ("sas7bdat", "DTDATE9"),
]


@pytest.mark.privacy
@settings(deadline=None)
@given(st.lists(CELL, min_size=1, max_size=6), CELL, st.integers(0, 5), st.sampled_from(FORMATS))
def test_a_changed_cell_changes_no_other_text(rows, other, place, written):
    place %= len(rows)
    changed = [*rows[:place], other, *rows[place + 1 :]]
    before, after = (
        number_texts(*columns(*map(list, zip(*some, strict=True))), *written).tolist()
        for some in (rows, changed)
    )
    assert before[:place] + before[place + 1 :] == after[:place] + after[place + 1 :]
    alone = number_texts(*columns([other[0]], [other[1]]), *written).tolist()
    assert after[place] == alone[0]


@pytest.mark.privacy
@pytest.mark.parametrize("kind", ["sav", "dta"])
def test_a_changed_row_of_a_file_changes_no_other(kind, tmp_path):
    """One person's hardest row: another type, another length, another sign of missing."""
    frame = pd.DataFrame({"n": [1.0, 2.0, 3.5], "w": ["a", "b", "01"], "d": [1.0, 2.0, 3.0]})
    before = cells(written(tmp_path, frame, kind))
    hard = pd.DataFrame({"n": [1.0, 2.0, np.nan], "w": ["a", "b", "é" * 90], "d": [1, 2, 1e300]})
    after = cells(written(tmp_path, hard, kind))
    for name in frame:
        assert before[name][:2] == after[name][:2]


@pytest.mark.parametrize("kind", ["sav", "zsav", "dta", "xpt"])
def test_a_file_in_parts_is_the_whole_file(kind, tmp_path):
    rows = 60_000  # more than a part
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"n": rng.integers(0, 9, rows).astype(float), "w": rng.choice(["a", "b b", ""], rows)}
    )
    content = written(tmp_path, frame, kind)
    whole = read_table(content, name="t").frame
    assert len(whole) == rows
    path = tmp_path / "large"
    path.write_bytes(content)
    with path.open("rb") as file:
        parts = list(read_statistical(file, "t"))
    assert len(parts) > 2
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), whole)
    texts_as_parquet(path, tmp_path / "copy", separator=",", encoding="utf-8")
    copied = pq.read_table(tmp_path / "copy").to_pandas()
    assert copied.to_dict("list") == whole.to_dict("list")


def test_bytes_that_are_no_text_are_replaced_in_their_cell(tmp_path):
    frame = pd.DataFrame({"w": ["bad1", "good", "größe"]})
    content = written(tmp_path, frame, "sav", row_compress=False).replace(b"bad1", b"\xff\xfe\xfd1")
    assert cells(content) == {"w": ["\ufffd\ufffd\ufffd1", "good", "größe"]}


def test_a_file_that_declares_an_encoding_is_read_in_it(tmp_path):
    frame = pd.DataFrame({"w": ["ab", "cd"]})
    content = written(tmp_path, frame, "sav", row_compress=False)
    latin = content.replace(b"UTF-8", b"CP850").replace(b"ab ", b"a\x84 ")
    assert cells(latin) == {"w": ["aä", "cd"]}
    error = refused(content.replace(b"UTF-8", b"EUCTW"))
    assert error.field == "encoding"


def test_one_that_declares_none_is_read_as_asked(tmp_path):
    frame = pd.DataFrame({"W": ["ab", "cd"]})
    content = written(tmp_path, frame, "xpt").replace(b"ab", b"a\xe4")
    assert cells(content) == {"W": ["aä", "cd"]}
    assert cells(content, encoding="cp850") == {"W": ["aõ", "cd"]}


def refused(content: bytes) -> TableError:
    with pytest.raises(TableError) as caught:
        read_table(content, name="stays.sav")
    assert str(caught.value).endswith(".")
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    return caught.value


@pytest.mark.parametrize("kind", ["sav", "zsav", "dta"])
def test_a_file_cut_short_is_refused(kind, tmp_path):
    frame = pd.DataFrame({"n": np.arange(2000.0), "w": [f"{CANARY}{i}" for i in range(2000)]})
    content = written(tmp_path, frame, kind)
    assert "is not a readable file of" in str(refused(content[: len(content) // 2]))


def test_a_transport_file_that_ends_within_a_row_is_refused(tmp_path):
    """It says no number of rows: of one that ends between two rows nobody can tell."""
    frame = pd.DataFrame({"n": np.arange(50.0), "w": [f"{CANARY}{i:03}" for i in range(50)]})
    content = written(tmp_path, frame, "xpt")
    width = 8 + len(CANARY) + 3
    start = content.index(b"HEADER RECORD*******OBS") + 80
    cut = [
        end
        for end in range(start + 80, len(content))
        if statistical_head.is_cut(io.BytesIO(content[:end]), "xport")
    ]
    between = [
        end
        for end in range(start + 80, len(content), 80)
        if not content[start + (end - start) // width * width : end].strip(b" ")
    ]
    assert set(range(start + 80, len(content))) - set(cut) == set(between)
    assert not statistical_head.is_cut(io.BytesIO(content), "xport")
    assert len(read_table(content, name="stays.xpt").frame) == 50
    assert "is cut short" in str(refused(content[: cut[0]]))
    assert "is cut short" in str(refused(content[: start + 80 * 3 + 7]))


def test_a_table_of_sas_that_announces_more_pages_than_it_has_is_cut():
    head = bytearray(512)
    for wide, shift in ((False, 0), (False, 4), (True, 0), (True, 4)):
        for order, mark in (("<", 1), (">", 0)):
            head[32], head[35], head[37] = 0x33 * wide, 0x33 * (shift == 4), mark
            struct.pack_into(f"{order}2I", head, 196 + shift, 1024, 4096)
            struct.pack_into(f"{order}{'Q' if wide else 'I'}", head, 204 + shift, 3)
            whole = 1024 + 3 * 4096
            for length in (whole, whole - 1):
                content = bytes(head) + bytes(length - 512)
                found = statistical_head.is_cut(io.BytesIO(content), "sas7bdat")
                assert found == (length < whole)


def test_a_catalog_of_sas_is_named():
    head = bytes(12) + b"\xc2\xea\x81\x63\xb3\x14\x11\xcf" + bytes(136) + b"CATALOG " + bytes(99)
    assert "holds formats and no rows" in str(refused(head))


def test_a_file_without_rows_is_refused(tmp_path):
    content = written(tmp_path, pd.DataFrame({"n": [1.0]}).iloc[:0], "sav")
    assert "a header but no rows" in str(refused(content))


@pytest.mark.parametrize(
    "text", ["a,b\n1,2\n", "$FL2,b\n1,2\n", "r\x02,b\n1,2\n", "HEADER RECORD,b\n"]
)
def test_a_csv_is_not_taken_for_one(text):
    assert program_of(text.encode()) is None


def test_an_unknown_format_shows_a_number():
    assert display("sas7bdat", None) is None
    assert display("sav", "$A") is None
    assert display("dta", "td") is None


def test_an_open_file_is_read_as_its_bytes(tmp_path):
    content = written(tmp_path, pd.DataFrame({"n": [1.0, 2.0]}), "sav")
    assert read_table(io.BytesIO(content)).frame.to_dict("list") == {"n": ["1", "2"]}
