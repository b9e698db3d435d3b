"""Data: is my table described without looking inside it?"""

from __future__ import annotations

from dashboard.parts import columns_form, learn, load, people
from dashboard.state import project
from dashboard.widgets import heading, onward, provenance_notice

heading(
    "Data",
    "Load the table and declare what its columns may hold. No row is read here unless you ask for "
    "it.",
)
load.section()
if project().raw is not None:
    columns_form.section()
state = project()
if state.schema is not None:
    provenance_notice(state.schema)
if state.schema is not None or state.to_learn:
    people.section()
learn.section()
onward("Data")
