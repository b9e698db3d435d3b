"""The networks that pgmpy ships as files, against independent readings of them."""

from __future__ import annotations

import gzip
import json
import random
import re
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import networkx as nx
import pytest

from prism_core.errors import StructureError
from prism_core.structure import formats
from prism_core.structure.dag import Dag
from prism_core.structure.independence import d_separated, missing_edges
from tests.support.refusals import refused

SPEC = find_spec("pgmpy")  # the folder, without the seconds that an import takes
FOLDER = Path(SPEC.origin or "").parent / "utils" / "example_models" if SPEC else Path()
BIF = {
    "alarm": (37, 46),
    "andes": (223, 338),
    "asia": (8, 8),
    "barley": (48, 84),
    "cancer": (5, 4),
    "child": (20, 25),
    "diabetes": (413, 602),
    "earthquake": (5, 4),
    "hailfinder": (56, 66),
    "hepar2": (70, 123),
    "insurance": (27, 52),
    "link": (724, 1125),
    "mildew": (35, 46),
    "munin": (1041, 1397),
    "munin1": (186, 273),
    "munin2": (1003, 1244),
    "munin3": (1041, 1306),
    "munin4": (1038, 1388),
    "pathfinder": (109, 195),
    "pigs": (441, 592),
    "sachs": (11, 17),
    "survey": (6, 6),
    "water": (32, 66),
    "win95pts": (76, 112),
}
"""Nodes and arcs as the Bayesian Network Repository states them."""
DAGITTY = (
    "Acid_1996",
    "Didelez_2010",
    "Kampen_2014",
    "Polzer_2012",
    "Schipf_2010",
    "Sebastiani_2005",
    "Shrier_2008",
    "Thoemmes_2013",
    "confounding",
    "mediator",
    "paths",
)

pytestmark = pytest.mark.skipif(SPEC is None, reason="needs the extra networks (pgmpy)")


def plain_parents(name: str) -> dict[str, list[str]]:
    """The parents of every node by one regular expression: another way than the parser's."""
    text = gzip.decompress((FOLDER / f"{name}.bif.gz").read_bytes()).decode()
    found = re.findall(r"^probability \( *([^|()]+?) *(?:\| *([^()]*?) *)?\)", text, re.MULTILINE)
    return {child: [p.strip() for p in given.split(",")] if given else [] for child, given in found}


@cache
def network(name: str) -> Dag:
    return formats.read(FOLDER / f"{name}.bif.gz")


@pytest.mark.parametrize("name", sorted(BIF))
def test_every_parent_and_blanket_of_every_network(name):
    dag = network(name)
    expected = plain_parents(name)
    assert (len(dag.nodes), len(dag.edges)) == BIF[name]
    assert set(dag.nodes) == set(expected)
    children: dict[str, set[str]] = {node: set() for node in expected}
    for child, given in expected.items():
        for parent in given:
            children[parent].add(child)
    for node, given in expected.items():
        assert set(dag.parents(node)) == set(given)
        mates = {p for child in children[node] for p in expected[child]}
        assert set(dag.markov_blanket(node)) == ({*given, *children[node]} | mates) - {node}


@pytest.mark.parametrize("name", ["asia", "alarm", "child", "sachs", "munin"])
@pytest.mark.parametrize("form", sorted(formats.FORMATS))
def test_networks_survive_every_format(name, form):
    if name == "munin" and form == "adjacency":
        return  # a million cells
    dag = network(name)
    again = formats.read(formats.write(dag, form))
    assert set(again.nodes) == set(dag.nodes)
    assert set(again.edges) == set(dag.edges)


@pytest.mark.parametrize("name", ["asia", "alarm", "insurance", "win95pts"])
def test_random_questions_have_the_answers_of_networkx(name):
    dag = network(name)
    draw = random.Random(0)
    answers = set()
    for _ in range(60):
        one, other, *rest = draw.sample(dag.nodes, draw.randint(2, 5))
        answer = d_separated(dag, one, other, rest)
        moral = nx.moral_graph(
            dag.graph.subgraph(
                {one, other, *rest}.union(
                    *(nx.ancestors(dag.graph, n) for n in (one, other, *rest))
                )
            )
        )
        moral.remove_nodes_from(rest)
        assert answer == (not nx.has_path(moral, one, other))
        answers.add(answer)
    assert answers == {True, False}


