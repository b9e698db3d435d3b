"""How long the page Budget takes on the server, from a change to the redrawn page.

    python tests/benchmarks/budget_page.py [--columns 24 200] [--repeats 7]

Every change is made in Streamlit's own test runner, which runs the whole script as the server
does. Timed is the run of the script, not how the runner then reads back what a browser would draw.
Printed is the median of the repeats, in milliseconds, per regime and per view that is open: wall
time / processor time. On an idle machine they are the same; on a busy one the second holds.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.testing.v1 import AppTest

from dashboard.budget.overview import TABS
from dashboard.key import access
from dashboard.session.data_entries import DataEntries
from dashboard.session.designs import Designs, Entries
from dashboard.session.graph import EditedGraph, StructureEntries
from dashboard.session.project import Project
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import read_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

APP = Path(__file__).parents[2] / "dashboard" / "app.py"
ROWS = 2_000
PARENTS = 12


def wide(columns: int, regime: str) -> Project:
    """A table of so many columns of 2 to 9 levels; the last one is the target."""
    names = [f"measure_{place:03d}" for place in range(columns - 1)] + ["outcome"]
    lines = [",".join(names), *[",".join(["1"] * columns)] * ROWS]
    schema = Schema(
        columns=tuple(
            Column(name=name, kind="ordinal", levels=tuple(range(2 + place % 8)))
            for place, name in enumerate(names)
        ),
        one_row_per_person=True,
    )
    parents = min(PARENTS, columns // 3)
    edges = [(names[place], "outcome") for place in range(parents)]
    edges += [(names[place], names[place + 7]) for place in range(columns - 8)]
    return Project(
        data=DataEntries(
            name="wide", raw=read_table("\n".join(lines).encode()), schema=schema, public=True
        ),
        structure=StructureEntries(graph=EditedGraph(edges=tuple(edges)), target="outcome"),
        designs=Designs(plan=Entries(regime=regime)),
    )


def opened(project: Project, tab: str) -> AppTest:
    test = AppTest.from_file(str(APP), default_timeout=120)
    test.session_state[access._GIVEN] = True  # this session has shown the key
    test.session_state[access._SETTLED] = ""
    test.session_state["project"] = project
    test.session_state["budget_tabs"] = tab
    test.run()
    return test.switch_page("budget/page.py").run()


def drag(test: AppTest, turn: int) -> None:
    project = test.session_state["project"]
    tenths = {"background": 150 + turn, "selection": 100}
    found = [tenths[pool] for pool in project.designs.plan.pools if pool != "task"]
    whole = dict(zip([p for p in project.designs.plan.pools if p != "task"], found, strict=True))
    whole["task"] = 1000 - sum(found)
    test.session_state["share_bar"] = {
        "shares": {
            "rev": project.designs.plan.budget.shares_rev,
            "tenths": [whole[pool] for pool in project.designs.plan.pools],
        }
    }


def lock(test: AppTest, turn: int) -> None:
    project = test.session_state["project"]
    columns = ("measure_000", "outcome")
    project.designs.plan.budget.locks = {columns: 0.02 + turn / 1000}


def weigh(test: AppTest, turn: int) -> None:
    test.session_state["project"].designs.plan.weights = {"measure_000": 2.0 + turn}


CHANGES = {
    "epsilon, slider": lambda t, i: t.select_slider(key="epsilon_slider").set_value(
        (0.1, 0.2, 0.5, 2.0, 4.0, 8.0)[i % 6]
    ),
    "epsilon, text": lambda t, i: t.text_input(key="epsilon").set_value(f"{0.3 + i / 10:g}"),
    "delta": lambda t, i: t.text_input(key="delta").set_value(f"{i + 1}e-9"),
    "share, dragged": drag,
    "share, number": lambda t, i: t.text_input(key="background_share").set_value(f"{15 + i}"),
    "allocation": lambda t, i: t.selectbox(key="allocation").set_value(
        ("uniform", "closed_form")[i % 2]
    ),
    "a weight": weigh,
    "a lock": lock,
    "3-way choice": lambda t, i: t.selectbox(key="three_way").set_value(("cmi", "none")[i % 2]),
    "joint on, off": lambda t, i: t.toggle(key="joint").set_value(bool(i % 2)),
    "nothing": lambda _test, _turn: None,
}


def timed(taken: list[tuple[float, float]]) -> Callable[[ScriptRunner, RerunData], None]:
    """The runner's method, which notes what every run of the script takes."""
    run = ScriptRunner._run_script

    def measured(self: ScriptRunner, data: RerunData) -> None:
        wall, processor = time.perf_counter(), time.process_time()
        run(self, data)
        taken.append((time.perf_counter() - wall, time.process_time() - processor))

    return measured


def median(project: Project, tab: str, change: str, repeats: int) -> tuple[float, float]:
    test = opened(project, tab)
    CHANGES[change](test, repeats)
    test.run()  # the first one fills caches
    taken: list[tuple[float, float]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScriptRunner, "_run_script", timed(taken))
        for turn in range(repeats):
            CHANGES[change](test, turn)
            test.run()
            assert not test.exception, test.exception
            assert not test.error, test.error
    wall, processor = (1000.0 * statistics.median(kind) for kind in zip(*taken, strict=True))
    return wall, processor


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--columns", type=int, nargs="+", default=[24, 200])
    parser.add_argument("--regimes", nargs="+", default=["causal", "predictive"])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--tabs", nargs="+", default=list(TABS))
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    cases = [(regime, columns) for regime in arguments.regimes for columns in arguments.columns]
    head = "".join(f"{f'{regime} {columns}':>16}" for regime, columns in cases)
    print(f"{'milliseconds':44}{head}")
    for tab in arguments.tabs:
        for change in CHANGES if tab == TABS[0] else ("epsilon, slider", "share, dragged"):
            found = [
                median(wide(columns, regime), tab, change, arguments.repeats)
                for regime, columns in cases
            ]
            row = "".join(f"{f'{wall:.0f} / {cpu:.0f}':>16}" for wall, cpu in found)
            print(f"{tab[:22]:24}{change:20}{row}", flush=True)


if __name__ == "__main__":
    main()
