"""The protocol: what a committee can approve before anything is spent.

It follows from the plan, the rehearsals on public rows, and the ledger. No row is read for it, so
it may be shown, changed and made again at will.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.bundle.bundle_files import json_text
from prism_core.bundle.motion import TERMS, motion
from prism_core.bundle.protocol import document
from prism_core.bundle.protocol.approval_file import PROTOCOL_KIND, ApprovedPlan, settings
from prism_core.bundle.protocol.document import Section
from prism_core.data.schema.looks import sentences
from prism_core.errors import ConfigError
from prism_core.explain.features_statement import features_statement
from prism_core.explain.meaning import WARNINGS, Meaning, meaning
from prism_core.explain.plan_lines import lines
from prism_core.planning.approval import Approval
from prism_core.privacy.events import failure
from prism_core.rehearsal.estimates import SHIFT_TEXT
from prism_core.text.markdown import plain
from prism_core.text.numbers import (
    delta_text,
    eps_text,
    error_text,
    left_text,
    share_text,
    sigma_text,
)

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.explain.plan_lines import PlanLine
    from prism_core.planning.plan import Plan
    from prism_core.privacy.ledger import Balance
    from prism_core.privacy.ledger.charging import Owed
    from prism_core.rehearsal.estimates import Estimate

TITLE = "Protocol of a release, before anything is spent"

LEAKAGE = (
    "Making several releases of the same people's data for the same target and keeping the one "
    "with the best score against the private rows is itself a leak, which no epsilon covers. "
    "Choose by rehearsals on stand-in rows instead, before the release."
)
"""What has to be said wherever releases could be chosen among."""

# A wide plan has hundreds; the JSON form lists every one.
MOST_LINES = 60
"""Marginals that are written out."""

REGIMES = {
    "causal": "causal: the target's direct causes",
    "graphical": "graphical: the target's Markov blanket",
    "predictive": "predictive: features chosen privately at run time",
}


_MODELS = {"pgm": "graphical model (Private-PGM)", "naive_bayes": "naive Bayes model"}
_ACCOUNTANTS = {
    "zcdp": "zero-concentrated differential privacy (zCDP)",
    "pld": "privacy loss distributions (PLD)",
    "basic": "basic composition",
}


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """A plan as it is put before a committee. Public.

    Attributes:
        plan: what would be run; before its private choices.
        asset: the data asset that would be charged; "" while it is not named.
        purpose: of the release, in the curator's words.
        balance: of the asset now, None where it has none yet.
        owed: learning that the asset has not been charged for; it is charged with the release.
        rehearsal: figures of rehearsals on public rows.
        holdout: rows set aside for evaluation, None where that is not said.
        approval: None before the decision.

    Raises:
        PlanError: when the approval is of another plan or asset.
    """

    plan: Plan
    asset: str = ""
    purpose: str = ""
    balance: Balance | None = None
    owed: Owed | None = None
    rehearsal: tuple[Estimate, ...] = ()
    holdout: int | None = None
    approval: Approval | None = field(default=None)

    def __post_init__(self) -> None:
        if self.approval is not None:
            # A document that shows the approval of another plan would mislead whoever reads it.
            self.approval.check(self.plan.hash, self.asset)

    def approve(self, *, by: str, role: str, date: str) -> ApprovedPlan:
        """The record of an approval of this protocol.

        Raises:
            ConfigError: naming the entry that is not usable.
        """
        approval = Approval(
            by=by, role=role, date=date, plan_sha256=self.plan.hash, asset=self.asset
        )
        return ApprovedPlan(approval=approval, settings=settings(self.plan))

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
        return (
            f"No private row, and no count of rows without noise.{person}",
            "No comparison of synthetic with real rows: such numbers are outside epsilon, for the "
            "curator's eyes, and leave the house only on a decision of their own.",
            "Not where the private file stands, nor the ledger's purposes and fingerprints.",
        )

    @property
    def sections(self) -> tuple[Section, ...]:
        """The document, part by part."""
        return (
            self._motion(),
            self._plan(),
            *self._warned(),
            *self._opened(),
            self._budget(),
            *_risk(self._meaning),
            *self._rehearsed(),
            Section(title="What will be released", items=self.released),
            Section(title="What will not", items=self.withheld),
            self._conditions(),
            self._measured(),
            Section(title="Words", header=("word", "what it means"), rows=TERMS),
            self._reference(),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; `approved.approve` takes them."""
        opened = sentences(self.plan.schema.looks)
        return {
            "kind": PROTOCOL_KIND,
            "plan_sha256": self.plan.hash,
            "asset": self.asset,
            "purpose": self.purpose,
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

    def to_markdown(self) -> str:
        """The protocol as Markdown."""
        return document.to_markdown(TITLE, self.sections)

    def to_html(self) -> str:
        """The protocol as one page for printing."""
        return document.to_html(TITLE, self.sections)

    def text(self, suffix: str) -> str:
        """The protocol in the format of a file's ending.

        Raises:
            ConfigError: for another ending than .md, .html and .json.
        """
        formats = {".md": self.to_markdown, ".html": self.to_html, ".json": self.to_json}
        if suffix.lower() not in formats:
            raise ConfigError(
                "A protocol is written as .md or .html for reading, or as .json for approving.",
                field="out",
            )
        return formats[suffix.lower()]()

    def _motion(self) -> Section:
        """The half page that decides."""
        found = motion(
            self.plan,
            self._meaning,
            purpose=self.purpose,
            balance=self.balance,
            owed=self.owed,
            rehearsed=self.rehearsal,
        )
        decided = (
            "**Not decided yet.**"
            if self.approval is None
            else f"**A{plain(self.approval.sentence[1:])}**, for exactly this plan."
        )
        return Section(
            title="Motion",
            paragraphs=(
                decided,
                f"**Asked:** {found.asked}",
                f"**Yes:** {found.yes}",
                f"**No:** {found.no}",
                f"**Risk:** {found.risk}",
                f"**Benefit:** {found.benefit}",
                f"**Not protected:** {'; '.join(found.uncovered).lower()}.",
            ),
            guesses=found.guesses,
            to_sign=()
            if self.approval is not None
            else ("approved", "approved with conditions", "refused"),
        )

    def _reference(self) -> Section:
        return Section(
            title="Annex: which plan this is",
            header=("what", "value"),
            rows=(
                ("Plan (SHA-256)", self.plan.hash),
                ("Data asset", plain(self.asset) or "not named yet"),
                ("Purpose", plain(self.purpose) or "not given yet"),
            ),
        )

    def _plan(self) -> Section:
        plan, task = self.plan, self.plan.task
        features = len(plan.schema.columns) - len(plan.aims)
        unit = (
            "one row per person, declared"
            if plan.schema.one_row_per_person
            else f"one random row per {plain(plan.schema.person_id or 'person')}"
        )
        rows = [
            ("To be predicted", plain(task.target_text)),
            ("Protected columns (S)", _regime(plan)),
            *_unmeasured(plan),
            ("People", f"{plan.n:,}, {unit}"),
            ("Columns described by", plan.schema.provenance_text),
            (
                "Model of the counts",
                f"{_MODELS[plan.synthesis.model]}, {plan.rows:,} synthetic rows",
            ),
        ]
        if self.holdout is not None:
            rows.insert(
                -3, ("Set aside for evaluation", f"{self.holdout:,} rows, no part of the release")
            )
        return Section(
            title="What is planned",
            paragraphs=(
                "S stands for the protected columns: those whose relation to the target is kept. "
                "Pa are direct causes, MB is the Markov blanket; the last page explains the words.",
                plain(features_statement(task, plan.dag, features)),
            ),
            header=("what", "value"),
            rows=tuple(rows),
        )

    def _warned(self) -> tuple[Section, ...]:
        """What has to be known before this plan is approved; nothing where there is nothing."""
        found = self.plan.warnings
        return (Section(title=WARNINGS, items=tuple(map(plain, found))),) if found else ()

    def _opened(self) -> tuple[Section, ...]:
        """What opened the rows before the plan; nothing where nothing did."""
        found = sentences(self.plan.schema.looks)
        if not found:
            return ()
        return (Section(title="What opened the rows before", items=tuple(map(plain, found))),)

    def _budget(self) -> Section:
        plan = self.plan
        whole = plan.guarantee
        rows = [
            ("Epsilon of this release", eps_text(plan.spent.epsilon)),
            ("Delta", delta_text(plan.delta)),
            ("Privacy losses are added up by", _ACCOUNTANTS[plan.budget.accountant]),
        ]
        if plan.prior is not None:
            rows.insert(1, ("With the learning before it", eps_text(whole.epsilon)))
        if self.owed is not None:
            rows.insert(2, ("Learning, charged with this release", "yes: not charged before"))
        if self.balance is not None:
            # What learning still owes is charged with the release, so the balance afterwards counts
            # it.
            price = plan.price.with_owed(self.owed)
            after = self.balance.after(price.spent.rho, failure(price.events))
            rows += [
                ("Lifetime epsilon of the asset", f"{self.balance.asset.epsilon:g}"),
                ("Spent before", eps_text(self.balance.spent_epsilon)),
                ("Spent with this release", eps_text(after.spent_epsilon)),
                ("Room for one more release of", left_text(after.left_epsilon)),
            ]
        return Section(
            title="What it spends, and what stays",
            paragraphs=(
                "The charge is written to the ledger before the first measurement and stands "
                "whatever happens afterwards.",
            ),
            header=("what", "value"),
            rows=tuple(rows),
        )

    def _rehearsed(self) -> tuple[Section, ...]:
        if not self.rehearsal:
            return ()
        unit = self.rehearsal[0].unit
        rows = tuple(
            (
                SHIFT_TEXT[one.shift],
                plain(one.variant),
                f"{one.epsilon:g}",
                f"{one.mean:.3f}" + ("" if one.half is None else f" ± {one.half:.3f}"),
                f"{one.ceiling:.3f}",
                str(one.runs),
            )
            for one in self.rehearsal
        )
        return (
            Section(
                title="Rehearsed on stand-in rows",
                paragraphs=(
                    "The same steps were run on rows in place of the private ones: made up "
                    "from the graph and the description of the columns, of a packaged sample, or "
                    "of a file stated to be public. The figures say how designs compare there, "
                    "not how good the release will be.",
                ),
                header=("world", "design", "epsilon", f"{unit} (95%)", "without noise", "runs"),
                rows=rows,
            ),
        )

    def _conditions(self) -> Section:
        return Section(
            title="Conditions",
            items=(
                "An approval holds for exactly this plan. Another epsilon, column, edge or number "
                "of people is another plan with another SHA-256, and a release that was given the "
                "approval refuses it.",
                "The certificate of the release names who approved it, and when.",
                LEAKAGE,
            ),
        )

    def _measured(self) -> Section:
        found = lines(self.plan)
        more = len(found) - MOST_LINES
        cut = () if more <= 0 else (f"And {more:,} more, which the JSON form lists.",)
        return Section(
            title="Annex: what is measured, with how much noise",
            paragraphs=("Noise is the standard deviation of each count.", *cut),
            header=("marginal", "pool", "cells", "share of the budget", "noise", "expected error"),
            rows=tuple(_line(line) for line in found[:MOST_LINES]),
        )


def _unmeasured(plan: Plan) -> tuple[tuple[str, str], ...]:
    names = () if plan.dag is None else plan.dag.unmeasured
    return (("In the graph, not in the table", plain(", ".join(names))),) if names else ()


def _regime(plan: Plan) -> str:
    if plan.task.regime == "predictive" and plan.selection is None:
        return "predictive: all columns besides the target"
    return REGIMES[plan.task.regime]


def _line(line: PlanLine) -> tuple[str, ...]:
    return (
        plain(line.label),
        line.pool,
        "" if line.cells is None else f"{line.cells:,}",
        share_text(line.share),
        "" if line.sigma is None else sigma_text(line.sigma),
        "" if line.relative_error is None else error_text(line.relative_error),
    )


def _risk(found: Meaning) -> tuple[Section, ...]:
    """What epsilon means, and what it does not cover."""
    return (
        Section(
            title="What somebody may learn about one person",
            paragraphs=(f"**{found.claim}**", f"Protected is {found.unit}."),
            header=("a guess right before", "is right after, at most"),
            rows=tuple((g.before_words, g.after_words) for g in found.guesses),
        ),
        Section(
            title="What a membership test can gain",
            paragraphs=("No test, however clever, does better than this:",),
            items=tuple(test.sentence for test in found.tests),
        ),
        Section(
            title="What is not protected",
            items=tuple(f"**{each.title}.** {each.text}" for each in found.limits),
        ),
    )


def write_protocol(protocol: Protocol, path: Path) -> None:
    """Write the protocol in the format that the file's ending names.

    Raises:
        ConfigError: for another ending, or when it cannot be written.
    """
    text = protocol.text(path.suffix)
    try:
        files.give(path, text.encode("utf-8"))
    except OSError:
        raise ConfigError(
            f"The file {path.name!r} cannot be written. Name another one.", field="out"
        ) from None
