"""A small release whose bins were found privately, on public rows with known noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prism_core.data.encoding import encode
from prism_core.data.tables.raw_table import RawTable
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.synthesis.release import release
from tests.support.tables import small_frame, small_schema

if TYPE_CHECKING:
    from prism_core.synthesis.release import Release


def coarsened_release(rows: int = 4_000) -> Release:
    """Three features of the small table, their parts found at epsilon 4."""
    table = encode(small_schema(), RawTable(small_frame(rows)), public=True)
    plan = design(
        Brief(
            table.schema,
            Task(target="readmitted", regime="predictive", k=3, coarsen="auto"),
            Budget(epsilon=4.0),
            table.n,
            synthesis=Synthesis(model="naive_bayes", rows=300),
        )
    )
    noise = SeededNoise(np.random.default_rng(3))
    return release(plan, table, ledger=None, noise=noise, rng=np.random.default_rng(4))