def test_every_missing_edge_of_alarm_is_explained():
    dag = network("alarm")
    found = list(missing_edges(dag))
    assert len(found) == 37 * 36 // 2 - 46
    for statement in found[::10]:
        assert d_separated(dag, statement.left, statement.right, statement.given)


@pytest.mark.parametrize("name", DAGITTY)
def test_graphs_of_papers_in_dagittys_text(name):
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    drawing = formats.read_drawing(text)
    edges = set(re.findall(r"^(\S+) -> (\S+)", text, re.MULTILINE))
    assert set(drawing.dag.edges) == edges
    assert set(drawing.positions) == set(drawing.dag.nodes)
    marks = {
        "outcome": drawing.outcome,
        "exposure": drawing.exposure,
        "latent": drawing.dag.unmeasured,
    }
    for role, names in marks.items():
        assert set(names) == set(re.findall(rf"^(\S+) \[(?:[a-z]+,)?{role}", text, re.MULTILINE))
    assert formats.read_drawing(formats.write(drawing, "dagitty")) == drawing


def test_an_edge_with_two_heads_is_an_unmeasured_common_cause():
    dag = formats.read(FOLDER / "M-bias.txt")
    assert dag.unmeasured == ("U(D, Z)", "U(E, Z)")
    for name in dag.unmeasured:
        assert len(dag.children(name)) == 2
        assert dag.parents(name) == ()


@pytest.mark.parametrize("name", ["arth150", "ecoli70", "magic-irri", "magic-niab"])
def test_gaussian_networks_in_json(name):
    document = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    dag = formats.read(FOLDER / f"{name}.json")
    assert dag == Dag(nodes=tuple(document["nodes"]), edges=tuple(map(tuple, document["arcs"])))


@pytest.mark.slow
def test_pgmpy_agrees():
    """One test, because importing pgmpy takes seconds."""
    from pgmpy.base import DAG, PDAG
    from pgmpy.readwrite import BIFReader

    for name in sorted(BIF):
        dag = network(name)
        model = formats.to_pgmpy(dag)
        assert set(formats.read(model).edges) == set(dag.edges)
        for node in dag.nodes:
            assert set(model.get_parents(node)) == set(dag.parents(node))
            assert set(model.get_markov_blanket(node)) == set(dag.markov_blanket(node))
    text = gzip.decompress((FOLDER / "asia.bif.gz").read_bytes()).decode()
    reader = BIFReader(string=text)
    asia = formats.read(text)
    assert {node: set(asia.parents(node)) for node in asia.nodes} == {
        node: set(given) for node, given in reader.variable_parents.items()
    }
    draw = random.Random(1)
    alarm = network("alarm")
    model = formats.to_pgmpy(alarm)
    for _ in range(100):
        one, other, *rest = draw.sample(alarm.nodes, draw.randint(2, 5))
        connected = model.is_dconnected(one, other, observed=rest)
        assert d_separated(alarm, one, other, rest) == (not connected)
    marked = DAG([("u", "y"), ("a", "y")], latents={"u"}, exposures={"a"}, outcomes={"y"})
    drawing = formats.read_drawing(marked)
    assert (drawing.dag.unmeasured, drawing.exposure, drawing.outcome) == (("u",), ("a",), ("y",))
    assert formats.read_drawing(formats.to_pgmpy(drawing)) == drawing
    learned = replace(drawing.dag, provenance="public twin")
    assert formats.read(formats.to_pgmpy(learned)) == learned
    with refused(StructureError, "edges"):
        formats.read(PDAG(directed_ebunch=[("a", "b")], undirected_ebunch=[("b", "c")]))
