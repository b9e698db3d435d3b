"""Other packages as comparators: what they are told, what they are handed, how they are ended."""

from __future__ import annotations

import ast
import json
import math
import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_core import reproduction
from prism_core.cli.main import main
from prism_core.comparators import folder
from prism_core.comparators.external import (
    EXTERNAL,
    Converted,
    GuaranteePart,
    Stated,
    converted,
    design_external,
    external,
    python_of,
    run_external,
)
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import (
    BudgetError,
    CancelledError,
    ConfigError,
    EvaluationError,
    PlanError,
    PrivacyError,
)
from prism_core.privacy.accountants.conversions import epsilon_to_rho, rho_to_delta
from prism_core.runs.finished_run import candidate
from tests.support.refusals import refused

AWAY = GuaranteePart(share=1.0, relation="add or remove one person")
SCHEMA = Schema(
    columns=(
        Column(name="secret name", kind="categorical", levels=("low", "middle", "high")),
        Column(name="target", kind="categorical", levels=("no", "yes")),
    ),
    one_row_per_person=True,
)

# A package of dpmm's form; it gives rows back at random and shows what it was handed.
STUB = """
import os, pathlib, stat, sys, time
import pandas

class MSTPipeline:
    def __init__(self, epsilon, delta, n_jobs, disable_processing):
        assert disable_processing and n_jobs == 1
        self.told = epsilon, delta
    def fit(self, table, domain, random_state):
        print("PRIVATE", table.iloc[0].tolist())
        print("PRIVATE", table.iloc[0].tolist(), file=sys.stderr)
        self.table, self.domain = table, domain
        here = pathlib.Path.cwd()
        show = pathlib.Path(r"{show}")
        (show / "seen").write_text(repr((
            *self.told, domain, list(table.columns), len(table), stat.S_IMODE(here.stat().st_mode),
            sorted(os.environ), str(here),
        )))
        exec(pathlib.Path(show / "act").read_text())
    def generate(self, n_records, random_state):
        return self.table.sample(n_records, replace=True, random_state=random_state)
"""


@pytest.fixture
def stub(tmp_path, monkeypatch):
    """A stand-in for the package dpmm; `act` is done while it fits."""
    package = tmp_path / "site" / "dpmm"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "pipelines.py").write_text(STUB.replace("{show}", str(tmp_path)))
    (tmp_path / "act").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    monkeypatch.setenv("PRISM_COMPARATOR_PYTHON_DPMM", sys.executable)
    monkeypatch.setenv("A_SECRET", "token")
    return tmp_path


def rows(n: int = 60, *, public: bool = True) -> EncodedTable:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, n)  # the third level is declared and seen in no row
    codes = np.column_stack([x, x ^ (rng.random(n) < 0.1)]).astype(np.int32)
    return EncodedTable(schema=SCHEMA, codes=codes, public=public)


def run(method: str = "dpmm-mst", **options):
    plan = design_external(method, SCHEMA, 60, 1.0, 1e-6, rows=40)
    return run_external(plan, rows(), rng=np.random.default_rng(3), **options)


wishes = given(epsilon=st.floats(1e-3, 50.0), delta=st.floats(1e-12, 0.1))


@pytest.mark.privacy
@settings(max_examples=40)
@wishes
def test_a_zcdp_guarantee_holds_after_a_removal_and_an_addition(epsilon, delta):
    told = converted(Stated(kind="zcdp", parts=(AWAY,)), epsilon, delta)
    rho = epsilon_to_rho(told.told_epsilon, told.told_delta)  # what the package takes it for
    assert rho_to_delta(4.0 * rho, epsilon) <= delta
    assert rho >= 0.99 * epsilon_to_rho(epsilon, delta) / 4.0  # and nothing is thrown away


@pytest.mark.privacy
@settings(max_examples=40)
@wishes
def test_epsilon_and_delta_alone_are_converted_by_two_steps(epsilon, delta):
    told = converted(Stated(kind="approximate", parts=(AWAY,)), epsilon, delta)
    first, second = told.told_epsilon, told.told_delta
    # P(A) <= e^E P'(A) + D <= e^E (e^E P''(A) + D) + D
    assert 2.0 * first <= epsilon
    assert math.exp(first) * second + second <= delta
    zcdp = converted(Stated(kind="zcdp", parts=(AWAY,)), epsilon, delta)
    mine, black_box = (epsilon_to_rho(one.told_epsilon, one.told_delta) for one in (zcdp, told))
    assert mine >= 0.999 * black_box  # knowing rho never gives less


@pytest.mark.privacy
def test_a_pure_guarantee_is_used_twice():
    """Exhaustive: two-sided geometric noise on two cells, added to and replaced."""
    told = converted(Stated(kind="pure", parts=(AWAY,)), 1.0, 1e-6).told_epsilon
    out = np.arange(-5, 14)

    def law(first: int, second: int) -> np.ndarray:
        """Logarithms up to a constant that is the same for all tables."""
        return -told * (np.abs(out - first)[:, None] + np.abs(out - second)[None, :])

    added = np.max(np.abs(law(3, 4) - law(3, 5)))
    replaced = np.max(np.abs(law(3, 4) - law(4, 3)))
    assert added == pytest.approx(told)
    assert 0.999 < replaced <= 1.0


