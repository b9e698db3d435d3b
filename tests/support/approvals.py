"""Who approves which plan, and when."""

from __future__ import annotations

from prism_core.planning.approval import Approval
from prism_core.planning.wishes.curator_statement import CuratorStatement
from prism_core.planning.wishes.task import Synthesis

FAST = Synthesis(model="naive_bayes", rows=200)
GIVEN = {"by": "A. Meyer, B. Ito", "role": "privacy committee", "date": "2025-11-20"}

SAID = {
    "organisation": "St. Mary",
    "asset": "stays of ward 7",
    "purpose": "a benchmark",
    "benefit": "calls reach the patients at risk",
    "harm": "an insurer treats a patient worse",
    "recipients": "the public",
    "legal_basis": "section 12",
    "accountable": "R. Okafor",
    "contact": "office@st-mary.example",
    "one_row": "The records office picked one stay by lot.",
    "sensitive": "none",
    "threshold": "0.60",
    "alternatives": "Access on site is too far.",
    "rows_kept": "until 2030",
    "ledger_kept": "ten years",
    "incident": "the officer tells the authority",
}
"""What a committee needs to be told, in full."""

STATED = CuratorStatement(**SAID)


def approval(plan, **entries) -> Approval:
    return Approval(**{**GIVEN, "plan_sha256": plan.hash, **entries})
