"""Several targets on their way: configuration, approval, run, bundle, check, evaluation."""

from __future__ import annotations

import json

import pytest

from prism_core import PrismSynthesizer
from prism_core.bundle import bundle_files
from prism_core.bundle.protocol.approval_file import approve
from prism_core.bundle.protocol.protocol import Protocol
from prism_core.bundle.reader import read_bundle
from prism_core.bundle.report.report_extras import Extras
from prism_core.bundle.verify.verification import verify
from prism_core.bundle.write import bundle_folder
from prism_core.cli import main
from prism_core.data.encoding import encode
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import ConfigError, EvaluationError, TaskError
from prism_core.evaluation import LEARNERS, Subject
from prism_core.evaluation.evaluate import evaluate_targets, evaluation_document
from prism_core.explain.features_statement import features_statement
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.search.comparison import differences
from prism_core.planning.wishes import config as configs
from prism_core.planning.wishes import scenario_files
from prism_core.planning.wishes.scenario import Scenario
from prism_core.planning.wishes.targets import Target
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.runs.finished_run import aims_of_run, subject
from tests.support.approvals import STATED
from tests.support.bundles import DAG, Forger, charged, written
from tests.support.refusals import refused

WARD = (Target(name="ward", weight=0.5),)
TASKS = {
    # ward is caused by readmitted alone, so the two can be protected together.
    "causal": Task(target="readmitted", further=WARD),
    "graphical": Task(target="readmitted", regime="graphical", further=WARD),
    "predictive": Task(target="readmitted", regime="predictive", k=3, further=WARD),
}
SHORT = Synthesis(rows=200, iterations=50)


def plan_of(schema, regime="causal", n=300):
    return design(Brief(schema, TASKS[regime], Budget(), n, dag=DAG, synthesis=SHORT))


@pytest.fixture(scope="module")
def folders(small, tmp_path_factory):
    """The bundle of a charged release in every regime."""
    place = tmp_path_factory.mktemp("several")
    return {
        name: written(charged(*small, place / name / "workspace", task, SHORT), place / name / "a")
        for name, task in TASKS.items()
    }


def test_a_configuration_reads_back(tmp_path):
    text = (
        '[table]\ntrain = "a.csv"\nschema = "s.yaml"\n[task]\ntarget = "y"\n'
        '[[task.further]]\nname = "z"\nweight = 0.5\n[[task.further]]\nname = "w"\n'
    )
    (tmp_path / "c.toml").write_text(text)
    config = configs.load(tmp_path / "c.toml")
    assert config.task.further == (Target(name="z", weight=0.5), Target(name="w"))
    (tmp_path / "d.toml").write_text(configs.dumps(config))
    assert configs.load(tmp_path / "d.toml").task == config.task
    scenario = Scenario(name="both", task=config.task)
    assert scenario_files.loads(scenario_files.dumps([scenario])) == (scenario,)


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ('further = ["z"]', "task.further"),
        ("further = [{weight = 1.0}]", "task.further.name"),
        ('further = [{name = "z", heft = 2}]', "heft"),
        ('further = [{name = "z", weight = "much"}]', "task.further.weight"),
        ('further = [{name = "z", weight = 0.0}]', "further"),
        ('further = [{name = "y"}]', "further"),
        ('three_way = "adaptive"\nfurther = [{name = "z"}]', "three_way"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path, entry, field):
    text = f'[table]\ntrain = "a.csv"\nschema = "s.yaml"\n[task]\ntarget = "y"\n{entry}\n'
    (tmp_path / "c.toml").write_text(text)
    with pytest.raises((ConfigError, TaskError)) as caught:
        configs.load(tmp_path / "c.toml")
    assert caught.value.field == field


