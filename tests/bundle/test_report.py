"""The report for a committee: what is in it, in which order, and what can never get in."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from prism_core.bundle import bundle_files
from prism_core.bundle.certificate import Facts
from prism_core.bundle.curator_statement import LABELS, LONGEST, TOP, CuratorStatement
from prism_core.bundle.report import registry_entry
from prism_core.bundle.report.graph_picture import MOST, PAPER, picture
from prism_core.bundle.report.report_copy import MISSING, copy_report, report_pdf
from prism_core.bundle.report.report_extras import Extras, outside
from prism_core.bundle.report.report_html import MOST_BARS, report
from prism_core.bundle.verify import verification
from prism_core.cli import main
from prism_core.data.encoding import encode
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import BundleError
from prism_core.evaluation.inside_epsilon.private_numbers import INSIDE_EPSILON
from prism_core.evaluation.results import OUTSIDE_EPSILON, MetricRow
from prism_core.explain.meaning import meaning
from prism_core.planning.approval import Approval
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.scenario import Scenario
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.rehearsal.estimates import Estimate
from prism_core.samples import readmission
from prism_core.structure.dag import Dag
from prism_core.structure.routing.node_boxes import NODE_STYLES
from prism_core.synthesis.release import release
from tests.support.bundles import TASKS, Forger, charged, learned, rehearsed, stages_of, written
from tests.support.drawings import in_report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from prism_core.planning.plan import Plan

QUICK = Synthesis(model="naive_bayes")
ROW = MetricRow(
    name="auc", learner="logistic", subject="readmitted", value=0.731, floor=0.5, ceiling=0.745
)
INSIDE: dict[str, Any] = {
    "private_evaluation": "private evaluation",
    "notice": INSIDE_EPSILON,
    "guarantee": {"epsilon": 0.2, "delta": 1e-6, "rho": 0.001},
    "charge": 4,
    "numbers": [
        {
            "name": "auc",
            "subject": "yes",
            "value": 0.7,
            "noise_interval_95": [0.66, 0.74],
            "note": "",
            "outside_epsilon": False,
        }
    ],
}
ESTIMATE = Estimate(
    variant="closed form", epsilon=1.0, shift="none", mean=0.71, half=0.01, ceiling=0.73, runs=10
)


class Page(HTMLParser):
    """What a browser makes of the report: elements with their attributes, and texts by element."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "wbr", "br", "path"):
            self._open.append(tag)

    def handle_endtag(self, tag):
        if tag in ("td", "th", "li", "p", "dt", "dd", "h1", "h2", "h3", "caption", "title"):
            self.texts.append(("", " "))
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data):
        self.texts.append((self._open[-1] if self._open else "", data))

    @property
    def words(self) -> str:
        """What is read: no style, no data."""
        kept = (text for where, text in self.texts if where not in ("style", "script"))
        return " ".join("".join(kept).split())

    def inside(self, tag: str) -> str:
        return "".join(text for where, text in self.texts if where == tag)


def planned(
    schema: Schema, task: Task, dag: Dag | None, n: int = 300, **budget: Any
) -> tuple[Any, Facts]:
    """A plan without choices at run time, and the facts of a release."""
    plan = design(Brief(schema, task, Budget(**budget), n, dag=dag, synthesis=QUICK))
    return _stages(plan)


def _stages(plan: Plan) -> tuple[Any, Facts]:
    stages = stages_of(plan)
    facts = Facts(
        plan_sha256=stages.final.hash,
        planned_sha256=stages.planned.hash,
        stamp="release",
        charge=3,
        entry="e" * 64,
        seed=1,
        versions={"prism-dashboard": "1.0"},
    )
    return stages, facts


def two(names: tuple[str, str] = ("age", "readmitted")) -> tuple[Schema, Dag]:
    """Two columns, so that nothing is chosen at run time."""
    columns = tuple(
        Column(name=name, kind="categorical", levels=("no", "yes"), description=f"about {name}")
        for name in names
    )
    schema = Schema(columns=columns, one_row_per_person=True)
    return schema, Dag(nodes=names, edges=(names,))


