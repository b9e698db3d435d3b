"""Approval: for exactly one plan and one run, and recorded."""

from __future__ import annotations

import json

import numpy as np
import pytest

from prism_core.bundle import bundle_files
from prism_core.bundle.reader import read_bundle
from prism_core.bundle.verify.verification import verify
from prism_core.bundle.write import bundle_folder
from prism_core.cli import main
from prism_core.data.encoding import encode
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import CancelledError, ConfigError, LedgerError, PlanError
from prism_core.planning.approval import approval_from
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Task
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.ledger.rules import HOSTING_VARIABLE, approval_required
from prism_core.synthesis.release import release
from tests.support import bundles
from tests.support.approvals import FAST, GIVEN, approval
from tests.support.refusals import refused


@pytest.fixture
def plan(schema):
    return design(
        Brief(schema, Task(target="readmitted"), Budget(), 300, dag=bundles.DAG, synthesis=FAST)
    )


# --- the approval ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("by", ""),
        ("by", "a\nb"),
        ("by", " a"),
        ("by", "x" * 1001),
        ("role", ""),
        ("date", "2025-2-1"),
        ("date", "2025-02-30"),
        ("date", ""),
        ("plan_sha256", "A" * 64),
        ("plan_sha256", "a" * 63),
        ("asset", "two\nlines"),
    ],
)
def test_an_unusable_entry_is_named(plan, field, value):
    with pytest.raises(ConfigError) as caught:
        approval(plan, **{field: value})
    assert caught.value.field == field


def test_it_holds_for_exactly_one_plan_and_asset(plan):
    given = approval(plan, asset="Ward 7")
    given.check(plan.hash, "ward  7")
    given.check(plan.hash)
    assert given.covers(plan, "ward 7")
    assert not given.covers(plan, "ward 8")
    with refused(PlanError, "asset"):
        given.check(plan.hash, "ward 8")
    other = design(
        Brief(
            plan.schema, plan.task, Budget(epsilon=1.0000001), plan.n, dag=plan.dag, synthesis=FAST
        )
    )
    with pytest.raises(PlanError, match=r"not the one that was approved by A\. Meyer") as caught:
        given.check(other.hash, "ward 7")
    assert caught.value.field == "protocol"


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"by": "a"},
        {**GIVEN, "plan_sha256": 3},
        {**GIVEN, "plan_sha256": "a" * 64, "more": 1},
    ],
)
def test_what_is_no_approval_is_refused(document):
    with pytest.raises(ConfigError):
        approval_from(document)


@pytest.mark.privacy
def test_another_plan_is_refused_before_anything_is_charged(plan, schema, frame, tmp_path):
    table = encode(schema, RawTable(frame))
    ledger = Ledger(tmp_path)
    ledger.register("ward 7", epsilon=3.0, delta=plan.delta)
    wrong = approval(plan, plan_sha256="0" * 64)
    with pytest.raises(PlanError, match="Nothing was run"):
        release(
            plan, table, ledger=ledger, asset="ward 7", rng=np.random.default_rng(), approval=wrong
        )
    assert ledger.charges() == ()


def test_the_certificate_says_who_and_when_and_a_forged_one_does_not_verify(
    plan, schema, frame, tmp_path
):
    ledger = Ledger(tmp_path / "ws")
    ledger.register("ward 7", epsilon=3.0, delta=plan.delta)
    made = release(
        plan,
        encode(schema, RawTable(frame)),
        ledger=ledger,
        asset="ward 7",
        rng=np.random.default_rng(),
        approval=approval(plan, asset="ward 7"),
    )
    folder = bundle_folder.write(made, tmp_path / "out")
    said = bundle_files.read_json(folder / bundle_files.CERTIFICATE)["approval"]
    assert said == {**GIVEN, "plan_sha256": plan.hash}  # and not the asset's name
    assert read_bundle(folder).facts.approval == approval(plan)
    assert "approved by A\\. Meyer" in (folder / bundle_files.README).read_text()
    assert verify(folder).ok
    for change in ({"plan_sha256": "0" * 64}, {"by": ""}, {"by": "somebody else"}):
        certificate = bundle_files.read_json(folder / bundle_files.CERTIFICATE)
        certificate["approval"] = said | change
        (folder / bundle_files.CERTIFICATE).write_text(bundle_files.json_text(certificate))
        assert not verify(folder).ok