@pytest.mark.privacy
@pytest.mark.parametrize("weight", [0.25, None])
def test_an_approval_is_for_these_targets_with_these_weights(schema, weight):
    protocol = Protocol(plan=plan_of(schema), asset="ward 7", statement=STATED)
    record = approve(protocol.to_json(), by="A", role="committee", date="2025-11-20")
    assert record.covers(plan_of(schema), "ward 7")
    assert record.settings["task.further.ward"] == 0.5
    other = () if weight is None else (Target(name="ward", weight=weight),)
    task = Task(target="readmitted", further=other)
    changed = design(Brief(schema, task, Budget(), 300, dag=DAG, synthesis=SHORT))
    assert not record.covers(changed, "ward 7")
    assert "task.further.ward" in [each.what for each in record.changes(changed)]
    assert "task.further.ward" in [each.what for each in differences(plan_of(schema), changed)]


@pytest.mark.privacy
@pytest.mark.parametrize(
    "forge",
    [
        lambda d: d["settings"].pop("task.further.ward"),
        lambda d: d["settings"].update({"task.further.ward": 4.0}),
        lambda d: d["settings"].update({"task.further.dose": 1.0}),
        lambda d: d["plan"]["targets"].pop(),
        lambda d: d["plan"].update(targets="ward"),
    ],
)
def test_a_protocol_that_says_other_targets_than_its_plan_is_refused(schema, forge):
    text = json.loads(Protocol(plan=plan_of(schema), asset="ward 7", statement=STATED).to_json())
    forge(text)
    with pytest.raises(ConfigError, match="contradicts itself"):
        approve(json.dumps(text), by="A", role="committee", date="2025-11-20")


def test_a_protocol_speaks_of_every_target(schema):
    text = Protocol(plan=plan_of(schema)).to_markdown()
    assert "| To be predicted | readmitted, ward |" in text
    assert r"ward \(weight 0\.5\)\: S = Pa\(ward\) = \{readmitted\}" in text
    said = features_statement(TASKS["causal"], DAG)
    assert "readmitted is a feature of ward (ward is none of readmitted: leave it out" in said
    assert "(" not in features_statement(TASKS["graphical"], DAG).split("Between the targets:")[1]
    assert "No target is a feature of another one" in features_statement(TASKS["predictive"], None)
    three = Task(target="a", further=(Target(name="b"), Target(name="c")))
    assert three.target_text == "a, b and c"


@pytest.mark.parametrize("regime", TASKS)
def test_a_bundle_verifies_and_names_every_target(folders, regime):
    folder = folders[regime]
    found = verify(folder, workspace=folder.parent / "workspace")
    assert [check.findings for check in found.checks if check.findings] == []
    assert found.ok
    bundle = read_bundle(folder)
    assert len(bundle.choices.by_target) == 2
    assert bundle.stages().final.to_dict() == bundle.plan
    listed = bundle.certificate["task"]["targets"]
    assert [(each["name"], each["weight"]) for each in listed] == [
        ("readmitted", 1.0),
        ("ward", 0.5),
    ]
    if regime == "predictive":
        assert all({"readmitted", "ward"}.isdisjoint(each["s"]) for each in listed)
        assert all(len(each["s"]) == 3 for each in listed)
    else:
        assert "readmitted" in listed[1]["s"]
    data_sheet = (folder / "README.md").read_text(encoding="utf-8")
    assert "models that predict readmitted and ward" in data_sheet
    assert "- ward (weight 0.5): " in data_sheet
    report = (folder / "report.html").read_text(encoding="utf-8")
    for name in ("readmitted", "ward"):
        assert f"Bounds on the whole of S and {name}, and on training" in report


@pytest.mark.privacy
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda plan: plan["targets"][1].update(s=["age", "dose"]), "S is not what the regime"),
        (lambda plan: plan["targets"].pop(), "not one S for every target"),
        (lambda plan: plan.pop("targets"), "not one S for every target"),
    ],
)
def test_a_bundle_with_other_features_of_a_target_is_found_out(folders, tmp_path, change, said):
    forger = Forger(folders["causal"], tmp_path / "forged", tmp_path / "forger")
    forger.json(bundle_files.PLAN, change)
    forger.seal()
    findings = [text for check in verify(forger.folder).checks for text in check.findings]
    assert any(said in text for text in findings)