@pytest.mark.privacy
def test_all_that_privbayes_does_is_counted():
    """Columns E and choices E / 2 for replacing, groups E / 2 for adding: 1 + 1/2 + 2 * 1/2."""
    told = converted(EXTERNAL["privbayes"].stated, 1.0, 1e-6)
    assert told.told_epsilon == pytest.approx(0.4)
    assert told.told_epsilon <= 0.4
    assert told.told_delta == 0.0
    assert "2.5 E" in told.rule
    assert told.published == "replace one person, in part add or remove one person"


@pytest.mark.privacy
def test_a_guarantee_for_replacing_is_taken_as_it_is():
    here = GuaranteePart(share=1.0, relation="replace one person")
    for kind in ("pure", "approximate", "zcdp"):
        told = converted(Stated(kind=kind, parts=(here,)), 2.0, 1e-6)
        assert told.told_epsilon == pytest.approx(2.0)
        assert told.told_epsilon <= 2.0


@pytest.mark.privacy
@pytest.mark.parametrize("epsilon", [math.nan, 0.0, -1.0, math.inf])
def test_what_is_no_budget_is_refused(epsilon):
    with pytest.raises(BudgetError, match="epsilon"):
        converted(EXTERNAL["dpmm-mst"].stated, epsilon, 1e-6)
    with pytest.raises(BudgetError, match="delta"):
        converted(EXTERNAL["dpmm-mst"].stated, 1.0, math.nan)
    with pytest.raises(PrivacyError, match="above 0"):
        GuaranteePart(share=epsilon if epsilon != 0 else 0.0, relation="replace one person")
    with pytest.raises(PrivacyError, match="too small"):
        Converted(
            epsilon=1.0, delta=1e-6, told_epsilon=epsilon, told_delta=0.0, published="", rule=""
        )


def test_a_guarantee_with_a_delta_is_one_part():
    for parts in ((), (AWAY, AWAY), (GuaranteePart(share=0.5, relation="replace one person"),)):
        with pytest.raises(PrivacyError, match="one part"):
            Stated(kind="zcdp", parts=parts)
    with pytest.raises(PlanError, match="privbayes"):
        external("dpgan")


@pytest.mark.privacy
@pytest.mark.parametrize("method", EXTERNAL)
def test_private_rows_are_refused_before_anything_starts(method, tmp_path):
    plan = design_external(method, SCHEMA, 60, 1.0)
    began = tmp_path / "began"
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\ntouch {began}\n")
    python.chmod(0o755)
    with refused(PrivacyError, "method"):
        run_external(plan, rows(public=False), rng=np.random.default_rng(0), python=str(python))
    assert not began.exists()
    with pytest.raises(EvaluationError, match="no rows"):  # the same Python does start otherwise
        run_external(plan, rows(), rng=np.random.default_rng(0), python=str(python))
    assert began.exists()


@pytest.mark.privacy
def test_it_is_handed_codes_alone_in_a_folder_of_its_own(stub, capfd):
    made = run()
    assert made.codes.shape == (40, 2)
    assert list(made.table.columns) == ["secret name", "target"]
    assert set(made.table["target"]) <= {"no", "yes"}
    seen = ast.literal_eval((stub / "seen").read_text())
    epsilon, delta, domain, names, n, mode, environment, here = seen
    assert (epsilon, delta) == (made.plan.told.told_epsilon, 1e-6)
    assert epsilon < 0.5
    assert domain == {"c0": 3, "c1": 2}  # as declared, not as seen in the rows
    assert names == ["c0", "c1"]
    assert n == 60
    assert mode == 0o700
    assert "A_SECRET" not in environment
    assert not Path(here).exists()
    shown = capfd.readouterr()
    assert "PRIVATE" not in shown.out + shown.err


@pytest.mark.privacy
@pytest.mark.parametrize(
    ("act", "error"),
    [
        ("raise ValueError('PRIVATE', table)", r"failed \(exit state 1\)"),
        ("import socket; socket.create_connection(('127.0.0.1', 9))", r"exit state 1\)"),
        ("self.table = table + 7", "no rows of the declared domain"),
        ("self.table = table.astype(float).replace(0, float('nan'))", r"exit state 1\)"),
    ],
)
def test_what_goes_wrong_there_is_told_without_a_value(stub, act, error):
    (stub / "act").write_text(act)
    with pytest.raises(EvaluationError, match=error) as caught:
        run()
    assert "PRIVATE" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_process_that_takes_too_long_is_ended_with_all_it_started(stub):
    (stub / "act").write_text(
        "import subprocess; p = subprocess.Popen(['sleep', '60'])\n"
        f"pathlib.Path(r'{stub}', 'pid').write_text(str(p.pid)); time.sleep(60)"
    )

    def until_it_began() -> None:
        if (stub / "pid").exists() and (stub / "pid").read_text():
            raise CancelledError("stop")

    with pytest.raises(CancelledError):
        run(watch=until_it_began)
    assert gone(int((stub / "pid").read_text()))
    assert not Path(ast.literal_eval((stub / "seen").read_text())[-1]).exists()
    with pytest.raises(EvaluationError, match=r"more than 0\.01 seconds"):
        run(seconds=0.01)


