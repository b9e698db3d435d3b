"""The names of a bundle's files, and how its JSON is written, read and compared."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from prism_core.errors import BundleError
from prism_core.text import untrusted

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
    SYNTHETIC,
    PARQUET,
    SCHEMA,
    PLAN,
    MEASUREMENTS,
    CERTIFICATE,
    MEANING,
    README,
    RUN,
    REFIT,
    DATAPACKAGE,
    REPORT,
)
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
        document = untrusted.from_json(
            untrusted.text_of(path, untrusted.BUNDLE),
            untrusted.BUNDLE,
            object_pairs_hook=_once,
            parse_constant=_no_constant,
        )
    except (OSError, ValueError):
        document = None
    if not isinstance(document, dict):
        raise BundleError(f"{path.name} is not readable as JSON.", field=path.name)
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    # Python keeps the last of two equal keys; another reader may keep the first, and see another
    # bundle.
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_constant(text: str) -> float:
    # Python reads NaN and Infinity, which are no JSON: another reader would refuse the file.
    raise ValueError(f"{text} is no number")


CLOSE = 1e-9
"""Relative difference of two floats that another machine's last digits may make."""


def difference(found: object, expected: object, where: str = "") -> str | None:
    """The place of the first difference ("queries[3].sigma"), None when there is none.

    Numbers may differ by `CLOSE`, relatively; a whole number, a float and a flag are never the
    same thing.
    """
    if type(found) is not type(expected):
        return where or "the whole"
    if isinstance(found, dict) and isinstance(expected, dict):
        # Keys of both: one that was added is a difference, too.
        for key in [*expected, *found]:
            place = f"{where}.{key}" if where else str(key)
            if key not in found or key not in expected:
                return place
            inner = difference(found[key], expected[key], place)
            if inner is not None:
                return inner
        return None
    if isinstance(found, list) and isinstance(expected, list):
        # Not strict: what one list has more is found after what both have.
        for place, (one, other) in enumerate(zip(found, expected, strict=False)):
            inner = difference(one, other, f"{where}[{place}]")
            if inner is not None:
                return inner
        return None if len(found) == len(expected) else f"{where}[{min(len(found), len(expected))}]"
    if isinstance(found, float) and isinstance(expected, float):
        return None if math.isclose(found, expected, rel_tol=CLOSE, abs_tol=0.0) else where
    return None if found == expected else where


def same_text(path: Path, text: str) -> bool:
    """Whether a file holds this text; JSON may differ in the last digits of its floats."""
    content = untrusted.content_of(path, untrusted.BUNDLE)
    if content == text.encode("utf-8"):
        return True
    if path.suffix != ".json":
        return False
    document = read_json(path)
    # Spacing and the order of keys must be ours: last digits may differ, and nothing else hides in
    # the form.
    canonical = json_text(document).encode("utf-8") == content
    return canonical and difference(document, json.loads(text)) is None
