"""Verification: is a bundle what its certificate says? The private rows are not needed.

No number is believed that can be computed again: the plan is made anew from the settings, the
schema and the graph; the privacy loss is composed by accountants that share no code; the model is
fitted and the rows are drawn again. What no file can prove is said: whose key signed, and whether
the noise was what the certificate says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from prism_core.bundle import manifest
from prism_core.bundle.bundle_files import CERTIFICATE, PLAN, difference, json_text, same_text
from prism_core.bundle.certificate import (
    NAME,
    REHEARSAL,
    STAMPS,
    certificate,
    installed,
    other_versions,
    versions,
)
from prism_core.bundle.reader import Bundle, read_bundle
from prism_core.bundle.verify.counts_check import (
    measured_findings,
    noise_findings,
    parts_findings,
    redrawn_findings,
    rows_findings,
    size_findings,
    structure_findings,
    structures_findings,
)
from prism_core.bundle.verify.ledger_check import ledger_findings, made_here
from prism_core.bundle.verify.second_accountant import Opinion, composition_findings, opinions
from prism_core.bundle.write.contents import texts
from prism_core.errors import PrismError
from prism_core.planning.plan import plan_digest
from prism_core.planning.regimes import Aim
from prism_core.privacy.accountants.accountant import CHARGEABLE
from prism_core.privacy.ledger import default_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from prism_core.planning.choices import Stages

State: TypeAlias = Literal["ok", "wrong", "not checked"]

_DIGEST = re.compile(r"[0-9a-f]{64}")

STEPS = {
    "files": "Every file is in the manifest, and no other is there",
    "checksums": "Checksums",
    "contents": "The files can be read",
    "signature": "Signature",
    "stamp": "Stamp, charge and accountant go together",
    "plan": "The plan follows from settings, schema and graph",
    "guard": "The regime guard: the target is measured with S only",
    "hashes": "Hashes of the plan",
    "approval": "The approval, where there is one, is of this plan",
    "composition": "Privacy loss, by accountants that share no code",
    "certificate": "The certificate follows from the plan",
    "measurements": "Noisy counts are those of the plan",
    "sizes": "Noisy counts fit n and each other",
    "rows": "Synthetic rows lie in the declared domain",
    "texts": "Every other file is as this program writes it",
    "redrawn": "Fitted and drawn again, the rows are the same",
    "ledger": "The workspace's ledger and key",
}
"""The checks, in their order, in words."""


class _NotCheckedError(Exception):
    """A check that cannot be made here, for the reason in its words. It has not passed."""


@dataclass(frozen=True, kw_only=True)
class BundleCheck:
    """One check: its name in STEPS, and what it found."""

    name: str
    state: State
    findings: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What was checked, in words."""
        return STEPS[self.name]


@dataclass(frozen=True, kw_only=True)
class VerifyReport:
    """What `verify` found.

    Attributes:
        checks: in their order.
        stamp: of the certificate, "" when that cannot be read.
        signer: fingerprint of the key that signed, None when nobody did or it does not fit.
        opinions: epsilon by every accountant.
        notes: what cannot be known from the files.
        compared: whether the key that signed was compared with one known otherwise, and is it: the
            key that was asked for, or the workspace's.
    """

    checks: tuple[BundleCheck, ...]
    stamp: str
    signer: str | None
    opinions: tuple[Opinion, ...]
    notes: tuple[str, ...]
    compared: bool

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong, and everything could be checked."""
        return all(check.state == "ok" for check in self.checks)

    @property
    def authenticated(self) -> bool:
        """Whether nothing is wrong, and it is known whose key signed."""
        return self.ok and self.compared

    @property
    def verdict(self) -> str:
        """The outcome in words; a folder that fits in itself alone may be anybody's."""
        if not self.ok:
            return "not what its certificate says"
        return "consistent and authenticated" if self.compared else "consistent, not authenticated"

    @property
    def findings(self) -> tuple[str, ...]:
        """All that is wrong or could not be checked, one sentence each."""
        return tuple(text for check in self.checks for text in check.findings)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "ok": self.ok,
            "authenticated": self.authenticated,
            "verdict": self.verdict,
            "stamp": self.stamp,
            "rehearsal": self.stamp == REHEARSAL,
            "signed_by": self.signer,
            "accountants": [opinion.to_dict() for opinion in self.opinions],
            "checks": [
                {"name": c.name, "title": c.title, "state": c.state, "findings": list(c.findings)}
                for c in self.checks
            ],
            "notes": list(self.notes),
        }


