"""The state of a session of questions on disk: whole or not at all, for this user only.

A folder of mode 0700 with one file of mode 0600, which is replaced as a whole and synced before an
answer is told. It holds the noise in the threshold, which is secret: whoever may read it (the
curator, who may read the rows, too) must not hand it on.
"""

from __future__ import annotations

import json
import shutil
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.data.schema import schema_file
from prism_core.errors import LedgerError, PrismError
from prism_core.evaluation.inside_epsilon.holdout_plan import HoldoutPlan, design_holdout
from prism_core.evaluation.inside_epsilon.holdout_question import Question, question
from prism_core.privacy.sparse_vector import SparseVectorState

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from prism_core.data.schema.schema import Schema

FOLDER = "holdouts"
FILE = "session.json"
VERSION = 1

_LEAST, _AN_ENTRY = 64 * 1024, 1_000
"""Bytes beside schema and questions; bytes of a question for each column that it may name."""

SYNTHETIC, HOLDOUT, LOST = "synthetic", "holdout", "lost"
"""Where an answer came from; lost: a run stopped before it could tell, and the answer counts."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A question that was asked, and what was told; differentially private.

    Attributes:
        question: what was asked.
        source: `SYNTHETIC`: the value on the synthetic rows, which the held-out rows did not
            contradict; `HOLDOUT`: from the held-out rows, with noise; `LOST`.
        value: what was told, None when lost.
        synthetic: the value on the synthetic rows; public.
    """

    question: Question
    source: str
    value: float | None
    synthetic: float | None


@dataclass(frozen=True, kw_only=True)
class Session:
    """A session as it stands in its file. Its own text shows no secret.

    Attributes:
        place: its folder.
        plan: what was charged.
        charge: number in the ledger, None for public rows.
        asset: the asset charged, "" for public rows.
        synthetic: digest of the synthetic rows that models are trained on.
        entries: what was asked, in order.
        pending: a question under way, or one whose answer was lost in a crash.
        standing: rounds left and the noisy threshold; secret.
        key: fingerprints the held-out rows and draws one row per person; secret.
        rows: fingerprint of the held-out rows; private.
        seed: of a rehearsal's noise, None for secure noise.
        local: where rows and run stand on this machine.
    """

    place: Path
    plan: HoldoutPlan
    charge: int | None
    asset: str
    synthetic: str
    standing: SparseVectorState
    key: bytes = field(repr=False)
    rows: str = field(repr=False)
    seed: int | None = field(default=None, repr=False)
    entries: tuple[Entry, ...] = ()
    pending: Question | None = None
    local: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """What it is called: the name of its folder."""
        return self.place.name

    @property
    def left(self) -> int:
        """Answers left that may come from the held-out rows; one that was lost is gone."""
        return self.standing.left - (self.pending is not None)

    @property
    def open(self) -> bool:
        """Whether a new question may be asked."""
        limit = self.plan.questions
        return self.left > 0 and (limit is None or self.count < limit)

    @property
    def count(self) -> int:
        """Questions asked so far; one whose answer was lost is among them."""
        return len(self.entries) + (self.pending is not None)

    def find(self, asked: Question) -> Entry | None:
        """What was told when this question was asked before, None when it was not (or lost)."""
        for entry in self.entries:
            if entry.question.key == asked.key and entry.source != LOST:
                return entry
        return None


def make(workspace: Path) -> Path:
    """A new folder for a session in a workspace, named by the next number.

    Raises:
        LedgerError: when it cannot be made.
    """
    parent = workspace / FOLDER
    try:
        files.folder(files.folder(workspace) / FOLDER)
        while True:
            taken = [int(p.name) for p in parent.iterdir() if _is_number(p.name)]
            place = parent / str(max(taken, default=0) + 1)
            try:
                place.mkdir(mode=0o700)
            except FileExistsError:
                continue  # another process was first
            return place
    except OSError:
        raise _failed("written") from None


def remove(place: Path) -> None:
    """Take away the folder of a session that was never opened."""
    if not (place / FILE).exists():
        shutil.rmtree(place, ignore_errors=True)


def places(workspace: Path) -> tuple[Path, ...]:
    """The folders of the sessions of a workspace, oldest first."""
    parent = workspace / FOLDER
    if not parent.is_dir():
        return ()
    found = [p for p in parent.iterdir() if _is_number(p.name) and (p / FILE).is_file()]
    return tuple(sorted(found, key=lambda p: int(p.name)))


def _is_number(name: str) -> bool:
    # `isdigit` also takes ², which `int` refuses; ASCII has no such digits.
    return name.isascii() and name.isdigit()


@contextmanager
def alone(place: Path) -> Iterator[None]:
    """Nobody else asks in this session meanwhile.

    Raises:
        LedgerError: when there is no such session.
    """
    with ExitStack() as held:
        try:
            held.enter_context(files.alone(place))
        except OSError:
            raise _failed("read") from None
        yield


