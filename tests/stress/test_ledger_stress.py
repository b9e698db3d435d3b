"""A short run of the stress script: kills at random moments, and the race of eight."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "stress" / "ledger_stress.py"


@pytest.mark.slow
@pytest.mark.privacy
def test_no_kill_loses_a_charge_and_no_race_overspends(either_store):
    kills = 25 if either_store == "file" else 8
    run = subprocess.run(
        [sys.executable, str(SCRIPT), "--kills", f"{kills}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert run.returncode == 0, run.stdout + run.stderr
    figures = json.loads(run.stdout)
    assert figures["kills"]["kills"] == kills
    assert figures["kills"]["charges lost"] == 0
    assert figures["kills"]["releases without a charge"] == 0
    assert (figures["race"]["succeeded"], figures["race"]["refused"]) == (3, 5)
