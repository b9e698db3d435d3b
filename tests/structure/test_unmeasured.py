"""Nodes that are no column: read, kept, never in S, and named wherever S is said to protect."""

from __future__ import annotations

import json
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from prism_core.bundle import bundle_files
from prism_core.bundle.protocol import approval_file
from prism_core.bundle.protocol.protocol import Protocol
from prism_core.bundle.reader import read_bundle
from prism_core.bundle.verify.verification import verify
from prism_core.cli.main import main
from prism_core.data.encoding import encode
from prism_core.data.tables.raw_table import RawTable
from prism_core.errors import StructureError, TaskError
from prism_core.explain.features_statement import features_statement
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.regimes import features_of_interest
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.samples.additive_scm import AdditiveScm
from prism_core.structure import formats
from prism_core.structure.dag import Dag
from prism_core.structure.matching import match, unambiguous
from prism_core.synthesis.release import release
from tests.support import bundles
from tests.support.refusals import refused

HIDDEN = Dag(
    nodes=("age", "frailty", "readmitted", "ward", "smoker", "season"),
    edges=(
        ("smoker", "age"),
        ("age", "readmitted"),
        ("readmitted", "ward"),
        ("frailty", "age"),
        ("frailty", "readmitted"),
        ("season", "smoker"),
    ),
    unmeasured=("frailty", "season"),
)
"""`frailty` ties age to the target; `season` acts through a column only."""


# --- reading -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "dag { U [latent] U -> X U -> Y }",
        "dag { U [unobserved] U -> X U -> Y }",
        'digraph { U [role="latent"]; U -> X; U -> Y }',
        'digraph { U [observed="no"]; X [observed="yes"]; U -> X; U -> Y }',
        'graph [ directed 1 node [ id 0 label "U" observed "no" ] node [ id 1 label "X" ] '
        'node [ id 2 label "Y" ] edge [ source 0 target 1 ] edge [ source 0 target 2 ] ]',
        '<graphml><key id="o" for="node" attr.name="observed"/><graph edgedefault="directed">'
        '<node id="U"><data key="o">no</data></node><node id="X"/><node id="Y"/>'
        '<edge source="U" target="X"/><edge source="U" target="Y"/></graph></graphml>',
        '{"nodes": [{"id": "U", "role": "latent"}, {"id": "X"}, {"id": "Y"}], '
        '"edges": [["U", "X"], ["U", "Y"]]}',
        'variable U { property "role = latent" ; } variable X { } variable Y { } '
        "probability ( X | U ) { } probability ( Y | U ) { }",
    ],
)
def test_every_format_that_can_say_so_is_understood(text):
    dag = formats.read(text)
    assert dag == Dag(nodes=("U", "X", "Y"), edges=(("U", "X"), ("U", "Y")), unmeasured=("U",))


def test_objects_keep_the_mark():
    graph = nx.DiGraph([("U", "X"), ("U", "Y")])
    graph.nodes["U"]["observed"] = "no"
    dag = formats.read(graph)
    assert dag.unmeasured == ("U",)
    assert formats.read(formats.to_networkx(dag)) == dag


def test_an_arrow_with_two_heads_is_an_unmeasured_common_cause():
    dag = formats.read("dag { a <-> {b c} a -> b b -> c }")
    assert dag.unmeasured == ("U(a, b)", "U(a, c)")
    assert set(dag.edges) == {
        ("a", "b"),
        ("b", "c"),
        ("U(a, b)", "a"),
        ("U(a, b)", "b"),
        ("U(a, c)", "a"),
        ("U(a, c)", "c"),
    }
    taken = formats.read('dag { a <-> b "U(a, b)" -> a U1 -> b }')
    assert taken.unmeasured == ("U2",)
    long = "n" * 9_999
    assert formats.read(f"dag {{ {long} <-> b }}").unmeasured == ("U1",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("dag { a <-> b b <-> a }", "b <-> 'a' was already given|'b' <-> 'a' was already given"),
        ("dag { a <-> a }", "'a' points to itself"),
        ("mag { a <-> b }", "'<->' is not a directed edge"),
        ("dag { a <--> b }", "'<-->' is not a directed edge"),
        ("digraph { a -> b [dir=both] }", 'U \\[role="latent"\\]'),
    ],
)
def test_what_does_not_say_that_clearly_is_refused(text, says):
    with pytest.raises(StructureError, match=says):
        formats.read(text)


def test_the_mark_is_checked_and_in_node_order():
    with refused(StructureError, "unmeasured"):
        Dag(nodes=("a",), unmeasured=("z",))
    with pytest.raises(StructureError, match="unmeasured twice"):
        Dag(nodes=("a",), unmeasured=("a", "a"))
    dag = Dag(nodes=("a", "b", "c"), unmeasured=("c", "a"))
    assert dag.unmeasured == ("a", "c")
    assert dag.measured == ("b",)


# --- fitting to the columns --------------------------------------------------------------------


