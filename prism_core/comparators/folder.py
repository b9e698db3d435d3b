"""The folder of a comparator's run: synthetic rows, their declaration, and what was spent."""

from __future__ import annotations

import io
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.comparators.comparator_run import ComparatorResult
from prism_core.comparators.external import ExternalResult
from prism_core.comparators.external import about as known_method
from prism_core.data.schema import schema_file
from prism_core.data.tables.spreadsheet import csv_text
from prism_core.errors import EvaluationError
from prism_core.privacy.events import event_dict
from prism_core.text import untrusted

if TYPE_CHECKING:
    from prism_core.comparators.comparator_plan import ComparatorPlan
    from prism_core.data.schema.schema import Schema

SYNTHETIC, PARQUET = "synthetic.csv", "synthetic.parquet"
SCHEMA = "schema.yaml"
DOCUMENT = "comparator.json"


@dataclass(frozen=True, kw_only=True)
class ComparatorFolder:
    """A run of a comparator as its folder tells it.

    Attributes:
        path: the folder.
        schema: the declared domain.
        document: what `document` wrote.
    """

    path: Path
    schema: Schema
    document: dict[str, Any]


def document(made: ComparatorResult) -> dict[str, Any]:
    """What was run and what it guarantees, as plain values; no wall time."""
    plan, about = made.plan, made.plan.about
    return {
        "stamp": made.stamp,
        "method": {
            "name": about.name,
            "title": about.title,
            "sentence": about.sentence,
            "reference": about.reference,
            "degree": plan.degree if plan.method == "aim" else None,
        },
        "neighbours": about.neighbours,
        "neighbours_as_published": about.published_neighbours,
        "guarantee": {
            "declared_epsilon": plan.epsilon,
            "delta": plan.delta,
            "rho": plan.rho,
            "epsilon_charged": plan.spent.epsilon,
            "epsilon_spent": made.spent.epsilon,
            "accountant": "zcdp",
            "n": plan.n,
        },
        "measurements": made.measurements,
        "rows": plan.rows,
        "charge": made.charge,
        "seed": made.seed,
        "plan_sha256": plan.hash,
        **({"warnings": list(plan.warnings)} if plan.warnings else {}),
        "events": [event_dict(event) for event in made.events],
    }


def contents(made: ComparatorResult | ExternalResult) -> dict[str, bytes]:
    """The files of the folder by their names."""
    told = document(made) if isinstance(made, ComparatorResult) else made.document()
    parquet = io.BytesIO()
    made.table.to_parquet(parquet, index=False)
    # JSON knows no NaN: other readers refuse a file with one.
    text = json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False)
    return {
        SYNTHETIC: csv_text(made.table).encode("utf-8"),
        PARQUET: parquet.getvalue(),
        SCHEMA: schema_file.dumps(made.plan.schema).encode("utf-8"),
        DOCUMENT: f"{text}\n".encode(),
    }


def size(plan: ComparatorPlan) -> int:
    """Bytes that the files of a comparator may take; data-free."""
    return 2**20 + 40 * plan.rows * len(plan.schema.names)


def write(made: ComparatorResult | ExternalResult, out: str | Path) -> Path:
    """Write the folder, all of it or nothing; files of an earlier run in it are replaced.

    Raises:
        OSError: when it cannot be written; an earlier run in it stays.
    """
    folder = Path(out)
    files.give_all(folder, contents(made))
    return folder


def is_folder(path: Path) -> bool:
    """Whether a folder is that of a comparator."""
    return (path / DOCUMENT).is_file()


def read(path: Path) -> ComparatorFolder:
    """Read a folder that `write` made.

    Raises:
        EvaluationError: when something is missing or was changed by hand.
    """
    try:
        text = untrusted.text_of(path / DOCUMENT, untrusted.COMPARATOR)
        found = untrusted.from_json(text, untrusted.COMPARATOR)
        known_method(found["method"]["name"])
        usable = _usable(found) and (path / PARQUET).is_file()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        usable, found = False, {}
    if not usable:
        raise EvaluationError(
            f"{path.name!r} is not the folder of a comparator, or was changed by hand.", field="dir"
        )
    return ComparatorFolder(path=path, schema=schema_file.load(path / SCHEMA), document=found)


def _usable(found: dict[str, Any]) -> bool:
    """Whether a document has the entries that a page, a report or a comparison takes from it."""
    epsilon, charge = found["guarantee"]["declared_epsilon"], found.get("charge")
    texts = (found["stamp"], found["method"]["title"], found.get("neighbours", ""))
    return (
        isinstance(epsilon, float | int)
        and math.isfinite(epsilon)
        and all(isinstance(text, str) for text in texts)
        # By its type, as True is a whole number to Python.
        and (charge is None or type(charge) is int)
    )
