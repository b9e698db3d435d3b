"""What a file of SPSS, Stata or SAS says of itself, whatever state its rows are in."""

from __future__ import annotations

import struct
import traceback

import pandas as pd
import pyreadstat
import pytest

from prism_core.data.tables.statistical_file import metadata, read_statistical
from prism_core.errors import TableError
from tests.support.tables import CANARY

FRAME = pd.DataFrame(
    {"sex": [1.0, 2.0, 9.0] * 500, "word": [f"é {CANARY}{i}" for i in range(1500)], "dose": 0.5}
)
LABELS = {"sex": {1: "männlich", 2: "weiblich", 9: "refused"}}
NAMES = ["Sex at birth", "A wörd", "Dose"]


def written(folder, kind: str) -> bytes:
    path = folder / f"t.{kind}"
    if kind == "dta12":
        pyreadstat.write_dta(FRAME.assign(word="x"), path, version=12, variable_value_labels=LABELS)
    elif kind == "dta":
        pyreadstat.write_dta(FRAME, path, column_labels=NAMES, variable_value_labels=LABELS)
    elif kind == "xpt":
        pyreadstat.write_xport(FRAME, path, column_labels=NAMES)
    else:
        pyreadstat.write_sav(
            FRAME,
            path,
            column_labels=NAMES,
            variable_value_labels=LABELS,
            missing_ranges={"sex": [9]},
            variable_measure={"sex": "nominal"},
            compress=kind == "zsav",
        )
    return path.read_bytes()


@pytest.mark.parametrize("kind", ["sav", "zsav", "dta"])
def test_labels_formats_and_missing_values_are_told(kind, tmp_path):
    path = tmp_path / "stays"
    path.write_bytes(written(tmp_path, kind))
    for about in (metadata(path), metadata(path.read_bytes())):
        assert about.column_names == list(FRAME.columns)
        assert about.column_labels == NAMES
        assert about.variable_value_labels == LABELS
        assert about.number_rows == len(FRAME)
        if kind != "dta":
            assert about.missing_ranges == {"sex": [{"lo": 9.0, "hi": 9.0}]}
            assert about.variable_measure["sex"] == "nominal"
            assert about.original_variable_types["sex"] == "F8.2"


@pytest.mark.parametrize("kind", ["sav", "zsav", "dta", "dta12", "xpt"])
@pytest.mark.parametrize("damage", ["noise", "cut"])
def test_damaged_rows_do_not_hide_it(kind, damage, tmp_path):
    content = written(tmp_path, kind)
    third = len(content) // 3
    if damage == "cut":
        content = content[: 2 * third]
    else:
        noise = bytes(byte ^ 0x5A for byte in content[third : 2 * third])
        content = content[:third] + noise + content[2 * third :]
    assert metadata(content).column_names == list(FRAME.columns)
    if kind in ("sav", "zsav"):
        assert metadata(content).variable_value_labels == LABELS
    if damage == "cut" and kind != "xpt":
        with pytest.raises(TableError, match="is not a readable file of") as caught:
            list(read_statistical(content, "t"))
        assert CANARY not in "".join(traceback.format_exception(caught.value))


def test_labels_that_are_not_in_the_declared_encoding_are_replaced(tmp_path):
    content = written(tmp_path, "sav").replace("männlich".encode(), b"m\xff\xfennlich")
    assert metadata(content).variable_value_labels["sex"][1.0] == "m\ufffd\ufffdnnlich"


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PK\x03\x04", b"$FL2@(#) and no more"])
def test_what_is_no_such_file_is_refused(content, tmp_path):
    path = tmp_path / "t.sav"
    path.write_bytes(content)
    for source in (content, path):
        with pytest.raises(TableError, match="is not a"):
            metadata(source)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path, why in ((tmp_path / "absent.sav", "no such file"), (tmp_path, "is")):
        with pytest.raises(TableError, match=why):
            metadata(path)


def _variables(count: int) -> bytes:
    """A file of SPSS that declares so many numbers and holds no row."""
    head = written_head()
    records = (
        struct.pack("<6i8s", 2, 0, 0, 0, 0x050800, 0x050800, f"V{place:07}".encode())
        for place in range(count)
    )
    return head + b"".join(records) + struct.pack("<2i", 999, 0)


def written_head() -> bytes:
    return (
        b"$FL2" + b"@(#) SPSS DATA FILE".ljust(60) + struct.pack("<5i", 2, 1, 0, 0, -1) + bytes(92)
    )


def test_a_file_that_declares_a_million_columns_is_refused_from_its_head(tmp_path):
    stata = written(tmp_path, "dta")
    place = stata.index(b"<K>") + 3
    many = stata[:place] + struct.pack("<H", 32_767) + stata[place + 2 :]
    for content in (_variables(1_000_000), many):
        with pytest.raises(TableError, match="more than 10,000 columns"):
            metadata(content)
    assert len(metadata(_variables(3)).column_names) == 3


def test_texts_of_several_parts_are_one_column(tmp_path):
    path = tmp_path / "t.sav"
    frame = pd.DataFrame({f"w{place}": ["x" * 20_000] for place in range(140)})
    pyreadstat.write_sav(frame, path)  # 80 variables of 255 bytes each
    assert len(metadata(path).column_names) == 140
