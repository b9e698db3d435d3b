"""Run by the Python of a package that is compared: codes in, synthetic codes out.

This file alone is copied into a folder that only the user can read, and runs there with nothing of
this program. It must work wherever the packages do (Python 3.10 on). Columns are called c0, c1, ...
in it: some packages evaluate names as code. What a package prints goes nowhere.

Usage: python runner.py FOLDER, with `task.json` and `codes.csv` in it; writes `synthetic.csv`.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

# Not 1 or 2, by which Python tells of an error or of a wrong call.
MISSING = 3
"""Exit state when the package cannot be imported."""

PARENTS = 1
"""Of a column in PrivBayes's network. The package takes up to 3 by itself, and then hours: it
compares labels row by row as text, for every group of parents."""

_NETWORK = frozenset({"socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.sendmsg"})


def _no_network(event: str, _: Any) -> None:  # noqa: ANN401
    if event in _NETWORK:
        raise PermissionError("a comparator has no network")


def _end_with_parent() -> None:
    """Waits for the other end of stdin to close, which happens when the parent ends, too."""
    os.read(0, 1)
    # The whole group: packages start processes of their own.
    os.killpg(os.getpgrp(), signal.SIGKILL)


def privbayes(task: dict[str, Any], table: Any, folder: Path) -> Any:  # noqa: ANN401
    """PrivBayes of DataSynthesizer; the declared codes are given to it as the domain."""
    describer = importlib.import_module("DataSynthesizer.DataDescriber").DataDescriber()
    generator = importlib.import_module("DataSynthesizer.DataGenerator").DataGenerator()
    names = list(table.columns)
    domain, described = folder / "domain.json", folder / "description.json"
    domain.write_text(json.dumps({name: list(range(task["sizes"][name])) for name in names}))
    describer.describe_dataset_in_correlated_attribute_mode(
        str(folder / "codes.csv"),
        k=PARENTS,
        epsilon=task["epsilon"],
        seed=task["seed"],
        attribute_to_datatype=dict.fromkeys(names, "Integer"),
        # All of them: it would bin what it takes for numbers by the smallest and largest of the
        # rows.
        attribute_to_is_categorical=dict.fromkeys(names, True),
        attribute_to_is_candidate_key=dict.fromkeys(names, False),
        categorical_attribute_domain_file=str(domain),
    )
    describer.save_dataset_description_to_file(str(described))
    generator.generate_dataset_in_correlated_attribute_mode(
        task["rows"], str(described), seed=task["seed"]
    )
    return generator.synthetic_dataset[names]


def smartnoise_mst(task: dict[str, Any], table: Any, _: Path) -> Any:  # noqa: ANN401
    """MST of smartnoise-synth; its transformer learns the declared codes, not those of rows."""
    numpy = importlib.import_module("numpy")
    pandas = importlib.import_module("pandas")
    transform = importlib.import_module("snsynth.transform")
    mst = importlib.import_module("snsynth.mst").MSTSynthesizer
    names, sizes = list(table.columns), task["sizes"]
    most = max(sizes.values())
    # Every column is as long as the longest, its codes over and over, so that all are learned.
    declared = pandas.DataFrame({n: [code % sizes[n] for code in range(most)] for n in names})
    labels = transform.TableTransformer([transform.LabelTransformer(nullable=False) for _ in names])
    labels.fit(declared)
    numpy.random.seed(task["seed"])
    model = mst(epsilon=task["epsilon"], delta=task["delta"])
    # Nothing is left for its own preprocessing: all of epsilon is the synthesizer's.
    model.fit(table, transformer=labels, preprocessor_eps=0.0)
    return pandas.DataFrame(model.sample(task["rows"]))


def dpmm_mst(task: dict[str, Any], table: Any, _: Path) -> Any:  # noqa: ANN401
    """MST of dpmm, without its binning, which would spend an epsilon of its own."""
    pipeline = importlib.import_module("dpmm.pipelines").MSTPipeline
    model = pipeline(
        epsilon=task["epsilon"], delta=task["delta"], n_jobs=1, disable_processing=True
    )
    model.fit(table, domain=task["sizes"], random_state=task["seed"])
    # Another seed: the same would begin the stream of the noise once more.
    return model.generate(n_records=task["rows"], random_state=task["seed"] + 1)[
        list(table.columns)
    ]


METHODS = {"privbayes": privbayes, "smartnoise-mst": smartnoise_mst, "dpmm-mst": dpmm_mst}


def main(folder: Path) -> int:
    """Run what `task.json` asks for."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # A hook of this kind cannot be taken off again by the package's code.
    sys.addaudithook(_no_network)
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    try:
        # Looked for first: a package that is missing has an exit state of its own.
        pandas = importlib.import_module("pandas")
        importlib.import_module(task["module"])
    except ImportError:
        return MISSING
    table = pandas.read_csv(folder / "codes.csv")
    made = METHODS[task["method"]](task, table, folder)
    made.astype("int64").to_csv(folder / "synthetic.csv", index=False, header=False)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