@pytest.fixture(scope="module")
def home(tmp_path_factory, small) -> Path:
    """A release with choices, a rehearsal, and one with a learned domain."""
    folder = tmp_path_factory.mktemp("reports")
    schema, frame = small
    made = charged(schema, frame, folder / "workspace", TASKS["causal"])
    written(made, folder / "causal")
    written(rehearsed(schema, frame), folder / "rehearsal")
    paid = charged(learned(schema), frame, folder / "workspace", TASKS["predictive"], QUICK)
    written(paid, folder / "learned")
    return folder


def text(folder: Path) -> str:
    return (folder / bundle_files.REPORT).read_text(encoding="utf-8")


# --- what is in it ---------------------------------------------------------------------------


def test_plain_words_come_first_and_the_annex_last(home):
    words = Page(text(home / "causal")).words
    order = (
        "the odds of a guess about one person shift",
        "What was released, and for what",
        "Whose data",
        "What protects them",
        "What epsilon means here",
        "What is not protected",
        "What was learned with budget",
        "Who approved",
        "Figures",
        "How the budget is shared out",
        "What the theory promises",
        "The graph, and what each column is",
        "How good the rows are",
        "Technical annex",
        "Fields for a registry",
        "Guarantee and composition",
        "Every step that spent something",
        "Hashes, ledger and versions",
        "Method and references",
    )
    place = words.index("Technical annex:")  # the table of contents ends with it
    for heading in order:
        place = words.index(heading, place)
    said = meaning(verification.read_bundle(home / "causal").stages().final)
    for sentence in (said.claim, said.basis, *(test.sentence for test in said.tests)):
        assert sentence in words
    assert all(f"{limit.title}." in words for limit in said.limits)


@pytest.mark.parametrize("name", ["causal", "learned", "rehearsal"])
def test_every_event_stands_there_with_noise_and_sensitivity(home, name):
    found = json.loads((home / name / bundle_files.CERTIFICATE).read_text())["events"]
    html = text(home / name)
    table = html[html.index("events; sensitivities") :].split("</table>")[0]
    rows = [Page(row).words for row in table.split("<tr>")[2:]]
    assert len(rows) == len(found)
    for row, event in zip(rows, found, strict=True):
        assert event["label"] in row
        if event["event"] == "gaussian":
            shown = float(re.findall(r"discrete Gaussian ([\d.]+) 1\.414", row)[0])
            assert event["sigma"] <= shown < event["sigma"] * 1.001  # rounded up
        assert row.startswith(f"{rows.index(row) + 1} ")


def test_what_was_learned_and_its_price_are_named(home):
    words = Page(text(home / "learned")).words
    assert "Learned before the plan; all figures of this report include it" in words
    assert "the domain: age" in words
    assert "Nothing was learned" not in words
    assert "Nothing was learned" in Page(text(home / "causal")).words


def test_shares_of_the_pools_add_up(home):
    shares = re.findall(
        r"(?:target|features|marginals|columns): ([\d.]+)%", Page(text(home / "causal")).words
    )
    assert len(shares) == 3
    assert sum(map(float, shares)) == pytest.approx(100.0, abs=0.2)


def test_scenarios_stand_beside_the_plan():
    schema, dag = two()
    stages, facts = planned(schema, Task(target="readmitted"), dag)
    other = Scenario(name="half the epsilon", task=stages.final.task, budget=Budget(epsilon=0.5))
    plan = design(Brief(schema, other.task, other.budget, 300, dag=dag))
    words = Page(report(stages, facts, [(other, plan)])).words
    assert "half the epsilon 0.5" in words
    assert "What else was considered" not in Page(report(stages, facts)).words


def test_an_approval_is_named_and_another_plan_is_not_passed_off():
    schema, dag = two()
    stages, facts = planned(schema, Task(target="readmitted"), dag)
    given = Approval(
        by="A. Lee & B. Roy",
        role="privacy committee",
        date="2026-03-01",
        plan_sha256=facts.planned_sha256,
    )
    words = Page(report(stages, replace(facts, approval=given))).words
    assert "A. Lee & B. Roy (privacy committee), on 2026-03-01" in words
    assert "exactly the plan that was run" in words
    other = replace(given, plan_sha256="f" * 64)
    words = Page(report(stages, replace(facts, approval=other))).words
    assert "another plan than the one that was run" in words
    assert "exactly the plan" not in words
    assert "records no approval" in Page(report(stages, facts)).words


