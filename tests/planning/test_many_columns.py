"""Many columns and levels: forecast from the plan, who is to blame, and a release of groups."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from prism_core.bundle.write import bundle_folder
from prism_core.cli.main import main
from prism_core.cli.verify_command import UNAUTHENTICATED
from prism_core.data.schema import schema_file
from prism_core.data.schema.code_groups import CodeGroups
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.explain.run_time import run_seconds, size_text, typical_cells
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.large_columns import blame, crowded
from prism_core.planning.wishes.task import Budget, Task
from prism_core.structure.dag import Dag

CODES = tuple(f"{group}.{i}" for group in ("I50", "E11", "J18", "N17") for i in range(500))


def schema(*columns: Column) -> Schema:
    return Schema(columns=(*columns, Column(name="y", kind="boolean")), one_row_per_person=True)


def icd(**entries) -> Column:
    return Column(name="icd", kind="categorical", levels=CODES, **entries)


def grouped() -> Column:
    entry = {"name": "icd", "kind": "categorical", "codes": list(CODES), "prefix": 3}
    return schema_file.column_from_dict(entry, 1)


def plan_of(known: Schema, **entries):
    causes = tuple(name for name in known.names if name != "y")[:1]
    dag = Dag(nodes=known.names, edges=tuple((name, "y") for name in causes))
    return design(Brief(known, Task(target="y"), Budget(**entries), 20_000, dag=dag))


def test_a_column_that_drowns_in_noise_is_named_with_the_way_out():
    found = plan_of(schema(icd(), Column(name="a", kind="boolean")), epsilon=0.5)
    (warning,) = found.warnings
    assert warning.startswith("The noise on 'icd' (2,000 levels) is expected to come to ")
    assert "group the levels of 'icd' (`groups`: a public map" in warning
    assert plan_of(schema(grouped(), Column(name="a", kind="boolean")), epsilon=0.5).warnings == ()


def test_a_background_column_and_many_columns_are_warned_of():
    wide = [replace(icd(), name=f"icd{i}") for i in range(5)]
    found = plan_of(schema(Column(name="a", kind="boolean"), *wide), epsilon=0.5)
    assert len(found.warnings) == 4
    assert found.warnings[-1] == "2 more columns are as large."
    assert crowded(found.schema, [replace(q, relative_error=0.5) for q in found.queries]) == ()


def test_the_way_out_fits_the_column():
    bins = Column(
        name="income", kind="numeric", lower=0.0, upper=5e3, edges=tuple(map(float, range(1, 3000)))
    )
    text = blame(schema(icd(), bins, Column(name="a", kind="boolean")))
    assert text.startswith(
        "The largest columns are 'income' (3,000 bins) and 'icd' (2,000 levels)."
    )
    assert "declare fewer bins for 'income'; group the levels of 'icd'" in text
    many = CodeGroups(groups=CODES, codes=tuple((code,) for code in CODES))
    text = blame(schema(Column(name="icd", kind="categorical", groups=many)))
    assert "group the codes of 'icd' into fewer groups; leave out 'y'" in text


def test_the_forecast_grows_with_rows_columns_and_levels():
    def seconds(known: Schema, rows: int = 20_000) -> float:
        return run_seconds(replace(plan_of(known), n=rows))

    flags = [Column(name=f"x{i}", kind="boolean") for i in range(40)]
    small = schema(*flags[:4])
    assert 0.0 < seconds(small) < seconds(small, 10**6) < seconds(small, 10**7)
    assert seconds(small) < seconds(schema(*flags)) < seconds(schema(*flags, icd()))
    plan = plan_of(schema(*flags, icd()))
    assert not plan.forecast.exact
    assert 0.0 < typical_cells(plan) <= plan.forecast.cells
    assert f"{plan.forecast.cells:,} cells at most" in size_text(plan)
    assert "MiB" in size_text(plan)


@pytest.fixture
def run(tmp_path, capsys):
    """A rehearsal of 40 rows with codes in groups, one unknown code among them."""
    rng = np.random.default_rng(5)
    drawn = [*rng.choice(CODES, 39), "unknown"]
    rows = "".join(f"{code},{i % 2},{i % 3 > 0}\n" for i, code in enumerate(drawn))
    (tmp_path / "train.csv").write_text(f"icd,a,y\n{rows}")
    (tmp_path / "icd.csv").write_text("code,group\n" + "".join(f"{c},{c[:3]}\n" for c in CODES))
    (tmp_path / "schema.yaml").write_text(
        "one_row_per_person: true\ncolumns:\n"
        "- {name: icd, kind: categorical, groups: icd.csv, other: other}\n"
        "- {name: a, kind: boolean}\n- {name: y, kind: boolean}\n"
    )
    (tmp_path / "config.toml").write_text(
        '[table]\ntrain = "train.csv"\nschema = "schema.yaml"\npublic = true\n'
        '[task]\ntarget = "y"\nregime = "predictive"\nk = 1\n[budget]\nepsilon = 5.0\n'
    )
    config = str(tmp_path / "config.toml")
    assert main(["plan", config]) == 0
    planned = capsys.readouterr().out
    assert main(["release", config, "--out", str(tmp_path / "run"), "--seed", "1"]) == 0
    return tmp_path / "run", planned


def test_a_release_of_groups_writes_codes_and_says_so(run):
    folder, planned = run
    assert "icd: 2,001 codes in 5 groups; only groups are measured" in planned
    lines = (folder / "synthetic.csv").read_text().splitlines()
    found = {line.split(",")[0] for line in lines[1:]}
    assert len(lines) == 41
    assert found <= {*CODES, "other"}
    assert any("." in code for code in found)
    certificate = json.loads((folder / "certificate.json").read_text())
    assert certificate["grouped_codes"] == {
        "icd": {"groups": 5, "codes": 2_001, "within_a_group": "all codes of a group alike"}
    }
    package = json.loads((folder / "datapackage.json").read_text())
    fields = {field["name"]: field for field in package["resources"][0]["schema"]["fields"]}
    assert fields["icd"]["constraints"]["enum"] == [*CODES, "other"]
    for name in ("README.md", "report.html"):
        text = (folder / name).read_text()
        assert "2,001 codes in 5 groups" in text
    assert bundle_folder.read(folder).schema["icd"].groups.count == 2_001


def test_a_bundle_with_groups_is_verified(run, capsys):
    folder, _ = run
    assert main(["verify", str(folder)]) == UNAUTHENTICATED
    assert "unknown" not in (folder / "synthetic.csv").read_text()
    assert capsys.readouterr().out
