"""Kill releases at random moments, and race processes for one budget; count what went wrong.

    python tests/stress/ledger_stress.py --kills 200

Children are forked from this process, which has everything loaded, and make releases of a tiny
private table one after another, two children at a time in one workspace. Each is ended by
SIGKILL at a random moment. What a child saw (a charge's number; that a mechanism ran for it) it
writes to a file of its own at once, where the kill cannot undo it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # forked children bring no threads along
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import OverspentError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.noise import SecureNoise
from prism_core.runs.inputs import fresh_rng
from prism_core.structure.dag import Dag
from prism_core.synthesis.release import release

if TYPE_CHECKING:
    from collections.abc import Callable

    from prism_core.planning.plan import Plan

EPSILON = 0.5
RACERS = 8
WINNERS = 3
AT_ONCE = 2
LONGEST = 0.25  # seconds a child lives at most; a release takes some hundredths


class Diary:
    """Appended to at once; what the kernel has, a kill of the process cannot undo."""

    def __init__(self, path: Path) -> None:
        self.handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, word: str, number: int) -> None:
        os.write(self.handle, f"{word} {number}\n".encode())


class WatchedLedger(Ledger):
    """Notes every charge that the caller was told of, before the caller goes on."""

    diary: Diary
    last = 0

    def charge(self, *args, **kwargs) -> int:
        self.last = super().charge(*args, **kwargs)
        self.diary.note("charged", self.last)
        return self.last


class WatchedNoise(SecureNoise):
    """Notes that a mechanism runs, before it does."""

    def __init__(self, ledger: WatchedLedger) -> None:
        super().__init__()
        self.ledger = ledger

    def add_discrete_gaussian(self, *args, **kwargs):
        self.ledger.diary.note("measured", self.ledger.last)
        return super().add_discrete_gaussian(*args, **kwargs)


def tiny() -> tuple[Plan, EncodedTable]:
    """Three boolean columns and 40 private rows."""
    schema = Schema(
        columns=tuple(Column(name=name, kind="boolean") for name in "ABY"), one_row_per_person=True
    )
    codes = np.random.default_rng(5).integers(0, 2, (40, 3), dtype=np.int32)
    table = EncodedTable(schema=schema, codes=codes)
    plan = design(
        Brief(
            schema,
            Task(target="Y", regime="causal"),
            Budget(epsilon=EPSILON, delta=1e-6),
            table.n,
            dag=Dag(nodes=("A", "B", "Y"), edges=(("A", "Y"), ("B", "Y"))),
            synthesis=Synthesis(model="naive_bayes", rows=20),
        )
    )
    return plan, table


def one_release(folder: Path, asset: str, diary: Path, plan: Plan, table: EncodedTable) -> None:
    """A release and its file, named by the charge."""
    ledger = WatchedLedger(folder / "workspace")
    ledger.diary = Diary(diary)
    made = release(
        plan, table, ledger=ledger, asset=asset, noise=WatchedNoise(ledger), rng=fresh_rng()
    )
    made.table.to_csv(folder / "releases" / f"{made.charge}.csv", index=False)


def fork(work: Callable[[], None]) -> int:
    """Run in a child; returns its process number. The child never comes back."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)


def kills(folder: Path, count: int, rng: random.Random) -> dict[str, int]:
    """End `count` children at random moments; after each, open and check the ledger."""
    plan, table = tiny()
    (folder / "releases").mkdir(parents=True)
    found = {"kills": 0, "early ends": 0, "failed to open": 0, "failed to verify": 0}
    live: list[tuple[int, float]] = []

    def loop(diary: Path, asset: str) -> None:
        while True:
            one_release(folder, asset, diary, plan, table)

    started = 0
    while found["kills"] + found["early ends"] < count:
        while len(live) < AT_ONCE and started < count:
            asset, diary = f"asset {started}", folder / f"diary {started}"
            Ledger(folder / "workspace").register(asset, epsilon=1e4, delta=1e-6)
            child = fork(lambda d=diary, a=asset: loop(d, a))
            live.append((child, time.monotonic() + rng.uniform(0.0, LONGEST)))
            started += 1
        child, due = live.pop(rng.randrange(len(live)))
        time.sleep(max(0.0, due - time.monotonic()))
        os.kill(child, signal.SIGKILL)
        killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
        found["kills" if killed else "early ends"] += 1
        try:
            found["failed to verify"] += not Ledger(folder / "workspace").verify().ok
        except Exception:  # noqa: BLE001  (whatever it is, the file did not open)
            found["failed to open"] += 1
    return found | check(folder)


