"""`prism dag`, as a person types it."""

from __future__ import annotations

import json

import pytest

from prism_core.cli.main import main
from prism_core.structure import formats

TEXT = 'dag { z [pos="1,2"] p [exposure] y [outcome] z -> p -> y -> c <- s }'


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_show(graph, capsys):
    assert main(["dag", "show", str(graph)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("5 nodes, 4 edges, no cycle\noutcome: y\nexposure: p\n")
    assert "z -> p" in out


def test_show_for_a_target(graph, capsys):
    assert main(["dag", "show", str(graph), "--target", "y"]) == 0
    out = capsys.readouterr().out
    assert "parents         p\n" in out
    assert "markov blanket  p, c, s\n" in out
    assert "causal: S = Pa(y) = {p}: robust if" in out
    assert "graphical: S = MB(y) = {p, c, s} (1 parent, 1 child, 1 co-parent)" in out
    assert "  z ⫫ y | p\n" in out
    assert main(["dag", "show", str(graph), "--target", "y", "--json", "--limit", "1"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["parents"] == ["p"]
    assert document["independences"] == [{"left": ["z"], "right": ["y"], "given": ["p"]}]


def test_ask(graph, capsys):
    assert main(["dag", "ask", str(graph), "z", "y", "--given", "p"]) == 0
    assert "z and y are independent given p" in capsys.readouterr().out
    assert main(["dag", "ask", str(graph), "y", "s", "--given", "c", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["independent"] is False


@pytest.mark.parametrize("suffix", sorted(formats.SUFFIXES))
def test_convert(graph, suffix, tmp_path, capsys):
    out = tmp_path / f"new{suffix}"
    assert main(["dag", "convert", str(graph), str(out)]) == 0
    assert "5 nodes, 4 edges" in capsys.readouterr().out
    assert set(formats.read(out).edges) == set(formats.read(TEXT).edges)


def test_convert_to_the_screen(graph, capsys):
    assert main(["dag", "convert", str(graph), "-", "--to", "model-string"]) == 0
    assert capsys.readouterr().out == "[z][p|z][y|p][c|y:s][s]\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["show", "GRAPH", "--target", "q"], "'q' is not a node of the graph"),
        (["show", "GRAPH", "--limit", "-1"], "--limit must be 0 or more"),
        (["show", "GRAPH", "--from", "gml"], "prism: dag: Line 1"),
        (["show", "absent"], "'absent' does not exist"),
        (["ask", "GRAPH", "z", "z"], "prism: right: 'z' stands in left and in right"),
        (["convert", "GRAPH", "out.xyz"], "does not say which format to write"),
        (["convert", "GRAPH", "GRAPH"], "exists. Name a new file"),
        (["convert", "GRAPH", "no/such/folder.dot"], "cannot be written"),
    ],
)
def test_mistakes_get_a_sentence(graph, arguments, expected, capsys):
    typed = [str(graph) if part == "GRAPH" else part for part in arguments]
    assert main(["dag", *typed]) == 2
    assert expected in capsys.readouterr().err
