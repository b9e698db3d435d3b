"""Figures of a workspace for a monitoring system: text in the format of Prometheus.

They are counts of what the ledger and the workspace hold, and room on the disk. No name of an
asset, no person, no epsilon and nothing that depends on rows is among them.
"""

from __future__ import annotations

import shutil
from collections import Counter
from importlib import metadata
from typing import TYPE_CHECKING

from prism_core.data.engines import scratch
from prism_core.errors import ConfigError, PrismError
from prism_core.privacy.ledger import Ledger, store_choice
from prism_core.privacy.ledger.records import STATES

if TYPE_CHECKING:
    from pathlib import Path

    from prism_core.runs.doctor import MachineCheck


def metrics(workspace: Path, checks: tuple[MachineCheck, ...]) -> bytes:
    """All figures of a workspace.

    Args:
        workspace: the folder of the ledger; it need not be there, and nothing is made.
        checks: of `prism doctor`.

    Raises:
        ConfigError: when the package that writes the format is missing.
    """
    try:
        import prometheus_client as prometheus
    except ImportError:
        raise ConfigError(
            "Metrics need the package prometheus-client: pip install 'prism-dashboard[hosted]'.",
            field="metrics",
        ) from None
    registry = prometheus.CollectorRegistry()

    def gauge(name: str, text: str, *labels: str) -> prometheus.Gauge:
        return prometheus.Gauge(f"prism_{name}", text, labels, registry=registry)

    version = metadata.version("prism-dashboard")
    gauge("build", "The version that is installed.", "version").labels(version).set(1)
    found = gauge("checks", "Checks of prism doctor by their state.", "state")
    states = Counter(check.state for check in checks)
    for state in ("ok", "warning", "problem"):
        found.labels(state).set(states[state])
    _of_ledger(workspace, gauge)
    runs = gauge(
        "runs", "Runs of the dashboard whose folder is kept, by whether they live.", "state"
    )
    living = Counter(map(scratch.held, _folders_of_runs(workspace)))
    runs.labels("under way").set(living[True])
    runs.labels("ended").set(living[False])
    # The workspace may not be there yet: the disk that it will be made on is asked.
    there = next(path for path in (workspace, *workspace.absolute().parents) if path.exists())
    gauge("workspace_free_bytes", "Room on the workspace's disk.").set(
        shutil.disk_usage(there).free
    )
    return prometheus.generate_latest(registry)


def _of_ledger(workspace: Path, gauge) -> None:  # noqa: ANN001  (an inner function of `metrics`)
    """Counts of the ledger; that it can be read is a figure, too, so that a failure is seen."""
    readable = gauge("ledger_readable", "1 where the ledger can be read, or there is none yet.")
    whole = gauge("ledger_whole", "1 where the ledger's chain and guards are as they were written.")
    charges = gauge("ledger_charges", "Charges by their newest state.", "state")
    entries = gauge("ledger_entries", "Entries of the ledger's chain.")
    assets = gauge("ledger_assets", "Data assets in the ledger.")
    try:
        # Looked at first: opening a ledger that is not there would make one.
        if not store_choice.present(workspace):
            readable.set(1)
            whole.set(1)
            return
        ledger = Ledger(workspace)
        check = ledger.verify()
        states = Counter(charge.state for charge in ledger.charges())
        assets.set(len(ledger.assets()))
    except PrismError:
        readable.set(0)
        whole.set(0)
        return
    readable.set(1)
    whole.set(int(check.ok))
    entries.set(check.rows)
    # Every state, also those without a charge: a series that is missing raises no alarm.
    for state in STATES:
        charges.labels(state).set(states[state])


def _folders_of_runs(workspace: Path) -> list[Path]:
    root = workspace / scratch.RUNS
    return [*root.glob("project-*/[0-9]*"), *root.glob("step-*")]
