"""Metadata of SPSS, Stata and SAS files as a codebook, whatever state their rows are in."""

from __future__ import annotations

import pandas as pd
import pytest

from prism_core.data.codebooks import codebook_file, read_codebook
from prism_core.errors import SchemaError
from tests.support import codebooks
from tests.support.codebooks import cures, missing, pyreadstat, settled


def by_name(found):
    return {column.name: column for column in found.columns}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    return {
        "sav": codebooks.sav(folder),
        "zsav": codebooks.sav(folder, "zsav"),
        "dta": codebooks.dta(folder),
        "xpt": codebooks.xpt(folder),
    }


@pytest.mark.parametrize("kind", ["sav", "zsav"])
def test_labels_and_measures_of_spss(kind, files):
    found = read_codebook(files[kind])
    columns = by_name(found)
    assert found.source.format == "spss"
    assert settled(columns["sex"]).levels == (1, 2, 9)
    assert settled(columns["sex"]).kind == "categorical"
    assert dict(settled(columns["sex"]).value_labels)["9"] == "refused"
    assert (settled(columns["grade"]).kind, settled(columns["grade"]).levels) == (
        "ordinal",
        (1, 2, 3),
    )
    assert columns["seen"].kind == "date"


def test_a_number_with_labels_for_missing_codes_alone_has_special_values(files):
    age = by_name(read_codebook(files["sav"]))["age"]
    assert (age.kind, age.special, dict(age.labels)) == ("numeric", (-9,), {"-9": "refused"})
    assert age.decimals == 0
    assert "-99 to -1" in missing(age)
    assert age.row["special"]


def test_extended_missing_values_of_stata(files):
    columns = by_name(read_codebook(files["dta"]))
    assert columns["age"].special == (".a",)
    assert dict(columns["age"].labels) == {".a": "refused"}
    assert settled(columns["sex"]).levels == (1, 2)
    assert columns["seen"].kind == "date"


def test_dates_of_sas(files):
    found = read_codebook(files["xpt"])
    assert found.source.format == "sas"
    assert {c.name: c.kind for c in found.columns}["seen"] == "date"
    assert [c.description for c in found.columns][:2] == ["Age", "Sex"]


def test_the_content_is_read_as_the_file(files):
    for path in files.values():
        read = read_codebook(path.read_bytes(), name=path.name)
        assert read == read_codebook(path)


