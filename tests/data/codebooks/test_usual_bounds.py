"""Bounds that a codebook leaves open, suggested from its words and formats and from no row."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from prism_core.data.codebooks import read_codebook
from prism_core.data.codebooks.usual_bounds import by_storage, by_width, by_words
from prism_core.errors import SchemaError
from tests.support import codebooks

BOOK = (
    "variable,label,type,units,min,max\n"
    "age,Age at admission,integer,years,18,\n"
    "weight,Weight,decimal,kg,,\n"
    "score,Anything,decimal,,,\n"
    "height,Height,decimal,,,\n"
    "sbp,Systolic blood pressure,integer,mmHg,,\n"
)


def read(text: str = BOOK):
    return read_codebook(text.encode(), name="d.csv")


@pytest.mark.parametrize(
    ("name", "description", "bounds"),
    [
        ("AGE", "", (0, 120)),
        ("patientAge", "", (0, 120)),
        ("age_at_diagnosis", "Age when first diagnosed", (0, 120)),
        ("age", "Age in months", None),
        ("agegroup", "", None),
        ("page", "", None),
        ("age80", "", (0, 120)),
        ("age800", "", None),
        ("mrt", "marital status = 1 if married", (0, 1)),
        ("urban", "1 if urban, = 2 if rural", None),
        ("smoker", "0 = no, 1 = yes", (0, 1)),
        ("smoker", "1 = yes, 0 = no, 9 = refused", None),
        ("black", "Dummy for black", (0, 1)),
        ("gdp", "Economic indicator", None),
        ("iq", "iq score", (40, 200)),
        ("med", "mother's education, years", (0, 30)),
        ("school", "School of the pupil", None),
        ("expr", "experience, years", (0, 120)),
        ("followup", "Follow-up (years)", (0, 120)),
        ("risk", "Rate per 1000 person-years", None),
        ("lexp", "Log of experience in years", None),
        ("height", "Height (cm)", (0, 250)),
        ("height", "", None),
        ("weight", "Body weight [kg]", (0, 300)),
        ("ASECWT", "Annual Social and Economic Supplement Weight", None),
        ("bmi", "", (10, 80)),
        ("sbp", "", (0, 300)),
        ("share_pct", "", (0, 100)),
        ("growth", "Growth in percent", None),
        ("YEAR", "Survey year", (1900, 2100)),
        ("visits", "Visits per year", None),
        ("educ", "Years of education", (0, 30)),
        ("gcs", "Glasgow Coma Scale on arrival", (3, 15)),
        ("month", "", (1, 12)),
        ("months", "Months since the visit", None),
        ("x", "", None),
    ],
)
def test_what_is_usual_follows_from_words(name, description, bounds):
    found = by_words(name, description)
    assert (found and (found.lower, found.upper)) == bounds
    assert found is None or (found.because and not found.wide)


def test_what_a_format_can_show_holds_every_value_of_it():
    byte = by_storage("int8")
    assert byte is not None
    assert (byte.lower, byte.upper) == (-127, 100)
    assert by_storage("double") is None
    for width in range(1, 16):
        for decimals in range(5):
            for point in (False, True):
                found = by_width(width, decimals, "x", point=point)
                if found is None:
                    continue
                digits = width - (point and decimals > 0)
                assert found.upper == (10**digits - 1) / 10**decimals
                written = f"{found.upper:.{decimals}f}"
                shown = written if point else written.replace(".", "")
                assert len(shown.lstrip("0")) <= width
                assert found.lower <= 0 < found.upper


def test_a_bound_of_the_codebook_stays_and_another_thing_is_left_alone():
    found = read().suggested
    assert list(found) == ["age", "weight", "sbp"]
    assert (found["age"].lower, found["age"].upper) == (18, 120)
    assert "age" not in read(BOOK.replace(",18,", ",-40,")).suggested


def test_what_is_taken_counts_as_done_by_hand():
    taken = read().with_suggested(["sbp", "age"])
    assert taken.source.by_hand == ("age", "sbp")
    assert [one.column for one in taken.open] == ["weight", "score", "height"]
    schema = taken.without(["weight", "score", "height"]).schema(one_row_per_person=True)
    assert schema["age"].bounds == (18, 120)
    assert schema.codebook is not None
    assert schema.codebook.by_hand == ("age", "sbp")
    assert taken.without(["age"]).source.by_hand == ("sbp",)
    with pytest.raises(SchemaError, match="No bounds are suggested for column 'score'"):
        read().with_suggested(["score"])


def test_nothing_is_suggested_for_what_is_settled_or_is_no_number():
    for content in codebooks.texts().values():
        codebook = read_codebook(content)
        still = {one.column for one in codebook.open}
        assert set(codebook.suggested) <= still
        for column in codebook.columns:
            assert column.suggested is None or column.kind == "numeric"
    unread = replace(read().columns[0], unread="decimals are written with ,")
    assert unread.suggested is None


def test_formats_of_spss_and_stata_bound_what_no_word_does(tmp_path):
    frame = pd.DataFrame({"x": [1.5, 2.5], "n": [1, 2]})
    codebooks.pyreadstat.write_sav(
        frame, tmp_path / "t.sav", variable_format={"x": "F8.2", "n": "F3"}
    )
    found = read_codebook(tmp_path / "t.sav").suggested
    assert (found["x"].lower, found["x"].upper) == (-9999.99, 99999.99)
    assert (found["n"].lower, found["n"].upper) == (-99, 999)
    assert found["x"].wide
    codebooks.pyreadstat.write_dta(frame.astype({"n": "int32"}), tmp_path / "t.dta")
    found = read_codebook(tmp_path / "t.dta").suggested
    assert list(found) == ["n"]
    assert found["n"] == by_storage("int32")


def test_a_fixed_width_bounds_a_variable_of_ddi():
    text = (
        '<codeBook><dataDscr><var name="PAY" intrvl="contin" dcml="2">'
        '<location StartPos="1" EndPos="7" width="7"/><labl>Income</labl>'
        '<varFormat type="numeric"/></var></dataDscr></codeBook>'
    )
    (bounds,) = read_codebook(text.encode()).suggested.values()
    assert (bounds.lower, bounds.upper, bounds.wide) == (-9999.99, 99999.99, True)