def check(folder: Path) -> dict[str, int]:
    """Compare what the children saw with what the ledger and the folder of releases hold."""
    charges = {charge.id: charge for charge in Ledger(folder / "workspace").charges()}
    told: dict[str, list[int]] = {"charged": [], "measured": []}
    for diary in folder.glob("diary *"):
        for line in diary.read_text().splitlines():
            word, number = line.split()
            told[word].append(int(number))
    released = [int(path.stem) for path in (folder / "releases").glob("*.csv")]
    measured = set(told["measured"])
    return {
        "charges": len(charges),
        "left reserved by a kill": sum(c.state == "reserved" for c in charges.values()),
        "killed after the charge and before the first mechanism": len(set(charges) - measured),
        "releases": len(released),
        "charges lost": len(set(told["charged"]) - set(charges)),
        "measured without a charge": len(measured - set(charges)),
        "releases without a charge": len(set(released) - set(charges)),
        "spent and not counted": sum(not charges[n].counts for n in measured & set(charges)),
        "numbers told twice": len(told["charged"]) - len(set(told["charged"])),
    }


def _warm(folder: Path) -> None:
    """Load what a release loads, so that children start with their first charge."""
    (folder / "releases").mkdir(parents=True)
    plan, table = tiny()
    Ledger(folder / "workspace").register("warm", epsilon=1.0, delta=1e-6)
    one_release(folder, "warm", folder / "diary", plan, table)


def race(folder: Path) -> dict[str, int]:
    """Eight processes, each with a release that a third of the budget pays."""
    plan, table = tiny()
    (folder / "releases").mkdir(parents=True)
    lifetime = _lifetime(plan)
    gate_read, gate_write = os.pipe()

    def run(number: int) -> None:
        os.close(gate_write)
        os.read(gate_read, 1)  # returns for all of them at once when the gate is closed
        # Registering, creating and migrating the file are part of the race.
        Ledger(folder / "workspace").register("shared", epsilon=lifetime, delta=plan.delta)
        try:
            one_release(folder, "shared", folder / f"diary {number}", plan, table)
        except OverspentError:
            os._exit(3)

    children = [fork(lambda n=n: run(n)) for n in range(RACERS)]
    os.close(gate_write)
    ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    os.close(gate_read)
    balance = Ledger(folder / "workspace").balance("shared")
    return {
        "racers": RACERS,
        "succeeded": ends.count(0),
        "refused": ends.count(3),
        "overspent": int(not balance.spent_rho <= balance.total_rho),
    } | check(folder)


def _lifetime(plan: Plan) -> float:
    """A lifetime epsilon that pays for three such releases and not for four."""
    from prism_core.privacy.accountants.conversions import rho_to_epsilon

    return rho_to_epsilon(3.5 * plan.total, plan.delta)


WRONG = (
    "early ends",
    "failed to open",
    "failed to verify",
    "charges lost",
    "measured without a charge",
    "releases without a charge",
    "spent and not counted",
    "numbers told twice",
    "overspent",
)


def main() -> int:
    """Run both parts; returns 1 when anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=200, choices=range(1, 501), metavar="N")
    parser.add_argument("--seed", type=int, default=1, help="of the moments of the kills")
    arguments = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ledger-stress-") as folder:
        _warm(Path(folder) / "warm")
        killed = kills(Path(folder) / "kills", arguments.kills, random.Random(arguments.seed))
        raced = race(Path(folder) / "race")
    good = not any(part.get(word) for part in (killed, raced) for word in WRONG)
    good = good and raced["succeeded"] == WINNERS and raced["refused"] == RACERS - WINNERS
    good = good and min(killed["releases"], killed["left reserved by a kill"]) > 0  # it bit
    figures = {"kills": killed, "race": raced, "seconds": round(time.monotonic() - began, 1)}
    sys.stdout.write(json.dumps(figures | {"good": good}, indent=2) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
