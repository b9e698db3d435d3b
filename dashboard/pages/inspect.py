"""Inspect: can I trust it?"""

from __future__ import annotations

from dashboard.parts import inspect_run, inspect_view
from dashboard.state import project
from dashboard.widgets import guard, heading

heading(
    "Inspect",
    "Train on synthetic rows, test on real ones kept aside, and compare the shapes.",
)
guard("Inspect")
state = project()
if state.evaluation is None:
    inspect_run.section()
if state.evaluation is not None:
    inspect_view.section(state.evaluation)
