"""Finished runs: the rows, targets and place in a comparison that a run's folder gives.

Spends nothing: a release or a comparator paid for the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.bundle.write import bundle_folder
from prism_core.comparators import folder as compared
from prism_core.data.encoding import EncodedTable, encode
from prism_core.data.tables.raw_table import RawTable, read_table
from prism_core.errors import EvaluationError
from prism_core.evaluation.candidates import Candidate
from prism_core.evaluation.subject import Measured, Subject
from prism_core.planning.regimes import Aim, features_for
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from prism_core.data.schema.schema import Schema


def encode_synthetic(schema: Schema, raw: RawTable) -> EncodedTable:
    """Synthetic rows as codes; no person stands behind them, so there is no person ID.

    Spends nothing: a release paid for them already.
    """
    return encode(schema.without_person(), raw, public=True)


def synthetic_rows(folder: bundle_folder.BundleFolder) -> EncodedTable:
    """The synthetic rows of a run's folder as codes. Spends nothing: a release paid for them."""
    return encode_synthetic(folder.schema, read_table(folder.synthetic))


def subject(
    folder: bundle_folder.BundleFolder,
    holdout: EncodedTable,
    train: EncodedTable | None = None,
    *,
    target: str | None = None,
) -> Subject:
    """What an inspection of a run's folder looks at.

    Spends nothing: the synthetic rows are public, the others as private as before.

    Args:
        folder: of the run.
        holdout: real rows that took no part in it.
        train: the real rows it was made from.
        target: which of several; the first when None.

    Raises:
        EvaluationError: when it is no target of the run.
    """
    synthetic = synthetic_rows(folder)
    aims, plan = aims_of_run(folder), bundle_folder.read_plan(folder)
    aim = aims[0] if target is None else find_aim(aims, target)
    features = features_for(synthetic.schema, aims, aim.target)
    measured = tuple(
        Measured(clique=tuple(query["clique"]), sigma=query["sigma"])
        for query in plan.get("queries", ())
        if "query" not in query  # moments and sums of cells are no noisy cells
    )
    return Subject(
        synthetic=synthetic,
        holdout=holdout,
        train=train,
        target=aim.target,
        s=aim.s,
        # Columns that are neither features nor the target: other targets, which nobody knows
        # beforehand.
        hidden=tuple(n for n in synthetic.schema.names if n not in {*features, aim.target}),
        measured=measured,
        # A folder without a plan does not say n; the real rows at hand come nearest to it.
        n=plan.get("n") or (holdout.n if train is None else train.n),
        sampling="iid" if plan.get("sampling") == "iid" else "rounded",
    )


def aims_of_run(folder: bundle_folder.BundleFolder) -> tuple[Aim, ...]:
    """The targets of a run's folder with their features, first target first. Spends nothing."""
    task = folder.certificate["task"]
    # A certificate lists targets only where there are several.
    listed = task.get("targets") or [{"name": task["target"], "weight": 1.0, "s": task["s"]}]
    return tuple(
        Aim(target=each["name"], weight=each["weight"], s=tuple(each["s"])) for each in listed
    )


def find_aim(aims: Sequence[Aim], target: str) -> Aim:
    """The aim of a target.

    Raises:
        EvaluationError: when it is no target of the run.
    """
    found = next((aim for aim in aims if aim.target == target), None)
    if found is None:
        raise EvaluationError(
            f"{target!r} is no target of this run. Its targets: "
            f"{', '.join(aim.target for aim in aims)}."
            f"{suggestion(target, [aim.target for aim in aims])}",
            field="target",
        )
    return found


def candidate(path: Path, name: str) -> Candidate:
    """A run's folder as it takes part in a comparison, of a release or of a comparator.

    Spends nothing: a release or a comparator paid for its rows.

    Args:
        path: the folder.
        name: what it is called there.

    Raises:
        EvaluationError, TableError: when the folder is none of a run, or is gone.
    """
    if compared.is_folder(path):
        return _compared(compared.read(path), name)
    folder = bundle_folder.read(path)
    known = folder.certificate
    guarantee = known.get("guarantee", {})
    return Candidate(
        name=name,
        synthetic=synthetic_rows(folder),
        epsilon=guarantee.get("declared_epsilon"),
        neighbours=str(guarantee.get("neighbours", "")),
        stamp=str(known.get("stamp", "unknown")),
        regime=str(known["task"].get("regime", "")),
        charge=known.get("charge"),
    )


def _compared(found: compared.ComparatorFolder, name: str) -> Candidate:
    known = found.document
    return Candidate(
        name=name,
        synthetic=encode_synthetic(found.schema, read_table(found.path / compared.PARQUET)),
        epsilon=known["guarantee"]["declared_epsilon"],
        stamp=known["stamp"],
        method=known["method"]["title"],
        neighbours=str(known.get("neighbours", "")),
        charge=known.get("charge"),
    )
