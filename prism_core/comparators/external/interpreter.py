"""The Python of another package: found, started in a folder of its own, watched, ended."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.child_processes import SAFE_PATH
from prism_core.comparators.external import runner
from prism_core.errors import ConfigError, EvaluationError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from prism_core.comparators.external.packages import External

_LINE = re.compile(r"[0-9]{1,9}(?:,[0-9]{1,9})*")
_CELL = 32  # most bytes of a code that was written as text
_LOOK = 0.1  # seconds between two looks at the process
_KEPT = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "SYSTEMROOT")


def python_of(about: External, python: str | None = None) -> str | None:
    """The Python that runs a package: as given, of its variable, or this one where it is there.

    None when there is none. Nothing is started: whether the package works shows when it runs.
    """
    named = python or os.environ.get(about.variable)
    if named:
        return shutil.which(named)
    return sys.executable if find_spec(about.module) is not None else None


def required_python(about: External, python: str | None = None) -> str:
    """As `python_of`, but it must be there.

    Raises:
        ConfigError: naming what to do.
    """
    found = python_of(about, python)
    if found is None:
        raise ConfigError(
            f"{about.title} needs the package {about.project}. Install it in an environment of "
            f"its own and name the Python there in {about.variable}, or by --python.",
            field="python",
        )
    return found


def synthetic(
    about: External,
    python: str,
    codes: NDArray[np.int32],
    sizes: Sequence[int],
    task: dict[str, Any],
    *,
    seconds: float,
    watch: Callable[[], None] = lambda: None,
) -> NDArray[np.int32]:
    """Codes that the package makes of codes, which must be public. Shape (rows, columns).

    Names and labels are not handed over. The folder is for this user only and is removed; what
    the package prints is thrown away, since it may show rows. With this process it ends, too.

    Args:
        about: which one.
        python: that it runs with.
        codes: shape (n, columns).
        sizes: codes of every column.
        task: rows, epsilon, delta and seed.
        seconds: after which it is ended.
        watch: called while it runs; may raise to stop.

    Raises:
        ConfigError: when the package is not there.
        EvaluationError: when it failed, took too long, or gave codes outside the domain.
    """
    # Not the columns' own: names and labels are no business of another program.
    names = [f"c{place}" for place in range(len(sizes))]
    with tempfile.TemporaryDirectory(prefix="prism-comparator-") as made:
        folder = Path(made)
        described = task | {
            "method": about.name,
            "module": about.module,
            "sizes": dict(zip(names, map(int, sizes), strict=True)),
        }
        (folder / "task.json").write_text(json.dumps(described, allow_nan=False), encoding="utf-8")
        np.savetxt(
            folder / "codes.csv",
            codes,
            fmt="%d",
            delimiter=",",
            header=",".join(names),
            # Without the mark that numpy puts before a header.
            comments="",
        )
        # A copy: the Python that runs it need not have this program.
        shutil.copyfile(runner.__file__, folder / "runner.py")
        state = _ended(python, folder, about, seconds, watch)
        if state == runner.MISSING:
            raise ConfigError(
                f"The Python of {about.title} cannot import {about.module}. Install "
                f"{about.project} there, or name another Python in {about.variable}.",
                field="python",
            )
        if state != 0:
            raise EvaluationError(f"{about.title} failed (exit state {state}).", field="method")
        return _read(folder / "synthetic.csv", about, task["rows"], sizes)


def _ended(
    python: str, folder: Path, about: External, seconds: float, watch: Callable[[], None]
) -> int:
    # Nothing else of our environment: a package needs no token that stands there.
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    own = {
        "HOME": str(folder),
        "TMPDIR": str(folder),
        # Else sets come in another order each time, and the seed alone would not decide.
        "PYTHONHASHSEED": "0",
        # On busy cores more threads wait for each other by spinning.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "JAX_PLATFORMS": "cpu",
        "PYTHONDONTWRITEBYTECODE": "1",
        SAFE_PATH: "1",  # as a variable: the other Python may be too old for -P
    }
    try:
        process = subprocess.Popen(
            [python, "runner.py", str(folder)],
            cwd=folder,
            env=kept | own,
            # Never written to: it closes with this process, which the runner waits for.
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # A group of its own, so that it ends with all that it has started.
            process_group=0,
        )
    except OSError:
        raise ConfigError(f"{python!r} cannot be started.", field="python") from None
    try:
        last = time.monotonic() + seconds
        while process.poll() is None:
            watch()
            if time.monotonic() > last:
                raise EvaluationError(
                    f"{about.title} took more than {seconds:g} seconds and was ended.",
                    field="method",
                )
            time.sleep(_LOOK)
        return process.returncode
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """The process and all that it started, whether they still run or not."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    # Or it would stay as a zombie for as long as this process lives.
    process.wait()
    assert process.stdin is not None
    process.stdin.close()


def _read(file: Path, about: External, rows: int, sizes: Sequence[int]) -> NDArray[np.int32]:
    try:
        # What another package wrote: a code of a declared level has few digits.
        if file.stat().st_size > _CELL * rows * len(sizes):
            raise ValueError("larger than the table")
        lines = file.read_text(encoding="ascii").splitlines()
        if not all(_LINE.fullmatch(line) for line in lines):
            raise ValueError("no codes")
        # Not numpy's loadtxt, which some texts end with the whole process.
        found = np.array([line.split(",") for line in lines], dtype=np.int64)
    except (OSError, ValueError):
        found = np.empty((0, 0), dtype=np.int64)
    shaped = found.shape == (rows, len(sizes))
    if not shaped or not np.all((found >= 0) & (found < np.asarray(sizes))):
        raise EvaluationError(f"{about.title} gave no rows of the declared domain.", field="method")
    return found.astype(np.int32)
