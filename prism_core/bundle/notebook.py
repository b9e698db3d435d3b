"""Notebook of a bundle: the plan, its model and its rows made again, cell by cell.

It goes beside the files of the unpacked bundle. It reads noisy counts only, so nothing is spent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.bundle.reader import read_bundle
from prism_core.text.markdown import plain
from prism_core.text.numbers import delta_text, eps_text

if TYPE_CHECKING:
    from pathlib import Path

_READ = """\
from pathlib import Path

from prism_core import csv_text, draw, fit_model, read_bundle

folder = Path(".")  # where the bundle was unpacked
bundle = read_bundle(folder)
plan = bundle.stages().final"""

_PLAN = """\
import pandas as pd

pd.DataFrame(
    {
        "columns": [" x ".join(one.clique) for one in bundle.measurements],
        "cells": [one.values.size for one in bundle.measurements],
        "noise, in people": [one.sigma for one in bundle.measurements],
    }
)"""

_FIT = """\
model = fit_model(plan, bundle.measurements)
_, table = draw(plan, model, bundle.facts.seed, bundle.measurements)
table.head()"""

_COMPARE = """\
# Whether they are the rows of synthetic.csv, to the byte.
csv_text(table).encode("utf-8") == (folder / "synthetic.csv").read_bytes()"""

_MORE = """\
_, other = draw(plan, model, bundle.facts.seed + 1, bundle.measurements)
other.to_csv("other-rows.csv", index=False)"""


def notebook(folder: Path) -> str:
    """The notebook of a bundle as JSON. Reads no row, spends nothing.

    Args:
        folder: of the bundle.

    Raises:
        BundleError: when it cannot be read.
    """
    import nbformat  # here: only this file needs it
    from nbformat import v4

    bundle = read_bundle(folder)
    plan = bundle.stages().final
    parts = (
        (
            "md",
            f"# Synthetic rows for predicting {plain(plan.task.target_text)}\n\n"
            f"{bundle.facts.stamp.capitalize()}, plan {bundle.facts.number}: epsilon "
            f"{eps_text(plan.spent.epsilon)}, delta {delta_text(plan.delta)}, {plan.n:,} people. "
            "Put this file into the folder of the unpacked bundle. It needs the package "
            "prism-dashboard in the version that `certificate.json` names. The private rows are "
            "not there: the noisy counts were paid for already, so nothing is spent.",
        ),
        ("code", _READ),
        ("md", "## What was measured, with how much noise"),
        ("code", _PLAN),
        ("md", "## The model fitted and the rows drawn again"),
        ("code", _FIT),
        ("code", _COMPARE),
        ("md", "## Other rows from the same model\n\nAs many as you like: they cost nothing."),
        ("code", _MORE),
    )
    made = v4.new_notebook(
        cells=[
            # Names of cells by their place, so that the same bundle gives the same file.
            v4.new_markdown_cell(text, id=f"cell-{place}")
            if kind == "md"
            else v4.new_code_cell(text, id=f"cell-{place}")
            for place, (kind, text) in enumerate(parts)
        ],
        metadata={"language_info": {"name": "python"}},
    )
    nbformat.validate(made)
    return nbformat.writes(made)
