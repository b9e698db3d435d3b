"""Reading files: what is not a table gets a sentence, and no sentence holds a cell."""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import io
import lzma
import traceback

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from prism_core.data.tables import delimited
from prism_core.data.tables.raw_table import RawTable, arrow_texts, as_texts, from_frame, read_table
from prism_core.errors import TableError


def parquet(frame: pd.DataFrame) -> bytes:
    out = io.BytesIO()
    frame.to_parquet(out)
    return out.getvalue()


def refused(content: bytes, **style: str) -> TableError:
    with pytest.raises(TableError) as caught:
        read_table(content, name="stays.csv", **style)
    assert str(caught.value).endswith(".")
    return caught.value


@pytest.mark.parametrize(("separator", "word"), [("\t", "tab"), (";", "semicolon"), ("|", "bar")])
def test_another_separator_is_offered(separator, word):
    content = f"age{separator}smoker\n40{separator}yes\n".encode()
    error = refused(content)
    assert error.separator == separator
    assert error.field == "separator"
    assert f"Read it with the separator {word}" in str(error)
    assert read_table(content, separator=separator).header == ("age", "smoker")
    assert refused(b"age,smoker\n40,yes\n", separator=separator).separator == ","


def test_an_unknown_separator_is_refused():
    assert "comma, semicolon, tab, bar" in str(refused(b"a,b\n1,2\n", separator="x"))


def test_latin_1_is_offered_and_reads():
    content = "age,größe\n40,fünf\n".encode("latin-1")
    error = refused(content)
    assert error.encoding == "latin-1"
    assert error.field == "encoding"
    assert "read it with that encoding" in str(error)
    table = read_table(content, encoding=error.encoding)
    assert table.header == ("age", "größe")
    assert table.frame["größe"].tolist() == ["fünf"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_unicode_reads_with_or_without_a_mark(encoding):
    table = read_table("größe,b\nfünf,2\n".encode(encoding))
    assert table.header == ("größe", "b")


@pytest.mark.parametrize("encoding", ["nope", "base64", "zip"])
def test_an_unknown_encoding_is_refused(encoding):
    error = refused(b"a,b\n1,2\n", encoding=encoding)
    assert error.field == "encoding"
    assert "Use utf-8 or latin-1" in str(error)


def test_a_binary_file_of_an_unknown_kind_is_named_as_one():
    error = refused(bytes(range(1, 256)) * 3)
    assert "binary file" in str(error)
    assert "Export the table as CSV or Parquet" in str(error)
    assert error.encoding is None


@pytest.mark.parametrize(
    ("content", "what", "mend"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a picture (PNG)", "export the table as CSV"),
        (gzip.compress(b"a,b\n1,2\n" * 50, mtime=0), "a gzip file", "unpack it first"),
        (bz2.compress(b"a,b\n1,2\n"), "a bzip2 archive", "unpack it first"),
        (lzma.compress(b"a,b\n1,2\n"), "an xz archive", "unpack it first"),
        (b"PK\x03\x04\x14\x00\x06\x00 stays.csv", "a ZIP archive, as Excel", "unpack it first"),
        (b"SQLite format 3\x00", "a SQLite database", "export the table as CSV or Parquet"),
        (b"%PDF-1.7\n", "a PDF file", "take the table from where the PDF was made"),
    ],
)
def test_a_file_of_another_kind_is_named_with_what_to_do(content, what, mend, tmp_path):
    """In memory and by its path alike."""
    path = tmp_path / "stays.csv"
    path.write_bytes(content)
    for error in (refused(content), refused(path)):
        assert f"The file 'stays.csv' is not a CSV: it is a binary file, {what}" in str(error)
        assert mend in str(error)
        assert error.encoding is None


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"PK\x03\x04\x14\x00 xl/workbook.xml", "spreadsheet"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "spreadsheet"),
        (b"$FL2@(#) SPSS DATA FILE", "file of SPSS"),
        (b"<stata_dta><header>", "file of Stata"),
        (b"\x72\x02\x01\x00" + bytes(9), "file of Stata"),
        (b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!", "transport file of SAS"),
    ],
)
def test_a_file_that_only_begins_like_a_table_is_damaged(content, what, tmp_path):
    path = tmp_path / "stays.csv"
    path.write_bytes(content)
    for error in (refused(content), refused(path)):
        assert f"The file 'stays.csv' is not a readable {what}" in str(error)


