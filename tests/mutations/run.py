"""Plants every bug of the catalogue in a copy of the package and runs the tests on it.

    python tests/mutations/run.py [--full] [--jobs N] [WORDS ...]

By default each bug meets its named killers, fail-fast; `--full` runs all of `-m privacy`. WORDS
select bugs by name. The unchanged copy has to pass first: a test that is red anyway kills nothing.
A bug counts as killed when a test fails, not when the run itself breaks. The last line is
`killed K of P`; the exit status is 0 when K = P.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import sys
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from tests.mutations.catalogue import CATALOGUE, Mutation  # noqa: E402

PASSED, FAILED = 0, 1  # pytest's exit statuses; every other one means that the run broke
_BROKEN = 70
_HOW = (
    "-q",
    "-x",
    "-p",
    "no:cacheprovider",
    "-n",
    "0",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",  # imported by the server before
)
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(
    [
        "pytest",
        "xdist",
        "numpy",
        "pandas",
        "scipy.optimize",
        "networkx",
        "hypothesis",
        "hypothesis.strategies",
        "opendp.measurements",
    ]
)
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".*_cache", "browser", "node_modules")


def copy(folder: Path) -> None:
    """What the tests need, without anything compiled."""
    for name in ("prism_core", "dashboard", "tests", "sample_data"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=_LEFT_OUT)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder / name)


def run_tests(folder: Path, *arguments: str) -> tuple[int, str]:
    """pytest on a copy: its exit status and what it said. The copy's package is imported.

    The process is forked from a server that has imported what every test needs but this package,
    which saves most of the time of a run.
    """
    told = folder / "told.txt"
    process = _SERVER.Process(target=_tests, args=(folder, told, arguments))
    process.start()
    process.join()
    return process.exitcode or 0, told.read_text(encoding="utf-8")[-4000:]


def _tests(folder: Path, told: Path, arguments: tuple[str, ...]) -> None:
    os.environ |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    os.environ |= {"HYPOTHESIS_PROFILE": "ci"}
    for inherited in ("PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST", "PYTEST_ADDOPTS"):
        os.environ.pop(inherited, None)
    sys.dont_write_bytecode = True
    ours = {str(path) for path in (ROOT, *(ROOT / "tests").glob("*"), ROOT / "tests", Path())}
    sys.path[:] = [str(folder), *(entry for entry in sys.path if entry not in ours)]
    # Another test may have started the server with the package, or what tests share, in it.
    shared = {"prism_core", "dashboard", "tests"}
    for name in [name for name in sys.modules if name.split(".")[0] in shared]:
        del sys.modules[name]
    os.chdir(folder)
    with told.open("w", encoding="utf-8") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
        import pytest

        status = _BROKEN
        try:
            status = int(pytest.main([*_HOW, *arguments]))
        except Exception:  # noqa: BLE001  (an exit status of 1 would count as a bug that was found)
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def verdict(mutation: Mutation | None, arguments: tuple[str, ...]) -> tuple[int, str]:
    """Exit status and output of the tests on a fresh copy with the bug planted (None: no bug)."""
    with tempfile.TemporaryDirectory(prefix="prism-mutant-") as name:
        folder = Path(name)
        copy(folder)
        if mutation is not None:
            mutation.apply(folder)
        return run_tests(folder, *arguments)


def killers(mutations: tuple[Mutation, ...]) -> tuple[str, ...]:
    """All named killers, once each, as pytest takes them; none within a file that runs whole."""
    named = {f"tests/{killer}" for mutation in mutations for killer in mutation.killers}
    return tuple(sorted(k for k in named if "::" not in k or k.split("::")[0] not in named))


def main(argv: list[str] | None = None) -> int:
    """Run the catalogue; see the module."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", metavar="WORDS")
    parser.add_argument("--full", action="store_true", help="all privacy tests for every bug")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(argv)
    chosen = tuple(m for m in CATALOGUE if all(word in m.name for word in options.words))
    if not chosen:
        parser.error("no bug has all of these words in its name")
    whole = ("-m", "privacy", "tests", "--ignore=tests/mutations")
    status, output = verdict(None, whole if options.full else killers(chosen))
    if status != PASSED:
        print(output)
        print("the unchanged package fails its own tests; nothing was planted")
        return 2

    def judge(mutation: Mutation) -> tuple[int, str]:
        return verdict(mutation, whole if options.full else killers((mutation,)))

    killed = 0
    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        for mutation, (status, output) in zip(chosen, pool.map(judge, chosen), strict=True):
            words = {PASSED: "SURVIVED", FAILED: "killed"}.get(status, "BROKEN")
            killed += status == FAILED
            print(f"{words:9} {mutation.name}", flush=True)
            if words == "BROKEN":
                print(output)
    print(f"killed {killed} of {len(chosen)}")
    return 0 if killed == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
