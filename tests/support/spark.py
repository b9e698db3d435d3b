"""A standalone Spark of our own on the loopback: a master and one worker."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from prism_core.data.engines import out_of_core
from prism_core.data.tables import address

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prism_core.data.engines.out_of_core import BigTable

NEEDED = [
    pytest.mark.slow,
    # Too large to ask of everybody who runs the tests: pyspark is 430 MB. CI has both.
    pytest.mark.skipif(
        shutil.which("java") is None or importlib.util.find_spec("pyspark") is None,
        reason="a Spark needs Java and the extra `spark`; .ci/run installs both",
    ),
    pytest.mark.filterwarnings("ignore"),  # pyspark's own
]

_PACKAGE = "org.apache.spark.deploy"
_SETTINGS = {
    # Drivers and workers find each other by it, whatever this machine is called.
    "SPARK_LOCAL_IP": "127.0.0.1",
    "SPARK_DAEMON_MEMORY": "256m",
    # Spark looks for `python3`, which on this machine may be one without pyarrow.
    "PYSPARK_PYTHON": sys.executable,
    # As docs/large-tables.md says how memory is set.
    "PYSPARK_SUBMIT_ARGS": (
        "--driver-memory 512m --conf spark.executor.memory=512m "
        "--conf spark.sql.shuffle.partitions=2 --conf spark.ui.enabled=false pyspark-shell"
    ),
}


@dataclass(frozen=True)
class Standalone:
    """A master with one worker.

    Attributes:
        master: its address.
        worker: process of the worker, the parent of what runs tasks.
    """

    master: str
    worker: int

    @contextmanager
    def opened(self, path: Path) -> Iterator[BigTable]:
        """A Parquet file or folder, by the one session of this process, which takes long to start.

        To close the table would end the session.
        """
        place = address.parse(f"spark://{path}?master={self.master}")
        table = out_of_core.open_table(place, path.parent / f"{path.name}.ws")
        try:
            yield table
        finally:
            table.scratch.close()

    def kill_executors(self) -> int:
        """End what runs tasks, as the loss of its machine would; returns how many there were."""
        lost = children(self.worker)
        for process in lost:
            os.kill(process, signal.SIGKILL)
        return len(lost)


def children(parent: int) -> list[int]:
    """The processes that another one started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:  # it ended meanwhile
            continue
        # The name stands in brackets, and may hold some.
        if int(text.rpartition(")")[2].split()[1]) == parent:
            found.append(int(path.parent.name))
    return found


@contextmanager
def started() -> Iterator[Standalone]:
    """A fresh master and worker of one core; sessions of this process take little memory."""
    folder = Path(tempfile.mkdtemp(prefix="prism-spark-"))
    before = {name: os.environ.get(name) for name in _SETTINGS}
    os.environ.update(_SETTINGS)
    port = _free_port()
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.callback(_restore, before)
        here = ["--host", "127.0.0.1", "--webui-port", "0"]
        stack.enter_context(_running("master.Master", *here, "--port", str(port)))
        _wait_for(port)
        master = f"spark://127.0.0.1:{port}"
        limits = ["--cores", "1", "--memory", "512m", "--work-dir", str(folder)]
        worker = stack.enter_context(_running("worker.Worker", *here, *limits, master))
        stack.callback(_end_session)
        yield Standalone(master, worker.pid)


def _end_session() -> None:
    from pyspark.sql import SparkSession  # pyright: ignore[reportMissingImports]

    session = SparkSession.getActiveSession()
    if session is not None:
        session.stop()


def _restore(before: dict[str, str | None]) -> None:
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@contextmanager
def _running(name: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    import pyspark  # pyright: ignore[reportMissingImports]

    script = Path(pyspark.__file__).parent / "bin" / "spark-class"
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([str(script), f"{_PACKAGE}.{name}", *arguments], **quiet) as process:
        try:
            yield process
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("The master of Spark did not start.")
