"""The folder a run leaves: what is in it, and what is not."""

from __future__ import annotations

import io
import json
import logging
import stat
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from prism_core.bundle import bundle_files, manifest
from prism_core.bundle.certificate import Facts, certificate
from prism_core.bundle.write import bundle_folder
from prism_core.data.encoding import encode
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import ConfigError, EvaluationError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes import config as configs
from prism_core.planning.wishes.scenario import Scenario
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.ledger import Ledger
from prism_core.structure.dag import Dag
from prism_core.synthesis.release import Release, release
from tests.support.bundles import stages_of

DAG = Dag(nodes=("age", "readmitted", "ward"), edges=(("age", "readmitted"),))
TASK = Task(target="readmitted")
FAST = Synthesis(model="naive_bayes")


@pytest.fixture
def made(schema, frame, canary, tmp_path) -> Release:
    frame.loc[5, ["ward", "age"]] = [f"{canary}-ward", f"{canary}-age"]
    table = encode(schema, RawTable(frame))
    plan = design(Brief(schema, TASK, Budget(), table.n, dag=DAG, synthesis=FAST))
    ledger = Ledger(tmp_path / "ledger")
    ledger.register("ward 7", epsilon=3.0, delta=plan.delta)
    return release(plan, table, ledger=ledger, asset="ward 7", rng=np.random.default_rng())


@pytest.fixture
def folder(made, tmp_path):
    local = {"train": str(tmp_path / "train.csv"), "config": str(tmp_path / "c.toml")}
    return bundle_folder.write(made, tmp_path / "deep" / "out", local=local)


def public_files(folder):
    return [path for path in folder.iterdir() if path.name != bundle_folder.LOCAL]


@pytest.mark.privacy
def test_what_may_be_handed_over_holds_no_path_and_no_cell(folder, tmp_path, canary):
    names = {path.name for path in public_files(folder)}
    assert names == {
        *bundle_files.NEEDED,
        *bundle_files.OPTIONAL,
        "manifest.json",
        "manifest.sig",
    } - {bundle_files.SCENARIOS}
    for path in public_files(folder):
        content = path.read_bytes()
        for secret in (str(tmp_path), str(tmp_path.parent), canary, "ward 7"):
            assert secret.encode() not in content
        assert b"seconds" not in content
        if path.suffix in (".json", ".toml", ".yaml"):
            assert b"/" not in content.replace(b"1/n", b"").replace(b'"text/csv"', b"").replace(
                b'"application/vnd.apache.parquet"', b""
            )


@pytest.mark.privacy
def test_the_curators_paths_are_for_the_curator(folder, tmp_path):
    local = folder / bundle_folder.LOCAL
    assert stat.S_IMODE(local.stat().st_mode) == 0o600
    assert json.loads(local.read_text())["train"] == str(tmp_path / "train.csv")


@pytest.mark.privacy
def test_an_older_local_file_is_closed_again(made, folder):
    (folder / bundle_folder.LOCAL).chmod(0o644)
    bundle_folder.write(made, folder, local={}, again=True)
    assert stat.S_IMODE((folder / bundle_folder.LOCAL).stat().st_mode) == 0o600


def test_the_certificate_says_what_was_done(folder, made, schema):
    found = json.loads((folder / bundle_folder.CERTIFICATE).read_text())
    assert found["stamp"] == "release"
    assert found["charge"] == 1
    assert found["guarantee"]["epsilon"] <= found["guarantee"]["declared_epsilon"] == 1.0
    assert found["guarantee"]["delta"] == pytest.approx(1 / 300**2)
    assert found["guarantee"]["neighbours"].startswith("replace one person")
    assert found["guarantee"]["unit"] == "one row per person declared"
    assert found["task"] == {"target": "readmitted", "regime": "causal", "s": ["age"]}
    assert found["schema_provenance"] == "declared"
    assert found["plan_sha256"] == made.plan.hash
    assert len(found["plan_sha256"]) == 64


@pytest.mark.privacy
def test_a_schema_drafted_from_private_rows_is_confessed(schema, made, tmp_path):
    drafted = replace(schema, provenance="private rows")
    plan = design(Brief(drafted, TASK, Budget(), 300, dag=DAG, synthesis=FAST))
    found = certificate(stages_of(plan), Facts.of(made))
    assert found["schema_provenance"] == "private rows"
    assert "not private" in found["schema_provenance_text"]


def test_a_folder_reads_back(folder, schema):
    again = bundle_folder.read(folder)
    assert again.schema == schema
    assert again.certificate["task"]["target"] == "readmitted"
    assert set(again.local) == {"train", "config"}
    assert encode(schema, RawTable(_text_table(again.synthetic))).n == 300
    (folder / bundle_folder.LOCAL).unlink()
    assert bundle_folder.read(folder).local == {}


def _text_table(path):
    from prism_core.data.tables.raw_table import read_table

    return read_table(path).frame


