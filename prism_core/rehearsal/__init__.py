"""Rehearsals: the real pipeline on public stand-in rows, any number of times, for nothing."""

from prism_core.rehearsal.design import Rehearsal
from prism_core.rehearsal.pace import pace
from prism_core.rehearsal.points import FOLDER, Kept, Point
from prism_core.rehearsal.run import Asked, run
from prism_core.rehearsal.stand_in import StandIn, from_graph, from_rows, from_sample
from prism_core.rehearsal.summary import Estimate, estimates, verdict

__all__ = [
    "FOLDER",
    "Asked",
    "Estimate",
    "Kept",
    "Point",
    "Rehearsal",
    "StandIn",
    "estimates",
    "from_graph",
    "from_rows",
    "from_sample",
    "pace",
    "run",
    "verdict",
]
