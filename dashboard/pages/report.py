"""Report: what do I hand over?"""

from __future__ import annotations

from dashboard.parts import report_view
from dashboard.widgets import guard, heading

heading("Report", "What is handed over: the report as the committee will see it, and the bundle.")
guard("Inspect")  # a run is needed; looking at its rows beside real ones is not
report_view.section()