@pytest.mark.parametrize("header", ["BZh,b", "PK,b", "$FL2,b", "Rar!,b", "PDF,%PDF-"])
def test_a_header_that_begins_like_another_file_is_a_header(header):
    assert read_table(f"{header}\n1,2\n".encode()).header == tuple(header.split(","))


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("a,b,a", "the same name more than once, in positions 1 and 3"),
        ("a,b, a ", "the same name more than once, in positions 1 and 3"),
        ("a,,b", "no name in position 2"),
        (",a,", "no name in position 1, 3"),
        ('"",a', "no name in position 1"),
    ],
)
def test_duplicate_and_empty_headers(header, text):
    error = refused(f"{header}\n1,2\n".encode())
    assert text in str(error)
    assert error.field == "header"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "is empty"),
        (b"  \n \n", "is empty"),
        (b"a,b\n", "a header but no rows"),
        (b"a,b\n\n\n", "a header but no rows"),
        (b"PAR1 and nothing more", "not a readable Parquet file"),
        (parquet(pd.DataFrame({"a": [1]}))[:-20], "not a readable Parquet file"),
        (parquet(pd.DataFrame({"a": pd.Series([], dtype=int)})), "columns but no rows"),
    ],
)
def test_files_without_rows(content, text):
    assert text in str(refused(content))


def test_a_path_that_cannot_be_read(tmp_path):
    for path, why in ((tmp_path / "absent.csv", "no such file"), (tmp_path, "is a folder")):
        for source in (path, str(path)):
            with pytest.raises(TableError, match=rf"{why}.*\. Check the path"):
                read_table(source)


def test_one_row_and_one_column_are_tables():
    assert read_table(b"a,b\n1,2").rows == 1
    assert read_table(b"a\n1\n2\n").frame["a"].tolist() == ["1", "2"]


def test_lines_may_end_in_any_way_and_the_file_may_start_late():
    for end in ("\n", "\r\n", "\r"):
        table = read_table(f"{end}a,b{end}1,2{end}{end}3,4{end}".encode())
        assert table.header == ("a", "b")
        assert table.frame.to_numpy().tolist() == [["1", "2"], ["3", "4"]]


def test_quoted_headers_and_cells_may_hold_anything():
    table = read_table(b'"a x","b,c","d""e"\n"1\n2","3,4","5""6"\n')
    assert table.header == ("a x", "b,c", 'd"e')
    assert table.frame.iloc[0].tolist() == ["1\n2", "3,4", '5"6']
    assert read_table(b"a" * 200_000 + b",b\n1,2\n").header[1] == "b"


@pytest.mark.privacy
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("row", ["x\ry,1", "x,1\ry", "\r,", "\r\r,", ",\ry", "\r1,\r2"])
def test_no_cell_makes_two_rows_or_none_of_a_person(row, end):
    """pandas and Python's csv leave a CR without quotes: it ends no line where LF does."""
    content = end.join(["a,b", "p,q", row, "r,s", ""]).encode()
    frame = read_table(content).frame
    assert len(frame) == 3
    assert frame.iloc[[0, 2]].to_numpy().tolist() == [["p", "q"], ["r", "s"]]
    assert frame.iloc[1].tolist() == row.split(",")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_are_those_of_the_header_wherever_the_file_is_cut(end, monkeypatch):
    rows = [[f"{i:03}", "y" * (i % 7)] for i in range(300)]
    content = end.join(["a,b", *map(",".join, rows), ""]).encode()
    real = delimited._Text.read
    for size in (1, 2, 3, 5, 64):
        monkeypatch.setattr(delimited._Text, "read", lambda self, _=-1, size=size: real(self, size))
        assert read_table(content).frame.to_numpy().tolist() == rows


def test_a_short_line_is_missing_cells_and_a_long_one_is_refused():
    assert read_table(b"a,b\n1\n3,4\n").frame.to_numpy().tolist() == [["1", ""], ["3", "4"]]
    for content in (b"a,b\n1,2\n3,4,5\n", b"a,b\n1,2,3\n4,5\n", b"a,b\n1,2,3\n4,5,6\n", b"a\n1,\n"):
        assert "more cells than the header has names" in str(refused(content))


