"""What a plan warns of is said at every door before the charge, and on every paper."""

from __future__ import annotations

import json
import re
import warnings

import pytest

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import read_table
from prism_core.errors import BudgetError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.ledger import Ledger
from prism_core.structure.dag import Dag
from tests.support.refusals import refused

SAID = (
    "delta = 0.5 is not below 1/n",
    "epsilon = 30 protects very little",
    "epsilon = 30 is above the maximum of this workspace, 20. The curator said that it may be.",
)
MUCH = {"budget": {"epsilon": 30.0, "delta": 0.5}}
ALLOWED = "--epsilon-above-limit"


def charges(tmp_path) -> int:
    return len(Ledger(tmp_path / "workspace").charges())


def learned(config):
    """The same run with a column whose bins are to be learned."""
    outline = config.parent / "schema.yaml"
    text = outline.read_text().replace("  edges:", "  learn: true\n  edges:", 1)
    outline.write_text(re.sub(r"(learn: true\n)  edges:\n(?:  - .*\n)+", r"\1", text))
    return config


DOORS = {
    "plan": lambda config, out: ("plan", config),
    "release": lambda config, out: ("release", config, "--out", out),
    "protocol": lambda config, out: ("protocol", config, "--out", out.with_suffix(".md")),
    "learn-dag": lambda config, out: ("learn-dag", config, "--out", out.with_suffix(".json")),
    "learn-domain": lambda config, out: (
        "learn-domain",
        learned(config),
        "--out",
        out.with_suffix(".yaml"),
    ),
    "comparator": lambda config, out: (
        "comparator",
        config,
        "--method",
        "independent",
        "--out",
        out,
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_warns_and_asks_for_the_limit(prism, make_run, tmp_path, door):
    config = make_run(public=False, asset=1e6, **MUCH)
    words = DOORS[door](config, tmp_path / "out")
    status, _, err = prism(*words)
    assert status == 2
    assert "above the maximum of this workspace, 20" in err
    assert not (tmp_path / "workspace" / "ledger.sqlite").exists()
    status, out, err = prism(*words, ALLOWED)
    assert status == 0, err
    said = out if door == "plan" else err
    for sentence in SAID:
        assert f"warning: {sentence}" in said


@pytest.mark.parametrize("door", [name for name in DOORS if name != "plan"])
def test_json_has_the_same_warnings(prism, make_run, tmp_path, door):
    config = make_run(public=False, asset=1e6, **MUCH)
    status, out, err = prism(*DOORS[door](config, tmp_path / "out"), ALLOWED, "--json")
    assert status == 0, err
    told = json.loads(out)["warnings"]
    assert all(any(text in each for each in told) for text in SAID)


def test_the_doors_after_a_release_warn_too(prism, make_run, tmp_path):
    config = make_run(public=False, asset=1e6)
    run, held = tmp_path / "made", config.parent / "holdout.csv"
    status, _, err = prism("release", config, "--out", run)
    assert status == 0, err
    doors = (
        ("evaluate", run, "--holdout", held, "--private", "30", "--delta", "0.5"),
        ("holdout", "open", run, "--holdout", held, "--epsilon", "30", "--delta", "0.5"),
    )
    for words in doors:
        before = charges(tmp_path)
        status, _, err = prism(*words)
        assert (status, charges(tmp_path)) == (2, before), err
        assert "above the maximum of this workspace, 20" in err
        assert status == 2
        status, out, err = prism(*words, ALLOWED, "--json")
        assert status == 0, err
        told = json.loads(out)["warnings"]
        for sentence in SAID:
            assert f"warning: {sentence}" in err
            assert any(sentence in each for each in told)
    folder = tmp_path / "workspace"
    notes = [c.corrections[0].note for c in Ledger(folder).charges() if c.corrections]
    assert notes == ["The workspace's maximum epsilon of 20 was exceeded on purpose."] * 2


def test_every_paper_of_a_release_holds_them(prism, make_run, tmp_path):
    config = make_run(public=False, asset=1e6, **MUCH)
    for suffix in (".md", ".html", ".json"):
        assert prism("protocol", config, "--out", tmp_path / f"p{suffix}", ALLOWED)[0] == 0
    assert prism("release", config, "--out", tmp_path / "out", ALLOWED)[0] == 0
    out = tmp_path / "out"
    papers = [tmp_path / f"p{suffix}" for suffix in (".md", ".html", ".json")]
    papers += [
        out / name
        for name in ("certificate.json", "report.html", "meaning.md", "README.md", "plan.json")
    ]
    for paper in papers:
        text = paper.read_text()
        for sentence in SAID:
            assert sentence.split(".")[-1].strip() in text, (paper.name, sentence)
            assert "protects very little" in text, paper.name
            assert "is above the maximum of this workspace" in text, paper.name
            assert "is not below 1/n" in text, paper.name
    status, text, _ = prism("verify", out)
    assert status in (0, 3), text  # nothing is inconsistent
    assert "Warnings of this plan" in (out / "report.html").read_text()
    status, text, _ = prism("plan", config, "--meaning", ALLOWED)
    assert "## Warnings of this plan" in text


def test_a_plan_without_a_warning_says_nothing_of_them(prism, make_run, tmp_path):
    config = make_run(public=False, asset=9.0)
    status, _, err = prism("release", config, "--out", tmp_path / "out")
    assert status == 0
    assert "warning:" not in err
    for name in ("certificate.json", "report.html", "meaning.md", "README.md"):
        assert "arnings of this plan" not in (tmp_path / "out" / name).read_text()
    assert "warnings" not in json.loads((tmp_path / "out" / "certificate.json").read_text())


@pytest.mark.parametrize("rule", ["adaptive", "cmi", "model_error"])
@pytest.mark.parametrize("why", ["one cause", "joint", "noise"])
def test_a_wish_for_rounds_that_none_follows_is_said(rule, why):
    names = ("a", "b", "c", "d", "y")
    schema = Schema(
        columns=tuple(Column(name=name, kind="boolean") for name in names), one_row_per_person=True
    )
    causes = {"one cause": "a", "joint": "ab", "noise": "abc"}[why]
    dag = Dag(nodes=names, edges=tuple((each, "y") for each in causes))
    task = Task(target="y", three_way=rule, max_joint_cells=5000 if why == "joint" else 0)
    if why == "noise" and rule != "adaptive":
        pytest.skip("these rules have no limit of noise")
    epsilon, n = (0.05, 500) if why == "noise" else (1.0, 20_000)
    plan = design(Brief(schema, task, Budget(epsilon=epsilon), n, dag=dag))
    found = [text for text in plan.warnings if f"although three_way = {rule} asks" in text]
    assert plan.three_way_event is None
    assert len(found) == 1
    assert {"one cause": "takes two", "joint": "at once", "noise": "more harm"}[why] in found[0]
    if why == "noise" and plan.tree is not None:
        assert "nothing else" not in found[0]
        assert f"{plan.tree.rounds} background pair" in found[0]


def test_background_pairs_are_not_called_nothing():
    """Where no round fits and pairs without the target are measured all the same."""
    names = (*"abcdefgh", "y")
    dag = Dag(nodes=names, edges=(("a", "y"), ("b", "y")))
    schema = Schema(
        columns=(
            *(Column(name=name, kind="boolean") for name in names[:-1]),
            Column(name="y", kind="ordinal", levels=tuple(range(60))),
        ),
        one_row_per_person=True,
    )
    task = Task(target="y", three_way="adaptive", max_joint_cells=0)
    plan = design(Brief(schema, task, Budget(epsilon=0.5), 3_000, dag=dag))
    assert plan.three_way is None
    assert plan.tree is not None
    (said,) = (text for text in plan.warnings if "No adaptive round fits" in text)
    assert "nothing else" not in said
    assert f"{plan.tree.rounds} background pair" in said


def test_noise_above_the_counts_is_said_by_the_plan(schema):
    dag = Dag(nodes=schema.names, edges=(("age", "readmitted"),))
    plan = design(
        Brief(
            schema,
            Task(target="readmitted"),
            Budget(epsilon=0.01),
            300,
            dag=dag,
            synthesis=Synthesis(model="naive_bayes"),
        )
    )
    error = next(query.relative_error for query in plan.queries if query.pool == "task")
    assert error > 1.0
    assert any("The task error is large" in text for text in plan.warnings)


def test_of_how_few_rows_a_class_is_lost_is_said_from_public_numbers():
    def told(levels: int, epsilon: float) -> list[str]:
        schema = Schema(
            columns=tuple(
                Column(name=name, kind="categorical", levels=tuple(range(size)))
                for name, size in {"a": 3, "b": 4, "c": 5, "y": levels}.items()
            ),
            one_row_per_person=True,
        )
        task = Task(target="y", regime="predictive", three_way="none", max_joint_cells=0)
        plan = design(Brief(schema, task, Budget(epsilon=epsilon), 4_000))
        return [each for each in plan.warnings if "class of fewer than" in each]

    (loud,) = told(3, 0.2)
    rows = int(re.search(r"about (\d+) rows", loud)[1])
    assert 0.02 * 4_000 < rows < 0.2 * 4_000
    assert told(3, 20.0) == []  # the noise is smaller than any class that would be called rare
    assert told(2, 0.2) == []


def test_an_idle_lock_is_told_by_the_release(prism, make_run, tmp_path):
    config = make_run(public=False, asset=9.0)
    lock = '[[budget.locks]]\ncolumns = ["ward", "readmitted"]\nshare = 0.1\n'
    config.write_text(config.read_text() + lock)
    status, _, err = prism("release", config, "--out", tmp_path / "out")
    assert status == 0, err
    assert "warning: The lock on ward × readmitted holds nothing" in err
    assert "holds nothing" in (tmp_path / "out" / "report.html").read_text()
    assert Lock(columns=("ward", "readmitted"), share=0.1).label == "ward × readmitted"


# --- the maximum of a workspace --------------------------------------------------------------


def test_a_workspace_sets_its_own_maximum(prism, make_run, tmp_path):
    (tmp_path / "workspace").mkdir()
    settings = tmp_path / "workspace" / "settings.toml"
    settings.write_text("[limits]\nmax_epsilon = 0.5\n")
    config = make_run(public=False, asset=9.0)
    status, _, err = prism("release", config, "--out", tmp_path / "out")
    assert status == 2
    assert "epsilon = 1 is above the maximum of this workspace, 0.5" in err
    settings.write_text("[limits]\nmax_epsilon = 1.0\n")
    assert prism("release", config, "--out", tmp_path / "out")[0] == 0


@pytest.mark.parametrize(
    "text",
    [
        "[limits]\nmax_epsilon = 0",
        "[limits]\nmax_epsilon = true",
        "[limits]\nmax_epsilon = nan",
        "[limits]\nmax_epsilon = '3'",
        "[limits]\nmax_epsilonn = 3",
        "[limit]\nmax_epsilon = 3",
        "limits = 3",
        "[release]\nmax_epsilon = 3",
    ],
)
def test_rules_that_cannot_be_read_are_not_passed_over(prism, make_run, tmp_path, text):
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "settings.toml").write_text(text)
    config = make_run(public=False, asset=9.0)
    status, _, err = prism("release", config, "--out", tmp_path / "out")
    assert status == 2
    assert "settings.toml is not usable" in err
    if "max_epsilonn" in text:
        assert "Did you mean 'max_epsilon'?" in err


def test_what_was_said_of_another_maximum_is_said_anew(prism, make_run, tmp_path):
    config = make_run(public=False, asset=1e6, budget={"epsilon": 30.0, "above_limit": 20.0})
    assert prism("release", config, "--out", tmp_path / "out")[0] == 0
    (tmp_path / "workspace" / "settings.toml").write_text("[limits]\nmax_epsilon = 25.0\n")
    status, _, err = prism("release", config, "--out", tmp_path / "again")
    assert status == 2
    assert "above the maximum of this workspace, 25" in err
    assert charges(tmp_path) == 1


@pytest.mark.privacy
def test_the_gate_holds_the_maximum_for_whoever_comes_by_another_way(schema, frame, tmp_path):
    """A plan that nobody checked at a door is refused before anything is measured."""
    import numpy as np

    from prism_core.data.encoding import encode
    from prism_core.synthesis.release import release

    ledger = Ledger(tmp_path)
    ledger.register("ward", epsilon=1e6, delta=1e-6)
    table = encode(schema, read_table(frame.to_csv(index=False).encode(), name="a.csv"))
    dag = Dag(nodes=schema.names, edges=(("age", "readmitted"),))

    def plan(**budget):
        return design(
            Brief(
                schema,
                Task(target="readmitted"),
                Budget(epsilon=21.0, **budget),
                table.n,
                dag=dag,
                synthesis=Synthesis(model="naive_bayes"),
            )
        )

    rng = np.random.default_rng(1)
    with refused(BudgetError, "epsilon"):
        release(plan(), table, ledger=ledger, asset="ward", rng=rng)
    assert ledger.charges() == ()
    assert release(plan(above_limit=20.0), table, ledger=ledger, asset="ward", rng=rng).charge == 1


def test_the_facade_warns_and_asks(schema, frame, tmp_path):
    from prism_core import PlanWarning, PrismSynthesizer

    ledger = Ledger(tmp_path)
    ledger.register("ward", epsilon=1e6, delta=1e-6)
    raw = read_table(frame.to_csv(index=False).encode(), name="a.csv")
    dag = Dag(nodes=schema.names, edges=(("age", "readmitted"),))
    wishes = {
        "schema": schema,
        "target": "readmitted",
        "dag": dag,
        "ledger": ledger,
        "asset": "ward",
        "epsilon": 30.0,
        "delta": 0.5,
        "synthesis": Synthesis(model="naive_bayes"),
    }
    with pytest.raises(BudgetError, match="maximum of this workspace"):
        PrismSynthesizer(**wishes).fit(raw)
    assert ledger.charges() == ()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        PrismSynthesizer(**wishes, epsilon_above_limit=True).fit(raw)
    said = [str(w.message) for w in caught if issubclass(w.category, PlanWarning)]
    assert all(any(text in each for each in said) for text in SAID)
