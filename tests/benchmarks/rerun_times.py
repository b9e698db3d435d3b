"""How long a page takes on the server after a click, on the sample readmission, in one session.

    python tests/benchmarks/rerun_times.py [--repeats 30]

Timed is a run of the script, as the server runs it, in Streamlit's own test runner: from the click
until the page is sent. Every click changes something, so that no answer is a kept one. Printed are
the 50th and the 95th percentile in milliseconds, of wall time and of processor time. On an idle
machine they are the same; on a busy one the second holds.
"""

from __future__ import annotations

import argparse
import logging
import statistics
from itertools import product
from typing import TYPE_CHECKING

import pytest
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner

from dashboard.common.open_project import of_sample
from dashboard.key import access
from prism_core.samples import catalogue
from tests.benchmarks.budget_page import timed
from tests.support.pages import session, turned

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.testing.v1 import AppTest

_PAGES = ("structure", "budget", "rehearse", "release")
_REGIMES = ("graphical", "predictive", "causal")
_AIMS = {
    "epsilon": (150, 250),
    "regime": (120, 200),
    "page switch": (250, 500),
    "add an edge": (300, 500),
}


def _epsilon(test: AppTest, turn: int) -> None:
    test.text_input(key=_key(test.text_input, "epsilon")).set_value(f"{0.3 + turn / 100:g}")


def _regime(test: AppTest, turn: int) -> None:
    test.button_group(key="regime_choice").set_value(_REGIMES[turn % 3])


def _switch(test: AppTest, turn: int) -> None:
    turned(test, _PAGES[turn % len(_PAGES)])


def _edge(test: AppTest, turn: int) -> None:
    """Another edge drawn on the canvas, from a column without causes to one without effects."""
    state = test.session_state["project"]
    graph, dag = state.structure.graph, state.dag
    causes = [name for name in dag.nodes if not dag.parents(name)]
    effects = [name for name in dag.nodes if not dag.children(name)]
    fresh = [pair for pair in product(causes, effects) if pair not in graph.edges]
    edges = [*graph.edges, fresh[turn % len(fresh)]]
    places = {name: list(place) for name, place in graph.positions.items()}
    sent = {"rev": graph.rev, "edges": [list(edge) for edge in edges], "positions": places}
    test.session_state["dag_editor"] = {"graph": sent}


def _key(widgets: object, name: str) -> str:
    return next(w.key for w in widgets if w.key == name or str(w.key).startswith(f"{name}-"))


CHANGES: dict[str, tuple[str, Callable[[AppTest, int], None]]] = {
    "epsilon": ("budget", _epsilon),
    "regime": ("structure", _regime),
    "page switch": ("structure", _switch),
    "add an edge": ("structure", _edge),
}


def times(page: str, change: Callable[[AppTest, int], None], repeats: int) -> list[list[float]]:
    """Wall and processor time of each run, in milliseconds, sorted."""
    test = session(of_sample(catalogue.load("readmission")))
    test.session_state[access._GIVEN] = True  # this session has shown the key
    test.session_state[access._SETTLED] = ""
    turned(test, page).run()
    for turn in range(4):  # the first runs import modules and fill caches
        change(test, turn)
        test.run()
    taken: list[tuple[float, float]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScriptRunner, "_run_script", timed(taken))
        for turn in range(4, repeats + 4):
            change(test, turn)
            test.run()
            assert not test.exception, test.exception
    return [sorted(1000.0 * one for one in kind) for kind in zip(*taken, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=30)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    print(f"{'milliseconds, p50 / p95':26}{'wall':>14}{'processor':>14}{'aim':>14}")
    for name, (page, change) in CHANGES.items():
        found = [
            f"{statistics.median(kind):.0f} / {kind[int(0.95 * (len(kind) - 1))]:.0f}"
            for kind in times(page, change, arguments.repeats)
        ]
        aim = " / ".join(map(str, _AIMS[name]))
        print(f"{name:26}{found[0]:>14}{found[1]:>14}{aim:>14}", flush=True)


if __name__ == "__main__":
    main()