def test_the_registry_entry_is_there_for_machines_and_leaves_open_what_no_file_knows(home):
    page = Page(text(home / "causal"))
    entry = json.loads(page.inside("script"))["deployment"]
    bundle = verification.read_bundle(home / "causal")
    assert entry["basic"]["data_product_type"] == "Synthetic data"
    assert entry["basic"]["data_curators"] is None
    assert entry["deployment_model"]["model_name"] == "Central"
    assert "replace one person" in entry["privacy_loss"]["privacy_unit_details"]
    stated = float(entry["privacy_loss"]["privacy_parameters"]["epsilon"])
    assert bundle.stages().final.guarantee.epsilon <= stated < 1.00001
    assert "exponential mechanism" in entry["implementation"]["mechanisms"]
    for name, value in registry_entry.fields({"deployment": entry}):
        assert name in page.words
        assert value is None or " ".join(value.split()) in page.words
    assert page.words.count("to be filled in by the data curator") == 6


HOSTILE = '</script><img src=x onerror="x"> & \u201cA\u201d'


def test_what_the_curator_says_stands_on_top_and_in_the_registry_escaped(home):
    said = CuratorStatement(**{name: f"{HOSTILE} {name}" for name in LABELS})
    html = copy_report(home / "causal", Extras(said=said))
    page = Page(html)
    top = page.words.split("people whose rows were used")[0]
    for name in TOP:
        assert f"{HOSTILE} {name}" in top
    assert [tag for tag, _ in page.elements if tag == "img"] == []
    entry = json.loads(page.inside("script"))["deployment"]
    basic = entry["basic"]
    assert basic["data_curators"] == f"{HOSTILE} organisation; contact: {HOSTILE} contact"
    assert basic["intended_use"].startswith(f"{HOSTILE} purpose (training and comparing")
    assert basic["data_subjects"] == f"{HOSTILE} subjects"
    assert f"{HOSTILE} asset" in basic["description"]
    assert entry["implementation"]["justification"] == f"{HOSTILE} justification"
    assert page.words.count("to be filled in by the data curator") == 1  # the date
    assert "names them in a copy" not in page.words
    assert "names them in a copy" in Page(text(home / "causal")).words


@pytest.mark.parametrize("bad", ["two\nlines", " spaced", "x" * (LONGEST + 1), "\u202eturned", 7])
def test_what_is_said_is_one_line(bad):
    with pytest.raises(BundleError, match="Purpose must be one line") as caught:
        CuratorStatement(purpose=bad)
    assert caught.value.field == "purpose"


def test_the_command_takes_what_the_curator_says(home, tmp_path, capsys):
    out = tmp_path / "copy.html"
    arguments = ["report", str(home / "causal"), "--out", str(out), "--organisation", "St. Mary"]
    assert main.main([*arguments, "--purpose", " a benchmark "]) == 0
    words = Page(out.read_text(encoding="utf-8")).words
    assert "Organisation St. Mary Purpose a benchmark" in words
    assert main.main([*arguments, "--contact", "a\tb"]) == 2
    assert "contact: Contact must be one line" in capsys.readouterr().err


def test_a_private_regression_is_no_exponential_mechanism(small):
    task = Task(target="readmitted", regime="predictive", k=2, selection="logistic")
    plan = design(Brief(small[0], task, Budget(), 300, synthesis=QUICK))
    _, facts = planned(*_with_task())
    entry = registry_entry.registry(plan, facts)["deployment"]
    assert "objective perturbation" in entry["implementation"]["mechanisms"]
    assert "exponential" not in entry["implementation"]["mechanisms"]


# --- stamps ----------------------------------------------------------------------------------