def test_synthetic_rows_on_disk_are_the_rows_of_the_release(folder, made, schema):
    from prism_core.data.tables.raw_table import read_table

    table = encode(schema, read_table(folder / bundle_folder.SYNTHETIC))
    assert (table.codes == made.codes).all()


def test_the_plan_on_disk_is_the_plan(folder, made):
    assert json.loads((folder / bundle_folder.PLAN).read_text()) == json.loads(
        json.dumps(made.plan.to_dict())
    )


def test_a_run_without_a_graph_writes_none(schema, frame, tmp_path):
    task = Task(target="readmitted", regime="predictive", k=2)
    plan = design(Brief(schema, task, Budget(), 300, synthesis=FAST))
    table = encode(schema, RawTable(frame))
    made = release(plan, table, ledger=None, rng=np.random.default_rng())
    folder = bundle_folder.write(made, tmp_path / "out")
    assert not (folder / bundle_folder.GRAPH).exists()
    found = json.loads((folder / bundle_folder.CERTIFICATE).read_text())
    assert (found["stamp"], found["charge"]) == ("release without a ledger", None)
    assert len(found["task"]["s"]) == 2


@pytest.mark.parametrize(
    "name", [bundle_folder.SYNTHETIC, bundle_folder.SCHEMA, bundle_folder.CERTIFICATE]
)
def test_a_folder_that_misses_something_says_what(folder, name):
    (folder / name).unlink()
    with pytest.raises(EvaluationError, match=f"'out' is not the folder of a run: {name}") as e:
        bundle_folder.read(folder)
    assert e.value.field == "dir"


