"""The protocol: what a committee can approve before anything is spent.

It follows from the plan, the curator's statement, the rehearsals on public rows, and the ledger. No
row is read for it, so it may be shown, changed and made again at will. One template gives the page;
PDF, Word and Markdown are made from that page.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.bundle.account import account_of
from prism_core.bundle.bundle_files import json_text
from prism_core.bundle.paper_formats import to_docx, to_markdown
from prism_core.bundle.paper_values import headline, paper_values, sensitive_columns
from prism_core.bundle.protocol.approval_file import (
    PROTOCOL_KIND,
    ApprovedPlan,
    check_complete,
    settings,
)
from prism_core.bundle.report.report_copy import report_pdf
from prism_core.data.schema.looks import sentences
from prism_core.errors import ConfigError
from prism_core.explain.column_use import column_uses
from prism_core.explain.features_statement import features_statement
from prism_core.explain.meaning import WARNINGS, Meaning, meaning
from prism_core.explain.plan_lines import lines
from prism_core.planning.approval import Approval
from prism_core.planning.wishes.curator_statement import LABELS, CuratorStatement
from prism_core.rehearsal.estimates import SHIFT_TEXT
from prism_core.text import documents

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.planning.plan import Plan
    from prism_core.privacy.ledger import Balance
    from prism_core.privacy.ledger.charging import Owed
    from prism_core.privacy.ledger.records import Charge
    from prism_core.rehearsal.estimates import Estimate
    from prism_core.text.languages import LanguageCode

LEAKAGE = (
    "Making several releases of the same people's data for the same target and keeping the one "
    "with the best score against the private rows is itself a leak, which no epsilon covers. "
    "Choose by rehearsals on stand-in rows instead, before the release."
)
"""What has to be said wherever releases could be chosen among."""

# A wide plan has hundreds; the JSON form lists every one.
MOST_LINES = 60
"""Marginals that are written out."""

ANNEXED = ("subjects", "region", "sector", "justification")
"""Entries of the statement that registries ask for and a committee does not decide on."""

REGIMES = {
    "causal": "causal: the target's direct causes",
    "graphical": "graphical: the target's Markov blanket",
    "predictive": "predictive: features chosen privately at run time",
}


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """A plan as it is put before a committee. Public.

    Attributes:
        plan: what would be run; before its private choices.
        asset: the data asset that would be charged; "" while it is not named.
        statement: purpose, recipients and what else the curator answers for.
        balance: of the asset now, None where it has none yet.
        charges: of the asset so far.
        owed: learning that the asset has not been charged for; it is charged with the release.
        rehearsal: figures of rehearsals on public rows.
        holdout: rows set aside for evaluation, None where that is not said.
        approval: None before the decision.
        language: of its pages.

    Raises:
        PlanError: when the approval is of another plan or asset.
        ConfigError: when a sensitive column is no column.
    """

    plan: Plan
    asset: str = ""
    statement: CuratorStatement = field(default_factory=CuratorStatement)
    balance: Balance | None = None
    charges: tuple[Charge, ...] = ()
    owed: Owed | None = None
    rehearsal: tuple[Estimate, ...] = ()
    holdout: int | None = None
    approval: Approval | None = field(default=None)
    language: LanguageCode = "en"

    def __post_init__(self) -> None:
        if self.approval is not None:
            # A document that shows the approval of another plan would mislead whoever reads it.
            self.approval.check(self.plan.hash, self.asset)
        # For its error: a name that is no column would be told to a committee as protected.
        sensitive_columns(column_uses(self.plan), self.statement)

    @property
    def draft(self) -> bool:
        """Whether something that a committee needs is blank."""
        return bool(self.statement.blank)

    @property
    def rehearsed(self) -> bool:
        """Whether it says what usefulness to expect: a rehearsal at the plan's epsilon is there."""
        return headline(self.rehearsal, self.plan.budget.epsilon) is not None

    def approve(self, *, by: str, role: str, date: str) -> ApprovedPlan:
        """The record of an approval of this protocol.

        Raises:
            ConfigError: naming the entry that is not usable, or what is blank in a draft.
        """
        check_complete(self.statement)
        approval = Approval(
            by=by, role=role, date=date, plan_sha256=self.plan.hash, asset=self.asset
        )
        return ApprovedPlan(
            approval=approval, settings=settings(self.plan), statement=self.statement
        )

    @cached_property
    def _meaning(self) -> Meaning:
        return meaning(self.plan)

    @property
    def released(self) -> tuple[str, ...]:
        """What leaves the house, in words."""
        plan = self.plan
        graph = ", the graph" if plan.dag is not None else ""
        return (
            f"{plan.rows:,} synthetic rows with the {len(plan.schema.columns)} declared columns.",
            "The noisy counts they are made from, so that anybody can fit the model and draw rows "
            "again without spending anything.",
            f"The description of the columns{graph}, the settings, this plan with its private "
            "choices filled in, and designs that were considered.",
            "A certificate of what was spent, step by step; a text on what epsilon means; a data "
            "sheet; checksums with a signature.",
        )

    @property
    def withheld(self) -> tuple[str, ...]:
        """What does not."""
        person = "" if self.plan.schema.person_id is None else " Person IDs are never synthesised."
        if not self.plan.contribution.single:
            person += " Synthetic rows are not linked into persons; the number of rows is private."
        return (
            f"No private row, and no count of rows without noise.{person}",
            "No comparison of synthetic with real rows: such numbers are outside epsilon, for the "
            "curator's eyes, and leave the house only on a decision of their own.",
            "Not where the private file stands, nor the ledger's purposes and fingerprints.",
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; `approval_file.approve` takes them."""
        opened = sentences(self.plan.schema.looks)
        return {
            "kind": PROTOCOL_KIND,
            "plan_sha256": self.plan.hash,
            "asset": self.asset,
            "statement": self.statement.to_dict(),
            "blank": list(self.statement.blank),
            "approval": None if self.approval is None else self.approval.to_dict(),
            "settings": settings(self.plan),
            "plan": self.plan.to_dict(),
            "holdout": self.holdout,
            "lifetime": None if self.balance is None else self.balance.to_dict(),
            "meaning": self._meaning.to_dict(),
            "rehearsal": [estimate.to_dict() for estimate in self.rehearsal],
            "released": list(self.released),
            "not_released": list(self.withheld),
            **({"looks_text": list(opened)} if opened else {}),
            "note": LEAKAGE,
        }

    def to_json(self) -> str:
        """The protocol for machines."""
        return json_text(self.to_dict())

    def to_html(self) -> str:
        """The protocol as one page: no script, no other host, made for printing, too."""
        plan, said = self.plan, self.statement
        found = lines(plan)
        account = None
        if self.balance is not None:
            account = account_of(plan, self.balance, self.owed, self.charges)
        return documents.paper(
            "protocol",
            self.language,
            plan=plan,
            number=plan.hash[:12],
            asset=self.asset,
            said=said,
            labels={name: label for name, (label, _) in LABELS.items()},
            blank=said.blank,
            least=said.least,
            rehearsed=headline(self.rehearsal, plan.budget.epsilon),
            rehearsal=self.rehearsal,
            shifts=SHIFT_TEXT,
            paper=paper_values(plan, self._meaning, said),
            meaning=self._meaning,
            account=account,
            annexed=[name for name in ANNEXED if getattr(said, name)],
            owed=self.owed is not None,
            holdout=self.holdout,
            approval=self.approval,
            warned=WARNINGS,
            opened=sentences(plan.schema.looks),
            why=features_statement(plan.task, plan.dag, len(plan.schema.columns) - len(plan.aims)),
            regime=_regime(plan),
            released=self.released,
            withheld=self.withheld,
            leakage=LEAKAGE,
            lines=found[:MOST_LINES],
            # Said at the end of the list: nobody must take it for all.
            more=max(0, len(found) - MOST_LINES),
            css=documents.style(),
        )

    def to_markdown(self) -> str:
        """The protocol as Markdown."""
        return to_markdown(self.to_html())

    def content(self, suffix: str) -> bytes:
        """The protocol in the format of a file's ending.

        Raises:
            ConfigError: for another ending than .html, .pdf, .docx, .md and .json.
            BundleError: when a PDF is asked for and there is no Chromium.
        """
        ending = suffix.lower()
        if ending == ".pdf":
            return report_pdf(self.to_html())
        if ending == ".docx":
            return to_docx(self.to_html())
        texts = {".md": self.to_markdown, ".html": self.to_html, ".json": self.to_json}
        if ending not in texts:
            raise ConfigError(
                "A protocol is written as .pdf, .docx, .html or .md for reading, or as .json for "
                "approving.",
                field="out",
            )
        return texts[ending]().encode("utf-8")


def _regime(plan: Plan) -> str:
    if plan.task.regime == "predictive" and plan.selection is None:
        # Nothing is chosen then, so nothing private is said to happen.
        return "predictive: all columns besides the target"
    return REGIMES[plan.task.regime]


def write_protocol(protocol: Protocol, path: Path, *, draft: bool = False) -> None:
    """Write the protocol in the format that the file's ending names.

    Args:
        protocol: what a committee reads.
        path: of the file.
        draft: whether one with blanks may be written; it is stamped as a draft.

    Raises:
        ConfigError: for another ending, for blanks, or when it cannot be written.
    """
    if not draft:
        check_complete(protocol.statement)
    content = protocol.content(path.suffix)
    try:
        files.give(path, content)
    except OSError:
        raise ConfigError(
            f"The file {path.name!r} cannot be written. Name another one.", field="out"
        ) from None