# --- no row is read --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sav", "zsav", "dta", "xpt"])
@pytest.mark.parametrize("damage", ["noise", "cut"])
def test_damaged_rows_change_nothing(kind, damage, files, tmp_path):
    """The rows are the larger part of these files: they begin before the middle."""
    content = files[kind].read_bytes()
    half = len(content) // 2
    if damage == "cut":
        damaged = content[: half + half // 2]
    else:
        noise = bytes(byte ^ 0x5A for byte in content[half : half + half // 4])
        damaged = content[:half] + noise + content[half + len(noise) :]
    place = tmp_path / files[kind].name
    place.write_bytes(damaged)
    whole, found = read_codebook(files[kind]), read_codebook(place)
    assert found.names == whole.names
    if kind != "dta":  # Stata writes the labels of values behind the rows
        assert found == whole


def test_the_digest_does_not_depend_on_the_rows(tmp_path):
    """It goes into papers, and a digest of rows would confirm a guess of them."""
    found = []
    for place, value in enumerate((1.0, 2.0)):
        path = tmp_path / str(place) / "t.sav"
        path.parent.mkdir()
        pyreadstat.write_sav(pd.DataFrame({"x": [value] * 9}), path)
        found.append(read_codebook(path).source)
    assert found[0] == found[1]


def test_the_digest_depends_on_what_is_read(tmp_path):
    found = set()
    for place, label in enumerate(("Dose", "Dosage")):
        path = tmp_path / f"{place}.sav"
        pyreadstat.write_sav(pd.DataFrame({"x": [1.0]}), path, column_labels=[label])
        found.add(read_codebook(path).source.sha256)
    assert len(found) == 2


# --- rules -----------------------------------------------------------------------------------


def one(tmp_path, values, **options):
    path = tmp_path / "one.sav"
    options = {key: {"x": value} for key, value in options.items()}
    pyreadstat.write_sav(pd.DataFrame({"x": values}), path, **options)
    (column,) = read_codebook(path).columns
    return column


def test_missing_codes_stand_behind_the_levels(tmp_path):
    column = one(
        tmp_path,
        [1.0],
        variable_value_labels={-1.0: "refused", 2.0: "high", 1.0: "low"},
        missing_ranges=[-1, -2],
        variable_measure="ordinal",
    )
    assert settled(column).levels == (1, 2, -1, -2)


@pytest.mark.parametrize(
    ("labels", "measure", "kind"),
    [
        ({1.0: "no", 2.0: "yes"}, "scale", "categorical"),  # a list without a gap
        ({0.0: "none", 10.0: "worst"}, "scale", "numeric"),  # the ends of a scale
        ({90.0: "90 or older"}, "unknown", "numeric"),
        ({1.0: "low", 5.0: "high"}, "ordinal", "ordinal"),
        ({}, "nominal", "categorical"),
        ({}, "scale", "numeric"),
    ],
)
def test_a_list_of_levels_or_a_number(tmp_path, labels, measure, kind):
    options = {"variable_value_labels": labels} if labels else {}
    column = one(tmp_path, [1.0, 2.0], variable_measure=measure, **options)
    assert column.kind == kind
    assert column.column is None or column.levels == tuple(map(int, labels))


def test_texts_with_labels_are_levels_and_others_are_open(tmp_path):
    column = one(tmp_path, ["f"], variable_value_labels={"f": "female", "m": "male"})
    assert settled(column).levels == ("f", "m")
    assert cures(one(tmp_path, ["f"])) == ("type", "learn", "leave out")


@pytest.mark.parametrize("form", ["F8.0", "F8.2", "COMMA8.1"])
def test_decimals_of_the_display_format(tmp_path, form):
    assert one(tmp_path, [1.0], variable_format=form).decimals == int(form[-1])


def test_a_time_of_day_is_no_date(tmp_path):
    column = one(tmp_path, [3_600.0], variable_format="TIME8")
    assert "time of day" in missing(column)


@pytest.mark.parametrize("content", [b"$FL2@(#) and no more", b"<stata_dta><header>"])
def test_a_damaged_head_is_refused(content):
    with pytest.raises(SchemaError) as caught:
        read_codebook(content, name="t")
    assert caught.value.field == "codebook"


def test_another_format_than_the_files_own_is_refused(files):
    with pytest.raises(SchemaError) as caught:
        read_codebook(files["sav"], format="stata")
    assert caught.value.field == "format"


def test_a_catalog_gives_the_labels_of_a_file_of_sas(tmp_path, monkeypatch):
    """Only SAS writes catalogs: what is read of one stands in for it."""
    path = tmp_path / "t.xpt"
    frame = pd.DataFrame({"SEX": [1.0, 2.0], "AGE": [40.0, 50.0]})
    pyreadstat.write_xport(frame, path, variable_format={"SEX": "SEXF"})
    read = {"SEXF": {1.0: "female", 2.0: "male"}, "OTHER": {1.0: "yes"}}
    monkeypatch.setattr(codebook_file, "catalog_labels", lambda content, name: read)
    plain, labelled = read_codebook(path), read_codebook(path, catalog=b"\0catalog")
    sex, age = labelled.columns
    assert (sex.kind, sex.levels) == ("categorical", (1, 2))
    assert dict(sex.labels) == {"1": "female", "2": "male"}
    assert age == plain.columns[1]
    assert labelled.source.sha256 != plain.source.sha256


def test_what_is_no_catalog_of_sas_is_refused(files):
    for source, catalog in (
        (files["xpt"], b"\0no catalog"),
        (files["sav"], b"\0catalog"),
        (b"name,type\na,integer\n", b"\0catalog"),
    ):
        with pytest.raises(SchemaError, match="catalog"):
            read_codebook(source, catalog=catalog)