def test_cells_stay_the_text_they_are():
    cells = ["007", "NA", "", "1e5", " x ", "True", "2020-01-01", "nan"]
    content = ("a,b\n" + "".join(f"{cell},1\n" for cell in cells)).encode()
    assert read_table(content).frame["a"].tolist() == cells


@pytest.mark.privacy
def test_no_refusal_holds_a_cell(canary, caplog, capsys):
    line = f"{canary},{canary}\n"
    broken = [
        f"a,b\n{line}{canary},{canary},{canary}\n",
        f'a,b\n{line}"{canary},{canary}\n',
        f'a,b\n{line}{canary},"{canary}\n{canary}"x",{canary}"\n',
        f"a,b,\n{line}",
        f"a,a\n{line}",
        f"a;b\n{line}",
    ]
    contents = [text.encode() for text in broken]
    contents += [f"a,b\n{line}é".encode("latin-1"), f"a,b\n{line}".encode("utf-16")[:-1]]
    contents += [f"a,b\n{line}\x00".encode(), b"PAR1" + line.encode()]
    whole = parquet(pd.DataFrame({"a": [canary]}))
    contents += [whole[:-12], whole[:50] + whole[60:], whole[:-8] + b"\xff" * 8]
    for content in contents:
        error = refused(content)
        shown = str(error) + repr(error) + "".join(traceback.format_exception(error))
        assert canary not in shown
    assert canary not in caplog.text
    assert canary not in "".join(capsys.readouterr())


@pytest.mark.privacy
def test_a_table_does_not_print_its_rows(canary):
    table = from_frame(pd.DataFrame({"a": [canary]}))
    assert canary not in repr(table)
    assert table.rows == 1


def test_typed_frames_become_the_texts_of_their_values():
    frame = pd.DataFrame(
        {
            "flag": [True, False, True],
            "flag or none": [True, None, False],
            "nullable flag": pd.array([True, None, False], dtype="boolean"),
            "whole": [1, 2, 3],
            "whole or none": [1.0, np.nan, 3.0],
            "Int64": pd.array([1, None, 2**62 + 1], dtype="Int64"),
            "real": [0.1, np.inf, -0.0],
            "text": ["NA", None, " x "],
            "day": pd.to_datetime(["2020-01-01", None, "1815-06-18"], format="%Y-%m-%d"),
            "mixed": [1.0, "a", None],
            "category": pd.Categorical(["u", None, "v"]),
            7: [1, 2, 3],
        }
    )
    raw = from_frame(frame)
    assert raw.header[-1] == "7"
    assert {name: raw.frame[name].tolist() for name in raw.header} == {
        "flag": ["true", "false", "true"],
        "flag or none": ["true", "", "false"],
        "nullable flag": ["true", "", "false"],
        "whole": ["1", "2", "3"],
        "whole or none": ["1", "", "3"],
        "Int64": ["1", "", str(2**62 + 1)],
        "real": ["0.1", "inf", "0"],
        "text": ["NA", "", " x "],
        "day": ["2020-01-01", "", "1815-06-18"],
        "mixed": ["1", "a", ""],
        "category": ["u", "", "v"],
        "7": ["1", "2", "3"],
    }


def test_a_frame_with_names_that_meet_is_refused():
    with pytest.raises(TableError, match="same name more than once, in positions 1 and 2"):
        from_frame(pd.DataFrame([[1, 2]], columns=[1, "1"]))


@pytest.mark.privacy
def test_one_missing_cell_of_a_parquet_column_changes_no_other_cell():
    large = [2**53 + 1, 2**53 + 3, 5]
    for last in (5, None):
        raw = read_table(parquet(pd.DataFrame({"id": pd.array([*large[:2], last], dtype="Int64")})))
        assert raw.frame["id"].tolist()[:2] == [str(large[0]), str(large[1])]