def verify(path: str | Path, *, key: str = "", workspace: str | Path | None = None) -> VerifyReport:
    """Check a bundle. Reads nothing but its folder (and a workspace); spends nothing.

    Args:
        path: the folder.
        key: fingerprint of the key that must have signed, or its first 16 digits or more; ""
            when it is not known.
        workspace: folder of the ledger and key that made it. Given by name, both must fit.
    """
    run = _VerifyRun(
        folder=Path(path),
        key=key.strip().lower(),
        workspace=None if workspace is None else Path(workspace),
    )
    return run.report()


@dataclass
class _VerifyRun:
    """The checks of one folder, in order; later ones use what earlier ones read."""

    folder: Path
    key: str
    workspace: Path | None
    checks: list[BundleCheck] = field(default_factory=list)
    bundle: Bundle | None = None
    stages: Stages | None = None
    signer: str | None = None
    opinions: tuple[Opinion, ...] = ()

    def report(self) -> VerifyReport:
        self._step("files", lambda: manifest.file_findings(self.folder))
        self._step("checksums", lambda: manifest.checksum_findings(self.folder))
        self._step("contents", self._read)
        self._step("signature", self._signature)
        for name, check in (("stamp", self._stamp), ("plan", self._plan), ("guard", self._guard)):
            self._step(name, check, ready=self.bundle is not None)
        for name, check in (
            ("hashes", self._hashes),
            ("approval", self._approval),
            ("composition", self._composition),
            ("certificate", self._certificate),
            ("measurements", self._measured),
            ("sizes", self._sizes),
            ("rows", self._rows),
            ("texts", self._texts),
        ):
            self._step(name, check, ready=self.stages is not None)
        # A forged number of rows must not be drawn: it could be a hundred million.
        self._step("redrawn", self._redrawn, ready=self._passed("measurements", "rows"))
        # A bundle from elsewhere is not held to the ledger of this machine.
        if self.workspace is not None or self._made_here():
            self._step("ledger", self._ledger, ready=self.stages is not None)
        stamp = "" if self.bundle is None else self.bundle.facts.stamp
        # Made even where a check failed: whoever verifies wants all findings, not the first.
        return VerifyReport(
            checks=tuple(self.checks),
            stamp=stamp,
            signer=self.signer,
            opinions=self.opinions,
            notes=tuple(self._notes(stamp)),
            compared=self._compared(),
        )

    def _compared(self) -> bool:
        """Whether the signature is by a key that is known from elsewhere than the folder."""
        asked = bool(self.key) and self._passed("signature")
        return self.signer is not None and (asked or self._passed("ledger"))

    def _passed(self, *names: str) -> bool:
        return {*names} <= {check.name for check in self.checks if check.state == "ok"}

    def _step(self, name: str, check: Callable[[], list[str]], *, ready: bool = True) -> None:
        if not ready:
            self.checks.append(BundleCheck(name=name, state="not checked"))
            return
        try:
            found = check()
        except _NotCheckedError as reason:
            self.checks.append(BundleCheck(name=name, state="not checked", findings=(str(reason),)))
            return
        except PrismError as error:
            found = [str(error)]
        except Exception as error:  # noqa: BLE001  (whatever a forged file does, it has not passed)
            found = [f"{STEPS[name]}: this could not be checked ({type(error).__name__})."]
        state: State = "wrong" if found else "ok"
        self.checks.append(BundleCheck(name=name, state=state, findings=tuple(found)))

    @property
    def _read_in(self) -> tuple[Bundle, Stages]:
        assert self.bundle is not None and self.stages is not None
        return self.bundle, self.stages

    def _read(self) -> list[str]:
        self.bundle = read_bundle(self.folder)
        return []

    def _signature(self) -> list[str]:
        self.signer = manifest.signer(self.folder)
        if self.signer is None:
            # What cannot be read is held to the stricter rule: it may be a release.
            needed = self.key or self.bundle is None or self.bundle.facts.stamp == "release"
            return ["The bundle is not signed; a release is."] if needed else []
        # A shorter beginning could be matched by trying keys; 16 digits are 64 bits.
        if self.key and not (len(self.key) >= 16 and self.signer.startswith(self.key)):
            return [f"The bundle was signed with another key: {self.signer}."]
        return []

    def _stamp(self) -> list[str]:
        assert self.bundle is not None
        facts, found = self.bundle.facts, []
        if facts.stamp not in STAMPS:
            found.append(f"The stamp must be one of: {', '.join(STAMPS)}.")
        numbered = facts.charge is not None and facts.charge >= 1
        if facts.stamp == "release" and not (numbered and _DIGEST.fullmatch(facts.entry)):
            found.append("A release was charged to a ledger, and this one names no charge.")
        if facts.stamp != "release" and (facts.charge is not None or facts.entry):
            found.append(f"A run stamped {facts.stamp!r} has no charge, and this one names one.")
        if facts.stamp == "release" and self.bundle.brief.budget.accountant not in CHARGEABLE:
            found.append("No ledger takes a charge of this accountant.")
        if not self.bundle.schema.people_declared:
            found.append("The schema does not say how rows and people relate; no run goes ahead.")
        # Texts are compared to the byte, and another version may word them differently.
        written = facts.versions.get(NAME)
        if written != installed(NAME):
            found.append(
                f"The bundle was written by version {written} of {NAME}, and this is "
                f"{installed(NAME)}. Verify it with the version that wrote it."
            )
        return found

    def _plan(self) -> list[str]:
        assert self.bundle is not None
        self.stages = self.bundle.stages()
        where = difference(self.bundle.plan, self.stages.final.to_dict())
        return [] if where is None else [f"{PLAN} says something else than the plan: {where}."]

    def _hashes(self) -> list[str]:
        bundle, stages = self._read_in
        found = []
        graph = None if bundle.dag is None else stages.final.dag
        # Of plan.json as it stands: its floats are those that were hashed, and plans made again on
        # another machine may differ in last digits.
        if plan_digest(bundle.plan, bundle.schema, graph) != bundle.facts.plan_sha256:
            found.append("The hash of the plan in the certificate is not that of plan.json.")
        if self._to_the_digit:
            if bundle.facts.planned_sha256 != stages.planned.hash:
                found.append(
                    "The certificate's hash of the plan before its choices is another one."
                )
        # Other versions may well compute other last digits; with the same ones it is the machine.
        elif bundle.facts.versions == versions():
            found.append(
                f"Some numbers in {PLAN} have other last digits than the same versions compute "
                "here. Verify it on the kind of machine that wrote it."
            )
        return found

    def _approval(self) -> list[str]:
        bundle, _ = self._read_in
        approval = bundle.facts.approval
        if approval is None:
            return []
        if approval.plan_sha256 != bundle.facts.planned_sha256:
            return ["The approval in the certificate is of another plan."]
        if not self._to_the_digit:
            other = other_versions(bundle.facts)
            raise _NotCheckedError(
                "Whether the approval is of this plan could not be checked: this machine computes "
                "the last digits of some numbers differently, and so another hash of the plan. "
                f"{other}".strip()
            )
        return []

    @property
    def _to_the_digit(self) -> bool:
        """Whether this machine finds the plan's floats again to the last digit."""
        bundle, stages = self._read_in
        return json_text(bundle.plan) == json_text(stages.final.to_dict())

    def _composition(self) -> list[str]:
        bundle, stages = self._read_in
        events = bundle.certificate.get("events")
        claimed = bundle.certificate.get("guarantee")
        listed = isinstance(events, list) and all(isinstance(event, dict) for event in events)
        if not listed or not isinstance(claimed, dict):
            return ["The certificate lists no events, or states no guarantee."]
        assert isinstance(events, list)
        self.opinions = opinions(stages, events)
        return composition_findings(self.opinions, claimed)

    def _certificate(self) -> list[str]:
        bundle, stages = self._read_in
        where = difference(bundle.certificate, certificate(stages, bundle.facts))
        return [] if where is None else [f"{CERTIFICATE} does not follow from the plan: {where}."]

    def _measured(self) -> list[str]:
        bundle, stages = self._read_in
        found = measured_findings(stages.final, bundle.measurements)
        # Parts are found again from fine counts, which have to be the plan's for that.
        return found or parts_findings(stages.final, bundle.measurements)

    def _guard(self) -> list[str]:
        assert self.bundle is not None
        task, choices = self.bundle.brief.task, self.bundle.choices
        # Fine counts are no part of the model where their column is outside S, see
        # `fine_counts.known_marginals`; the rows drawn again show that it is so.
        measurements = [m for m in self.bundle.measurements if not m.fine]
        if not task.further:
            return structure_findings(task.target, choices.s, measurements)
        if len(choices.by_target) != len(task.targets):
            return [f"{PLAN} does not list S of every target."]
        each = zip(task.targets, choices.by_target, strict=True)
        aims = [Aim(target=one.name, weight=one.weight, s=s) for one, s in each]
        return structures_findings(aims, measurements)

    def _sizes(self) -> list[str]:
        bundle, stages = self._read_in
        plan, measurements = stages.final, bundle.measurements
        return size_findings(plan, measurements) + noise_findings(plan, measurements)

    def _rows(self) -> list[str]:
        return rows_findings(self.folder, self._read_in[1].final)

    def _redrawn(self) -> list[str]:
        bundle, stages = self._read_in
        found = redrawn_findings(self.folder, stages.final, bundle.measurements, bundle.facts.seed)
        other = other_versions(bundle.facts)
        return [f"{text} {other}" if other else text for text in found]

    def _texts(self) -> list[str]:
        bundle, stages = self._read_in
        expected = texts(stages, bundle.facts, bundle.measurements, bundle.considered())
        found = []
        present = {path.name for path in self.folder.iterdir()}
        for name, text in expected.items():
            if name not in present:
                found.append(f"The file {name} is missing.")
            elif not same_text(self.folder / name, text):
                found.append(f"{name} is not what this program writes for this plan.")
        # A listed and signed file that follows from nothing could hold anything, private rows
        # included.
        extra = set(manifest.digests(self.folder)) - {*expected, *manifest.UNWRITTEN}
        return found + [f"{name} does not belong to this bundle." for name in sorted(extra)]

    def _made_here(self) -> bool:
        """Whether the workspace in force made this bundle; then its key must have signed."""
        if self.bundle is None or self.stages is None:
            return False
        here = default_workspace()
        try:
            found = made_here(here, self.bundle.facts)
        # A broken ledger on this machine says nothing about a bundle that may be from elsewhere.
        except PrismError:
            return False
        self.workspace = here if found else None
        return found

    def _ledger(self) -> list[str]:
        bundle, stages = self._read_in
        assert self.workspace is not None
        return ledger_findings(self.workspace, bundle.facts, stages, self.signer)

    def _notes(self, stamp: str) -> list[str]:
        found = []
        if stamp == REHEARSAL:
            found.append("This is a stamped rehearsal, not a release: it protects nobody.")
        if stamp == "release without a ledger":
            found.append("It was made without a ledger: nobody counted what else was released.")
        if self.signer is not None and not self.key and self.workspace is None:
            found.append(
                "Anybody can sign a folder with a key of their own. Ask whoever gave you this one "
                f"for the fingerprint of their key, and compare: {self.signer}."
            )
        if self.signer is None:
            found.append("Nobody signed this folder.")
        if self.stages is not None and not self._to_the_digit:
            found.append(
                "This machine computes the last digits of some numbers differently, so the hash of "
                "the plan before its choices was not computed again."
            )
        if stamp == "release":
            found.append(
                "That the noise came from the operating system, and that the rows were the ones "
                "charged, no file can prove; the ledger of the workspace that made it can be asked."
            )
        return found