@pytest.mark.privacy
def test_a_rehearsal_says_so_on_every_page(home):
    html, words = text(home / "rehearsal"), Page(text(home / "rehearsal")).words
    # In the margin of every printed page, across it, on top of the screen, in the title.
    assert '@top-center { content: "REHEARSAL, NOT A RELEASE: it protects nobody"' in html
    assert ("div", {"class": "mark", "aria-hidden": "true"}) in Page(html).elements
    assert re.search(r"\.mark \{[^}]*position: fixed", html)
    assert re.search(r"\.stamp \{ position: sticky", html)
    assert "Rehearsal, not a release: public rows and known noise. It protects nobody." in words
    assert "Run as a release, this plan would promise" in words
    assert Page(html).inside("title").startswith("Rehearsal, not a release")
    real = text(home / "causal")
    assert "@top-center" not in real
    assert 'class="mark"' not in real
    assert "Rehearsal, not a release" not in Page(real).words


@pytest.mark.privacy
def test_a_domain_from_private_rows_is_confessed_on_every_page():
    schema, dag = two()
    stages, facts = planned(
        replace(schema, provenance="private rows"), Task(target="readmitted"), dag
    )
    html = report(stages, facts)
    assert "@top-center" in html
    assert "taken from the private rows" in Page(html).words


def test_without_a_ledger_it_says_so():
    stages, facts = planned(*_with_task())
    html = report(stages, replace(facts, stamp="release without a ledger", charge=None, entry=""))
    assert "There was no ledger" in Page(html).words


def _with_task() -> tuple[Schema, Task, Dag]:
    schema, dag = two()
    return schema, Task(target="readmitted"), dag


# --- what cannot get in ----------------------------------------------------------------------


HOSTILE = (
    '</script><img src=x onerror="alert(1)">{{ 7*7 }}',
    "a</style><b>&amp;**\u202exe\\{% raw %}",
)


@pytest.mark.privacy
def test_hostile_names_are_text():
    schema, dag = two(HOSTILE)
    stages, facts = planned(schema, Task(target=HOSTILE[1]), dag)
    scenario = Scenario(name="<script>alert(2)</script>", task=stages.final.task)
    html = report(stages, facts, [(scenario, stages.final)])
    page = Page(html)
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == 1
    assert not {"img", "b", "iframe", "link", "object", "embed", "form"} & set(tags)
    assert tags.count("style") == 1
    assert not any(name.startswith("on") for _, attrs in page.elements for name in attrs)
    assert HOSTILE[0] in page.words
    assert "49" not in re.sub(r"[^4-9 ]", "", page.inside("h1"))
    assert "\u202e" not in html  # nothing turns the direction of the text
    assert HOSTILE[1] in json.loads(page.inside("script"))["deployment"]["basic"]["name"]


@pytest.mark.parametrize("name", ["causal", "rehearsal"])
def test_it_loads_nothing_and_runs_nothing(home, name):
    page = Page(text(home / name))
    assert "url(" not in page.inside("style")
    assert "@import" not in page.inside("style")
    policy = next(a["content"] for t, a in page.elements if t == "meta" and "http-equiv" in a)
    assert "default-src 'none'" in policy
    for tag, attributes in page.elements:
        assert not {"src", "srcset", "data", "poster"} & set(attributes)
        if "href" in attributes:
            assert tag == "a"  # somebody has to click
        if tag == "script":
            assert attributes["type"] == "application/json"


@pytest.mark.privacy
def test_it_is_the_same_for_other_rows_and_holds_no_value_of_a_row(tmp_path):
    schema = Schema(
        columns=(
            Column(name="age", kind="numeric", lower=0.0, upper=100.0, edges=(30.0, 60.0)),
            Column(name="readmitted", kind="categorical", levels=("no", "yes")),
        ),
        one_row_per_person=True,
    )
    dag = Dag(nodes=schema.names, edges=(("age", "readmitted"),))
    plan = design(Brief(schema, Task(target="readmitted"), Budget(), 200, dag=dag, synthesis=QUICK))
    canary = 48.2718281828
    found = []
    for special in (canary, 91.0):
        frame = _rows(special)
        table = encode(schema, RawTable(frame))
        made = release(plan, table, ledger=None, rng=np.random.default_rng(3))
        found.append(text(written(made, tmp_path / str(special))))
    assert found[0] == found[1]
    for cut in (13, 9, 7):
        assert str(canary)[:cut] not in found[0]


