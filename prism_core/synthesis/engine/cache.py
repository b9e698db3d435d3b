"""Where the compiled kernels are kept, and how they get there before anybody waits for them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from prism_core.child_processes import python

if TYPE_CHECKING:
    from prism_core.planning.wishes.task import Synthesis

_VARIABLE = "NUMBA_CACHE_DIR"


def prepare() -> None:
    """Make sure that numba finds a folder for its machine code; call before it is imported.

    By itself numba takes `NUMBA_CACHE_DIR`, else the package's own `__pycache__`, else the
    user's cache folder, and fails where it can write to none of them. Then a private temporary
    folder serves: the code is compiled once for this process and its children. (It is never a
    shared folder with a fixed name: whoever could write there could run code here.)
    """
    # numba reads the variable once, when it is imported: later is too late.
    if os.environ.get(_VARIABLE) or "numba" in sys.modules:
        return
    beside = Path(__file__).parent / "__pycache__"
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    if not any(_writable(folder) for folder in (beside, home / "numba")):
        os.environ[_VARIABLE] = tempfile.mkdtemp(prefix="prism-numba-")


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # A try, as permission bits do not tell of quotas and read-only mounts.
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def compile_kernels() -> None:
    """Load the kernels, compiling what the cache does not hold (about ten seconds, once)."""
    prepare()
    from prism_core.synthesis.engine import kernels

    del kernels


def load_meanwhile(synthesis: Synthesis) -> None:
    """Load the kernels in a thread where a run will need them, while rows are read and counted.

    Loading takes about a second, most of it numba's own. What goes wrong here goes wrong again,
    and is told, when a fit asks for the kernels.
    """
    if synthesis.model != "pgm" or synthesis.engine == "mbi":
        return

    def load() -> None:
        with contextlib.suppress(Exception):
            compile_kernels()

    threading.Thread(target=load, name="prism-kernels").start()


def warm() -> subprocess.Popen[bytes]:
    """Fill the cache in a process of its own; nobody has to wait for it.

    Where it is full already this loads it and ends, after about a second.
    """
    return subprocess.Popen(
        python("-m", "prism_core.synthesis.engine.cache"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # Its own session: a Ctrl-C that is meant for the app does not stop the compiler.
        start_new_session=True,
    )


if __name__ == "__main__":
    os.nice(10)  # pages come first
    compile_kernels()
