"""Before every charge: that nobody has checked whether the cells fit; nothing once somebody did."""

from __future__ import annotations

import warnings
from dataclasses import replace

import pytest

from prism_core import PrismSynthesizer, UncheckedWarning
from prism_core.data.schema import schema_file
from prism_core.data.schema.looks import UNCHECKED, Changed, Look, unchecked
from prism_core.planning.wishes.config import GraphConfig, dumps, load
from prism_core.planning.wishes.task import Synthesis
from prism_core.privacy.ledger import Ledger
from prism_core.structure.dag import Dag

pytestmark = pytest.mark.privacy
LOOK = Look(did="counted cells outside", file="t.csv", when="2026-01-02 14:05")
SCENARIO = '[[scenario]]\nname = "more"\n[scenario.budget]\nepsilon = 2.0\n'


@pytest.fixture
def warned(prism, tmp_path, monkeypatch):
    """Runs a command; gives what it wrote to standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> str:
        status, _, err = prism(*arguments)
        assert status == 0
        return err

    return run


def doors(config, graph, again: str) -> dict[str, tuple[object, ...]]:
    """The commands that charge, and those that plan a charge; in an order in which they can run."""
    run, held = f"made{again}", config.parent / "holdout.csv"
    return {
        "plan": ("plan", config),
        "what if": ("plan", config, "--what-if", "more.toml"),
        "protocol": ("protocol", config, "--out", f"protocol{again}.json"),
        "learn-dag": ("learn-dag", graph, "--out", f"learned{again}.json"),
        "comparator": ("comparator", config, "--method", "independent", "--out", f"other{again}"),
        "release": ("release", config, "--out", run),
        "evaluate": ("evaluate", run, "--holdout", held, "--private", 1),
        "holdout": ("holdout", "open", run, "--holdout", held, "--epsilon", 1),
    }


def configs(make_run, *, public: bool):
    """A configuration, and the same one for learning a graph."""
    config = make_run(
        public=public, asset=None if public else 90.0, synthesis={"model": "naive_bayes"}
    )
    graph = config.with_name("graph.toml")
    known = load(config)
    task = replace(known.task, regime="graphical")
    graph.write_text(dumps(replace(known, task=task, graph=GraphConfig(share=0.3, members=2))))
    return config, graph


def test_every_command_that_charges_says_it_once_and_none_after_the_check(
    warned, make_run, tmp_path
):
    (tmp_path / "more.toml").write_text(SCENARIO)
    config, graph = configs(make_run, public=False)
    charges = len(Ledger().charges())
    for name, command in doors(config, graph, "").items():
        assert warned(*command).count(UNCHECKED) == 1, name
    assert len(Ledger().charges()) == charges + 5
    assert UNCHECKED not in warned("check", config)
    # The folder of the release was finished before: its numbers go by the curator's own file.
    older = {
        name: command
        for name, command in doors(config, graph, "").items()
        if name in ("evaluate", "holdout")
    }
    for name, command in (*older.items(), *doors(config, graph, "-again").items()):
        assert UNCHECKED not in warned(*command), name


def test_a_folder_whose_declaration_is_gone_goes_by_its_own_copy(warned, make_run):
    config, _ = configs(make_run, public=False)
    warned("release", config, "--out", "made")
    warned("check", config)
    asked = ("evaluate", "made", "--holdout", config.parent / "holdout.csv", "--private", 1)
    place = config.parent / "schema.yaml"
    schema = schema_file.load(place)
    assert UNCHECKED not in warned(*asked)
    schema_file.save(replace(schema, columns=schema.columns[::-1]), place)
    assert UNCHECKED in warned(*asked)
    place.unlink()
    assert UNCHECKED in warned(*asked)


def test_public_rows_are_checked_when_they_are_read_so_nothing_is_said(warned, make_run, tmp_path):
    (tmp_path / "more.toml").write_text(SCENARIO)
    config, graph = configs(make_run, public=True)
    seeded = ("learn-dag", "comparator", "release", "evaluate", "holdout")
    for name, command in doors(config, graph, "").items():
        said = warned(*command, *(["--seed", 1] if name in seeded else []))
        assert UNCHECKED not in said, name


def test_learning_the_domain_says_it_and_from_when_on_it_can_be_counted(
    warned, make_run, schema, tmp_path
):
    config = make_run(public=False, asset=9.0)
    place = config.parent / "schema.yaml"
    text = schema_file.dumps(schema)
    cut = text.index("levels", text.index("name: ward"))
    place.write_text(text[:cut] + "learn: true\n" + text[text.index("\n- ", cut) + 1 :])
    said = warned("learn-domain", config, "--out", "learned.yaml")
    assert f"{UNCHECKED}; prism check does, once the columns are learned\n" in said


def test_the_facade_warns_before_it_charges(schema, frame, tmp_path):
    ledger = Ledger(tmp_path)
    ledger.register("ward", epsilon=9.0, delta=1e-4)
    wishes = {
        "target": "readmitted",
        "ledger": ledger,
        "asset": "ward",
        "dag": Dag(nodes=schema.names, edges=(("age", "readmitted"),)),
        "synthesis": Synthesis(model="naive_bayes"),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UncheckedWarning, match=UNCHECKED):
            PrismSynthesizer(schema=schema, **wishes).fit(frame)
        assert ledger.charges() == ()
        seen = replace(schema, looks=(LOOK,))
        PrismSynthesizer(schema=seen, **wishes).fit(frame)
    assert len(ledger.charges()) == 1


def test_it_is_said_again_after_a_change():
    change = Changed(columns=("age",), declared_from="codebook", when=LOOK.when)
    assert unchecked(()) == unchecked((LOOK, change)) == UNCHECKED
    assert unchecked((LOOK,)) == unchecked((), public=True) == ""