def test_a_target_is_checked_without_making_it(tmp_path):
    bundle_folder.check_out_folder(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    for out in (tmp_path / "file", tmp_path / "file" / "b"):
        with pytest.raises(ConfigError, match="cannot be written") as caught:
            bundle_folder.check_out_folder(out)
        assert caught.value.field == "out"
        assert str(tmp_path) not in str(caught.value)


@pytest.mark.privacy
def test_a_release_does_not_print_rows(made):
    assert "synthetic" not in repr(made)
    for word in ("codes=", "table=", "measurements=", "array("):
        assert word not in repr(made)


def test_scenarios_go_along_with_their_figures(made, folder, schema):
    assert not (folder / bundle_folder.SCENARIOS).exists()
    other = Scenario(name="half the epsilon", task=TASK, budget=Budget(epsilon=0.5), synthesis=FAST)
    plan = design(Brief(schema, TASK, other.budget, made.plan.n, dag=DAG, synthesis=FAST))
    bundle_folder.write(made, folder, scenarios=[(other, plan)], again=True)
    (row,) = json.loads((folder / bundle_folder.SCENARIOS).read_text())["scenarios"]
    assert row["name"] == "half the epsilon"
    assert row["budget"]["epsilon"] == 0.5
    assert row["figures"]["epsilon"] == plan.spent.epsilon
    assert row["plan_sha256"] == plan.hash
    bundle_folder.write(made, folder, again=True)  # of an earlier run into the same folder
    assert not (folder / bundle_folder.SCENARIOS).exists()


NUMBERS = ("61.7734911", "-48215.0937", "271828182845904")
"""Cells of the private rows: inside the declared bounds, below, and above."""


@pytest.mark.privacy
def test_a_number_of_the_private_rows_is_in_no_file_and_no_log(
    schema, frame, tmp_path, caplog, capsys
):
    caplog.set_level(logging.DEBUG)
    frame.loc[7, "dose"], frame.loc[8, "age"], frame.loc[9, "age"] = NUMBERS
    table = encode(schema, RawTable(frame))
    plan = design(Brief(schema, TASK, Budget(), table.n, dag=DAG, synthesis=FAST))
    ledger = Ledger(tmp_path / "ledger")
    ledger.register("ward 7", epsilon=3.0, delta=plan.delta)
    made = release(plan, table, ledger=ledger, asset="ward 7", rng=np.random.default_rng())
    folder = bundle_folder.write(made, tmp_path / "out", local={})
    said = caplog.text + "".join(capsys.readouterr())
    parquet = _text_table(folder / bundle_files.PARQUET).to_csv()
    ledgers = [path.read_bytes() for path in (tmp_path / "ledger").iterdir() if path.is_file()]
    for number in NUMBERS:
        stem = number.strip("-").split(".")[0]
        needle = number.strip("-") if len(stem) < 4 else stem
        assert needle not in said
        assert needle not in parquet
        for content in (*ledgers, *(path.read_bytes() for path in folder.iterdir())):
            assert needle.encode() not in content


def test_a_run_that_cannot_be_moved_into_an_empty_folder_leaves_it_empty(
    made, tmp_path, monkeypatch
):
    out, rename, moved = tmp_path / "out", Path.rename, []

    def stop_at_the_manifest(path, target):
        if Path(target).parent == out:
            moved.append(path.name)
            if path.name == bundle_folder.MANIFEST:
                raise KeyboardInterrupt
        return rename(path, target)

    out.mkdir()
    monkeypatch.setattr(Path, "rename", stop_at_the_manifest)
    with pytest.raises(KeyboardInterrupt):
        bundle_folder.write(made, out)
    assert len(moved) > 2
    assert moved[-1] == bundle_folder.MANIFEST
    assert not any(out.iterdir())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ledger", "out"]


@pytest.mark.privacy
def test_the_zip_holds_what_may_be_handed_over_and_no_time(made, folder):
    content = manifest.zip_bytes(folder)
    with zipfile.ZipFile(io.BytesIO(content)) as found:
        assert bundle_folder.LOCAL not in found.namelist()
        assert set(found.namelist()) == {path.name for path in public_files(folder)}
        assert {entry.date_time for entry in found.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert found.read("synthetic.csv") == (folder / "synthetic.csv").read_bytes()
    (folder / "notes.txt").write_text("of the curator")
    assert manifest.zip_bytes(folder) == content


def test_the_certificate_lists_every_event_and_every_choice(schema, frame, tmp_path):
    task = Task(target="readmitted", regime="predictive", k=2, three_way="cmi")
    table = encode(schema, RawTable(frame))
    plan = design(Brief(schema, task, Budget(), table.n, synthesis=Synthesis()))
    made = release(plan, table, ledger=None, rng=np.random.default_rng())
    found = certificate(made.stages, Facts.of(made))
    assert {entry["name"] for entry in found["choices"]} == {
        "features",
        "3-way marginals",
        "background pairs",
    }
    assert all(entry["sensitivity"] > 0.0 for entry in found["choices"])
    assert sum(event["rho"] for event in found["events"]) == pytest.approx(
        found["guarantee"]["rho"], rel=1e-12
    )
    gaussians = [event for event in found["events"] if event["event"] == "gaussian"]
    assert all(event["sensitivity"] == 2**0.5 and event["sigma"] > 0 for event in gaussians)
    assert found["guarantee"]["n"] == 300
    assert {"python", "numpy", "opendp"} <= set(found["software"]["versions"])
    assert "operating system" in found["noise"]


def test_the_settings_can_be_run_again(folder, schema):
    config = configs.load(folder / bundle_files.RUN)
    assert (config.task, config.synthesis) == (TASK, FAST)
    assert config.asset is None
    assert config.table.train.name == "train.csv"


def test_the_data_sheet_says_what_it_is(folder, made):
    text = (folder / bundle_files.README).read_text(encoding="utf-8")
    for heading in (
        "Intended use",
        "The features S",
        "What is preserved",
        "What is not preserved",
        "Privacy, in words",
        "How to cite",
    ):
        assert f"## {heading}" in text
    assert "charge 1 in the ledger" in text
    assert "Pa\\(readmitted\\)" in text
    assert made.plan.hash[:12] in text


def test_the_data_package_describes_every_column_of_the_csv(folder, schema):
    document = json.loads((folder / bundle_files.DATAPACKAGE).read_text(encoding="utf-8"))
    assert document["profile"] == "tabular-data-package"
    fields = document["resources"][0]["schema"]["fields"]
    header = (folder / bundle_files.SYNTHETIC).read_text(encoding="utf-8").splitlines()[0]
    assert ",".join(entry["name"] for entry in fields) == header
    kinds = {entry["name"]: entry["type"] for entry in fields}
    assert kinds == {
        "age": "integer",
        "smoker": "boolean",
        "grade": "string",
        "ward": "string",
        "seen": "date",
        "dose": "number",
        "readmitted": "boolean",
    }
    by_name = {entry["name"]: entry["constraints"] for entry in fields}
    assert by_name["age"] == {"required": True, "minimum": 18, "maximum": 89}
    assert by_name["smoker"] == {"required": False}
    assert by_name["ward"]["enum"] == ["north", "south", "rest"]
    assert by_name["seen"]["minimum"] == "2020-01-01"


def test_an_earlier_run_leaves_nothing_behind(made, folder, schema, frame):
    task = Task(target="readmitted", regime="predictive", k=2)
    table = encode(schema, RawTable(frame))
    plan = design(Brief(schema, task, Budget(), 300, synthesis=FAST))
    other = release(plan, table, ledger=None, rng=np.random.default_rng())
    (folder / "signing-key.pem").write_text("as an earlier version wrote it")
    bundle_folder.write(other, folder, again=True)
    names = {path.name for path in folder.iterdir()}
    assert not names & {
        bundle_files.GRAPH,
        bundle_files.DOT,
        bundle_files.SIGNATURE,
        bundle_files.PUBLIC_KEY,
        *bundle_files.FORMER,
    }


@pytest.mark.privacy
def test_the_signing_key_is_private_and_stays_in_the_workspace(made, folder, tmp_path):
    key = tmp_path / "ledger" / "signing.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    secret = key.read_bytes()
    assert (folder / "public-key.pem").read_text().startswith("-----BEGIN PUBLIC KEY")
    for path in folder.iterdir():
        assert secret not in path.read_bytes()
        assert secret.hex() not in path.read_text(encoding="latin-1")
