"""The page Data: a schema that is uploaded, applied and downloaded is the schema that it was."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.session.data_entries import DataEntries, People
from dashboard.session.project import Project
from prism_core.data.schema import column_form, schema_file
from prism_core.data.schema.codebook_source import CodebookSource
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import read_table
from tests.support.pages import open_page
from tests.support.special import AGE

CASES = {
    "reals": (0.5, 1.0, 2.0),
    "postcodes": ("01234", "04711"),
    "digits": ("1", "2"),
    "mixed": (True, "maybe", "True", 1, "2"),
    "bars": ("a|b", "c"),
    "dashes": ("--5", "-5", -6),
    "long": ("9" * 4_301, int("9" * 300)),
    "codes": ("250.10", 250.1, "1e3"),
}


@pytest.fixture
def project() -> Project:
    """A private table with a column for every case."""
    header = ",".join((*CASES, "y"))
    rows = "".join(f"{',' * len(CASES)}{i % 2}\n" for i in range(9))
    return Project(
        data=DataEntries(
            name="stays.csv",
            raw=read_table(f"{header}\n{rows}".encode(), name="stays.csv"),
            draft_people=People(one_row_per_person=True),
        ),
    )


def test_upload_apply_and_download_give_the_same_schema(project):
    columns = tuple(
        Column(
            name=name,
            kind="categorical",
            levels=levels,
            other=levels[-1],
            fill=levels[0],
            description=" of the codebook ",
        )
        for name, levels in CASES.items()
    )
    declared = Schema(
        columns=(*columns, Column(name="y", kind="boolean", fill=True)), one_row_per_person=True
    )
    text = schema_file.dumps(declared)
    test = open_page("data", project)
    test.radio(key="schema_way").set_value("upload").run()
    test.file_uploader(key="upload_schema").upload("s.yaml", text.encode(), "text/yaml").run()
    test.button(key="use_schema").click().run()
    assert not test.exception
    assert test.button(key="apply_columns").disabled
    assert schema_file.dumps(project.data.schema) == text
    # Something else is in use, so that what the form says has to be applied.
    project.use_schema(replace(project.data.schema, columns=declared.columns[-1:]))
    test.run()
    test.button(key="apply_columns").click().run()
    assert not test.exception
    assert schema_file.dumps(project.data.schema) == text
    assert test.button(key="apply_columns").disabled


def test_special_values_labels_and_the_codebook_go_through_untouched(project):
    """And what is changed by hand afterwards is said beside the codebook."""
    number = replace(
        AGE,
        name="digits",
        special=(-9, "97", ".a", "a|b"),
        value_labels=(("-9", "Refused = no answer"), (".a", "Not asked | skipped")),
    )
    day = Column(
        name="dashes",
        kind="date",
        lower=0,
        upper=20_000,
        edges=(9_000,),
        special=("9999-12-31", 2020),
        value_labels=(("9999-12-31", "Never"),),
    )
    flag = Column(name="y", kind="boolean", value_labels=(("true", "Yes"), ("false", "No")))
    source = CodebookSource(
        name="survey.csv", sha256="0a" * 32, format="redcap", by_hand=("dashes",)
    )
    declared = Schema(
        columns=(number, day, flag),
        one_row_per_person=True,
        provenance="codebook",
        codebook=source,
    )
    text = schema_file.dumps(declared)
    test = open_page("data", project)
    test.radio(key="schema_way").set_value("upload").run()
    test.file_uploader(key="upload_schema").upload("s.yaml", text.encode(), "text/yaml").run()
    test.button(key="use_schema").click().run()
    assert not test.exception
    assert schema_file.dumps(project.data.schema) == text
    assert test.button(key="apply_columns").disabled
    project.use_schema(replace(project.data.schema, columns=declared.columns[-1:]))
    test.run()
    test.button(key="apply_columns").click().run()
    assert schema_file.dumps(project.data.schema) == text
    changed = replace(number, upper=130)
    project.data.show_form(column_form.to_rows((changed, day, flag)))
    test.run()
    test.button(key="apply_columns").click().run()
    assert not test.exception
    assert project.data.schema["digits"] == changed
    assert project.data.schema.provenance == "codebook"
    assert project.data.schema.codebook == replace(source, by_hand=("digits", "dashes"))


@pytest.mark.parametrize("typed", ["--5", "9" * 5_000, '"a', "-"])
def test_no_level_ends_the_page(project, typed):
    rows = [dict(row) for row in column_form.blank_rows(["bars", "y"])]
    rows[0] |= {"kind": "categorical", "levels": typed, "other": typed, "fill": typed}
    rows[1] |= {"kind": "boolean"}
    project.data.form = rows
    test = open_page("data", project)
    test.button(key="apply_columns").click().run()
    assert not test.exception
    if typed == '"a':
        assert "must end with one" in "".join(error.value for error in test.error)
    else:
        assert project.data.schema["bars"].levels == (typed,)
    assert not test.run().exception


def test_another_type_of_a_level_and_another_description_are_changes(project):
    columns = (
        Column(name="digits", kind="ordinal", levels=(1, 2), description="grade"),
        Column(name="y", kind="boolean"),
    )
    project.use_schema(Schema(columns=columns, one_row_per_person=True))
    for change in ({"levels": "1.0 | 2"}, {"description": "ward"}):
        rows = [dict(row) for row in column_form.to_rows(project.data.schema.columns)]
        rows[0] |= change
        project.data.show_form(rows)
        test = open_page("data", project)
        assert not test.button(key="apply_columns").disabled
        test.button(key="apply_columns").click().run()
        assert not test.exception
    assert [type(level) for level in project.data.schema["digits"].levels] == [float, int]
    assert project.data.schema["digits"].description == "ward"


def test_the_check_names_the_column_that_does_not_fit(project):
    columns = (
        Column(name="digits", kind="ordinal", levels=(1, 2)),
        Column(name="y", kind="boolean"),
    )
    project.use_schema(Schema(columns=columns, one_row_per_person=True))
    test = open_page("data", project)
    test.button(key="check_columns").click().run()
    assert not test.exception
    texts = [warning.value.replace("\\", "") for warning in test.warning]
    said = [text for text in texts if "Column" in text]
    assert len(said) == 1, said
    assert "Column 'digits': more than half of the cells are empty" in said[0]
    assert "fill" in said[0]
