"""Reports to read as a browser does, and the plans they tell of."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from prism_core.bundle import bundle_files
from prism_core.bundle.certificate import Facts
from prism_core.bundle.protocol.protocol import Protocol
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.ledger import Ledger
from prism_core.rehearsal.estimates import Estimate
from tests.support.approvals import STATED
from tests.support.bundles import TASKS, charged, learned, rehearsed, stages_of, written

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from prism_core.data.schema.schema import Schema
    from prism_core.planning.plan import Plan
    from prism_core.structure.dag import Dag

_ANNEX = re.compile(
    "Annex for statisticians|Anhang für die Statistik|Annexe pour les statisticiens"
)
_ENDS = ("td", "th", "li", "p", "dt", "dd", "h1", "h2", "h3", "caption", "title", "div")
QUICK = Synthesis(model="naive_bayes")
REHEARSED = Estimate(
    variant="this plan",
    epsilon=1.0,
    shift="none",
    mean=0.71234,
    half=0.01234,
    ceiling=0.73456,
    runs=3,
)
"""What a rehearsal found, to be told in papers."""


def protocol_of(plan: Plan) -> Protocol:
    """A protocol of a plan with everything that a committee needs."""
    return Protocol(
        plan=plan,
        asset="ward 7",
        statement=replace(STATED, sensitive="smoker, ward"),
        balance=Ledger.prospect("ward 7", epsilon=3.0, delta=plan.delta),
        rehearsal=(REHEARSED,),
        holdout=61,
    )


class Page(HTMLParser):
    """What a browser makes of the report: elements with their attributes, and texts by element."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "wbr", "br", "path"):
            self._open.append(tag)

    def handle_endtag(self, tag):
        if tag in _ENDS:
            self.texts.append(("", " "))
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data):
        self.texts.append((self._open[-1] if self._open else "", data))

    @property
    def words(self) -> str:
        """What is read: no style, no data."""
        kept = (text for where, text in self.texts if where not in ("style", "script"))
        return " ".join("".join(kept).split())

    @property
    def front(self) -> list[str]:
        """The words before the annex, signs not counted; a number is one in every language."""
        # What stands in the title is on no sheet of paper.
        kept = (text for where, text in self.texts if where not in ("style", "script", "title"))
        before = _ANNEX.split("".join(kept))[0]
        return [word for word in re.split(r"[ \n]+", before) if any(c.isalnum() for c in word)]

    def inside(self, tag: str) -> str:
        return "".join(text for where, text in self.texts if where == tag)


def planned(
    schema: Schema, task: Task, dag: Dag | None, n: int = 300, **budget: Any
) -> tuple[Any, Facts]:
    """A plan without choices at run time, and the facts of a release."""
    plan = design(Brief(schema, task, Budget(**budget), n, dag=dag, synthesis=QUICK))
    return staged(plan)


def staged(plan: Plan) -> tuple[Any, Facts]:
    stages = stages_of(plan)
    facts = Facts(
        plan_sha256=stages.final.hash,
        planned_sha256=stages.planned.hash,
        stamp="release",
        charge=3,
        entry="e" * 64,
        seed=1,
        versions={"prism-dashboard": "1.0"},
    )
    return stages, facts


def reported(folder: Path, small: tuple[Schema, pd.DataFrame]) -> Path:
    """In the folder: a release with choices, a rehearsal, and one with a learned domain."""
    schema, frame = small
    made = charged(schema, frame, folder / "workspace", TASKS["causal"])
    written(made, folder / "causal")
    written(rehearsed(schema, frame), folder / "rehearsal")
    paid = charged(learned(schema), frame, folder / "workspace", TASKS["predictive"], QUICK)
    written(paid, folder / "learned")
    return folder


def text(folder: Path) -> str:
    return (folder / bundle_files.REPORT).read_text(encoding="utf-8")