def test_parquet_reads_as_the_same_texts():
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": [True, False], "d": [0.5, np.nan]})
    raw = read_table(parquet(frame))
    assert raw.frame.to_numpy().tolist() == from_frame(frame).frame.to_numpy().tolist()
    assert isinstance(raw, RawTable)


def test_an_open_file_reads_too(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"a,b\n1,2\n")
    with (tmp_path / "a.csv").open("rb") as file:
        assert read_table(file).rows == 1
    assert read_table(tmp_path / "a.csv").name == "a.csv"
    assert read_table(str(tmp_path / "a.csv")).take([0]).rows == 1


class Printed(str):
    """A text that is equal to another one and prints as a third."""

    def __str__(self) -> str:
        return "C"


@pytest.mark.privacy
@pytest.mark.parametrize("odd", [Printed("yes"), "\ud800", 1, True, 1.0, None], ids=repr)
@pytest.mark.parametrize("others", ["yes", 1, "'\\ud800'"])
def test_a_cell_changes_no_other_cells_text(odd, others):
    """One person's cell must not decide how the cells of others are read."""
    cells = [others] * 5
    before = from_frame(pd.DataFrame({"a": pd.Series(cells, dtype=object)})).column("a")
    after = from_frame(pd.DataFrame({"a": pd.Series([odd, *cells[1:]], dtype=object)})).column("a")
    assert list(before)[1:] == list(after)[1:]


@pytest.mark.parametrize(
    "kind", ["str", "float64", "float32", "Int64", "boolean", "bool", "datetime64[s]", "category"]
)
def test_a_column_reads_as_its_cells_do(kind):
    values = {
        "str": ["b", "a", "b", None],
        "float64": [-0.0, 0.0, 1.5, float("nan")],
        "float32": [0.1, 2.0, 0.1, float("nan")],
        "Int64": [3, None, 3, 1],
        "boolean": [True, None, False, True],
        "bool": [True, False, True, True],
        "datetime64[s]": ["2020-01-01T10:00", "2020-01-01T11:00", None, "2021-05-06"],
        "category": ["x", "y", None, "x"],
    }[kind]
    column = pd.Series(values).astype(kind)
    whole = list(from_frame(pd.DataFrame({"a": column})).column("a"))
    single = [from_frame(pd.DataFrame({"a": column[i : i + 1]})).column("a")[0] for i in range(4)]
    assert whole == single


@pytest.mark.privacy
def test_a_cell_that_is_no_unicode_changes_no_other_cell():
    """As raw cells, and as bytes in the text column of an Arrow table."""
    for other in (3.0, True, 1, "3.0"):
        alone = as_texts(pd.Series([other], dtype=object))[0]
        assert as_texts(pd.Series([other, "\ud800"], dtype=object)).tolist() == [alone, "?"]
    for kind in (pa.string(), pa.large_string()):
        whole = pa.array(["aa", "bb", None], kind)
        valid, offsets, _ = whole.buffers()
        broken = pa.Array.from_buffers(kind, 3, [valid, offsets, pa.py_buffer(b"\xff\xfebb")])
        for cells in (broken, pa.chunked_array([broken])):
            assert arrow_texts(cells).tolist() == ["\ufffd\ufffd", "bb", ""]


@pytest.mark.privacy
@pytest.mark.parametrize("missing", [False, True])
def test_a_missing_cell_does_not_end_the_reading_of_an_arrow_column(missing):
    day = dt.date(2020, 1, 5)
    cells = {
        "date32[day][pyarrow]": (day, "2020-01-05"),
        "date64[ms][pyarrow]": (day, "2020-01-05"),
        "timestamp[us][pyarrow]": (dt.datetime(2020, 1, 5, 9), "2020-01-05"),
        "time64[us][pyarrow]": (dt.time(9), "09:00:00"),
        "double[pyarrow]": (3.0, "3"),
        "int64[pyarrow]": (2**53 + 1, str(2**53 + 1)),
        "bool[pyarrow]": (True, "true"),
        "string[pyarrow]": ("a", "a"),
    }
    for kind, (cell, text) in cells.items():
        frame = pd.DataFrame({"x": pd.Series([cell, None if missing else cell], dtype=kind)})
        found = from_frame(frame).column("x").tolist()
        assert found == [text, "" if missing else text], kind