def _rows(special: float):
    import pandas as pd

    ages = np.random.default_rng(0).uniform(0, 100, 200)
    ages[5] = special
    return pd.DataFrame(
        {"age": [str(age) for age in ages], "readmitted": ["no", "yes"] * 100}, dtype=str
    )


@pytest.mark.privacy
def test_a_forged_report_is_found_even_with_new_checksums(home, tmp_path):
    forger = Forger(home / "rehearsal", tmp_path / "copy", tmp_path / "thief")
    forger.text(bundle_files.REPORT, "It protects nobody.", "It protects everybody.")
    forger.seal()
    report_ = verification.verify(forger.folder)
    assert "report.html is not what this program writes for this plan." in report_.findings
    assert (
        bundle_files.REPORT
        in json.loads((home / "causal" / bundle_files.MANIFEST).read_text())["files"]
    )


# --- copies with more ------------------------------------------------------------------------


@pytest.mark.privacy
def test_numbers_outside_epsilon_come_in_only_when_asked_and_each_is_marked(home):
    plain = Page(copy_report(home / "causal")).words
    assert copy_report(home / "causal") == text(home / "causal")
    assert "outside epsilon and stay with the data curator" in plain
    assert "0.731" not in plain
    second = replace(ROW, name="accuracy", value=0.8, floor=-2e-4)
    html = copy_report(home / "causal", Extras(evaluation=outside([ROW, second])))
    assert OUTSIDE_EPSILON in Page(html).words
    rows = [row for row in html.split("<tr>") if "0.731" in row or "0.800" in row]
    assert len(rows) == 2
    assert all("outside epsilon" in row for row in rows)
    assert "-0.000" not in html


def test_scores_stand_with_their_intervals_or_the_reason_why_there_is_none(home):
    row = replace(
        ROW,
        interval=(0.70123, 0.76),
        ceiling_interval=(0.72, 0.77),
        floor_interval=(0.5, 0.5),
        kept_interval=(0.81, 1.04),
    )
    few = replace(
        ROW,
        name="accuracy_from_s",
        value=None,
        floor=None,
        ceiling=None,
        note="Fewer than 10 test rows have y = yes: too few to score it.",
    )
    words = Page(copy_report(home / "causal", Extras(evaluation=outside([row, few])))).words
    assert "0.731 (0.701 to 0.760) 0.500 0.745 (0.720 to 0.770)" in words
    assert "carry 94% (95% interval 81% to 104%) of what can be learned" in words
    assert "its 95% interval over the test rows" in words
    assert "Accuracy, from the protected features S alone, logistic" in words
    assert "Fewer than 10 test rows have y = yes" in words
    # What an earlier version wrote has no intervals, and is taken.
    old = {k: v for k, v in ROW.to_dict().items() if "interval" not in k and k != "kept"}
    entries = outside([ROW]) | {"metrics": [old]}
    assert "0.731" in Page(copy_report(home / "causal", Extras(evaluation=entries))).words


def bought(folder: Path) -> dict[str, Any]:
    """Private numbers of the release in a folder."""
    known = json.loads((folder / bundle_files.CERTIFICATE).read_text())["plan_sha256"]
    return INSIDE | {"plan": {"release_plan_sha256": known}}


def test_numbers_inside_epsilon_name_their_charge(home):
    words = Page(copy_report(home / "causal", Extras(private=(bought(home / "causal"),)))).words
    assert "0.700 0.660 to 0.740 inside epsilon ε = 0.2, δ = 1e-6, charge 4" in words
    assert "Its epsilon comes on top" in words


@pytest.mark.privacy
def test_private_numbers_of_another_release_are_refused(home):
    for entry in (bought(home / "learned"), INSIDE, INSIDE | {"plan": {}}, INSIDE | {"plan": 3}):
        with pytest.raises(BundleError, match="of another release") as caught:
            copy_report(home / "causal", Extras(private=(bought(home / "causal"), entry)))
        assert caught.value.field == "private"


