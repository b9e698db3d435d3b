"""A column of many codes is modelled on declared groups; its rows hold codes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from prism_core.data.coverage import rows_outside
from prism_core.data.decoding import decode_column
from prism_core.data.encoding import encode_column
from prism_core.data.schema import code_groups, column_form, schema_file
from prism_core.data.schema.code_groups import CodeGroups, by_prefix, read_map
from prism_core.data.schema.column import Column
from prism_core.errors import SchemaError
from tests.support.refusals import refused

ICD = CodeGroups(groups=("I50", "E11"), codes=(("I50.1", "I50.9"), ("E11.9",)))


def column(**entries) -> Column:
    return Column(**({"name": "icd", "kind": "categorical", "groups": ICD} | entries))


def codes(found: Column, *cells: str) -> list[int]:
    return encode_column(found, pd.Series(cells)).tolist()


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({"groups": ("a",), "codes": ()}, "every group needs its codes"),
        ({"groups": ("a", "a"), "codes": (("1",), ("2",))}, "a group is declared twice"),
        ({"groups": ("",), "codes": (("1",),)}, "a group needs a name"),
        ({"groups": ("a",), "codes": ((),)}, "has no codes"),
        ({"groups": ("a",), "codes": ((" 1",),)}, "without spaces around it"),
        ({"groups": ("a", "b"), "codes": (("1",), ("1",))}, "a code is declared twice"),
        ({"groups": ("a",), "codes": (("1", "2"),), "weights": ((1.0,),)}, "for every code"),
        ({"groups": ("a",), "codes": (("1",),), "weights": ((0.0,),)}, "not all 0"),
        ({"groups": ("a",), "codes": (("1",),), "weights": ((float("nan"),),)}, "numbers from 0"),
        ({"groups": ("a",), "codes": (("1", "2"),), "weights": ((-1.0, 2.0),)}, "from 0"),
        ({"groups": ("a",), "codes": (("1", "2"),), "weights": ((1e308, 1e308),)}, "too large"),
        (
            {"groups": ("a",), "codes": (tuple(map(str, range(100_001))),)},
            "100,001 codes are declared and at most 100,000",
        ),
    ],
)
def test_what_is_no_map_is_refused(entries, words):
    with pytest.raises(SchemaError, match=words) as caught:
        CodeGroups(**entries)
    assert caught.value.field == "groups"


def test_cells_hold_codes_and_the_model_knows_groups():
    assert column().levels == ("I50", "E11")
    assert column().size == 2
    assert codes(column(), "E11.9", " I50.9 ", "I50.1") == [1, 0, 0]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [({"nullable": True}, 2), ({"other": "E11"}, 1), ({"fill": "E11"}, 1), ({}, 0)],
)
def test_a_code_outside_the_map_follows_the_declaration(entries, expected):
    found = column(**entries)
    assert codes(found, "Z99.9", "I50", "i50.1") == [expected] * 3  # a group is no code by itself
    assert rows_outside(found, ["Z99.9", "I50.1", "I50"]) == 2


def test_other_is_written_as_the_declared_code():
    entry = {
        "name": "icd",
        "kind": "categorical",
        "codes": ["I50.1", "E11.9"],
        "prefix": 3,
        "other": "other",
    }
    found = schema_file.column_from_dict(entry, 1)
    assert found.levels == ("I50", "E11", "other")
    assert codes(found, "Z99") == [2]
    drawn = decode_column(found, np.array([2, 2]), np.random.default_rng(0))
    assert drawn.tolist() == ["other", "other"]


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("weights", "shares"),
    [((), (1 / 3, 1 / 3, 1 / 3, 1.0)), (((1.0, 0.0, 3.0), (2.0,)), (0.25, 0.0, 0.75, 1.0))],
)
def test_a_code_is_drawn_within_its_group_by_the_declared_law(weights, shares):
    """6.5 standard deviations of 40,000 draws: a false alarm in less than 1e-9 of runs."""
    groups = CodeGroups(groups=("a", "b"), codes=(("1", "2", "3"), ("4",)), weights=weights)
    rows = np.repeat([0, 1], 40_000)
    drawn = decode_column(column(groups=groups), rows, np.random.default_rng(1))
    assert set(drawn[rows == 1]) == {"4"}
    for code, share in zip("123", shares, strict=False):
        found = float((drawn[rows == 0] == code).mean())
        assert abs(found - share) <= 6.5 * (share * (1.0 - share) / 40_000) ** 0.5


class Edge:
    """A generator whose every draw is the largest below 1."""

    def random(self, size: int) -> np.ndarray:
        return np.full(size, np.nextafter(1.0, 0.0))


@pytest.mark.parametrize("weights", [(), tuple((0.1, 0.2, 0.0) for _ in range(9_000))])
def test_no_draw_leaves_its_group(weights):
    names = [tuple(f"{place}.{i}" for i in range(3)) for place in range(9_000)]
    groups = CodeGroups(groups=tuple(map(str, range(9_000))), codes=tuple(names), weights=weights)
    found = column(groups=groups)
    rows = np.arange(9_000)
    for rng in (Edge(), np.random.default_rng(0)):
        drawn = decode_column(found, rows, rng)
        assert (encode_column(found, drawn) == rows).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no line holds a code"),
        ("code,group\n", "no line holds a code"),
        ("I50.1,heart\nI50.9\n", "line 2 must hold a code and its group"),
        ("code,group\nI50.1,heart,many\n", "the weight in line 2 must be a number"),
        ("a,b,c,d\n", "line 1 must hold"),
        ("I50.1,heart,1\nI50.9,heart\n", "a weight for every code, or for none"),
        ("I50.1,heart\nI50.1,kidney\n", "a code is declared twice"),
    ],
)
def test_a_mistake_in_a_map_is_a_sentence(text, words):
    with pytest.raises(SchemaError, match=words):
        read_map(text)


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_map_is_read_with_its_separator(mark):
    text = f"\ufeffCode{mark}Group\nI50.1{mark}I50\n\nE11.9{mark}E11\nI50.9{mark}I50\n"
    assert read_map(text) == ICD


def test_a_map_is_written_as_it_is_read():
    for groups in (
        ICD,
        CodeGroups(groups=("a, b",), codes=(("code", '"'),), weights=((0.1, 1e-300),)),
    ):
        assert read_map(code_groups.write_map(groups)) == groups
        assert code_groups.of_plain(code_groups.to_plain(groups)) == groups


def test_codes_are_grouped_by_their_first_characters():
    found = by_prefix(["I50.1", "E11.9", "I50.9", "A"], 3)
    assert found.groups == ("I50", "E11", "A")
    assert found.codes == (("I50.1", "I50.9"), ("E11.9",), ("A",))
    assert read_map("code\nI50.1\nE11.9\nI50.9\nA\n", prefix=3) == found


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"groups": {"a": ["1"]}, "levels": ["a"]}, "leave levels out"),
        ({"groups": {"a": ["1"]}, "prefix": 3}, "either groups, or codes with a prefix"),
        ({"groups": {"a": [250.1]}}, "in quotation marks"),
        ({"groups": {"a": {"1": "x"}}}, "a weight must be a number"),
        ({"groups": {"a": "1"}}, "a list of codes"),
        ({"groups": "icd.csv"}, "read where it stands beside a schema file"),
        ({"codes": "icd.csv", "prefix": 3}, "read where it stands beside a schema file"),
        ({"groups": ["1"]}, "a section with the codes of every group"),
        ({"codes": ["1"]}, "need a prefix"),
        ({"prefix": 3}, "needs codes"),
        ({"codes": ["1"], "prefix": 0}, "above 0"),
        ({"groups": {"a": ["1"]}, "fill": "b"}, "fill must be one of its declared levels"),
        ({"groups": {"a": ["1"]}, "kind": "boolean"}, "boolean column has no groups"),
    ],
)
def test_a_mistake_in_a_schema_names_the_column(entry, words):
    with pytest.raises(SchemaError, match=words) as caught:
        schema_file.column_from_dict({"name": "icd", "kind": "categorical"} | entry, 1)
    assert str(caught.value).startswith("Column 'icd': ")
    assert caught.value.field.startswith("icd.")


def schema_text(entry: str) -> str:
    return f"columns:\n- {{name: icd, kind: categorical, {entry}}}\n- {{name: y, kind: boolean}}\n"


@pytest.mark.parametrize(
    ("entry", "content"),
    [
        ("groups: map.csv", "I50.1,I50\nE11.9,E11\nI50.9,I50\n"),
        ("codes: map.csv, prefix: 3", "code\nI50.1\nI50.9\nE11.9\n"),
    ],
)
def test_a_map_may_stand_in_a_file_beside_the_schema(tmp_path, entry, content):
    (tmp_path / "map.csv").write_text(content)
    (tmp_path / "schema.yaml").write_text(schema_text(entry))
    found = schema_file.load(tmp_path / "schema.yaml")
    assert found["icd"].groups == ICD
    assert schema_file.loads(schema_file.dumps(found)) == found  # what is written stands on its own


def test_the_documents_example_is_a_schema(tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "wide.md").read_text(encoding="utf-8")
    (tmp_path / "schema.yaml").write_text(text.split("```yaml\n")[1].split("```")[0])
    (tmp_path / "procedures.csv").write_text("code;group;weight\n5-470;5-47;2\n5-471;5-47;0\n")
    (tmp_path / "icd10.csv").write_text("I50.1\nE11.9\n")
    found = schema_file.load(tmp_path / "schema.yaml")
    assert found["drug"].levels == ("statins", "other")
    assert found["region"].groups.weights == ((120.0, 35.0), (80.0,))
    assert found["diagnosis"].levels == ("I50", "E11", "other")
    assert found["procedure"].groups.weights == ((2.0, 0.0),)
    assert found["cause"].levels == ("I50", "E11")


@pytest.mark.parametrize("name", ["../map.csv", "/etc/hostname", "absent.csv"])
def test_a_map_elsewhere_is_not_read(tmp_path, name):
    folder = tmp_path / "here"
    folder.mkdir()
    Path(tmp_path / "map.csv").write_text("I50.1,I50\n")
    (folder / "schema.yaml").write_text(schema_text(f"groups: {name}"))
    with refused(SchemaError, "icd.groups"):
        schema_file.load(folder / "schema.yaml")


def test_the_form_takes_a_map_or_levels():
    row = {"name": "icd", "kind": "categorical", "groups": "I50.1,I50\n", "levels": "a | b"}
    with pytest.raises(SchemaError, match="clear what stands under levels"):
        column_form.from_rows([row])
    with pytest.raises(SchemaError, match="clear what stands under groups"):
        column_form.from_rows([row | {"kind": "boolean", "levels": ""}])
    (found,) = column_form.from_rows([row | {"levels": "", "other": "rest"}])
    assert found.levels == ("I50", "rest")


@pytest.mark.privacy
def test_no_message_holds_a_cell(canary):
    """Cells reach the map through encoding only, which never refuses one."""
    assert codes(column(other="E11"), canary, "", "\x00") == [1, 0, 1]