def test_over_the_columns_what_is_marked_stays_and_what_is_not_is_refused(schema):
    over = HIDDEN.over(schema.names)
    assert over.nodes == (*schema.names, "frailty", "season")
    assert over.unmeasured == ("frailty", "season")
    with refused(StructureError, "nodes"):
        replace(HIDDEN, unmeasured=()).over(schema.names)
    with refused(StructureError, "unmeasured"):
        replace(HIDDEN, unmeasured=("age", "frailty", "season")).over(schema.names)


def test_a_node_is_kept_as_unmeasured_by_its_mark_or_by_choice():
    columns = ("age", "readmitted", "ward", "smoker")
    assert match(HIDDEN, columns).drawing.dag.unmeasured == ("frailty", "season")
    chosen = match(HIDDEN, columns, {"season": None}).drawing.dag
    assert chosen.unmeasured == ("frailty",)
    bare = replace(HIDDEN, unmeasured=())
    assert (
        match(bare, columns, unmeasured=("frailty", "season")).drawing.dag
        == match(HIDDEN, columns).drawing.dag
    )
    with refused(StructureError, "mapping"):
        match(bare, columns, unmeasured=("frailty",))
    for bad, says in (("age", "itself a column"), ("nobody", "not a node of the graph")):
        with pytest.raises(StructureError, match=says):
            match(bare, columns, unmeasured=(bad,))


def test_a_marked_node_that_is_a_column_is_measured_and_that_is_said():
    found = match(HIDDEN, ("age", "readmitted", "ward", "smoker", "frailty"))
    assert found.drawing.dag.unmeasured == ("season",)
    assert found.consequences == (
        "frailty is marked as unmeasured, and frailty is a column of the table: it is taken as "
        "measured.",
    )
    mapped = match(HIDDEN, ("age", "readmitted", "ward", "smoker", "cfs"), {"frailty": "cfs"})
    assert mapped.drawing.dag.unmeasured == ("season",)
    assert unambiguous(HIDDEN, ("Frailty", "age", "ward")) == {}  # the mark is a doubt


# --- S, the plan and its sentences -------------------------------------------------------------


def test_s_never_holds_an_unmeasured_node(schema):
    causal, graphical = Task(target="readmitted"), Task(target="readmitted", regime="graphical")
    assert features_of_interest(schema, causal, HIDDEN) == ("age",)
    # Knowing age, the other cause of age tells about frailty, and frailty about the target.
    assert features_of_interest(schema, graphical, HIDDEN) == ("age", "smoker", "ward")
    alone = Dag(nodes=(*schema.names, "U"), edges=(("U", "readmitted"),), unmeasured=("U",))
    for task, kind in ((causal, "parents"), (graphical, "neighbours")):
        with pytest.raises(TaskError, match=f"no {kind} among the columns in the graph"):
            features_of_interest(schema, task, alone)


def test_a_cause_that_acts_through_unmeasured_nodes_only_is_a_parent(schema):
    dag = Dag(
        nodes=(*schema.names, "U", "V"),
        unmeasured=("U", "V"),
        edges=(("age", "U"), ("U", "V"), ("V", "readmitted"), ("smoker", "age")),
    )
    assert features_of_interest(schema, Task(target="readmitted"), dag) == ("age",)


@pytest.mark.parametrize("regime", ["causal", "graphical", "predictive"])
def test_no_clique_and_no_query_holds_an_unmeasured_node(schema, regime):
    plan = design(
        Brief(schema, Task(target="readmitted", regime=regime), Budget(), 300, dag=HIDDEN)
    )
    for query in plan.queries:
        assert set(query.clique) <= set(schema.names)
    assert set(plan.s) <= set(schema.names)
    assert plan.dag.unmeasured == ("frailty", "season")


def test_a_plan_of_the_same_columns_without_unmeasured_nodes_keeps_its_hash(schema):
    task = Task(target="readmitted")
    full = design(Brief(schema, task, Budget(), 300, dag=bundles.DAG))
    assert (
        full.hash
        == design(Brief(schema, task, Budget(), 300, dag=bundles.DAG.over(schema.names))).hash
    )
    named = Dag(nodes=(*schema.names, "U"), edges=bundles.DAG.edges, unmeasured=("U",))
    assert design(Brief(schema, task, Budget(), 300, dag=named)).hash == full.hash
    tied = replace(named, edges=(*named.edges, ("U", "readmitted")))
    assert design(Brief(schema, task, Budget(), 300, dag=tied)).hash != full.hash


def test_the_sentence_on_s_names_what_it_does_not_cover():
    text = features_statement(Task(target="readmitted"), HIDDEN)
    assert "S = Pa(readmitted) = {age}: robust if" in text
    assert "does not, except for what is not in the table, see below." in text
    # `season` causes smoker and so age, which is tied to the target.
    assert "{frailty, season} are not in the table. Where the distribution of one" in text
    assert "the way in which {age, smoker} come about changes" in text
    apart = replace(HIDDEN, edges=tuple(e for e in HIDDEN.edges if e != ("frailty", "age")))
    text = features_statement(Task(target="readmitted"), apart)
    assert "frailty is not in the table. Where its distribution changes, the relation" in text
    assert "come about" not in text
    assert "season is not in the table either: a change of it leaves the relation" in text
    assert "The indirect cause {smoker} is not needed" in text


