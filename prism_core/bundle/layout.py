"""The names of a bundle's files, and how its JSON is written and read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from prism_core import foreign
from prism_core.errors import BundleError

if TYPE_CHECKING:
    from pathlib import Path

SYNTHETIC = "synthetic.csv"
PARQUET = "synthetic.parquet"
SCHEMA = "schema.yaml"
GRAPH = "dag.json"
DOT = "dag.dot"
PLAN = "plan.json"
MEASUREMENTS = "measurements.json"
CERTIFICATE = "certificate.json"
MEANING = "meaning.md"
"""What the plan's epsilon means, for a committee."""
SCENARIOS = "scenarios.json"
"""What else was considered, with the figures of each plan; no row was read for any of them."""
REPORT = "report.html"
"""For a privacy committee: plain words, figures, technical annex; one file, no script."""
README = "README.md"
RUN = "run.toml"
REFIT = "refit.py"
DATAPACKAGE = "datapackage.json"
MANIFEST = "manifest.json"
SIGNATURE = "manifest.sig"
PUBLIC_KEY = "public-key.pem"
"""For checking the signature; the private key never leaves the workspace."""
FORMER = ("signing-key.pem",)
"""Names of files that earlier versions wrote: another run in their folder takes them away."""
PRIVATE_EVALUATION = "private-evaluation.json"
"""Headline numbers inside epsilon, bought after the run; beside its folder, to be handed over."""
LOCAL = "local.json"
"""Where the private files stand on this machine; for the curator, not for handing over."""

NEEDED = (
    SYNTHETIC, PARQUET, SCHEMA, PLAN, MEASUREMENTS, CERTIFICATE, MEANING, README, RUN, REFIT,
    DATAPACKAGE, REPORT,
)  # fmt: skip
"""In every bundle."""
OPTIONAL = (GRAPH, DOT, SCENARIOS, PUBLIC_KEY)
"""In some bundles: with a graph, with scenarios, with a signature."""


def json_text(document: object) -> str:
    """JSON as this program writes it: one text for one document."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_json(path: Path) -> dict[str, Any]:
    """The document in a file.

    Raises:
        BundleError: when it is not JSON, not an object, names a key twice, or holds NaN.
    """
    try:
        document = foreign.from_json(
            foreign.text_of(path, foreign.BUNDLE), foreign.BUNDLE,
            object_pairs_hook=_once, parse_constant=_no_constant,
        )  # fmt: skip
    except (OSError, ValueError):
        document = None
    if not isinstance(document, dict):
        raise BundleError(f"{path.name} is not readable as JSON.", field=path.name)
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is no number")
