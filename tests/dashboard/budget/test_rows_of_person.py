"""Rows of a person on the page Budget: shown where a column names the person, from public facts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.pages import open_page, texts

pytestmark = pytest.mark.app
OPEN = {"rows_of_person": True}


def test_it_is_there_only_where_a_column_names_the_person(project):
    assert "mean_rows" not in [str(box.key) for box in open_page("budget", project).number_input]


def test_noise_and_rows_are_shown_for_other_numbers(project):
    project.use_schema(
        replace(project.data.schema, one_row_per_person=False, person_id="pid", persons=400)
    )
    test = open_page("budget", project, **OPEN)
    (frame,) = (f.value for f in test.dataframe if "at most" in f.value)
    assert list(frame["at most"]) == [1, 2, 3, 5, 10]
    assert frame["rows"][0] == "320"  # a fifth of the persons is kept aside
    (every,) = (f.value for f in test.dataframe if "noise (σ) of a count of" in f.value)
    assert list(every.columns[1:]) == ["1", "2", "3", "5", "10"]
    assert "would be best" in texts(test)
    before = list(frame["rows"])
    test.number_input(key="mean_rows").set_value(6.0).run()
    assert project.data.mean_rows == 6.0
    (frame,) = (f.value for f in test.dataframe if "at most" in f.value)
    assert list(frame["rows"]) != before
    assert "under *People and rows*" in texts(test)
