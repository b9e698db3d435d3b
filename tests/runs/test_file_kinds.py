"""A release is the same whatever kind of file its rows are in, in memory and where they stand."""

from __future__ import annotations

import numpy as np
import pytest

from prism_core import read_table
from prism_core.cli import main
from prism_core.data.encoding import encode
from prism_core.planning.wishes.task import Synthesis
from prism_core.runs import inputs
from prism_core.structure.dag import Dag
from prism_core.synthesizer import PrismSynthesizer
from tests.support.file_kinds import KINDS, write
from tests.support.tables import small_frame

DAG = Dag(nodes=("age", "readmitted"), edges=(("age", "readmitted"),))


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """The same rows in a file of every kind."""
    folder = tmp_path_factory.mktemp("kinds")
    frame = small_frame()
    frame.to_csv(folder / "rows.csv", index=False)
    found = {kind: write(frame, folder / f"rows.{kind}", kind) for kind in KINDS}
    return {"csv": folder / "rows.csv", **found}


@pytest.mark.parametrize("kind", KINDS)
def test_the_codes_are_those_of_the_csv(kind, places, schema):
    expected, found = (encode(schema, read_table(places[one])).codes for one in ("csv", kind))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("in_memory", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_release_by_the_command_line_is_that_of_the_csv(
    kind, in_memory, places, make_run, tmp_path, monkeypatch, capsys
):
    if not in_memory:
        monkeypatch.setattr(inputs, "IN_MEMORY", 0)
    written = []
    for one in ("csv", kind):
        config = make_run(name=one, table={"train": str(places[one]), "holdout": str(places[one])})
        out = tmp_path / f"out-{one}"
        status = main.main(["release", str(config), "--out", str(out), "--seed", "3"])
        assert status == 0, capsys.readouterr().err
        written.append((out / "synthetic.csv").read_bytes())
    if in_memory:
        assert written[0] == written[1]
    assert main.main(["evaluate", str(out), "--holdout", str(places[kind])]) == 0


def test_a_workbook_without_its_sheet_is_refused_before_anything(
    places, make_run, tmp_path, capsys
):
    place = str(places["xlsx"]).partition("#")[0]
    config = make_run(table={"train": place})
    assert main.main(["release", str(config), "--out", str(tmp_path / "o"), "--seed", "3"]) != 0
    assert "several sheets: 'Notes', 'Rows'" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("kind", ["sav", "dta", "xlsx"])
def test_the_facade_fits_what_read_table_gives(kind, places, schema):
    fitted = PrismSynthesizer(
        schema=schema,
        target="readmitted",
        dag=DAG,
        ledger=None,
        synthesis=Synthesis(model="naive_bayes"),
    ).fit(read_table(str(places[kind])))
    assert fitted.release_.plan.n == 300
    assert list(fitted.sample(50).columns) == list(schema.names)