def test_rehearsals_and_a_date_are_shown(home):
    words = Page(
        copy_report(home / "causal", Extras(rehearsed=(ESTIMATE,), date="2026-03-01"))
    ).words
    assert "closed form unchanged 1 0.710 ± 0.010 0.730 10" in words
    assert "AUC (95% interval)" in words
    numeric = Extras(rehearsed=(replace(ESTIMATE, metric="r2"),))
    assert "R² (95% interval)" in Page(copy_report(home / "causal", numeric)).words
    assert "· 2026-03-01" in words
    assert "basic.publication_date 2026-03-01" in words


@pytest.mark.privacy
@pytest.mark.parametrize(
    "change",
    [
        {"outside_epsilon": False},
        {"notice": None},
        {"metrics": None},
        {"metrics": [ROW.to_dict() | {"outside_epsilon": False}]},
        {"metrics": [ROW.to_dict() | {"value": float("nan")}]},
        {"metrics": [ROW.to_dict() | {"value": "0.7"}]},
        {"metrics": [ROW.to_dict() | {"interval": [0.7]}]},
        {"metrics": [ROW.to_dict() | {"interval": [0.8, 0.6]}]},
        {"metrics": [ROW.to_dict() | {"kept_interval": "<b>0.7</b>"}]},
        {"metrics": [ROW.to_dict() | {"kept": "<b>0.7</b>"}]},
        {"metrics": [ROW.to_dict() | {"note": 7}]},
    ],
)
def test_an_evaluation_without_its_marks_is_refused(change):
    with pytest.raises(BundleError, match="marked outside epsilon") as caught:
        Extras(evaluation=outside([ROW]) | change)
    assert caught.value.field == "evaluation"


@pytest.mark.privacy
@pytest.mark.parametrize(
    "change",
    [
        {"guarantee": {}},
        {"guarantee": {"epsilon": float("nan"), "delta": 0.1}},
        {"numbers": [INSIDE["numbers"][0] | {"outside_epsilon": True}]},
        {"numbers": [INSIDE["numbers"][0] | {"noise_interval_95": [0.1]}]},
        {"notice": 3},
        {"notice": "Differentially private."},
        {"private_evaluation": "private evaluation without a ledger"},
        {"private_evaluation": ""},
        {"charge": None},
        {"charge": 0},
        {"charge": True},
        {"charge": "4"},
        {"charge": 4.0},
    ],
)
def test_private_numbers_without_a_guarantee_are_refused(change):
    with pytest.raises(BundleError, match="guarantee and charge"):
        Extras(private=(INSIDE | change,))


@pytest.mark.privacy
def test_numbers_of_a_rehearsal_with_known_noise_are_refused_even_with_a_charge():
    stamp = "rehearsal, not a private evaluation"
    for charge in (None, 4):
        with pytest.raises(BundleError, match="its numbers are not private"):
            Extras(private=(INSIDE | {"private_evaluation": stamp, "charge": charge},))


def test_a_date_must_be_a_day():
    with pytest.raises(BundleError, match="YYYY-MM-DD"):
        Extras(date="<b>today</b>")


# --- the graph -------------------------------------------------------------------------------


def _wide(features: int, dag: Dag | None = None) -> Plan:
    names = (*(f"x{number}" for number in range(features)), "y")
    columns = tuple(Column(name=name, kind="categorical", levels=("a", "b")) for name in names)
    schema = Schema(columns=columns, one_row_per_person=True)
    edges = [(f"x{n}", f"x{n + 1}") for n in range(features - 1)] + [("x3", "y"), ("x7", "y")]
    dag = dag or Dag(nodes=names, edges=tuple(edges))
    return design(Brief(schema, Task(target="y"), Budget(), 1_000, dag=dag, synthesis=QUICK))


def _joined(edges: Sequence[tuple[str, str]], target: str) -> Plan:
    names = tuple(dict.fromkeys(end for edge in edges for end in edge))
    columns = tuple(Column(name=name, kind="categorical", levels=("a", "b")) for name in names)
    schema = Schema(columns=columns, one_row_per_person=True)
    dag = Dag(nodes=names, edges=tuple(edges))
    return design(Brief(schema, Task(target=target), Budget(), 1_000, dag=dag, synthesis=QUICK))


