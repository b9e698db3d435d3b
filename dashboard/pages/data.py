"""Data: is my table described without looking inside it?"""

from __future__ import annotations

from dashboard.parts import columns_form, load, people
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
schema = project().schema
if schema is not None:
    provenance_notice(schema)
    people.section()
onward("Data")
