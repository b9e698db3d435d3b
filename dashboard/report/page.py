"""Report: what do I hand over?"""

from __future__ import annotations

from dashboard.common.widgets import heading, require_earlier_steps
from dashboard.report import report_copy_view

heading("Report", "What is handed over: the report as the committee will see it, and the bundle.")
require_earlier_steps("Inspect")  # a run is needed; looking at its rows beside real ones is not
report_copy_view.section()
