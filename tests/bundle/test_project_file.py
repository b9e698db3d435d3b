"""A project in one file: what goes in comes out, and what does not belong there is named."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from prism_core.bundle import project_file
from prism_core.bundle.project_file import ProjectFile
from prism_core.bundle.protocol.protocol import Protocol
from prism_core.data.schema import column_form
from prism_core.data.schema.codebook_source import CodebookReading, CodebookSource
from prism_core.data.schema.looks import Look
from prism_core.errors import PrismError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.curator_statement import CuratorStatement
from prism_core.planning.wishes.scenario import Scenario
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.structure.dag import Drawing
from tests.support import bundles
from tests.support.approvals import STATED


@pytest.fixture
def full(schema) -> ProjectFile:
    """A project with every part, its graph learned nowhere and one design beside the plan."""
    task = bundles.TASKS["predictive"]
    plan = design(Brief(schema, task, Budget(), 240, dag=bundles.DAG))
    wishes = [
        Scenario(name=name, task=task, budget=Budget(epsilon=epsilon, delta=1e-9))
        for name, epsilon in (("A", 1.0), ("B", 0.3))
    ]
    rows = column_form.to_rows(schema.columns)
    rows[0]["lower"] = "half typed"
    return ProjectFile(
        name="Stays of 2026: Größe",
        persons=300,
        schema=schema,
        form=tuple(dict(row) for row in rows),
        form_provenance="public twin",
        read=CodebookReading(
            source=CodebookSource(name="b.csv", sha256="0a" * 32, format="redcap"),
            columns=schema.columns[:1],
        ),
        looks=(Look(did="previewed rows", file="t.csv", when="2025-01-01 10:00"),),
        drawing=Drawing(dag=bundles.DAG.over(schema.names), positions={"age": (3.5, -2.0)}),
        target="readmitted",
        designs=tuple(wishes),
        saved=(Scenario(name="kept", task=Task(target="ward"), synthesis=Synthesis(rows=50)),),
        approval=Protocol(plan=plan, asset="ward 7", statement=STATED).approve(
            by="A. B.", role="chair", date="2026-01-31"
        ),
        approval_needed=True,
        asset="ward 7",
        lifetime=2.5,
        purpose="a benchmark",
        statement=CuratorStatement(organisation="Clinic A"),
        holdout_share=0.25,
        own_test=True,
        p_min=0.01,
    )


def test_what_goes_in_comes_out(full, tmp_path):
    text = project_file.dumps(full)
    assert project_file.loads(text) == full
    assert project_file.dumps(project_file.loads(text)) == text
    path = tmp_path / "stays.json"
    path.write_text(text, encoding="utf-8")
    assert project_file.load(path) == full


def test_an_approval_holds_after_the_round_trip(full, schema):
    back = project_file.loads(project_file.dumps(full))
    task = bundles.TASKS["predictive"]
    plan = design(Brief(back.schema, task, Budget(), 240, dag=bundles.DAG))
    assert back.approval.covers(plan, "ward 7")


def test_a_learned_graph_keeps_what_it_cost(schema):
    dag = replace(bundles.DAG, provenance="dp", prior=bundles.learned(schema).prior)
    back = project_file.loads(
        project_file.dumps(ProjectFile(name="n", schema=schema, drawing=Drawing(dag=dag)))
    )
    assert back.drawing.dag.prior == dag.prior


def test_an_empty_project(schema):
    assert project_file.loads(project_file.dumps(ProjectFile(name="n"))) == ProjectFile(name="n")


WRONG = {
    "kind": (("kind",), "prism protocol", "project"),
    "version": (("version",), 2, "version"),
    "a truth for the version": (("version",), True, "version"),
    "name": (("name",), "two\nlines", "name"),
    "no name": (("name",), "", "name"),
    "persons": (("persons",), 1, "persons"),
    "persons as a text": (("persons",), "300", "persons"),
    "persons as a truth": (("persons",), True, "persons"),
    "persons with a point": (("persons",), 300.5, "persons"),
    "schema": (("schema",), [], "columns"),
    "column": (("schema", "columns", 0, "lower"), "x", "age.lower"),
    "form": (("form",), {}, "form"),
    "a cell": (("form", 0, "lower"), 3, "form"),
    "a strange cell": (("form", 0, "rows"), "x", "form"),
    "form_provenance": (("form_provenance",), "nowhere", "form_provenance"),
    "a codebook": (("read", "source", "format"), "word", "codebook.format"),
    "a codebook's column": (("read", "columns", 0, "lower"), "x", "age.lower"),
    "no codebook": (("read",), [], "read"),
    "a look": (("looks", 0, "did"), "nothing", "looks"),
    "graph": (("graph",), "A -> B", "graph"),
    "an edge": (("graph", "edges", 0, "source"), None, "edges"),
    "target": (("target",), "nobody", "target"),
    "target of another kind": (("target",), 3, "target"),
    "design": (("designs", 0, "budget", "epsilon"), -1, "epsilon"),
    "another target": (("designs", 0, "task", "target"), "ward", "designs"),
    "designs": (("designs",), "A", "designs"),
    "approval": (("approval", "approval", "date"), "31.1.2026", "date"),
    "approval needed": (("approval_needed",), 1, "approval_needed"),
    "asset": (("asset",), " ward 7", "asset"),
    "lifetime": (("lifetime",), "much", "lifetime"),
    "statement": (("statement", "contact"), "a\nb", "contact"),
    "holdout": (("holdout_share",), 1.5, "holdout_share"),
    "own test": (("own_test",), None, "own_test"),
    "p_min": (("p_min",), 2, "p_min"),
    "an unknown entry": (("rows",), [["a private cell"]], "rows"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_named(full, what):
    *path, last = WRONG[what][0]
    document = json.loads(project_file.dumps(full))
    place = document
    for part in path:
        place = place[part]
    place[last] = WRONG[what][1]
    with pytest.raises(PrismError) as error:
        project_file.loads(json.dumps(document))
    assert error.value.field == WRONG[what][2]
    assert "a private cell" not in str(error.value)


def test_every_entry_is_needed(full):
    document = json.loads(project_file.dumps(full))
    for name in set(document) - {"kind", "version"}:
        with pytest.raises(PrismError) as error:
            project_file.loads(json.dumps({k: v for k, v in document.items() if k != name}))
        assert error.value.field == name


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '"kind"', "[" * 10_000, "\udc80"])
def test_other_texts_are_no_project(text):
    with pytest.raises(PrismError) as error:
        project_file.loads(text)
    assert error.value.field == "project"


def test_a_number_beyond_every_float_is_refused(full):
    text = project_file.dumps(full).replace('"lifetime": 2.5', f'"lifetime": 1{"0" * 400}')
    with pytest.raises(PrismError) as error:
        project_file.loads(text)
    assert error.value.field == "lifetime"
