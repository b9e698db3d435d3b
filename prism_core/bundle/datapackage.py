"""`datapackage.json`: the folder as a Tabular Data Package (Frictionless Data, version 1).

Written from the declared schema alone, after the published specification: the library
`frictionless` would bring some thirty packages along for one small file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prism_core.bundle.layout import PARQUET, SYNTHETIC
from prism_core.bundle.spreadsheet import neutral
from prism_core.data.column import level_text
from prism_core.data.dates import day_text

if TYPE_CHECKING:
    from prism_core.bundle.certificate import Facts
    from prism_core.data.column import Column
    from prism_core.planning.plan import Plan


def datapackage(plan: Plan, facts: Facts) -> dict[str, Any]:
    """The package's description. Reads no row."""
    target = plan.task.target_text
    return {
        "profile": "tabular-data-package",
        "name": f"prism-{facts.plan_sha256[:12]}",
        "title": f"Synthetic rows for predicting {target}",
        "description": (
            f"{facts.stamp}. Differentially private, epsilon {plan.guarantee.epsilon:.6g}, delta "
            f"{plan.delta:.3g}, neighbours replace one person. See README.md."
        ),
        "resources": [
            {
                "profile": "tabular-data-resource", "name": "synthetic", "path": SYNTHETIC,
                "format": "csv", "mediatype": "text/csv", "encoding": "utf-8",
                "schema": {
                    "fields": [_field(column) for column in plan.schema.columns],
                    "missingValues": [""],
                },
            },
            {
                "profile": "data-resource", "name": "synthetic-parquet", "path": PARQUET,
                "format": "parquet", "mediatype": "application/vnd.apache.parquet",
            },
        ],
    }  # fmt: skip


def _field(column: Column) -> dict[str, Any]:
    """One column as it stands in the CSV."""
    found: dict[str, Any] = {"name": neutral(column.name), "type": _type(column)}
    if column.description:
        found["description"] = column.description
    constraints: dict[str, Any] = {"required": not column.nullable}
    if column.kind == "date":
        low, high = column.bounds
        constraints |= {"minimum": day_text(low), "maximum": day_text(high)}
    elif column.binned:
        low, high = column.bounds
        whole = column.decimals == 0
        constraints |= {
            "minimum": int(low) if whole else low, "maximum": int(high) if whole else high,
        }  # fmt: skip
    elif column.kind == "boolean":
        found |= {"trueValues": ["true"], "falseValues": ["false"]}
    else:
        constraints["enum"] = [neutral(level_text(level)) for level, _ in column.values]
    return found | {"constraints": constraints}


def _type(column: Column) -> str:
    if column.kind == "date":
        return "date"
    if column.binned:
        return "integer" if column.decimals == 0 else "number"
    return "boolean" if column.kind == "boolean" else "string"
