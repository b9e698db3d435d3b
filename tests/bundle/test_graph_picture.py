"""The graph on paper."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from prism_core.bundle.report.graph_picture import MOST, PAPER, picture
from prism_core.bundle.report.report_html import MOST_BARS, report
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Task
from prism_core.samples import readmission
from prism_core.structure.dag import Dag
from prism_core.structure.routing.node_boxes import IN_S, NODE_STYLES
from tests.support.drawings import in_report
from tests.support.reports import QUICK, Page, planned, staged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.planning.plan import Plan


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
    html = report(*staged(_joined(edges, target)))
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
    html = report(*staged(plan))
    for name, role in (("y", "target"), ("x3", "parent"), ("x0", "ancestor"), ("x11", "other")):
        look, box = NODE_STYLES[role], nodes[name].box
        group = re.findall(rf"<g[^>]*><title>{name}:.*?</g></g>", html, flags=re.DOTALL)[0]
        assert f'fill="{look.fill}" stroke="{look.stroke}"' in group
        assert look.outline(box.w, box.h) in group
        assert look.words in Page(html).words
    assert IN_S in Page(html).words


def test_what_is_unmeasured_is_a_dashed_ellipse_and_stands_in_nobodys_way():
    edges = (("u", "a"), ("u", "y"), ("a", "b"), ("b", "y"))
    columns = tuple(
        Column(name=name, kind="categorical", levels=("a", "b")) for name in ("a", "b", "y")
    )
    schema = Schema(columns=columns, one_row_per_person=True)
    dag = Dag(nodes=("a", "b", "y", "u"), edges=edges, unmeasured=("u",))
    plan = design(Brief(schema, Task(target="y"), Budget(), 1_000, dag=dag, synthesis=QUICK))
    html = report(*staged(plan))
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
    assert f"{81 - drawn} columns are not drawn" in Page(report(*staged(plan))).words


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