def test_the_sentence_on_the_blanket_counts_what_is_tied():
    text = features_statement(Task(target="readmitted", regime="graphical"), HIDDEN)
    assert "S = MB(readmitted) = {age, ward, smoker} (1 parent, 1 child, 1 tied by an un" in text
    assert "frailty" in text
    assert "left out" not in text  # unmeasured nodes are no columns that could be left out


def test_a_graph_without_unmeasured_nodes_says_what_it_said():
    for regime in ("causal", "graphical"):
        text = features_statement(Task(target="readmitted", regime=regime), bundles.DAG)
        assert "not in the table" not in text
        assert "see below" not in text


# --- rehearsals --------------------------------------------------------------------------------


def test_the_made_up_world_draws_the_unmeasured_and_leaves_it_out(schema):
    def association(dag: Dag) -> float:
        world = AdditiveScm(schema=schema, dag=dag, target="readmitted", strength="strong")
        codes = world.draw(20_000, np.random.default_rng(3))
        assert codes.shape == (20_000, len(schema.columns))
        columns = [schema.names.index(name) for name in ("smoker", "readmitted")]
        return abs(float(np.corrcoef(codes[:, columns].T)[0, 1]))

    tied = Dag(
        nodes=(*schema.names, " "), edges=((" ", "smoker"), (" ", "readmitted")), unmeasured=(" ",)
    )
    assert association(tied) > 0.2
    assert association(Dag(nodes=schema.names)) < 0.05


# --- what is handed on -------------------------------------------------------------------------


@pytest.fixture
def bundle(schema, frame, tmp_path):
    table = encode(schema, RawTable(frame), public=True)
    task = Task(target="readmitted", max_joint_cells=0)
    wish = Synthesis(model="naive_bayes", rows=200)
    plan = design(Brief(schema, task, Budget(), table.n, dag=HIDDEN, synthesis=wish))
    rng = np.random.default_rng(5)
    found = release(plan, table, ledger=None, noise=SeededNoise(rng), rng=rng)
    return bundles.written(found, tmp_path / "bundle")


def test_every_document_of_a_bundle_names_it(bundle):
    for name in (
        bundle_files.README,
        bundle_files.REPORT,
        bundle_files.CERTIFICATE,
        bundle_files.GRAPH,
        bundle_files.DOT,
    ):
        assert "frailty" in (bundle / name).read_text(encoding="utf-8"), name
    certificate = json.loads((bundle / bundle_files.CERTIFICATE).read_text(encoding="utf-8"))
    assert certificate["unmeasured"] == ["frailty", "season"]
    assert certificate["changes_not_covered"] == {
        "readmitted": ["age", "smoker", "frailty", "season"]
    }
    report = (bundle / bundle_files.REPORT).read_text(encoding="utf-8")
    assert '<g class="unmeasured"><title>frailty: unmeasured: not in the table' in report
    read = read_bundle(bundle)
    assert read.dag == HIDDEN.over(read.schema.names)
    assert formats.read(bundle / bundle_files.DOT).unmeasured == ("frailty", "season")
    assert verify(bundle).ok


def test_a_mark_taken_away_from_a_bundle_is_found(bundle, tmp_path):
    forger = bundles.Forger(bundle, tmp_path / "forged", tmp_path / "workspace")
    forger.text(bundle_files.GRAPH, '"role": "latent"', '"role": "outcome"')
    forger.seal()
    assert not verify(forger.folder).ok


def test_protocol_and_approval_cover_it(schema):
    task = Task(target="readmitted")
    plan = design(Brief(schema, task, Budget(), 300, dag=HIDDEN))
    text = Protocol(plan=plan).to_markdown()
    assert "| In the graph, not in the table | frailty, season |" in text
    assert "Where the distribution of one of them changes" in text
    assert approval_file.settings(plan)["unmeasured.frailty"] is True
    plain = design(Brief(schema, task, Budget(), 300, dag=bundles.DAG))
    assert not [name for name in approval_file.settings(plain) if name.startswith("unmeasured")]
    assert "In the graph, not in the table" not in Protocol(plan=plain).to_markdown()


def test_the_command_line_says_it(tmp_path, capsys):
    path = tmp_path / "graph.txt"
    path.write_text("dag { U [latent] U -> x U -> y x -> y }", encoding="utf-8")
    assert main(["dag", "show", str(path), "--target", "y"]) == 0
    out = capsys.readouterr().out
    assert "unmeasured: U\n" in out
    assert "markov blanket  x\n" in out
    assert "changes not covered U, x\n" in out
    assert "U is not in the table. Where its distribution changes" in out
    assert main(["dag", "ask", str(path), "x", "y", "--given", "U"]) == 0
    assert "U is not in the table, so this cannot be looked up" in capsys.readouterr().out
    assert main(["dag", "convert", str(path), "-", "--to", "edge-list"]) == 2
    assert "edge-list cannot say that 'U' is unmeasured" in capsys.readouterr().err
