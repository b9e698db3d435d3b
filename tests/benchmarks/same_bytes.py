"""Does a change leave every byte of a seeded run as it was? Two checkouts, the same commands.

    python tests/benchmarks/same_bytes.py BEFORE AFTER

Each checkout makes the sample `readmission` and runs, on these public rows and with a seed: a
release of each regime, each own comparator, a learned domain and a learned graph. Prints which
files differ and how many are equal; a certificate, and the checksums over it, differ wherever the
version of this program does. The exit status is 0 when all are equal.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

REGIMES = ("causal", "graphical", "predictive")
COMPARATORS = ("independent", "mst", "aim")
ROWS = 2_000
"""Training rows that are kept: enough for every step, and seconds a run."""

OUTLINE = """\
one_row_per_person: true
columns:
  - {name: age, kind: numeric, learn: true, lower: 0, upper: 120}
  - {name: readmitted_30d, kind: boolean}
"""


def run(checkout: Path, folder: Path) -> None:
    """All commands in a folder of their own."""

    def prism(*words: object) -> None:
        command = [sys.executable, "-m", "prism_core.cli", *map(str, words)]
        where = {"PYTHONPATH": str(checkout), "PRISM_WORKSPACE": str(folder / "workspace")}
        subprocess.run(
            command, cwd=folder, env=os.environ | where, check=True, stdout=subprocess.DEVNULL
        )

    prism("sample-data", "readmission", "--out", "demo")
    train = folder / "demo" / "train.csv"
    lines = train.read_text(encoding="utf-8").splitlines(keepends=True)
    train.write_text("".join(lines[: ROWS + 1]), encoding="utf-8")
    config = (folder / "demo" / "config.toml").read_text(encoding="utf-8")
    config = config.replace("rows = 20000", "rows = 1000")

    def written(name: str, **changes: str) -> Path:
        text = config
        for old, new in changes.items():
            assert old in text, old
            text = text.replace(old, new)
        path = folder / "demo" / f"{name}.toml"
        path.write_text(text, encoding="utf-8")
        return path

    for regime in REGIMES:
        own = written(regime, causal=regime)
        prism("release", own, "--out", f"run-{regime}", "--seed", 1)
    for method in COMPARATORS:
        own = written("causal")
        prism("comparator", own, "--method", method, "--out", f"run-{method}", "--seed", 1)
    (folder / "demo" / "outline.yaml").write_text(OUTLINE, encoding="utf-8")
    learn = written("learn", **{"schema.yaml": "outline.yaml"})
    prism("learn-domain", learn, "--out", "run-domain.yaml", "--seed", 1)
    prism("learn-dag", written("graph", causal="graphical"), "--out", "run-graph.json", "--seed", 1)


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of everything that the commands gave out; `local.json` names the machine's paths."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.relative_to(folder).parts[0].startswith("run-")
        and path.name != "local.json"
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    options = parser.parse_args()
    found = []
    for checkout in (options.before, options.after):
        with tempfile.TemporaryDirectory(prefix="prism-bytes-") as folder:
            run(checkout.resolve(), Path(folder))
            found.append(digests(Path(folder)))
    before, after = found
    names = sorted(before.keys() | after.keys())
    different = [name for name in names if before.get(name) != after.get(name)]
    for name in different:
        print(f"differs   {name}")
    print(f"{len(names) - len(different)} of {len(names)} files are equal, byte for byte")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
