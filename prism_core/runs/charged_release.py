"""The run of a release: all refusals first, then the charge, then rows; and its recovery.

The one way for command and page. What is paid for is kept (`runs.recovery_file`) from the last
mechanism until the folder is whole, so that no full disk and no kill in between loses it. `recover`
writes what could not be written.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.bundle import reader, signing
from prism_core.bundle.certificate import Facts
from prism_core.bundle.verify.ledger_check import RECOVERED
from prism_core.bundle.write import bundle_folder, contents
from prism_core.data.schema.fine_grid import fine_column
from prism_core.errors import ConfigError
from prism_core.runs import recovery_file
from prism_core.synthesis.release import Release, draw, fit_model, release

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prism_core.data.source import Rows
    from prism_core.planning.approval import Approval
    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.curator_statement import CuratorStatement
    from prism_core.planning.wishes.scenario import Scenario
    from prism_core.runs.step_account import StepAccount
    from prism_core.synthesis.release import Progress, ReleasedMeasurements

_BYTES = 16
"""Of a noisy count in a file, with a margin."""


def run_release(
    plan: Plan,
    table: Rows,
    out: Path,
    account: StepAccount,
    *,
    approval: Approval | None = None,
    progress: Progress | None = None,
    scenarios: Sequence[tuple[Scenario, Plan]] = (),
    local: dict[str, Any] | None = None,
    workspace: Path | None = None,
    said: CuratorStatement | None = None,
    again: bool = False,
) -> Release:
    """Release and write the folder.

    Spends: `plan.spent`, see `synthesis.release.release`. Folder, key and space are checked before.

    Args:
        plan: from `design`.
        table: the training rows.
        out: the folder.
        account: who is charged; its generator gives the seed of the synthetic rows.
        approval: of the plan, where there is one.
        progress: told before each step; may raise to cancel.
        scenarios: what else was considered, each with its plan.
        local: where the private files stand on this machine.
        workspace: whose key signs, where nothing is charged.
        said: who releases what for which purpose; public.
        again: whether a run that stands in the folder may be replaced.

    Raises:
        PrismError: as `synthesis.release.release`, and before anything is charged where the folder
            cannot be written, the key cannot be read, or the disk has no room.
        BundleError: when the folder could not be written after all; what was paid for is kept,
            and the message says how the folder is made from it.
    """
    bundle_folder.check_out_folder(out, again=again)
    ledger = account.ledger
    if ledger is not None:
        # `verify` refuses a release that is not signed: better known before the charge.
        signing.check_signing(ledger.folder)

    # Called before the fit: what is paid for is on the disk, whatever fitting and drawing do.
    def keep(measured: ReleasedMeasurements) -> None:
        facts = Facts.of(measured, said)
        texts = contents.sources(measured.stages, facts, measured.measurements, scenarios)
        room.keep("release", measured.charge, texts)

    with recovery_file.reserved_space(ledger, _size(plan)) as room:
        made = release(
            plan,
            table,
            ledger=ledger,
            asset=account.asset,
            why=account.why,
            noise=account.noise,
            rng=account.rng,
            progress=progress,
            approval=approval,
            keep=keep,
        )
        bundle_folder.write(
            made, out, local=local, scenarios=scenarios, workspace=workspace, said=said, again=again
        )
    return made


def _recovered(workspace: Path, texts: Mapping[str, bytes], out: Path) -> None:
    """Write the folder of a release that was paid for, from its kept noisy counts.

    Spends nothing: fitting and drawing are post-processing.

    Raises:
        PrismError: when the folder cannot be written.
    """
    bundle_folder.check_out_folder(out)
    # In the workspace: noisy counts of private rows do not belong into a shared folder.
    with tempfile.TemporaryDirectory(dir=workspace) as name:
        folder = Path(name)
        for file, text in texts.items():
            files.put(folder / file, text.decode("utf-8"))
        bundle = reader.read_bundle(folder)
    stages, facts = bundle.stages(), bundle.facts
    plan = stages.final
    model = fit_model(plan, bundle.measurements)
    # By the seed of the certificate: the rows are those that the run would have written.
    codes, frame = draw(plan, model, facts.seed, bundle.measurements)
    made = Release(
        table=frame,
        codes=codes,
        stages=stages,
        measurements=bundle.measurements,
        model=model,
        stamp=facts.stamp,
        charge=facts.charge,
        seconds=0.0,
        seed=facts.seed,
        entry=facts.entry,
        workspace=workspace,
        approval=facts.approval,
    )
    bundle_folder.write(made, out, scenarios=bundle.considered(), said=facts.said)


def _size(plan: Plan) -> int:
    """Bytes that the noisy counts and what goes with them may take; data-free."""
    cells = sum(query.cells for query in plan.with_fine)
    for choice in (plan.three_way, plan.tree):
        if choice is not None:
            cells += 4 * int(choice.cells) * choice.rounds  # larger ones than the mean may come
    # The parts of a fine grid are written as many numbers.
    columns = sum(len(fine_column(column).labels()) for column in plan.schema.columns)
    return _BYTES * cells + 200 * columns + 20_000 * (1 + len(plan.queries) // 10)


def recover(workspace: Path, charge: int, out: Path) -> None:
    """Write the kept result of a charge. Spends nothing.

    Args:
        workspace: folder of the ledger.
        charge: its number.
        out: of a release and of a comparator a new folder, else a new file.

    Raises:
        ConfigError: when nothing is kept for the charge, or `out` cannot be written.
        PrismError: when the result cannot be made from what is kept.
    """
    from prism_core.privacy.ledger import Ledger
    from prism_core.privacy.ledger.charging import close_broken

    kind, texts = recovery_file.contents(workspace, charge)
    if kind == "release":
        _recovered(workspace, texts, out)
    else:
        _copy(texts, out, folder=kind == "comparator")
    ledger = Ledger(workspace)
    # The run failed, or was killed before it could end its charge.
    if ledger.get(charge).state != "done":
        close_broken(ledger, charge)
        # The charge stays failed; this note is what `verify` looks for beside it.
        ledger.correct(charge, RECOVERED)
    # Last: what fails before this leaves the result to be recovered again.
    recovery_file.written(workspace, charge)


def _copy(texts: dict[str, bytes], out: Path, *, folder: bool) -> None:
    if out.exists():
        raise ConfigError(f"--out {out.name!r} is there already. Name a new one.", field="out")
    if not folder:
        bundle_folder.check_outside_run(out)
    try:
        if folder:
            files.give_all(out, texts)
        else:
            (text,) = texts.values()
            out.parent.mkdir(parents=True, exist_ok=True)
            files.give(out, text)
    except OSError:
        raise ConfigError(f"{out.name!r} cannot be written.", field="out") from None
