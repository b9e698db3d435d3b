"""One rehearsal on public rows, with the seconds of its stages: `python -m ... CONFIG`."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from prism_core.bench.process import peak_megabytes, since_start


def main(path: Path) -> dict[str, float]:
    """Seconds of every stage, and from the start of the process to the synthetic rows."""
    import numpy as np

    from prism_core.planning.wishes import config as configs
    from prism_core.synthesis.engine.cache import load_meanwhile

    config = configs.load(path)
    load_meanwhile(config.synthesis)  # as the command does

    from prism_core.errors import PrivacyError
    from prism_core.privacy.noise import SeededNoise
    from prism_core.runs.inputs import gather, plan_for, ready
    from prism_core.synthesis.release import release

    if not config.table.public:  # seconds by stage could tell something about private rows
        raise PrivacyError("Only public tables are timed stage by stage.", field="public")
    inputs = gather(config)
    rng = np.random.default_rng(0)
    table = ready(inputs.schema, inputs.raw, public=True, rng=rng)
    begun: dict[str, float] = {}
    ended: dict[str, float] = {}

    def note(stage: str, share: float) -> None:  # noqa: ARG001  (a Progress is told it)
        begun.setdefault(stage, time.perf_counter())
        ended[stage] = time.perf_counter()

    release(
        plan_for(config, inputs), table, ledger=None, noise=SeededNoise(rng), rng=rng, progress=note
    )
    seconds = {f"{stage}_s": ended[stage] - begun[stage] for stage in begun}
    return seconds | {"rows_s": since_start(), "peak_mb": peak_megabytes()}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