# --- the commands ----------------------------------------------------------------------------


def approve(config, tmp_path) -> str:
    protocol, record = tmp_path / "p.json", tmp_path / "a.json"
    assert main.main(["protocol", str(config), "--out", str(protocol)]) == 0
    arguments = ["--by", GIVEN["by"], "--role", GIVEN["role"], "--date", GIVEN["date"]]
    assert main.main(["approve", str(protocol), *arguments, "--out", str(record)]) == 0
    return str(record)


def test_a_release_takes_the_approved_plan_and_no_other(make_run, tmp_path, capsys):
    config = make_run()
    record = approve(config, tmp_path)
    command = ["release", str(config), "--seed", "1", "--protocol", record, "--out"]
    assert main.main([*command, str(tmp_path / "out")]) == 0
    certificate = bundle_files.read_json(tmp_path / "out" / bundle_files.CERTIFICATE)
    assert certificate["approval"]["by"] == GIVEN["by"]
    config.write_text(config.read_text() + "[budget]\nepsilon = 2.0\n")
    capsys.readouterr()
    assert main.main([*command, str(tmp_path / "other")]) == 2
    said = capsys.readouterr().err
    assert "changed since the approval: budget.epsilon: approved 1.0, now 2.0" in said
    assert "not the one that was approved" in said
    assert not (tmp_path / "other").exists()


@pytest.mark.privacy
def test_a_release_refuses_an_approval_whose_settings_are_of_another_plan(
    make_run, tmp_path, capsys
):
    config = make_run()
    record = approve(config, tmp_path)
    document = bundle_files.read_json(tmp_path / "a.json")
    document["settings"]["budget.epsilon"] = 0.1
    (tmp_path / "a.json").write_text(bundle_files.json_text(document))
    command = ["release", str(config), "--seed", "1", "--protocol", record, "--out"]
    assert main.main([*command, str(tmp_path / "refused")]) == 2
    said = capsys.readouterr().err
    assert "changed since the approval: budget.epsilon: approved 0.1, now 1.0" in said
    assert "Nothing was run" in said
    assert not (tmp_path / "refused").exists()


def test_where_a_committee_decides_an_approval_is_asked_for_by_itself(tmp_path, monkeypatch):
    monkeypatch.setenv(HOSTING_VARIABLE, str(tmp_path / "hosting.toml"))
    assert approval_required(tmp_path)
    for said in (False, True):
        (tmp_path / "settings.toml").write_text(
            f"[release]\napproval_required = {str(said).lower()}\n"
        )
        assert approval_required(tmp_path) is said
    (tmp_path / "settings.toml").write_text("[limits]\nmax_epsilon = 1.0\n")
    assert approval_required(tmp_path)


def test_a_workspace_may_ask_for_an_approval(make_run, tmp_path, capsys):
    config = make_run(public=False, asset=3.0)
    workspace = tmp_path / "ws"
    workspace.mkdir()
    settings = workspace / "settings.toml"
    command = ["release", str(config), "--workspace", str(workspace), "--out"]
    assert not approval_required(workspace)
    for text in ("[release]\napproval_required = 1\n", "release = 2\n", "[release"):
        settings.write_text(text)
        with pytest.raises(ConfigError):
            approval_required(workspace)
    settings.write_text("[release]\napproval_required = true\n")
    assert main.main([*command, str(tmp_path / "a")]) == 2
    assert "nothing of a private table without an approval" in capsys.readouterr().err
    record = approve(config, tmp_path)
    assert main.main([*command, str(tmp_path / "b"), "--protocol", record]) == 0
    assert Ledger(workspace).charges()[0].state == "done"