@contextmanager
def room(place: Path, schema: Schema, entries: int) -> Iterator[Path]:
    """Room on the disk for the next file of a session, taken before anything is spent or compared.

    Args:
        place: the session's folder.
        schema: of the session.
        entries: questions that the file will hold.

    Raises:
        LedgerError: when the disk is full.
    """
    # `write` escapes what is not ASCII: a letter of two bytes takes six.
    size = 4 * len(schema_file.dumps(schema).encode()) + _AN_ENTRY * len(schema.names) * (
        entries + 1
    )
    try:
        draft = files.reserve(place, _LEAST + size)
    except OSError:
        raise _failed("written") from None
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def write(session: Session, draft: Path | None = None) -> None:
    """Replace the session's file as a whole, and sync it.

    Args:
        session: as it stands now.
        draft: `room` that was taken for it; a new file without.

    Raises:
        LedgerError: when that cannot be done; nothing was told.
    """
    # In ASCII: a column's name may hold what UTF-8 has no bytes for.
    content = json.dumps(_document(session), ensure_ascii=True, allow_nan=False).encode()
    try:
        if draft is None:
            files.replace(session.place / FILE, content)
        else:
            files.fill(draft, session.place / FILE, content)
    except OSError:
        raise _failed("written") from None


def read(place: Path) -> Session:
    """The session in a folder.

    Raises:
        LedgerError: when there is none, or its file is not as this program wrote it.
    """
    try:
        document = json.loads((place / FILE).read_bytes())
        if document["version"] != VERSION:
            raise _failed("read")
        return _session(place, document)
    except OSError:
        raise _failed("read") from None
    # Whatever stands where in a file that somebody changed: a sentence, and no answer from it.
    except (
        PrismError,
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        OverflowError,
        RecursionError,
    ):
        raise LedgerError(
            "The file of this session is not as this program writes it. Nothing more is answered "
            "from it; what was charged stands.",
            field="session",
        ) from None


def _failed(verb: str) -> LedgerError:
    return LedgerError(
        f"The session of questions cannot be {verb}. Check its number, the workspace, and that its "
        "folder is yours and not full.",
        field="session",
    )


def _document(session: Session) -> dict[str, Any]:
    plan = session.plan
    return {
        "version": VERSION,
        "keep": "secret: holds the noise of a threshold",
        "schema": schema_file.to_dict(plan.schema),
        "plan": {
            "target": plan.target,
            "n": plan.n,
            "epsilon": plan.epsilon,
            "delta": plan.delta,
            "answers": plan.answers,
            "tolerance": plan.tolerance,
            "questions": plan.questions,
            "release": plan.release,
            "above_limit": plan.above_limit,
        },
        "plan_sha256": plan.hash,
        "charge": session.charge,
        "asset": session.asset,
        "synthetic": session.synthetic,
        "rows": session.rows,
        "key": session.key.hex(),
        "seed": session.seed,
        "left": session.standing.left,
        "threshold": session.standing.threshold,
        "pending": None if session.pending is None else session.pending.to_dict(),
        "entries": [
            entry.question.to_dict()
            | {"source": entry.source, "value": entry.value, "synthetic": entry.synthetic}
            for entry in session.entries
        ],
        "local": session.local,
    }


def _session(place: Path, document: dict[str, Any]) -> Session:
    kept = document["plan"]
    # Made again, not read: what each answer costs follows from these settings, whoever changed the
    # file.
    plan = design_holdout(
        schema_file.from_dict(document["schema"]),
        kept["target"],
        kept["n"],
        kept["epsilon"],
        kept["delta"],
        answers=kept["answers"],
        tolerance=kept["tolerance"],
        questions=kept["questions"],
        release=kept["release"],
        above_limit=kept.get("above_limit"),
    )
    # A plan that this version makes otherwise is refused: what was charged is the old one.
    if plan.hash != document["plan_sha256"]:
        raise ValueError("plan")
    entries = tuple(
        Entry(
            question=_question(plan, entry),
            source=entry["source"],
            value=entry["value"],
            synthetic=entry["synthetic"],
        )
        for entry in document["entries"]
    )
    left = document["left"]
    # All answers but those from the synthetic rows used one up, so both must add up to the plan's.
    told = sum(entry.source != SYNTHETIC for entry in entries)
    # By its type, as True would count as 1.
    if type(left) is not int or left != plan.answers - told:
        raise ValueError("left")
    pending = document["pending"]
    return Session(
        place=place,
        plan=plan,
        charge=document["charge"],
        asset=document["asset"],
        synthetic=document["synthetic"],
        rows=document["rows"],
        key=bytes.fromhex(document["key"]),
        seed=document["seed"],
        standing=SparseVectorState(left=left, threshold=int(document["threshold"])),
        entries=entries,
        pending=None if pending is None else _question(plan, pending),
        local=dict(document["local"]),
    )


def _question(plan: HoldoutPlan, entry: dict[str, Any]) -> Question:
    # Through the checks of a new question: the file may have been changed.
    return question(
        plan.schema,
        plan.target,
        metric=entry["metric"],
        learner=entry["learner"],
        features=entry["features"],
    )
