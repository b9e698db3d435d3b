"""Reader of a child process: its limits, and one of the readers inside of them.

A table may come from anybody, and the libraries that unpack it are C, C++ or Rust: what a file
declares about itself may be untrue, and a few hundred bytes can stand for terabytes. So it is read
where memory and time have an end, and where a crash ends nothing else. Run as a script by
`data.tables.reader_process`; neither it nor a reader imports anything of this program.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import resource
import sys
from pathlib import Path
from typing import Any

MANY, LARGE, DAMAGED, REFUSED = 3, 4, 5, 6
"""Exit states: too many cells, too much when unpacked, not readable; a refusal with its reason as
JSON on the output."""


class ManyCellsError(Exception):
    """A table has more cells than are read."""


class RefusedError(Exception):
    """A file that is whole and not read; the argument says why, in plain values."""


class Limits:
    """What a reader may give out, and its refusals."""

    def __init__(self, cells: int, unpacked: int) -> None:
        self.cells = cells
        self.unpacked = unpacked
        self.written = 0

    def check_cells(self, cells: int) -> None:
        """Refuse a table of more cells; 0 is no limit."""
        if self.cells and cells > self.cells:
            raise ManyCellsError

    def check_size(self, size: int) -> None:
        """Refuse more bytes of cells at once."""
        if self.unpacked and size > self.unpacked:
            raise MemoryError

    def count(self, size: int) -> None:
        """Refuse more bytes of cells in all, before the next ones are written."""
        self.written += size
        self.check_size(self.written)

    @staticmethod
    def module(path: Path) -> Any:  # noqa: ANN401  (a module)
        """A file of Python beside a reader, by its path: no folder of this program is known."""
        return _loaded(path)

    def refuse(self, **why: object) -> None:
        """Refuse the file by a reason that the parent has words for."""
        raise RefusedError(why)


def main(script: str, memory: int, seconds: int, limits: Limits, *arguments: str) -> int:
    """Read and write; returns the exit state.

    Args:
        script: the file of a reader; its `read` takes the file, the output, limits and arguments.
        memory: most bytes of this process.
        seconds: most seconds of processor time, should nobody wait for it any more.
        limits: of what it gives out.
        arguments: of the reader.
    """
    with contextlib.suppress(OSError):  # where memory runs out, this process goes first
        Path("/proc/self/oom_score_adj").write_text("1000")
    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        # A core file would hold cells.
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(OSError, ValueError):  # not every system has every one
            # A second more, so that the signal which says why comes before the one that kills.
            resource.setrlimit(kind, (most, most + (kind == resource.RLIMIT_CPU)))
    sys.meta_path.insert(0, _WithoutPandas)
    try:
        _loaded(Path(script)).read(sys.stdin.buffer, sys.stdout.buffer, limits, *arguments)
        sys.stdout.buffer.flush()
    except RefusedError as refused:
        sys.stdout.buffer.write(json.dumps(refused.args[0]).encode())
        sys.stdout.buffer.flush()
        return REFUSED
    except ManyCellsError:
        return MANY
    except MemoryError:
        return LARGE
    # A panic of Rust is no Exception.
    except BaseException:  # noqa: BLE001  (whatever it is, its text may quote a cell)
        return DAMAGED
    return 0


class _WithoutPandas:
    """Arrow loads pandas where it is there, which takes a second, and needs it for nothing here."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ImportError(name)


def _loaded(path: Path) -> Any:  # noqa: ANN401  (a module)
    # By its file: the folder of this program is not on the path of this process.
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    _memory, _seconds, _cells, _unpacked = map(int, sys.argv[2:6])
    sys.exit(main(sys.argv[1], _memory, _seconds, Limits(_cells, _unpacked), *sys.argv[6:]))
