"""Run one measurement in a fresh process and read the JSON that it prints."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
from typing import Any

from prism_core.child_processes import python

_STARTED = "PRISM_BENCH_STARTED"
# Not perf_counter, whose start differs between processes.
_IMPORTED = time.time()


def child(module: str, *arguments: object) -> dict[str, Any]:
    """What `python -m module arguments` printed, with its whole wall time as `process_s`."""
    start = time.time()
    done = subprocess.run(
        python("-m", module, *arguments),
        check=True,
        stdout=subprocess.PIPE,
        env={**os.environ, _STARTED: repr(start)},
    )
    # The last line, as a library may have printed before it.
    found = json.loads(done.stdout.decode().strip().splitlines()[-1])
    return found | {"process_s": time.time() - start}


def since_start() -> float:
    """Seconds since the parent started this process (without one: since this was imported)."""
    return time.time() - float(os.environ.get(_STARTED, _IMPORTED))


def peak_megabytes() -> float:
    """Most memory this process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