def gone(pid: int) -> bool:
    """Whether the process has ended, or ends soon; one that nobody waited for counts as ended."""
    end = time.monotonic() + 20.0
    while time.monotonic() < end:
        try:
            if "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text():
                return True
            os.kill(pid, 0)
        except (OSError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


def test_the_python_is_named_or_is_this_one_where_the_package_is(stub, monkeypatch):
    about = EXTERNAL["dpmm-mst"]
    assert about.variable == "PRISM_COMPARATOR_PYTHON_DPMM"
    assert python_of(about) == sys.executable
    assert python_of(about, "/nowhere/python") is None
    monkeypatch.delenv(about.variable)
    assert python_of(about) is None
    with pytest.raises(ConfigError, match="PRISM_COMPARATOR_PYTHON_DPMM"):
        run()
    monkeypatch.syspath_prepend(str(stub / "site"))
    assert python_of(about) == sys.executable
    monkeypatch.delenv("PYTHONPATH")
    with pytest.raises(ConfigError, match="cannot import dpmm"):
        run()


def test_a_folder_of_it_takes_part_in_a_comparison(stub, tmp_path):
    folder.write(run(), tmp_path / "out")
    found = folder.read(tmp_path / "out")
    assert found.document["guarantee"]["told_epsilon"] < 0.5
    assert found.document["guarantee"]["vouched_for"] is False
    assert found.document["neighbours_as_published"] == "add or remove one person"
    one = candidate(tmp_path / "out", "dpmm")
    assert (one.epsilon, one.charge, one.method) == (1.0, None, "MST (dpmm)")
    assert one.neighbours.startswith("replace one person")
    assert one.stamp == "rehearsal of another package"


CONFIG = """
[table]
train = "rows.csv"
schema = "schema.yaml"
public = {public}
[task]
target = "target"
[budget]
epsilon = 1.0
"""


def test_the_command_prints_both_relations_and_refuses_private_rows(stub, tmp_path, capsys):
    from prism_core.data.decoding import decode
    from prism_core.data.schema import schema_file

    table = rows()
    schema_file.save(SCHEMA, tmp_path / "schema.yaml")
    decode(SCHEMA, table.codes, np.random.default_rng(0)).to_csv(tmp_path / "rows.csv", index=False)
    config = tmp_path / "config.toml"
    config.write_text(CONFIG.format(public="true"))
    command = ["comparator", str(config), "--method", "dpmm-mst", "--out", str(tmp_path / "out")]
    assert main([*command, "--seed", "1"]) == 0
    shown = capsys.readouterr().out
    assert "asked for: epsilon 1, delta 0.000278, neighbours: replace one person" in shown
    assert "its neighbours: add or remove one person; its rho counts 4 rho here" in shown
    assert "nobody here vouches for it" in shown
    assert main([*command, "--seed", "1", "--json", "--python", sys.executable]) == 0
    assert json.loads(capsys.readouterr().out)["guarantee"]["declared_epsilon"] == 1.0
    assert main(command) != 0
    assert "with --seed" in capsys.readouterr().err
    config.write_text(CONFIG.format(public="false"))
    assert main([*command, "--seed", "1"]) != 0
    assert "marked public only" in capsys.readouterr().err


def test_it_runs_as_a_method_of_the_experiments(stub, monkeypatch):
    case = reproduction.Case(train=rows(), test=rows(), dag=reproduce_dag())
    bench = reproduction.Benchmark(
        name="tiny",
        title="Tiny",
        target="target",
        draw=lambda _: case,
        methods=("mst",),
        sizes=(50,),
        epsilons=(1.0,),
    )
    (made,) = reproduction.run(bench, methods=["dpmm-mst"], seeds=1)
    assert (made.method, made.setting, made.rows) == ("dpmm-mst", "ours", 50)
    assert made.onehot.auc > 0.7
    monkeypatch.delenv("PRISM_COMPARATOR_PYTHON_DPMM")
    with pytest.raises(ConfigError, match="dpmm"):  # before the first run
        reproduction.wanted(bench, methods=["mst", "dpmm-mst"], seeds=1)


def reproduce_dag():
    from prism_core.structure.dag import Dag

    return Dag(nodes=SCHEMA.names, edges=(("secret name", "target"),))
