"""`prism learn-dag`: learn, plan and release in a row; its refusals, and what it may not tell."""

from __future__ import annotations

import json
import logging

import pytest

from prism_core.bundle.write import bundle_folder
from prism_core.planning.wishes.config import GraphConfig, dumps, load
from prism_core.privacy.ledger import Ledger
from prism_core.structure import formats

GRAPHICAL = {
    "task": {"regime": "graphical"},
    "graph": {"share": 0.3, "members": 3},
    "budget": {"epsilon": 3.0},
}


@pytest.mark.privacy
def test_learn_plan_and_release_from_the_command_line(prism, make_run, tmp_path):
    config = make_run(public=False, asset=3.0, **GRAPHICAL)
    graph = config.parent / "learned.json"
    status, out, err = prism("learn-dag", config, "--out", graph, "--json")
    assert status == 0, err
    document = json.loads(out)
    assert (document["stamp"], document["charge"]) == ("learned", 1)
    assert 0.0 < document["spent"]["epsilon"] < 3.0
    dag = formats.read(graph)
    assert set(dag.parents("readmitted")) == set(document["members"])
    assert (dag.provenance, dag.prior.charge) == ("dp", 1)
    # Drawn further by hand (the noise may have hidden everything); the cost stays.
    entries = json.loads(graph.read_text())
    entries["edges"] = [{"source": "age", "target": "readmitted"}]
    graph.write_text(json.dumps(entries))
    config.write_text(config.read_text().replace("dag.csv", "learned.json"))
    status, out, err = prism("plan", config)
    assert status == 0, err
    assert "learning the graph spent epsilon" in out
    status, out, err = prism("release", config, "--out", tmp_path / "out")
    assert status == 0, err
    assert [c.state for c in Ledger(tmp_path / "workspace").charges()] == ["done", "done"]
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert certificate["graph"]["charge"] == 1
    assert certificate["graph_provenance"] == "dp"
    assert certificate["guarantee"]["epsilon"] <= 3.0
    assert formats.read(tmp_path / "out" / bundle_folder.GRAPH).prior == dag.prior
    status, _, err = prism("dag", "convert", graph, tmp_path / "dag.dot")
    assert status == 2
    assert "node-link" in err
    # The lifetime is used up.
    status, _, err = prism("learn-dag", config, "--out", config.parent / "again.json")
    assert status == 2
    assert "lifetime epsilon" in err
    config.write_text(config.read_text().replace('"graphical"', '"causal"'))
    status, _, err = prism("plan", config)
    assert status == 2
    assert "learned from rows" in err


@pytest.mark.privacy
def test_known_noise_and_none_are_for_public_tables(prism, make_run, tmp_path):
    private = make_run(name="private", public=False, asset=3.0, **GRAPHICAL)
    for option in (("--seed", 1), ("--exact",)):
        status, _, err = prism("learn-dag", private, "--out", tmp_path / "dag.json", *option)
        assert status == 2
        assert "public" in err
    public = make_run(name="open", **GRAPHICAL)
    texts = []
    for out in (tmp_path / "a.json", tmp_path / "b.json"):
        status, said, _ = prism("learn-dag", public, "--out", out, "--seed", 1)
        assert status == 0
        assert said.startswith("rehearsal, not learned: ")
        texts.append(out.read_text())
    assert texts[0] == texts[1]
    status, said, _ = prism("learn-dag", public, "--out", tmp_path / "c.json", "--exact", "--json")
    assert status == 0
    assert json.loads(said)["spent"] is None
    exact = formats.read(tmp_path / "c.json")
    assert (exact.provenance, exact.prior) == ("public twin", None)
    assert not (tmp_path / "workspace").exists()


def test_nothing_is_spent_on_what_cannot_be_written(prism, make_run, tmp_path):
    config = make_run(public=False, asset=3.0, **GRAPHICAL)
    (config.parent / "there.json").write_text("{}")
    for out in ("dag.dot", "there.json", "train.csv/x.json"):
        status, _, err = prism("learn-dag", config, "--out", config.parent / out)
        assert status == 2
        assert err.startswith("prism: out: ")
    assert not (tmp_path / "workspace").exists()


@pytest.mark.privacy
def test_a_private_cell_never_leaves(prism, make_run, tmp_path, canary, caplog, frame):
    frame.iloc[0] = [f"9{canary}", canary, canary, canary, canary, canary, canary]
    config = make_run(frame=frame, public=False, asset=3.0, **GRAPHICAL)
    caplog.set_level(logging.DEBUG)
    status, out, err = prism("learn-dag", config, "--out", tmp_path / "dag.json")
    assert status == 0
    found = (tmp_path / "dag.json").read_text() + out + err + caplog.text
    assert canary not in found
    assert canary.encode() not in (tmp_path / "workspace" / "ledger.sqlite").read_bytes()


def test_the_graph_section_is_read_and_written(make_run):
    config = load(make_run(**GRAPHICAL))
    assert config.graph == GraphConfig(share=0.3, members=3)
    assert "[graph]\nshare = 0.3\nmembers = 3" in dumps(config)
