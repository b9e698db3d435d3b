"""Codebooks of one made-up study, in every format; rows stand in those of SPSS, Stata and SAS."""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any

import pandas as pd

from tests.support.tables import CANARY

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.data.codebooks import CodebookColumn, Cure
    from prism_core.data.schema.column import Column

pyreadstat: Any = importlib.import_module("pyreadstat")
"""Its writers are typed for frames of Polars as well, which are not installed."""

REDCAP_HEADER = (
    "Variable / Field Name,Form Name,Section Header,Field Type,Field Label,"
    '"Choices, Calculations, OR Slider Labels",Field Note,'
    "Text Validation Type OR Show Slider Number,Text Validation Min,Text Validation Max,"
    "Identifier?,Branching Logic (Show field only if...),Required Field?"
)

REDCAP = f"""{REDCAP_HEADER}
study_id,base,,text,Study ID,,,,,,,,
initials,base,,text,Initials,,,,,,y,,
sex,base,,radio,<b>Sex</b> at birth,"1, Female | 2, Male, or | so | -9, Refused",,,,,,,y
site,base,,dropdown,Site,"north, North wing | south, South wing",,,,,,,
smoker,base,,yesno,Smokes,,,,,,,,y
pregnant,base,,truefalse,Pregnant,,,,,,,[sex] = '1',y
drugs,base,,checkbox,Drugs taken,"A, Aspirin | -1, None of them",,,,,,,
pain,base,,slider,Pain,none | some | much,,number,,,,,
mood,base,,slider,Mood,,,,-5,5,,,
age,base,,text,Age,,in years,integer,18,99,,,y
weight,base,,text,Weight,,,number_1dp,30,200,,,
height,base,,text,Height,,,number,,250,,,
seen,base,,text,Seen on,,,date_dmy,2020-01-01,2020-12-31,,,y
left,base,,text,Left at,,,datetime_seconds_mdy,2020-01-01 00:00:00,2021-06-30 12:00:00,,,
bmi,base,,calc,BMI,[weight]/([height]^2),,,,,,,
story,base,,notes,Story,,,,,,,,
scan,base,,file,Scan,,,,,,,,
ward,base,,sql,Ward,select id from wards,,,,,,,
hello,base,,descriptive,"Welcome,
dear patient",,,,,,,,
job,base,,text,Job,,,,,,,,
mail,base,,text,Mail,,,email,,,,,
"""

