"""Rehearsals: the real pipeline on public stand-in rows, any number of times, for nothing."""

from prism_core.rehearsal.estimates import Estimate, estimates, pace, verdict
from prism_core.rehearsal.points import FOLDER, PointStore, RehearsalPoint
from prism_core.rehearsal.rehearsal_run import RehearsalRequest, run_rehearsal
from prism_core.rehearsal.stand_in_rows import StandIn, from_graph, from_rows, from_sample
from prism_core.rehearsal.variants import Rehearsal

__all__ = [
    "FOLDER",
    "Estimate",
    "PointStore",
    "Rehearsal",
    "RehearsalPoint",
    "RehearsalRequest",
    "StandIn",
    "estimates",
    "from_graph",
    "from_rows",
    "from_sample",
    "pace",
    "run_rehearsal",
    "verdict",
]
