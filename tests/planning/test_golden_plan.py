"""Plans that must not change by accident.

Regenerate after a deliberate change, and look at the difference before committing it:

    PRISM_GOLDEN=write python -m pytest tests/planning/test_golden_plan.py
    git diff tests/golden
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Task
from prism_core.samples import scm
from prism_core.structure.dag import Dag

if TYPE_CHECKING:
    from prism_core.planning.plan import Plan

HERE = Path(__file__).parents[1] / "golden"


def scm_spurious() -> Plan:
    """The plan of the paper's first benchmark with every default."""
    schema = scm.scm_schema()
    dag = Dag(nodes=schema.names, edges=scm.scm_edges())
    return design(Brief(schema, Task(target=scm.TARGET), Budget(), scm.ROWS, dag=dag))


def assert_close(found: Any, expected: Any, where: str = "plan") -> None:
    """Equal but for the last digits of floats; a difference is named by its place."""
    if isinstance(expected, dict):
        assert isinstance(found, dict), where
        assert sorted(found) == sorted(expected), where
        for key, value in expected.items():
            assert_close(found[key], value, f"{where}.{key}")
    elif isinstance(expected, list):
        assert isinstance(found, list), where
        assert len(found) == len(expected), where
        for place, value in enumerate(expected):
            assert_close(found[place], value, f"{where}[{place}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9), where
    else:
        assert found == expected, where


@pytest.mark.parametrize("make", [scm_spurious], ids=lambda make: make.__name__)
def test_the_plan_is_the_one_on_file(make):
    path = HERE / f"plan_{make.__name__}.json"
    found = json.loads(json.dumps(make().to_dict(), allow_nan=False))
    if os.environ.get("PRISM_GOLDEN") == "write":
        path.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    assert_close(found, json.loads(path.read_text(encoding="utf-8")))


def test_the_comparison_can_fail():
    kept = {"a": [1.0, {"b": "x"}], "c": 2}
    assert_close({"a": [1.0 + 1e-12, {"b": "x"}], "c": 2}, kept)
    for wrong in (
        {"a": [1.0 + 1e-6, {"b": "x"}], "c": 2},
        {"a": [1.0, {"b": "y"}], "c": 2},
        {"a": [1.0], "c": 2},
        {"a": [1.0, {"b": "x"}]},
        {"a": [1.0, {"b": "x"}], "c": 2, "d": 3},
    ):
        with pytest.raises(AssertionError):
            assert_close(wrong, kept)
