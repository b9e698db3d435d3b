"""What `prism verify` finds, and a bundle of every kind to try it on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.planning.wishes.task import Synthesis
from tests.support.bundles import TASKS, charged, learned, rehearsed, written

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from prism_core.bundle.verify import verification
    from prism_core.data.schema.schema import Schema


def of_every_kind(folder: Path, small: tuple[Schema, pd.DataFrame]) -> Path:
    """In the folder: one bundle of every kind, and the workspace that made them."""
    schema, frame = small
    for name, task in TASKS.items():
        written(charged(schema, frame, folder / "workspace", task), folder / name)
    written(rehearsed(schema, frame), folder / "rehearsal")
    quick = Synthesis(model="naive_bayes")
    paid = charged(learned(schema), frame, folder / "workspace", TASKS["predictive"], quick)
    written(paid, folder / "learned")
    return folder


def wrong(report: verification.VerifyReport) -> set[str]:
    return {check.name for check in report.checks if check.state == "wrong"}