@pytest.mark.parametrize("graph", ["readmission", "triangle", "chain", "star"])
def test_the_graph_on_paper_shows_no_edge_that_nobody_drew(graph):
    edges, target = {
        "readmission": (readmission.edges(), "readmitted_30d"),
        "triangle": ((("a", "b"), ("b", "y"), ("a", "y")), "y"),
        "chain": (tuple(_wide(12).dag.edges), "y"),
        "star": (tuple((f"x{n}", "y") for n in range(14)), "y"),
    }[graph]
    html = report(*_stages(_joined(edges, target)))
    drawing = in_report(html, edges)
    assert set(drawing.edges) == set(edges)
    assert drawing.behind_boxes() == []
    assert drawing.inside_ends() == []
    assert drawing.under_heads() == []
    assert drawing.along(length=12.0) == set()


def test_on_paper_a_column_looks_as_on_the_page():
    plan = _wide(12)
    found = picture(plan)
    assert found is not None
    assert found.left_out == 0
    assert len(found.paths) == len(plan.dag.edges)
    nodes = {node.role.name: node for node in found.nodes}
    assert all(nodes[cause].box.y < nodes[effect].box.y for cause, effect in plan.dag.edges)
    html = report(*_stages(plan))
    for name, role in (("y", "target"), ("x3", "parent"), ("x0", "ancestor"), ("x11", "other")):
        look, box = NODE_STYLES[role], nodes[name].box
        group = re.findall(rf"<g[^>]*><title>{name}:.*?</g></g>", html, flags=re.DOTALL)[0]
        assert f'fill="{look.fill}" stroke="{look.stroke}"' in group
        assert look.outline(box.w, box.h) in group
        assert look.words in Page(html).words
    assert "Thick border: in S" in Page(html).words


def test_what_is_unmeasured_is_a_dashed_ellipse_and_stands_in_nobodys_way():
    edges = (("u", "a"), ("u", "y"), ("a", "b"), ("b", "y"))
    columns = tuple(
        Column(name=name, kind="categorical", levels=("a", "b")) for name in ("a", "b", "y")
    )
    schema = Schema(columns=columns, one_row_per_person=True)
    dag = Dag(nodes=("a", "b", "y", "u"), edges=edges, unmeasured=("u",))
    plan = design(Brief(schema, Task(target="y"), Budget(), 1_000, dag=dag, synthesis=QUICK))
    html = report(*_stages(plan))
    drawing = in_report(html, edges)
    assert set(drawing.boxes) == {"a", "b", "y", "u"}
    assert drawing.behind_boxes() == []
    group = re.findall(r'<g class="unmeasured"><title>u:.*?</g></g>', html, flags=re.DOTALL)[0]
    assert "stroke-dasharray" in group
    assert NODE_STYLES["unmeasured"].words in Page(html).words


def test_of_a_large_graph_the_target_and_s_are_drawn_and_the_rest_is_counted():
    plan = _wide(80)
    found = picture(plan)
    assert found is not None
    drawn = len(found.nodes)
    assert found.left_out == 81 - drawn
    assert {"y", *plan.s} <= {node.role.name for node in found.nodes}
    assert len(found.roles) == 81
    assert f"{81 - drawn} columns are not drawn" in Page(report(*_stages(plan))).words


def test_a_graph_of_many_columns_is_legible_on_paper():
    edges = [(f"x{n}", f"x{n // 3}") for n in range(1, 14)]
    names = ("y", *(f"x{n}" for n in range(60)))
    dag = Dag(nodes=names, edges=(*edges, ("x0", "y")))
    columns = tuple(Column(name=name, kind="categorical", levels=("a", "b")) for name in names)
    schema = Schema(columns=columns, one_row_per_person=True)
    found = picture(
        design(Brief(schema, Task(target="y"), Budget(), 1_000, dag=dag, synthesis=QUICK))
    )
    assert found is not None
    assert len(found.nodes) == MOST
    joined = {end for edge in dag.edges for end in edge}
    assert joined <= {node.role.name for node in found.nodes}  # those without an edge come last
    *_, width, height = found.frame
    assert width * found.scale <= PAPER[0]
    assert height * found.scale <= PAPER[1]
    assert 16.0 * found.scale >= 8.0  # pixels of CSS: 6 points


