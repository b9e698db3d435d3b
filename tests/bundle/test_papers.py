"""Both papers of a committee: no blanks, one number one way, every format the same words."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from prism_core.bundle.account import MOST, account_after, account_of
from prism_core.bundle.paper_formats import blocks_of, to_docx
from prism_core.bundle.paper_values import paper_values
from prism_core.bundle.protocol import approval_file
from prism_core.bundle.protocol.protocol import Protocol
from prism_core.bundle.reader import read_bundle
from prism_core.bundle.report.approved_done import approved_done
from prism_core.bundle.report.report_extras import Extras
from prism_core.bundle.report.report_html import report
from prism_core.bundle.write.contents import datapackage, readme
from prism_core.cli import main
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import BundleError, ConfigError, PlanError
from prism_core.explain.column_use import (
    TIMES_NOISE,
    column_uses,
    not_preserved,
    smallest_group,
)
from prism_core.explain.meaning import FAMILY, meaning
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.curator_statement import (
    LABELS,
    NEEDED,
    CuratorStatement,
    statement_from,
)
from prism_core.planning.wishes.task import Budget, Task
from prism_core.privacy.ledger import Charge, Ledger
from prism_core.samples import catalogue
from prism_core.structure import formats
from prism_core.text import numbers
from prism_core.text.languages import LANGUAGES
from tests.support import bundles, reports
from tests.support.approvals import FAST, GIVEN, LONG, SAID, STATED, approval
from tests.support.reports import Page, protocol_of, staged

if TYPE_CHECKING:
    from prism_core.planning.plan import Plan

REHEARSED = replace(reports.REHEARSED, rows="public rows")


@pytest.fixture
def plan(schema):
    return design(
        Brief(schema, Task(target="readmitted"), Budget(), 300, dag=bundles.DAG, synthesis=FAST)
    )


@pytest.fixture
def protocol(plan) -> Protocol:
    return protocol_of(plan)


# --- the statement ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", NEEDED)
def test_a_protocol_with_a_blank_is_a_draft_and_nobody_approves_it(plan, name):
    said = replace(STATED, **{name: ""})
    assert said.blank == (name,)
    draft = Protocol(plan=plan, statement=said)
    page = Page(draft.to_html())
    assert page.words.startswith(f"Draft: Protocol of a release, plan {plan.hash[:12]} Draft: not")
    assert f"Still blank: {LABELS[name][0]}." in page.words
    for decide in (
        lambda: draft.approve(**GIVEN),
        lambda: approval_file.approve(draft.to_json(), **GIVEN),
    ):
        with pytest.raises(ConfigError) as caught:
            decide()
        assert caught.value.field == f"statement.{name}"
    assert "Draft" not in Page(Protocol(plan=plan, statement=STATED).to_html()).words


def test_the_command_refuses_a_blank_and_writes_a_draft(make_run, tmp_path, capsys):
    config = make_run(statement={"recipients": ""})
    out = tmp_path / "p.html"
    assert main.main(["protocol", str(config), "--out", str(out)]) == 2
    assert "Recipients" in capsys.readouterr().err
    assert not out.exists()
    assert main.main(["protocol", str(config), "--out", str(out), "--draft"]) == 0
    assert "Still blank: Recipients." in out.read_text(encoding="utf-8")


@pytest.mark.parametrize("bad", ["high", "1.2", "-0.1", "nan", "inf"])
def test_a_threshold_is_a_number_from_0_to_1(bad):
    with pytest.raises(BundleError) as caught:
        CuratorStatement(threshold=bad)
    assert caught.value.field == "threshold"


def test_a_sensitive_column_is_a_column(plan):
    with pytest.raises(ConfigError) as caught:
        Protocol(plan=plan, statement=replace(STATED, sensitive="smoker, Ward 7"))
    assert caught.value.field == "statement.sensitive"
    assert CuratorStatement(sensitive="None").sensitive_names == ()
    assert CuratorStatement(sensitive=" a , b".strip()).sensitive_names == ("a", "b")


def test_an_approval_holds_the_words_that_were_approved(plan):
    record = Protocol(plan=plan, asset="ward 7", statement=STATED).approve(**GIVEN)
    again = approval_file.loads(record.dumps())
    assert again == record
    assert statement_from(STATED.to_dict()) == STATED
    more = CuratorStatement(region="north", purpose=SAID["purpose"])
    assert record.stated(more) == replace(STATED, region="north")
    with pytest.raises(PlanError) as caught:
        record.stated(CuratorStatement(recipients="somebody else"))
    assert caught.value.field == "recipients"


# --- figures ---------------------------------------------------------------------------------


def test_a_group_survives_at_twice_the_noise_of_its_count(plan):
    uses = {one.name: one for one in column_uses(plan)}
    assert {one.use for one in uses.values()} == {"target", "used", "context"}
    for name, one in uses.items():
        noises = [
            query.sigma * math.sqrt(query.cells / plan.sizes[name])
            for query in plan.queries
            if name in query.clique
        ]
        assert one.smallest == math.ceil(TIMES_NOISE * min(noises)) == smallest_group(plan, name)
        assert (one.use == "used") == (name in plan.s)
        assert bool(one.bands) != bool(one.levels)


def test_a_choice_of_the_run_is_open_before_it(schema):
    task = Task(target="readmitted", regime="predictive", k=2)
    plan = design(Brief(schema, task, Budget(), 300, synthesis=FAST))
    uses = [one.use for one in column_uses(plan)]
    assert set(uses) == {"target", "open"}
    words = Page(Protocol(plan=plan, statement=STATED).to_html()).words
    assert "The run itself picks 2 of them" in words


def test_a_family_has_more_than_the_power_of_one(plan):
    meant = meaning(plan)
    values = paper_values(plan, meant, STATED)
    rho, log = meant.trade.rho, math.log(1.0 / plan.delta)
    for people, factor in ((2, values.two), (FAMILY, values.family)):
        exact = math.exp(people**2 * rho + 2.0 * people * math.sqrt(rho * log))
        assert factor == pytest.approx(exact, rel=1e-9)
        assert factor > meant.factor**people
    assert values.cube == pytest.approx(meant.factor**FAMILY)


def test_parts_of_the_account_add_up(plan):
    ledger = Ledger.prospect("ward 7", epsilon=3.0, delta=plan.delta)
    found = account_of(plan, ledger, None, ())
    (own,) = found.lines
    assert own.own
    assert own.share + found.left == pytest.approx(1.0)
    assert own.epsilon == pytest.approx(1.0, abs=0.01)
    assert found.after == pytest.approx(1.0, abs=0.01)


def test_earlier_releases_are_named_with_their_day(make_run, tmp_path):
    config, workspace = make_run(public=False, asset=5.0), tmp_path / "ws"
    told = ["--workspace", str(workspace)]
    assert main.main(["release", str(config), "--out", str(tmp_path / "out"), *told]) == 0
    out = tmp_path / "p.html"
    assert main.main(["protocol", str(config), "--out", str(out), *told]) == 0
    words = Page(out.read_text(encoding="utf-8")).words
    (charge,) = Ledger(workspace).charges()
    assert f"charge 1 on {charge.created[:10]} " in words
    assert f"charge 1 on {charge.created[:10]}: 1; this release: 1" in words  # in the annex


def test_the_report_shows_the_account_with_the_day_of_every_charge(make_run, tmp_path, capsys):
    config, workspace = make_run(public=False, asset=5.0), tmp_path / "ws"
    told = ["--workspace", str(workspace)]
    for name in ("one", "two"):
        assert main.main(["release", str(config), "--out", str(tmp_path / name), *told]) == 0
    out = tmp_path / "r.html"
    asked = ["report", str(tmp_path / "one"), "--out", str(out), "--account"]
    assert main.main([*asked, *told]) == 0
    words = Page(out.read_text(encoding="utf-8")).words
    first, second = sorted(Ledger(workspace).charges(), key=lambda one: one.id)
    shown = account_after(workspace, read_bundle(tmp_path / "one").facts)
    assert sum(line.share for line in shown.lines) + shown.left == pytest.approx(1.0)
    own, other = (numbers.share_text(line.share) for line in shown.lines)
    days = first.created[:10], second.created[:10]
    assert f"this release: charge 1 on {days[0]} {own}" in words
    assert f"charge 2 on {days[1]} {other}" in words
    assert f"charge 1 on {days[0]}: 1; charge 2 on {days[1]}: 1" in words  # in the annex
    # Not what a workspace says that did not make it.
    capsys.readouterr()
    assert main.main([*asked, "--workspace", str(tmp_path / "elsewhere")]) == 2
    assert "holds no charge for this release" in capsys.readouterr().err


def test_many_charges_share_a_bar(plan):
    ledger = Ledger.prospect("ward 7", epsilon=30.0, delta=plan.delta)
    charges = [
        Charge(
            id=number,
            asset="ward 7",
            plan="",
            accountant="zcdp",
            epsilon=1.0,
            delta=1e-9,
            rho=0.01,
            who="",
            why="",
            created=f"2026-01-{number:02}T00:00:00Z",
            state="void" if number == 3 else "done",
        )
        for number in range(1, MOST + 5)
    ]
    first, *rest, own = account_of(plan, ledger, None, charges).lines
    assert (first.charges, first.day, first.epsilon) == (4, "2026-01-01", None)
    assert first.share == pytest.approx(4 * rest[0].share)
    assert [line.number for line in rest] == list(range(6, MOST + 5))
    assert own.own
    html = Protocol(plan=plan, statement=STATED, balance=ledger, charges=tuple(charges)).to_html()
    assert "4 charges since 2026-01-01" in Page(html).words


def test_what_differs_from_the_approved_is_said(plan):
    stages, facts = staged(plan)
    given = approval(plan)
    assert all(item.agrees for item in approved_done(stages, replace(facts, approval=given)))
    other = replace(given, plan_sha256="f" * 64)
    found = approved_done(stages, replace(facts, approval=other))
    assert [item.what for item in found if not item.agrees] == ["plan"]
    html = report(stages, replace(facts, approval=other, said=STATED))
    assert "No: not what was approved." in Page(html).words
    yes = Page(report(stages, replace(facts, approval=given, said=STATED))).words
    assert "Yes: every item below is as approved; usefulness was not measured." in yes
    assert yes.count(plan.hash[:12]) >= 3


def test_more_noise_than_planned_is_not_passed_off_as_the_planned_noise(plan):
    stages, facts = staged(plan)
    brief = Brief(plan.schema, plan.task, Budget(epsilon=2.0), plan.n, dag=plan.dag, synthesis=FAST)
    louder = replace(stages, planned=design(brief))
    marks = {item.what: item.agrees for item in approved_done(louder, facts)}
    assert marks["noise"] is None
    assert marks["people"] is True
    hashed = louder.planned.hash
    given = replace(facts, planned_sha256=hashed, approval=approval(louder.planned), said=STATED)
    words = Page(report(louder, given)).words
    assert "every item below is as approved" not in words
    assert "There is more noise than planned" in words


# --- words before the annex ------------------------------------------------------------------


def test_the_odds_of_the_example_are_its_share(protocol):
    """Right to wrong and right in 100 are the same figure, both rounded up."""
    meant = meaning(protocol.plan)
    guess = paper_values(protocol.plan, meant, protocol.statement).guess
    assert guess.odds_after == pytest.approx(guess.before_of_100 * meant.factor)
    share = 100 * guess.odds_after / (guess.odds_after + guess.wrong_of_100)
    assert share - 1e-6 <= guess.after_of_100 < share + 1


def test_no_word_of_the_field_stands_before_the_annex(protocol):
    stages, facts = staged(protocol.plan)
    for html in (protocol.to_html(), report(stages, replace(facts, said=STATED))):
        front = Page(html).words.split("Annex for statisticians")[0]
        refused = r"Pa\(|\bpgm\b|zcdp|\bpool\b|marginal|\biid\b|Rademacher|\bρ\b|\bσ\b"
        assert re.findall(refused, front, re.IGNORECASE) == []


@pytest.fixture(scope="module")
def sample_plan() -> Plan:
    sample = catalogue.load("readmission")
    task, dag = Task(target=sample.target), formats.read(sample.dag_json)
    return design(Brief(sample.schema, task, Budget(), 20_000, dag=dag, synthesis=FAST))


@pytest.mark.parametrize("code", LANGUAGES)
def test_front_pages_are_short_however_much_is_stated(sample_plan, code):
    """Every entry of the statement is a full sentence, and the table has 24 columns."""
    plan = sample_plan
    rehearsed = (replace(REHEARSED, rows="20,000 invented rows drawn from the graph (assumed: a)"),)
    balance = Ledger.prospect("ward 7", epsilon=3.0, delta=plan.delta)
    made = Protocol(
        plan=plan,
        statement=LONG,
        balance=balance,
        rehearsal=rehearsed,
        holdout=61,
        language=code,
    )
    stages, facts = staged(plan)
    given = replace(facts, approval=approval(plan), said=LONG)
    account = account_of(plan, balance, None, ())
    extras = Extras(language=code, rehearsed=rehearsed, account=account)
    for html, most in ((made.to_html(), 600), (report(stages, given, extras=extras), 900)):
        front = Page(html).front
        assert most / 2 < len(front) <= most


def test_a_link_that_is_not_preserved_is_said_in_paper_data_sheet_and_metadata(protocol):
    stages, facts = staged(protocol.plan)
    context = [one.name for one in column_uses(stages.final) if one.use == "context"]
    assert context
    sentence = not_preserved("readmitted")
    described = {
        field["name"]: field.get("description", "")
        for field in datapackage(stages.final, facts)["resources"][0]["schema"]["fields"]
    }
    assert [name for name, text in described.items() if text.endswith(sentence)] == context
    sheet = readme(stages.final, facts, ()).replace("\\", "")
    assert sentence in sheet
    for html in (protocol.to_html(), report(stages, facts)):
        front = Page(html).words.split("Annex for statisticians")[0]
        assert "Their link to readmitted is not preserved" in front


# --- formats ---------------------------------------------------------------------------------


def test_word_and_markdown_say_what_the_page_says(protocol):
    import docx

    html = protocol.to_html()
    paper = docx.Document(io.BytesIO(to_docx(html)))
    texts = [part.text for part in paper.paragraphs]
    texts += [cell.text for table in paper.tables for row in table.rows for cell in row.cells]
    words = " ".join(" ".join(texts).split())
    for block in blocks_of(html):
        assert block.text in words
        for row in block.rows:
            assert all("".join(run.text for run in cell).strip()[:20] in words for cell in row)
    written = protocol.to_markdown().replace("\\", "")
    for part in ("| Purpose | a benchmark |", "## The risk", "- **Families:**"):
        assert part in written


def test_a_word_document_keeps_rows_whole_and_has_room_to_sign(protocol):
    import docx

    stages, facts = staged(protocol.plan)
    given = replace(facts, approval=approval(protocol.plan), said=STATED)
    for html in (protocol.to_html(), report(stages, given)):
        paper = docx.Document(io.BytesIO(to_docx(html)))
        (annex,) = (one for one in paper.paragraphs if one.text == "Annex for statisticians")
        assert annex.paragraph_format.page_break_before
        (sign,) = (one for one in paper.tables if one.cell(0, 1).text == "signature")
        assert [cell.text for cell in sign.rows[1].cells] == ["", "", ""]
        assert sign.rows[0].height is None
        assert sign.rows[1].height.mm >= 10
        assert all("w:cantSplit" in row._tr.xml for one in paper.tables for row in one.rows)
        # Columns of bars are pictures alone; names of columns are repeated on every page.
        for one in paper.tables:
            columns = zip(*([cell.text for cell in row.cells] for row in one.rows), strict=True)
            assert all(any(column) for column in columns)
        assert sum("w:tblHeader" in one.rows[0]._tr.xml for one in paper.tables) >= 4
    cells = [[cell.text for cell in row.cells] for one in paper.tables for row in one.rows]
    assert ["Legal basis", "section 12", "", "as stated"] in cells


def test_a_stamp_stands_on_every_page_of_the_word_document(plan):
    import docx

    draft = Protocol(plan=plan)
    paper = docx.Document(io.BytesIO(draft.content(".docx")))
    assert paper.sections[0].header.paragraphs[0].text.startswith("Draft: not for a decision.")


@pytest.mark.privacy
def test_hostile_names_stay_text_in_every_format():
    import docx

    hostile = "</td><script>x</script> | **b** <img src=x>"
    schema = Schema(
        columns=(Column(name=hostile, kind="boolean"), Column(name="y", kind="boolean")),
        one_row_per_person=True,
    )
    task = Task(target="y", regime="predictive", k=1)
    made = Protocol(plan=design(Brief(schema, task, Budget(), 100)))
    paper = docx.Document(io.BytesIO(made.content(".docx")))
    assert any(hostile in part.text for part in paper.paragraphs)
    assert "<script" not in made.to_html().lower()
    assert not re.search(r"(?<!\\)<script", made.to_markdown())
