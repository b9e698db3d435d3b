"""The runs that ask the rows kept aside: private numbers, and opening a reusable holdout.

What is paid for is kept (`runs.recovery_file`) until the file of the numbers is whole; a holdout's
session is stored with the charge itself.
"""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, BinaryIO

from prism_core import files
from prism_core.bundle.report.report_copy import check_place
from prism_core.bundle.write.bundle_folder import PRIVATE_EVALUATION
from prism_core.errors import ConfigError
from prism_core.evaluation.inside_epsilon.holdout import open_holdout
from prism_core.evaluation.inside_epsilon.private_numbers import PrivateEvaluation, evaluate_private
from prism_core.runs import recovery_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from prism_core.data.encoding import EncodedTable
    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.tables.raw_table import RawTable
    from prism_core.evaluation.inside_epsilon.holdout_plan import HoldoutPlan
    from prism_core.evaluation.inside_epsilon.holdout_state import Session
    from prism_core.evaluation.inside_epsilon.private_plan import PrivatePlan
    from prism_core.runs.step_account import StepAccount


def numbers_place(asked: Path | None, run: Path) -> Path:
    """The file of the numbers.

    By default it stands beside the folder, not in it: the folder is finished, and whoever checks
    it counts its files.

    Args:
        asked: the file that was asked for.
        run: folder of the release.

    Raises:
        BundleError: when it may not be written.
    """
    # Resolved first: `.` has no name of its own to add to.
    place = run.resolve()
    out = asked or place.with_name(f"{place.name}-{PRIVATE_EVALUATION}")
    check_place(out, run)
    return out


def numbers_text(found: PrivateEvaluation) -> str:
    """The numbers as the certificate's entry, in JSON."""
    return json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n"


def run_private_numbers(
    plan: PrivatePlan,
    synthetic: EncodedTable,
    holdout: EncodedTable,
    out: Path | Callable[[PrivateEvaluation], Path],
    account: StepAccount,
    *,
    told: Callable[[PrivateEvaluation], object] = lambda _: None,
    remember: RawTable | BigTable | None = None,
) -> PrivateEvaluation:
    """Evaluate privately and write the numbers.

    Spends: `plan.spent`, see `evaluate_private`.

    Args:
        plan: from `design_private`.
        synthetic: the released rows.
        holdout: the rows kept aside.
        out: the file of the numbers. Or what names it once they are there, for one that is named
            by its charge; then numbers that nobody was charged for are not written.
        account: who is charged.
        told: told the numbers once they are kept, whatever becomes of the file.
        remember: the rows kept aside as they were read, so that they do not pass for public once
            they are charged; None where the caller has remembered them.

    Raises:
        PrismError: as `evaluate_private`, and before anything is charged where the file cannot be
            written or the disk has no room.
        BundleError: when the file could not be written after all; what was paid for is kept.
    """
    # Before the charge: a run killed right after it must not leave rows that pass for public.
    account.remember(remember, plan.hash)

    def keep(found: PrivateEvaluation) -> None:
        room.keep("evaluation", found.charge, {PRIVATE_EVALUATION: numbers_text(found)})

    # Whether it can be written is known before the charge; that it could not, before the room goes.
    with (
        recovery_file.reserved_space(account.ledger, recovery_file.SMALL) as room,
        nullcontext() if callable(out) else _opened(out) as file,
    ):
        found = evaluate_private(
            plan,
            synthetic,
            holdout,
            ledger=account.ledger,
            asset=account.asset,
            why=account.why,
            noise=account.noise,
            keep=keep,
        )
        text = numbers_text(found)
        told(found)
        if file is not None:
            file.write(text.encode("utf-8"))
        elif callable(out) and found.charge is not None:
            files.put(out(found), text)
    return found


@contextmanager
def _opened(out: Path) -> Iterator[BinaryIO]:
    """The file of the numbers, opened before anything is charged; what fails leaves it as it was.

    Raises:
        ConfigError: when it cannot be opened.
    """
    with ExitStack() as held:
        try:
            file = held.enter_context(files.whole(out))
        except OSError:
            raise ConfigError(
                f"{out.name!r} cannot be written. Name another file, or check your permissions; "
                "nothing was charged.",
                field="out",
            ) from None
        yield file


def run_open_holdout(
    plan: HoldoutPlan,
    synthetic: EncodedTable,
    holdout: EncodedTable,
    workspace: Path,
    account: StepAccount,
    *,
    key: bytes | None = None,
    local: dict[str, str] | None = None,
    remember: RawTable | BigTable | None = None,
) -> Session:
    """Open a session of questions to the rows kept aside.

    Spends: `plan.spent`, see `open_holdout`, which stores the session with the charge.

    Args:
        plan: from `design_holdout`.
        synthetic: the released rows.
        holdout: the rows kept aside.
        workspace: in which folder the session is kept.
        account: who is charged; the noise of every question follows from its seed, if it has one.
        key: 32 secret bytes with which the held-out rows were drawn.
        local: where rows and run stand on this machine.
        remember: the rows kept aside as they were read, see `run_private_numbers`.

    Raises:
        PrismError: as `open_holdout`.
    """
    account.remember(remember, plan.hash)
    return open_holdout(
        plan,
        synthetic,
        holdout,
        workspace=workspace,
        ledger=account.ledger,
        asset=account.asset,
        why=account.why,
        seed=account.seed,
        key=key,
        local=local,
    )
