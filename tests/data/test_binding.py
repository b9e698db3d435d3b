"""A table that comes after its design: compared by header and number of rows, never by a value."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prism_core.data.tables.binding import binding_checks

pytestmark = pytest.mark.privacy


def fits(schema, persons, header, rows):
    found = binding_checks(schema, persons, header, rows, "t.csv")
    return {check.field: check.fits for check in found}, " ".join(c.text for c in found)


def test_the_table_that_was_planned_for(schema):
    assert fits(schema, 300, schema.names, 300)[0] == {"header": True, "persons": True}


@pytest.mark.parametrize("rows", [299, 301])
def test_another_number_of_rows_is_another_plan(schema, rows):
    found, text = fits(schema, 300, schema.names, rows)
    assert found == {"header": True, "persons": False}
    assert "300 persons" in text
    assert f"{rows} rows" in text


def test_a_missing_column_is_named_and_further_ones_are_counted_only(schema, canary):
    header = [*schema.names[1:], canary, "other"]
    found, text = fits(schema, 300, header, 300)
    assert not found["header"]
    assert schema.names[0] in text
    found, text = fits(schema, 300, [*schema.names, canary], 300)
    assert found["header"]
    assert "1 more in the file is left out" in text
    assert canary not in text


def test_persons_who_are_named_may_have_several_rows(schema):
    named = replace(schema, one_row_per_person=False, person_id="id", persons=200)
    header = [*schema.names, "id"]
    assert fits(named, 200, header, 500)[0]["persons"]
    assert not fits(named, 200, header, 199)[0]["persons"]
    assert not fits(named, 200, schema.names, 500)[0]["header"]
