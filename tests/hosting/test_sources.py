"""Sources: what an administrator offers, to whom, and that one table has one budget."""

from __future__ import annotations

import openpyxl
import pytest

from prism_core.errors import AccessError, ConfigError, TableError
from prism_core.hosting import sources
from prism_core.hosting.identity import Identity
from prism_core.runs.inputs import open_rows

ADA = Identity(subject="ada", name="Ada", roles=frozenset({"curator"}))
BEN = Identity(subject="ben", name="Ben", roles=frozenset({"curator"}))
RITA = Identity(subject="rita", name="Rita", roles=frozenset({"reviewer"}))


def source(name: str, address: str, asset: str = "stays", lifetime: object = 3.0, more="") -> str:
    return (
        f'[[source]]\nname = "{name}"\naddress = "{address}"\nasset = "{asset}"\n'
        f"lifetime_epsilon = {lifetime}\n{more}"
    )


@pytest.fixture
def file(tmp_path):
    def write(*texts: str):
        path = tmp_path / "sources.toml"
        path.write_text("\n".join(texts))
        return path

    return write


def test_a_source_is_opened_by_its_name_beside_its_file(file, tmp_path):
    (tmp_path / "stays.csv").write_text("age,ward\n31,a\n42,b\n")
    (found,) = sources.load(file(source("Clinic A", "stays.csv")))
    assert open_rows(found.place).rows == 2
    assert (found.asset, found.lifetime_epsilon) == ("stays", 3.0)
    assert "stays.csv" not in repr(found)


def test_a_source_may_be_a_sheet(file, tmp_path):
    book = openpyxl.Workbook()
    for name, ages in (("Ward 1", [31]), ("Ward 2", [42, 53])):
        sheet = book.create_sheet(name)
        for cell in ("age", *ages):
            sheet.append([cell])
    book.save(tmp_path / "stays.xlsx")
    (found,) = sources.load(file(source("Ward 2", "stays.xlsx#Ward 2")))
    assert open_rows(found.place).rows == 2


def test_an_error_tells_a_curator_no_folder(file, tmp_path):
    (found,) = sources.load(file(source("Clinic A", "gone.csv")))
    with pytest.raises(TableError, match=r"No file matches 'gone\.csv'") as caught:
        open_rows(found.place)
    assert str(tmp_path) not in str(caught.value)


def test_only_whom_it_is_offered_to_chooses_it(file):
    path = file(
        source("For all", "a.csv"),
        source("For Ada", "b.csv", more='curators = ["ada"]\n'),
    )
    assert [one.name for one in sources.offered(path, ADA)] == ["For all", "For Ada"]
    assert [one.name for one in sources.offered(path, BEN)] == ["For all"]
    assert sources.offered(path, RITA) == ()
    assert sources.offered(None, ADA) == ()
    assert sources.chosen(path, "For Ada", ADA).name == "For Ada"
    for person, name in (
        (BEN, "For Ada"),
        (RITA, "For all"),
        (ADA, "postgres://x@elsewhere/db?table=t"),
        (ADA, "/etc/passwd"),
        (ADA, ""),
    ):
        with pytest.raises(AccessError, match="no source of this name"):
            sources.chosen(path, name, person)


def test_two_views_are_one_asset_with_one_lifetime(file):
    path = file(
        source("View 1", "postgres://r:${PGPASSWORD}@db/clinic?table=view1"),
        source("View 2", "postgres://r:${PGPASSWORD}@db/clinic?table=view2"),
    )
    assert [one.asset for one in sources.load(path)] == ["stays", "stays"]
    with pytest.raises(ConfigError, match="two lifetimes"):
        sources.load(file(source("a", "a.csv"), source("b", "b.csv", " STAYS ".strip(), 4.0)))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("postgres://r:${PGPASSWORD}@db/c?table=t", "postgres://w:${PRISM_W}@db/c?table=t"),
        ("postgres://r@db/c?table=t", "postgresql://r@db/c?table=t"),
        ("stays.csv", "./stays.csv"),
        ("stays.csv", "*.csv"),
        ("postgres://r@db/c?table=t", "postgres://db/c?table=t"),
        ("postgres://r@db/c?table=t", "postgres://r@DB:5432/c?table=t"),
        ("duckdb:///clinic.db?table=t", "duckdb:///./clinic.db?table=t"),
        ("stays.csv", "sta*.*"),
    ],
)
def test_one_table_under_two_assets_is_refused(file, tmp_path, first, second):
    for name in ("stays.csv", "clinic.db", "start.txt"):
        (tmp_path / name).write_text("age\n1\n")
    with pytest.raises(ConfigError, match="one table under two assets"):
        sources.load(file(source("a", first, "stays"), source("b", second, "visits")))


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (source("", "a.csv"), "name"),
        (source("a", ""), "address"),
        (source("a", "a.csv", ""), "asset"),
        (source("a", "a.csv", lifetime=0), "lifetime_epsilon"),
        (source("a", "a.csv", lifetime='"3"'), "lifetime_epsilon"),
        (source("a", "a.csv", lifetime="nan"), "lifetime_epsilon"),
        (source("a", "a.csv", more='host = "x"\n'), "host"),
        (source("a", "a.csv", more='curators = "ada"\n'), "curators"),
        (source("a", "a.csv") + source("A ", "b.csv").replace("A ", "A"), "name"),
        (source("a", "postgres://r:hunter2@db/c?table=t"), "address"),
        ("source = 3\n", "sources"),
        ("source = [3]\n", "source"),
        ("sources = []\n", "sources"),
        ("[[source\n", "sources"),
    ],
)
def test_what_is_not_usable_is_refused_without_its_address(file, text, field):
    with pytest.raises(ConfigError) as found:
        sources.load(file(text))
    assert found.value.field == field
    assert "hunter2" not in str(found.value)
    assert "@db" not in str(found.value)


def test_sources_that_every_user_may_rewrite_are_refused(file):
    path = file(source("Clinic A", "stays.csv"))
    path.chmod(0o646)
    with pytest.raises(ConfigError, match="every user of the machine"):
        sources.load(path)


def test_a_file_that_is_gone_is_said_to_be(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        sources.load(tmp_path / "gone.toml")