def test_a_long_plan_shows_its_largest_marginals():
    features = MOST_BARS + 5
    names = (*(f"x{number}" for number in range(features)), "y")
    star = Dag(nodes=names, edges=tuple((name, "y") for name in names[:-1]))
    plan = _wide(features, star)
    stages, facts = planned(plan.schema, replace(plan.task, max_joint_cells=0), star, n=1_000)
    words = Page(report(stages, facts)).words
    assert f"the {MOST_BARS} largest of" in words


# --- paper and command -----------------------------------------------------------------------


def test_without_chromium_the_message_says_what_to_do(monkeypatch):
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")
    with pytest.raises(BundleError) as caught:
        report_pdf("<p>")
    assert str(caught.value) == MISSING
    assert "open report.html" in MISSING


def test_a_browser_that_prints_nothing_is_an_error(monkeypatch, tmp_path):
    fake = tmp_path / "chromium"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("CHROMIUM", str(fake))
    with pytest.raises(BundleError, match="did not print"):
        report_pdf("<p>")


def test_the_browser_gets_one_file_and_no_way_out(monkeypatch, tmp_path):
    fake, log = tmp_path / "chromium", tmp_path / "log"
    fake.write_text(
        f'#!/bin/sh\necho "$@" > {log}\n'
        'for word in "$@"; do case "$word" in --print-to-pdf=*) '
        'printf "%%PDF-1.7 paper" > "${word#--print-to-pdf=}";; esac; done\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("CHROMIUM", str(fake))
    assert report_pdf("<p>") == b"%PDF-1.7 paper"
    said = log.read_text()
    assert "--host-resolver-rules=MAP * ~NOTFOUND" in said
    assert ("--no-sandbox" in said) == (os.geteuid() == 0)
    place = re.findall(r"file://(\S+)/report.html", said)[0]
    assert not os.path.exists(place)  # noqa: PTH110  (deleted with everything in it)


def test_the_command_writes_a_copy_beside_the_bundle(home, tmp_path, capsys):
    assert main.main(["report", str(home / "causal"), "--out", str(tmp_path / "r.html")]) == 0
    assert (tmp_path / "r.html").read_text() == text(home / "causal")
    assert main.main(["report", str(home / "causal")]) == 0
    assert (home / "causal-report.html").read_text() == text(home / "causal")
    assert verification.verify(home / "causal").ok
    assert "report in" in capsys.readouterr().out


def test_the_command_takes_numbers_with_their_marks_only(home, tmp_path, capsys):
    out, numbers = tmp_path / "r.html", tmp_path / "e.json"
    command = ["report", str(home / "causal"), "--out", str(out)]
    numbers.write_text(json.dumps(outside([ROW])))
    assert main.main([*command, "--evaluation", str(numbers)]) == 0
    assert "outside epsilon, marked as such" in capsys.readouterr().out
    assert "0.731" in out.read_text()
    numbers.write_text(json.dumps({"metrics": [ROW.to_dict()]}))
    assert main.main([*command, "--evaluation", str(numbers)]) == 2
    assert "evaluation: The evaluation must be" in capsys.readouterr().err
    numbers.write_text("[")
    assert main.main([*command, "--private", str(numbers)]) == 2


def test_the_command_keeps_the_bundle_as_it_is(home, tmp_path, capsys, monkeypatch):
    folder = home / "causal"
    assert main.main(["report", str(folder), "--out", str(folder / "r.html")]) == 2
    assert "and no other" in capsys.readouterr().err
    assert main.main(["report", str(tmp_path / "none")]) == 2
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")
    assert main.main(["report", str(folder), "--pdf", "--out", str(tmp_path / "r.pdf")]) == 2
    assert "There is no Chromium" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
