"""The report for a committee: what is in it, in which order, and what can never get in."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from prism_core.bundle import bundle_files
from prism_core.bundle.report import registry_entry
from prism_core.bundle.report.report_copy import copy_report
from prism_core.bundle.report.report_extras import Extras
from prism_core.bundle.report.report_html import _spent, report
from prism_core.bundle.verify import verification
from prism_core.cli import main
from prism_core.data.encoding import encode
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import BundleError
from prism_core.explain.meaning import meaning
from prism_core.planning.approval import Approval
from prism_core.planning.brief import Brief
from prism_core.planning.choices import Stages, with_forest, with_interaction
from prism_core.planning.design import design
from prism_core.planning.wishes.curator_statement import LABELS, LONGEST, TOP, CuratorStatement
from prism_core.planning.wishes.scenario import Scenario
from prism_core.planning.wishes.task import Budget, Task
from prism_core.structure.dag import Dag
from prism_core.synthesis.release import release
from prism_core.text.numbers import sigma_text
from tests.support.bundles import Forger, written
from tests.support.reports import QUICK, Page, planned, reported, text

if TYPE_CHECKING:
    from pathlib import Path


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
    return reported(tmp_path_factory.mktemp("reports"), small)


# --- what is in it ---------------------------------------------------------------------------


def test_a_set_that_was_found_leaves_fewer_pairs_to_be_chosen():
    """As many as the certificate's event has, not as many as were planned."""
    columns = [Column(name=f"x{place}", kind="boolean") for place in range(6)]
    y = Column(name="y", kind="numeric", lower=0.0, upper=4.0, edges=(1.0, 2.0, 3.0))
    schema = Schema(columns=(*columns, y), one_row_per_person=True)
    task = Task(target="y", regime="predictive")
    planned = design(Brief(schema, task, Budget(epsilon=0.5), 2_000))
    found = with_interaction(planned, ("x0", "x1"))
    final = with_forest(found, [("x0", name) for name in ("x2", "x3", "x4", "x5")])
    assert (planned.tree.rounds, final.tree_event.count) == (5, 4)
    spent = _spent(Stages(planned=planned, opened=planned, final=final))
    (line,) = (line for line in spent if line.label.endswith("background pairs"))
    assert line.label == "choosing 4 background pairs"
    rho = final.tree_event.rho / final.total
    assert line.share == pytest.approx(rho, rel=1e-6)


def test_plain_words_come_first_and_the_annex_last(home):
    words = Page(text(home / "causal")).words
    order = (
        "May these synthetic rows be handed over?",
        "such guesses are right before (assumed)",
        "Report accepted?",
        "What the table is for, and what not",
        "Planned against done",
        "The columns",
        "The risk",
        "One person, one row",
        "Annex for statisticians",
        "the odds of a guess about one person shift",
        "What is not protected",
        "The features S",
        "How the budget is split",
        "What the theory promises",
        "The graph, and what each column is",
        "How good the rows are",
        "Fields for a registry",
        "Guarantee and composition",
        "Every step that spent something",
        "Hashes, ledger and versions",
        "Method and references",
        "Glossary",
    )
    place = 0
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
            assert shown == float(sigma_text(event["sigma"]))
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
    assert "A. Lee & B. Roy (privacy committee) on 2026-03-01" in words
    assert "exactly the plan that was run" in words
    other = replace(given, plan_sha256="f" * 64)
    words = Page(report(stages, replace(facts, approval=other))).words
    assert "another plan than the one that was run" in words
    assert "exactly the plan" not in words
    assert "No approval is recorded" in Page(report(stages, facts)).words


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
    said = CuratorStatement(
        **{name: f"{HOSTILE} {name}" for name in LABELS if name not in ("threshold", "sensitive")}
    )
    html = copy_report(home / "causal", Extras(said=said))
    page = Page(html)
    top = page.words.split("Report accepted?")[0]
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
    assert "Controller St. Mary Purpose a benchmark" in words
    assert main.main([*arguments, "--contact", "a\tb"]) == 2
    assert "contact: Contact must be one line" in capsys.readouterr().err


def test_a_private_regression_is_no_exponential_mechanism(small):
    task = Task(target="readmitted", regime="predictive", k=2, selection="logistic")
    plan = design(Brief(small[0], task, Budget(), 300, synthesis=QUICK))
    _, facts = planned(*_with_task())
    entry = registry_entry.registry(plan, facts)["deployment"]
    assert "noisy gradient descent" in entry["implementation"]["mechanisms"]
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
    assert "Run as a release, this plan would do what follows" in words
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


HOSTILE_NAMES = (
    '</script><img src=x onerror="alert(1)">{{ 7*7 }}',
    "a</style><b>&amp;**\u202exe\\{% raw %}",
)


@pytest.mark.privacy
def test_hostile_names_are_text():
    schema, dag = two(HOSTILE_NAMES)
    stages, facts = planned(schema, Task(target=HOSTILE_NAMES[1]), dag)
    scenario = Scenario(name="<script>alert(2)</script>", task=stages.final.task)
    html = report(stages, facts, [(scenario, stages.final)])
    page = Page(html)
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == 1
    assert not {"img", "b", "iframe", "link", "object", "embed", "form"} & set(tags)
    assert tags.count("style") == 1
    assert not any(name.startswith("on") for _, attrs in page.elements for name in attrs)
    assert HOSTILE_NAMES[0] in page.words
    assert "49" not in re.sub(r"[^4-9 ]", "", page.inside("h1"))
    assert "\u202e" not in html  # nothing turns the direction of the text
    assert HOSTILE_NAMES[1] in json.loads(page.inside("script"))["deployment"]["basic"]["name"]


@pytest.mark.parametrize("name", ["causal", "rehearsal"])
def test_it_loads_nothing_and_runs_nothing(home, name):
    page = Page(text(home / name))
    # Its own font, which stands in the file.
    assert re.findall(r"url\((.{21})", page.inside("style")) == 2 * ["data:font/woff2;base64"[:21]]
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
