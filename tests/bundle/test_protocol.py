"""Protocol: data-free, for exactly one plan, and read back."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace

import pytest

from prism_core.bundle import bundle_files
from prism_core.bundle.protocol import approval_file
from prism_core.bundle.protocol.protocol import LEAKAGE, MOST_LINES, Protocol
from prism_core.cli import main
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import ConfigError, PlanError, PrismError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.curator_statement import CuratorStatement
from prism_core.planning.wishes.task import Budget, Task
from prism_core.privacy.ledger import Ledger
from prism_core.rehearsal.estimates import Estimate, estimates_from
from tests.support import bundles
from tests.support.approvals import FAST, GIVEN, STATED, approval

HOSTILE = "<script>alert(1)</script> | **x** `y`"


@pytest.fixture
def plan(schema):
    return design(
        Brief(schema, Task(target="readmitted"), Budget(), 300, dag=bundles.DAG, synthesis=FAST)
    )


def _read(text: str) -> str:
    """Words of a page or of Markdown, as a person reads them."""
    return html.unescape(text.replace("\\", "").replace("’", "'"))


# --- the protocol ----------------------------------------------------------------------------


def test_every_format_says_what_is_planned_spent_released_and_not(plan):
    ledger = Ledger.prospect("ward 7", epsilon=3.0, delta=plan.delta)
    point = Estimate(
        variant="closed form", epsilon=1.0, shift="none", mean=0.71, half=0.01, ceiling=0.73, runs=3
    )
    made = Protocol(
        plan=plan,
        asset="ward 7",
        statement=STATED,
        balance=ledger,
        rehearsal=(point,),
        holdout=60,
    )
    numeric = replace(made, rehearsal=(replace(point, metric="r2"),))
    assert "AUC (95%)" in _read(made.to_markdown())
    assert "R² (95%)" in _read(numeric.to_markdown())
    for text in (made.to_markdown(), made.to_html()):
        for part in (
            plan.hash,
            "ward 7",
            "a benchmark",
            "Decision on this plan only",
            "0.710 (0.700 to 0.720)",
            "No private row",
            "Lifetime epsilon",
            "What is not protected",
            LEAKAGE,
        ):
            assert part in _read(text)
    document = json.loads(made.to_json())
    assert document["plan_sha256"] == plan.hash
    assert document["meaning"]["epsilon"] == pytest.approx(1.0)
    assert estimates_from(document["rehearsal"]) == (point,)
    assert document["lifetime"]["lifetime_epsilon"] == 3.0
    with pytest.raises(ConfigError, match=r"\.html or \.md"):
        made.content(".txt")


def test_a_decided_protocol_names_the_decision_and_takes_no_other(plan):
    made = Protocol(plan=plan, approval=approval(plan))
    assert "Approved by A. Meyer, B. Ito (privacy committee) on 2025-11-20" in made.to_html()
    with pytest.raises(PlanError):
        Protocol(plan=plan, approval=approval(plan, plan_sha256="0" * 64))


def test_names_are_text_and_the_page_needs_no_other_host():
    schema = Schema(
        columns=(Column(name=HOSTILE, kind="boolean"), Column(name="y", kind="boolean")),
        one_row_per_person=True,
    )
    task = Task(target="y", regime="predictive", k=1)
    made = Protocol(
        plan=design(Brief(schema, task, Budget(), 100)),
        asset=HOSTILE,
        statement=CuratorStatement(purpose=HOSTILE),
    )
    page = made.to_html()
    assert "<script" not in page.lower()
    assert "&lt;script&gt;alert(1)&lt;/script&gt; | **x** `y`" in page
    assert not re.search(r"(\bsrc=|href|url\((?!data:font/))", page)  # its font is in it
    assert not re.search(r"(?<!\\)<script", made.to_markdown())


def test_a_wide_plan_is_cut_and_says_so():
    columns = tuple(Column(name=f"c{i}", kind="boolean") for i in range(MOST_LINES + 10))
    schema = Schema(columns=columns, one_row_per_person=True)
    plan = design(Brief(schema, Task(target="c0", regime="predictive", k=2), Budget(), 1_000))
    text = Protocol(plan=plan).to_markdown()
    assert re.search(r"And \d+ more, which the JSON form lists", text)


@pytest.mark.privacy
def test_a_protocol_depends_on_no_cell(make_run, frame, tmp_path, canary):
    texts = []
    for name, rows in (("a", frame), ("b", frame.map(lambda _: canary))):
        config = make_run(name=name, frame=rows)
        out = tmp_path / f"{name}.json"
        assert main.main(["protocol", str(config), "--out", str(out)]) == 0
        texts.append(out.read_text())
    assert texts[0] == texts[1]
    assert canary not in texts[0]


# --- what changed ----------------------------------------------------------------------------


def test_the_record_comes_back_and_names_what_changed(plan):
    record = Protocol(plan=plan, asset="ward 7", statement=STATED).approve(**GIVEN)
    assert approval_file.loads(record.dumps()) == record
    assert record.changes(plan) == ()
    other = design(
        Brief(
            replace(plan.schema, columns=plan.schema.columns[:-2] + plan.schema.columns[-1:]),
            plan.task,
            Budget(epsilon=2.0),
            301,
            dag=bundles.DAG,
            synthesis=FAST,
        )
    )
    found = {change.what: (change.approved, change.now) for change in record.changes(other)}
    assert found["budget.epsilon"] == (1.0, 2.0)
    assert found["people"] == (300, 301)
    assert found["column.dose"][1] is None
    dag = replace(bundles.DAG, edges=bundles.DAG.edges[:2])
    fewer = design(Brief(plan.schema, plan.task, Budget(), 300, dag=dag, synthesis=FAST))
    assert [change.what for change in record.changes(fewer)] == ["edge.readmitted → ward"]


def test_a_file_that_is_something_else_is_refused(plan, tmp_path):
    protocol = Protocol(plan=plan).to_json()
    with pytest.raises(ConfigError, match="nobody has approved yet"):
        approval_file.loads(protocol)
    for text in ("", "[]", "{", '{"kind": "prism approval"}', '{"kind": 1}'):
        with pytest.raises(ConfigError):
            approval_file.loads(text)
        with pytest.raises(ConfigError):
            approval_file.approve(text, **GIVEN)
    with pytest.raises(ConfigError, match="does not exist"):
        approval_file.load(tmp_path / "none.json")
    for spoiled in ({"half": float("nan")}, {"shift": "?"}, {"more": 1}):
        good = {
            "variant": "a",
            "epsilon": 1.0,
            "shift": "none",
            "mean": 0.5,
            "half": None,
            "ceiling": 0.6,
            "runs": 1,
        }
        with pytest.raises((ValueError, TypeError)):
            estimates_from([good | spoiled])


def _sewn(source, /, **changes) -> str:
    """A protocol with parts of another one."""
    return bundle_files.json_text(
        json.loads(Protocol(plan=source, statement=STATED).to_json()) | changes
    )


@pytest.mark.privacy
def test_a_protocol_put_together_from_two_is_not_approved(plan, schema):
    other = design(
        Brief(schema, plan.task, Budget(epsilon=5.0), 300, dag=bundles.DAG, synthesis=FAST)
    )
    theirs = json.loads(Protocol(plan=other).to_json())
    wider = json.loads(Protocol(plan=plan).to_json())["settings"]
    wider["column.grade"] = wider["column.grade"] | {"levels": [1, 2]}
    fewer = {k: v for k, v in approval_file.settings(plan).items() if k != "edge.readmitted → ward"}
    for changes, what in (
        ({"plan_sha256": other.hash}, "plan_sha256"),
        ({"plan_sha256": other.hash, "plan": theirs["plan"]}, "budget.epsilon"),
        ({"settings": theirs["settings"]}, "budget.epsilon"),
        ({"settings": wider}, "plan_sha256"),
        ({"settings": fewer}, "plan_sha256"),
        ({"plan": None}, "does not hold its plan"),
    ):
        with pytest.raises(ConfigError, match=what):
            approval_file.approve(_sewn(plan, **changes), **GIVEN)
    assert approval_file.approve(_sewn(plan), **GIVEN).covers(plan)


@pytest.mark.parametrize("kind", ["no graph", "no edges", "named with an arrow", "tilted"])
def test_every_honest_protocol_can_be_approved(kind, schema):
    task, budget, dag = Task(target="readmitted", regime="predictive", k=2), Budget(), None
    if kind == "no edges":
        dag = replace(bundles.DAG, edges=())
    elif kind == "named with an arrow":
        columns = (Column(name="a → b", kind="boolean"), Column(name="y", kind="boolean"))
        schema = Schema(columns=columns, one_row_per_person=True)
        task = Task(target="y")
        dag = replace(bundles.DAG, nodes=("a → b", "y"), edges=(("a → b", "y"),))
    elif kind == "tilted":
        budget = Budget(allocation="tilted", tilt=0.5)
    plan = design(Brief(schema, task, budget, 300, dag=dag))
    assert approval_file.approve(_sewn(plan), **GIVEN).covers(plan)


@pytest.mark.privacy
def test_settings_that_contradict_the_hash_are_refused(plan):
    record = Protocol(plan=plan, asset="ward 7", statement=STATED).approve(**GIVEN)
    record.check(plan, "ward 7")
    forged = replace(record, settings=record.settings | {"budget.epsilon": 0.1})
    assert forged.approval.covers(plan, "ward 7")
    assert not forged.covers(plan, "ward 7")
    with pytest.raises(PlanError, match=r"budget\.epsilon differs") as caught:
        forged.check(plan, "ward 7")
    assert caught.value.field == "protocol"


def test_an_unreadable_protocol_is_a_sentence(tmp_path):
    with pytest.raises(PrismError, match="not readable as JSON"):
        approval_file.approve("\x00", **GIVEN)
    arguments = ["--by", "a", "--role", "b", "--date", "2025-01-01", "--out", str(tmp_path / "x")]
    assert main.main(["approve", str(tmp_path / "none"), *arguments]) == 2