@pytest.mark.privacy
def test_a_marginal_through_which_a_target_hears_of_a_stranger_is_found_out(folders, tmp_path):
    """ward × dose lets dose say something about readmitted, through ward."""
    forger = Forger(folders["causal"], tmp_path / "forged", tmp_path / "forger")

    def swap(measurements):
        single = next(entry for entry in measurements if entry["clique"] == ["dose"])
        single |= {
            "clique": ["ward", "dose"],
            "shape": [3, 4],
            "counts": [count // 3 for count in single["counts"]] * 3,
        }

    forger.measured(swap)
    forger.seal()
    findings = [text for check in verify(forger.folder).checks for text in check.findings]
    assert any("lets 'dose'" in text and "the target 'ward'" in text for text in findings)
    assert any("lets 'dose'" in text and "the target 'readmitted'" in text for text in findings)


def test_every_target_is_evaluated_from_its_own_features(folders, small):
    schema, frame = small
    holdout = encode(schema, RawTable(frame), public=True)
    folder = bundle_folder.read(folders["causal"])
    aims = aims_of_run(folder)
    found = {aim.target: subject(folder, holdout, target=aim.target) for aim in aims}
    assert "ward" not in found["readmitted"].features  # its consequence, and a target
    assert "readmitted" in found["ward"].features  # its cause
    assert subject(folder, holdout).target == "readmitted"
    assert isinstance(found["ward"], Subject)
    with refused(EvaluationError, "target"):
        subject(folder, holdout, target="dose")
    both = evaluate_targets(
        found["ward"].synthetic, holdout, aims, train=holdout, learners=LEARNERS[:1]
    )
    assert [each.target for each in both] == ["readmitted", "ward"]
    plain = evaluation_document(both, aims)
    assert [each["target"] for each in plain["targets"]] == ["readmitted", "ward"]
    for each, one in zip(plain["targets"], both, strict=True):
        assert each["tstr_auc"] == one.tstr_auc
        rows = [row for row in plain["metrics"] if row["name"] == "auc"]
        assert [r["value"] for r in rows if r["subject"] == one.target] == [
            row.value for row in one.find("auc")
        ]
    columns = [row["subject"] for row in plain["metrics"] if row["name"] == "l1_1way"]
    assert len(columns) == len(set(columns))  # once, whatever the number of targets
    assert evaluation_document(both[:1], aims[:1]) == both[0].to_dict()
    Extras(evaluation=plain)  # a report takes it


def test_the_command_line_carries_them(make_run, tmp_path, capsys):
    config = make_run(synthesis={"model": "pgm", "iterations": 20})
    text = config.read_text()
    further = '[[task.further]]\nname = "ward"\nweight = 0.5\n[synthesis]'
    config.write_text(text.replace("[synthesis]", further))
    assert main.main(["plan", str(config)]) == 0
    said = capsys.readouterr().out
    assert "target ward (weight 0.5): {readmitted}" in said
    out = tmp_path / "out"
    assert main.main(["release", str(config), "--out", str(out), "--seed", "3"]) == 0
    capsys.readouterr()
    holdout = config.parent / "holdout.csv"
    assert main.main(["evaluate", str(out), "--holdout", str(holdout), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["target"] for each in found["targets"]] == ["readmitted", "ward"]
    assert all(0.0 <= each["tstr_auc"] <= 1.0 for each in found["targets"])
    for each in found["targets"]:
        for side in ("tstr", "trtr"):
            low, high = each[f"{side}_interval"]
            assert low <= each[side] <= high
    assert {row["subject"] for row in found["metrics"] if row["name"] == "auc"} == {
        "readmitted",
        "ward",
    }


def test_the_synthesizer_takes_them(schema, frame):
    made = PrismSynthesizer(
        schema=schema,
        target="readmitted",
        further={"ward": 0.5},
        dag=DAG,
        ledger=None,
        synthesis=SHORT,
    ).fit(frame)
    assert made.task.further == WARD
    assert [aim.target for aim in made.release_.plan.aims] == ["readmitted", "ward"]
    assert len(made.release_.table) == 200
