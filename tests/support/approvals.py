"""Who approves which plan, and when."""

from __future__ import annotations

from prism_core.planning.approval import Approval
from prism_core.planning.wishes.task import Synthesis

FAST = Synthesis(model="naive_bayes", rows=200)
GIVEN = {"by": "A. Meyer, B. Ito", "role": "privacy committee", "date": "2025-11-20"}


def approval(plan, **entries) -> Approval:
    return Approval(**{**GIVEN, "plan_sha256": plan.hash, **entries})