@pytest.mark.privacy
@pytest.mark.parametrize(
    "text",
    [
        "approval_required = true\n",  # outside of its section
        "[Release]\napproval_required = true\n",
        "[release]\napproval_require = true\n",
        '[release]\n"approval required" = true\n',
        "[release]\napproval_required = false\n[releases]\napproval_required = true\n",
        "",
    ],
)
def test_a_rule_that_nobody_reads_is_refused(text, tmp_path):
    """Misspelled, it would be off, and the committee would believe it to be on."""
    (tmp_path / "settings.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="not usable"):
        approval_required(tmp_path)


@pytest.mark.privacy
def test_a_rule_behind_a_byte_order_mark_is_read(tmp_path):
    """Editors on Windows write one."""
    text = "\ufeff[release]\napproval_required = true\n"
    (tmp_path / "settings.toml").write_text(text, encoding="utf-8")
    assert approval_required(tmp_path)


@pytest.mark.privacy
def test_rules_that_are_meant_to_be_there_are_not_taken_for_none(tmp_path):
    """A link to a drive that is not mounted; a name that another system would open."""
    (tmp_path / "settings.toml").symlink_to(tmp_path / "share" / "settings.toml")
    with pytest.raises(ConfigError, match="not usable"):
        approval_required(tmp_path)
    (tmp_path / "settings.toml").unlink()
    assert not approval_required(tmp_path)
    (tmp_path / "Settings.toml").write_text("[release]\napproval_required = true\n")
    with pytest.raises(ConfigError, match="a file of this name"):
        approval_required(tmp_path)


@pytest.mark.privacy
def test_an_approval_is_for_one_run(make_run, tmp_path, capsys):
    config, workspace = make_run(public=False, asset=3.0), tmp_path / "ws"
    record = approve(config, tmp_path)
    command = ["release", str(config), "--workspace", str(workspace), "--protocol"]
    assert main.main([*command, record, "--out", str(tmp_path / "a")]) == 0
    ledger = Ledger(workspace)
    (charge,) = ledger.charges()
    assert charge.corrections[0].note.startswith("Approved by A. Meyer, B. Ito (privacy committee)")
    assert ledger.verify().ok
    head = ledger.verify().head
    capsys.readouterr()
    assert main.main([*command, record, "--out", str(tmp_path / "b")]) == 2
    said = capsys.readouterr().err
    assert "protocol: This approval was used for charge 1 of" in said
    assert "Nothing was run" in said
    assert not (tmp_path / "b").exists()
    assert ledger.verify().head == head  # nothing was written
    # Another decision on the same plan is another approval.
    document = bundle_files.read_json(tmp_path / "a.json")
    document["approval"]["date"] = "2025-11-21"
    (tmp_path / "later.json").write_text(bundle_files.json_text(document))
    again = [*command, str(tmp_path / "later.json"), "--out", str(tmp_path / "b")]
    assert main.main(again) == 0
    assert [charge.id for charge in ledger.charges()] == [1, 2]


@pytest.mark.privacy
@pytest.mark.parametrize(("stage", "used"), [("charge", False), ("select", False), ("fit", True)])
def test_only_a_run_that_measured_something_uses_an_approval_up(
    plan, schema, frame, tmp_path, stage, used
):
    ledger = Ledger(tmp_path / "ws")
    ledger.register("ward 7", epsilon=3.0, delta=plan.delta)
    table = encode(schema, RawTable(frame))
    given = approval(plan, asset="ward 7")

    def run(stop: str = "") -> None:
        def progress(at: str, share: float) -> None:
            if at == stop:
                raise CancelledError("stopped")

        release(
            plan,
            table,
            ledger=ledger,
            asset="ward 7",
            rng=np.random.default_rng(),
            approval=given,
            progress=progress,
        )

    stops = {"charge": "charge", "select": "task", "fit": "fit"}
    with pytest.raises(CancelledError):
        run(stops[stage])
    assert (ledger.used(plan.hash, given) is not None) == used
    if used:
        with pytest.raises(LedgerError, match=r"charge 1 of .* failed after a mechanism ran"):
            run()
        assert len(ledger.charges()) == 1
    else:
        run()
        with pytest.raises(LedgerError, match="used for charge"):
            run()


def test_what_rehearse_printed_goes_along(make_run, tmp_path):
    line = {
        "estimates": [
            {
                "variant": "a",
                "epsilon": 1.0,
                "shift": "none",
                "mean": 0.5,
                "half": None,
                "ceiling": 0.6,
                "runs": 1,
            }
        ]
    }
    (tmp_path / "r.jsonl").write_text(f'{{"point": {{}}}}\n{json.dumps(line)}\n')
    command = ["protocol", str(make_run()), "--out", str(tmp_path / "p.md"), "--rehearsal"]
    assert main.main([*command, str(tmp_path / "r.jsonl")]) == 0
    assert "### Rehearsals" in (tmp_path / "p.md").read_text()
    (tmp_path / "r.jsonl").write_text("{}")
    assert main.main([*command, str(tmp_path / "r.jsonl")]) == 2
