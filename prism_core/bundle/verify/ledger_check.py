"""A bundle beside the ledger and the key of the workspace that made it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prism_core.bundle import signing
from prism_core.errors import LedgerError
from prism_core.privacy.events import event_dict
from prism_core.privacy.ledger import Charge, Ledger
from prism_core.privacy.ledger.store_choice import present

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.bundle.certificate import Facts
    from prism_core.planning.choices import Stages


RECOVERED = "The folder of this release was made from its kept noisy counts (prism recover)."
"""What the ledger says beside the charge of a run that broke after its last mechanism."""


def made_here(workspace: Path, facts: Facts) -> bool:
    """Whether the workspace's ledger holds a charge of this number for this plan."""
    if facts.charge is None or not present(workspace):
        return False
    charge = _charge(Ledger(workspace), facts.charge)
    # By the plan, too: other workspaces have charges of the same numbers.
    return charge is not None and charge.plan == facts.planned_sha256


def ledger_findings(
    workspace: Path, facts: Facts, stages: Stages, fingerprint: str | None
) -> list[str]:
    """What does not fit the workspace. Only reads it.

    Args:
        workspace: the folder of ledger and key.
        facts: stamp, charge and entry as the certificate has them.
        stages: the plan made again.
        fingerprint: of the key that signed, None where nobody did.
    """
    found: list[str] = []
    pem = signing.public_pem(workspace)
    if fingerprint is not None and (pem is None or signing.fingerprint(pem) != fingerprint):
        found.append("The signature is not by the key of this workspace.")
    if facts.charge is None:
        return found
    if not present(workspace):
        return [*found, "There is no ledger in this workspace."]
    ledger = Ledger(workspace)
    charge = _charge(ledger, facts.charge)
    if charge is None:
        return [*found, f"The ledger of this workspace has no charge {facts.charge}."]
    if charge.plan != facts.planned_sha256:
        found.append(f"Charge {charge.id} of this workspace is for another plan.")
    if ledger.entry(charge.id) != facts.entry:
        found.append(f"The ledger's entry of charge {charge.id} has another digest.")
    recovered = any(correction.note == RECOVERED for correction in charge.corrections)
    # A run that broke is closed as failed, and stays so when `prism recover` writes its folder.
    if charge.state != "done" and not (charge.state == "failed" and recovered):
        found.append(f"Charge {charge.id} is not finished; its state is {charge.state!r}.")
    if charge.accountant != stages.final.budget.accountant:
        found.append(f"Charge {charge.id} was made with another accountant.")
    known: list[dict[str, Any]] = list(charge.events)
    # More events than the plan's are no error: learning that was owed is charged with it.
    if any(event_dict(event) not in known for event in stages.planned.events):
        found.append(f"Charge {charge.id} does not hold every event of the plan.")
    return found


def _charge(ledger: Ledger, number: int) -> Charge | None:
    try:
        return ledger.get(number)
    except LedgerError:
        return None
