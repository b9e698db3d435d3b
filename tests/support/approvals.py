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


LONG = CuratorStatement(
    organisation="St. Mary Hospital Trust",
    asset="One stay each of the adult patients who were discharged from 2023 to 2024.",
    purpose="Teams outside the hospital train and compare models that predict who comes back.",
    benefit="Nurses call the patients with the highest risk first, so fewer come back.",
    harm="An insurer who recognises a patient could treat this person worse for it.",
    recipients="The public: the files stand on the hospital's website under an open licence.",
    legal_basis="Section 12 of the Hospital Research Act, and the ethics board's decision of 2026.",
    accountable="Dr. R. Okafor, who heads the office of research data, answers for it.",
    contact="research-data@st-mary.example",
    one_row="The records office vouches for it: of several stays it picked one by lot.",
    sensitive="language, insurance, hba1c",
    threshold="0.70",
    alternatives="Access on site is too far for most teams. Fewer columns would not do.",
    rows_kept="They stay in the hospital's archive until 2034, when the office deletes them.",
    ledger_kept="The data protection officer keeps it for ten years after the last release.",
    incident="The data protection officer tells the authority within 72 hours and stops releases.",
    subjects="They are the adult inpatients of two clinics.",
    region="They live in the northern district.",
    sector="The hospital is a part of public health care.",
    justification="The board allows these patients a lifetime limit of 3, and each release 1.",
)
"""Every entry in a full sentence, as boards write them; of the packaged sample `readmission`."""