TABLE_SCHEMA: dict[str, Any] = {
    "fields": [
        {
            "name": "age",
            "type": "integer",
            "title": "Age",
            "constraints": {"minimum": 18, "maximum": 99, "required": True},
        },
        {
            "name": "dose",
            "type": "number",
            "constraints": {"minimum": 0.5, "maximum": "2.5"},
            "missingValues": ["", {"value": "-9", "label": "refused"}, ".a"],
        },
        {"name": "seen", "type": "date", "constraints": {"minimum": "2020-01-01"}},
        {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"]}},
        {
            "name": "grade",
            "type": "integer",
            "categories": [{"value": 1, "label": "low"}, {"value": 2, "label": "high"}],
            "categoriesOrdered": True,
        },
        {"name": "smoker", "type": "boolean", "trueValues": ["1"], "falseValues": ["0"]},
        {"name": "told", "type": "boolean", "trueValues": ["ja"], "falseValues": ["nein"]},
        {"name": "note", "type": "string", "description": "What was said"},
        {"name": "place", "type": "geopoint"},
    ],
    "missingValues": ["", "NA"],
}

PACKAGE = {
    "name": "study",
    "resources": [
        {"name": "visits", "path": "visits.csv", "schema": TABLE_SCHEMA},
        {"name": "people", "path": "people.csv", "schema": {"fields": [{"name": "id"}]}},
    ],
}

CSVW: dict[str, Any] = {
    "@context": ["http://www.w3.org/ns/csvw", {"@language": "en"}],
    "url": "visits.csv",
    "null": ["", "-9"],
    "tableSchema": {
        "columns": [
            {
                "titles": "age",
                "name": "age_in_years",
                "datatype": {"base": "integer", "minimum": 18, "maximum": 99},
                "required": True,
                "null": "",
                "dc:description": "Age",
            },
            {
                "titles": {"en": ["dose"]},
                "datatype": {
                    "base": "decimal",
                    "minInclusive": "0",
                    "maxInclusive": "2.5",
                    "format": "#0.00",
                },
            },
            {
                "name": "seen",
                "datatype": {"base": "date", "minimum": "2020-01-01", "maximum": "2020-12-31"},
            },
            {"name": "sex", "datatype": {"base": "string", "format": "^(f|m)$"}},
            {"name": "smoker", "datatype": "boolean"},
            {"name": "left", "datatype": {"base": "date", "format": "dd.MM.yyyy"}},
            {"name": "note", "datatype": "string"},
            {"name": "drugs", "separator": ";"},
            {"name": "made", "virtual": True},
        ]
    },
}

DDI = """<?xml version="1.0" encoding="UTF-8"?>
<codeBook version="2.5" xmlns="ddi:codebook:2_5">
  <fileDscr ID="F1"><fileTxt><fileName>visits.dat</fileName></fileTxt></fileDscr>
  <dataDscr>
    <var ID="V1" name="AGE" intrvl="contin" dcml="0" files="F1">
      <labl>Age</labl>
      <valrng><range UNITS="INT" min="18" max="99"/></valrng>
      <invalrng><item VALUE="-8"/><range min="-7" max="-1"/></invalrng>
      <catgry><catValu>-5</catValu><labl>unknown</labl></catgry>
      <catgry missing="Y"><catValu>-9</catValu><labl>refused</labl></catgry>
      <catgry missing="Y"><catValu>.</catValu></catgry>
      <varFormat type="numeric" schema="other"/>
    </var>
    <var ID="V2" name="SEX" intrvl="discrete" files="F1">
      <labl>Sex</labl>
      <catgry><catValu>01</catValu><labl>Female</labl></catgry>
      <catgry><catValu>02</catValu><labl>Male</labl></catgry>
      <catgry missing="Y"><catValu>09</catValu><labl>Refused</labl></catgry>
      <varFormat type="numeric"/>
    </var>
    <var ID="V3" name="WARD" nature="ordinal" files="F1">
      <catgry><catValu>n</catValu><labl>north</labl></catgry>
      <catgry><catValu>s</catValu><labl>south</labl></catgry>
      <varFormat type="character"/>
    </var>
    <var ID="V4" name="PAY" intrvl="contin" dcml="2" files="F1"><varFormat type="numeric"/></var>
    <var ID="V5" name="NOTE" files="F1"><varFormat type="character"/></var>
  </dataDscr>
</codeBook>
"""

DICTIONARY = """VARIABLE_NAME,Label,Type,Value labels,Min,Max,Missing codes,Decimals,Units
age,Age,integer,,18,99,,,years
dose,Dose,decimal,,0,2.5,-9=refused; -8=unknown,1,mg
sex,Sex,,1=Female; 2=Male,,,NA,,
grade,Grade,ordinal,"1: low, 2: middle, or so, 3: high",,,,,
ward,Ward,categorical,north | south,,,yes,,
smoker,Smokes,boolean,1=Yes; 0=No,,,,,
seen,Seen,date,,2020-01-01,2020-12-31,,,
note,Note,free text,,,,,,
score,Score,integer,0-10,,,,,
"""

FRAME = pd.DataFrame(
    {
        "age": [40.0, 50.0, -9.0] * 400,
        "sex": [1.0, 2.0, 9.0] * 400,
        "grade": [1.0, 2.0, 3.0] * 400,
        "seen": pd.to_datetime(["2020-01-01", "2020-06-01", "2020-12-31"] * 400).date,
        "note": [CANARY] * 1_200,
    }
)


def sav(folder: Path, suffix: str = "sav") -> Path:
    """A file of SPSS with labels, measures and missing values."""
    path = folder / f"visits.{suffix}"
    pyreadstat.write_sav(
        FRAME,
        path,
        column_labels=["Age", "Sex", "Grade", "Seen", "Note"],
        variable_value_labels={
            "age": {-9.0: "refused"},
            "sex": {1.0: "female", 2.0: "male", 9.0: "refused"},
            "grade": {3.0: "high", 1.0: "low", 2.0: "middle"},
        },
        missing_ranges={"age": [{"lo": -99, "hi": -1}], "sex": [9]},
        variable_measure={"age": "scale", "sex": "nominal", "grade": "ordinal"},
        variable_format={"age": "F8.0", "sex": "F8.0", "grade": "F8.0"},
        row_compress=suffix == "sav",
    )
    return path


def dta(folder: Path) -> Path:
    """A file of Stata with an extended missing value."""
    path = folder / "visits.dta"
    pyreadstat.write_dta(
        FRAME.assign(age=[40.0, 50.0, "a"] * 400),
        path,
        column_labels=["Age", "Sex", "Grade", "Seen", "Note"],
        variable_value_labels={"age": {"a": "refused"}, "sex": {1: "female", 2: "male"}},
        missing_user_values={"age": ["a"]},
    )
    return path


def xpt(folder: Path) -> Path:
    """A transport file of SAS."""
    path = folder / "visits.xpt"
    pyreadstat.write_xport(
        FRAME, path, column_labels=["Age", "Sex", "Grade", "Seen", "Note"], file_format_version=8
    )
    return path


def texts() -> dict[str, bytes]:
    """The codebooks that are texts, by format."""
    return {
        "redcap": REDCAP.encode(),
        "table-schema": json.dumps(PACKAGE["resources"][0]).encode(),
        "csvw": json.dumps(CSVW).encode(),
        "ddi": DDI.encode(),
        "dictionary": DICTIONARY.encode(),
    }


def settled(column: CodebookColumn) -> Column:
    """The column that a codebook settles."""
    assert column.column is not None, column.open
    return column.column


def missing(column: CodebookColumn) -> str:
    """What is missing of a column that is open."""
    assert column.open is not None
    return column.open.missing


def cures(column: CodebookColumn) -> tuple[Cure, ...]:
    """What can be done about a column that is open."""
    assert column.open is not None
    return column.open.cures
