"""The committee's room: decisions are signed, counted, and nobody's own; nothing else passes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from dashboard.jobs import child, folders
from prism_core.bundle.project_file import ProjectFile
from prism_core.bundle.protocol import approval_file
from prism_core.bundle.protocol.protocol import Protocol
from prism_core.bundle.protocol.votes import names_of
from prism_core.errors import AccessError, ConfigError, LedgerError, PlanError
from prism_core.hosting import audit_log
from prism_core.hosting.committee import Committee, confirm
from prism_core.hosting.configuration import Hosting
from prism_core.hosting.identity import Identity
from prism_core.hosting.project_store import ProjectStore
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.curator_statement import CuratorStatement
from prism_core.planning.wishes.task import Budget, Task
from prism_core.privacy.ledger import Ledger
from tests.support.approvals import FAST, STATED

pytestmark = pytest.mark.privacy
ASSET = "stays of ward 7"
PROJECT = "project-of-ada"
PEOPLE = {
    "ada": ("curator",),
    "ben": ("curator", "reviewer"),
    "rita": ("reviewer",),
    "rolf": ("reviewer",),
    "aude": ("auditor",),
    "max": ("curator",),
}


def person(subject: str) -> Identity:
    return Identity(subject=subject, name=subject.title(), roles=frozenset(PEOPLE[subject]))


@pytest.fixture
def room(tmp_path):
    """Gives the committee of somebody; Ada's project is there."""
    ProjectStore(tmp_path, person("ada")).save(PROJECT, ProjectFile(name="stays"))

    def of(subject: str, quorum: int = 1) -> Committee:
        return Committee(tmp_path, person(subject), hosting(quorum))

    return of


def hosting(quorum: int = 1) -> Hosting:
    return Hosting(address="https://studio.example", quorum=quorum)


def planned(schema, epsilon: float = 1.0):
    task = Task(target="readmitted", regime="predictive", k=1)
    return design(Brief(schema, task, Budget(epsilon=epsilon), 300, synthesis=FAST))


@pytest.fixture
def protocol(schema) -> Protocol:
    return Protocol(plan=planned(schema), asset=ASSET, statement=STATED)


@pytest.fixture
def waiting(room, protocol) -> str:
    """The number of a protocol that Ada submitted."""
    return room("ada").submit(protocol, PROJECT, ProjectFile(name="stays")).number


def test_an_approval_follows_from_the_vote_of_somebody_else(room, waiting, protocol, tmp_path):
    rita = room("rita")
    (found,) = rita.all()
    assert (found.number, found.state, found.name, found.title) == (
        waiting,
        "waiting",
        "Ada",
        "stays",
    )
    assert rita.hindrance(found) == ""
    assert "stays of ward 7" in rita.page(waiting)
    rita.comment(waiting, "Why so much epsilon?")
    room("ada").comment(waiting, "For the rare levels.")
    decided = rita.approve(waiting, "Clear now.")
    assert decided.state == "approved"
    assert [(s.kind, s.subject, s.text) for s in decided.steps] == [
        ("comment", "rita", "Why so much epsilon?"),
        ("comment", "ada", "For the rare levels."),
        ("approve", "rita", "Clear now."),
    ]
    made = room("ada").approval(decided)
    assert made.covers(protocol.plan, ASSET)
    assert made.approval.by == "rita (Rita)"
    assert made.approval.date == made.votes[0].at[:10]
    assert made.approval.protocol == waiting
    again = approval_file.loads(made.dumps())
    assert again == made
    confirm(again, tmp_path, hosting(), "ada")


def test_a_quorum_takes_so_many_different_people(room, waiting):
    assert room("rita", 2).approve(waiting).state == "waiting"
    with pytest.raises(AccessError, match="approved it already"):
        room("rita", 2).approve(waiting)
    assert room("ada", 2).approval(room("ada", 2).get(waiting)) is None
    done = room("rolf", 2).approve(waiting)
    assert done.state == "approved"
    assert room("ada", 2).approval(done).approval.by == "rita (Rita); rolf (Rolf)"


def test_nobody_approves_their_own(room, waiting, tmp_path, protocol):
    """Not as who submitted it, nor as who works in its project, then or later."""
    ProjectStore(tmp_path, person("ada")).share(PROJECT, "ben", "Ben", "editor")
    with pytest.raises(AccessError, match="Nobody decides on their own"):
        room("ben").approve(waiting)
    with pytest.raises(AccessError, match="Nobody decides on their own"):
        room("ben").send_back(waiting, "no")
    ProjectStore(tmp_path, person("ada")).unshare(PROJECT, "ben")
    done = room("ben").approve(waiting)
    assert done.state == "approved"
    # Who voted and works in the project afterwards has approved their own, too.
    ProjectStore(tmp_path, person("ada")).share(PROJECT, "ben", "Ben", "editor")
    ada = room("ada")
    with pytest.raises(PlanError, match="nobody approves their own"):
        ada.approval(ada.get(waiting))
    assert ("ben", "refused", "own protocol") in {
        (e.who, e.did, e.to) for e in audit_log.entries(tmp_path)
    }


def test_whoever_worked_in_it_when_it_was_submitted_never_decides(room, protocol, tmp_path):
    """Not once the owner has taken the share away, nor once the project is deleted."""
    store = ProjectStore(tmp_path, person("ada"))
    store.share(PROJECT, "ben", "Ben", "editor")
    number = room("ben").submit(protocol, PROJECT, ProjectFile(name="stays")).number
    store.unshare(PROJECT, "ben")
    store.delete(PROJECT)
    both = {"ada": ("curator", "reviewer"), "ben": ("curator", "reviewer")}
    for subject, roles in both.items():
        someone = Identity(subject=subject, name=subject, roles=frozenset(roles))
        with pytest.raises(AccessError, match="Nobody decides on their own"):
            Committee(tmp_path, someone, hosting()).approve(number)


def test_whoever_changed_the_project_before_it_was_submitted_never_decides(
    room, protocol, tmp_path
):
    """Though the share was taken away before anything was submitted."""
    store = ProjectStore(tmp_path, person("ada"))
    store.share(PROJECT, "ben", "Ben", "editor")
    ProjectStore(tmp_path, person("ben")).save(PROJECT, ProjectFile(name="stays of ben"))
    store.unshare(PROJECT, "ben")
    number = room("ada").submit(protocol, PROJECT, ProjectFile(name="stays")).number
    with pytest.raises(AccessError, match="Nobody decides on their own"):
        room("ben").approve(number)


@pytest.mark.parametrize("subject", ["ada", "aude", "max"])
def test_only_reviewers_decide(room, waiting, subject):
    for step in (
        lambda: room(subject).approve(waiting),
        lambda: room(subject).send_back(waiting, "no"),
    ):
        with pytest.raises(AccessError):
            step()
    assert room("rita").get(waiting).state == "waiting"


def test_an_auditor_sees_all_and_changes_nothing(room, waiting):
    aude = room("aude")
    assert [one.number for one in aude.all()] == [waiting]
    assert aude.hindrance(aude.get(waiting)) == "Only reviewers decide."
    for step in (lambda: aude.comment(waiting, "x"), lambda: aude.withdraw(waiting)):
        with pytest.raises(AccessError):
            step()


def test_another_curator_sees_no_protocol(room, waiting, protocol):
    other = room("max")
    assert other.all() == ()
    for step in (
        lambda: other.get(waiting),
        lambda: other.page(waiting),
        lambda: other.entered(waiting),
        lambda: other.comment(waiting, "x"),
        lambda: other.withdraw(waiting),
        lambda: other.submit(protocol, PROJECT, ProjectFile(name="stays")),
    ):
        with pytest.raises(AccessError):
            step()


def test_what_is_decided_stays_decided(room, waiting, protocol):
    room("rita").send_back(waiting, "Say who gets the rows.")
    for step in (
        lambda: room("rolf").approve(waiting),
        lambda: room("rolf").send_back(waiting, "no"),
        lambda: room("ada").withdraw(waiting),
    ):
        with pytest.raises(ConfigError, match="is sent back"):
            step()
    again = room("ada").submit(protocol, PROJECT, ProjectFile(name="stays"))
    assert again.number == f"{waiting.split('-')[0]}-2"
    with pytest.raises(ConfigError, match="waits for the committee already"):
        room("ada").submit(protocol, PROJECT, ProjectFile(name="stays"))
    assert room("ada").withdraw(again.number).state == "withdrawn"


def test_a_draft_or_a_protocol_without_an_asset_is_not_submitted(room, schema):
    plan = planned(schema)
    for one in (
        Protocol(plan=plan, asset=ASSET, statement=CuratorStatement()),
        Protocol(plan=plan, asset="", statement=STATED),
    ):
        with pytest.raises(ConfigError):
            room("ada").submit(one, PROJECT, ProjectFile(name="stays"))
    assert room("rita").all() == ()


@pytest.mark.parametrize("number", ["", "..", "../x", "0" * 12, "0" * 12 + "-1", "g" * 12 + "-1"])
def test_a_number_leads_nowhere_else(room, waiting, number):
    with pytest.raises(ConfigError, match="no protocol"):
        room("rita").get(number)


@pytest.mark.parametrize("text", ["", " \n\t", "x" * 4001])
def test_a_comment_has_words_within_limits(room, waiting, text):
    with pytest.raises(ConfigError, match="characters"):
        room("rita").comment(waiting, text)
    with pytest.raises(ConfigError, match="characters"):
        room("rita").send_back(waiting, text)


@pytest.mark.parametrize("name", ["about.json", "steps.jsonl"])
def test_a_damaged_protocol_counts_for_nothing_and_hides_no_other(
    room, waiting, protocol, schema, tmp_path, name
):
    other = Protocol(plan=planned(schema, 9.0), asset=ASSET, statement=STATED)
    second = room("ada").submit(other, PROJECT, ProjectFile(name="stays")).number
    (tmp_path / "committee" / waiting / name).write_text('{"kind": "approve"\n')
    rita = room("rita")
    assert [one.number for one in rita.all()] == [second]
    assert rita.unreadable() == (waiting,)
    with pytest.raises(ConfigError, match="not readable"):
        rita.approve(waiting)


# --- approvals that nobody gave ----------------------------------------------------------------


@pytest.fixture
def approved(room, waiting):
    room("rita").approve(waiting)
    ada = room("ada")
    return ada.approval(ada.get(waiting))


def test_an_approval_that_was_typed_does_not_pass_the_gate(protocol, tmp_path, room):
    typed = protocol.approve(by="rita (Rita)", role="privacy committee", date="2026-01-02")
    with pytest.raises(ConfigError, match="the committee's own approval"):
        confirm(typed, tmp_path, hosting(), "ada")


@pytest.mark.parametrize(
    "change",
    [
        lambda v: replace(v, subject="rolf", name="Rolf"),
        lambda v: replace(v, at="2020-01-01T00:00:00+00:00"),
        lambda v: replace(v, signature=""),
        lambda v: replace(v, signature="zz"),
        lambda v: replace(v, signature=v.signature[:-2] + "00"),
    ],
)
def test_a_vote_that_was_changed_does_not_count(approved, change, tmp_path):
    votes = tuple(map(change, approved.votes))
    changed = replace(
        approved,
        votes=votes,
        approval=replace(approved.approval, by=votes[0].who, date=votes[0].at[:10]),
    )
    with pytest.raises(PlanError, match="not signed"):
        confirm(changed, tmp_path, hosting(), "ada")


def test_a_vote_counts_for_its_own_protocol_alone(room, approved, schema, tmp_path):
    """Copied into the folder of another protocol, by whoever can write there."""
    other = Protocol(plan=planned(schema, 9.0), asset=ASSET, statement=STATED)
    ada = room("ada")
    second = ada.submit(other, PROJECT, ProjectFile(name="stays")).number
    first = approved.approval.protocol
    steps = (tmp_path / "committee" / first / "steps.jsonl").read_text()
    (tmp_path / "committee" / second / "steps.jsonl").write_text(steps)
    with pytest.raises(PlanError, match="another protocol"):
        ada.approval(ada.get(second))
    moved = replace(
        approved,
        approval=replace(approved.approval, plan_sha256=other.plan.hash, protocol=second),
        settings=approval_file.settings(other.plan),
    )
    with pytest.raises(PlanError, match="another protocol"):
        confirm(moved, tmp_path, hosting(), "ada")


def test_words_that_were_changed_after_the_vote_are_refused(approved, tmp_path):
    changed = replace(approved, statement=replace(STATED, recipients="anybody"))
    with pytest.raises(PlanError, match="another protocol"):
        confirm(changed, tmp_path, hosting(), "ada")


@pytest.mark.parametrize(
    "entries", [{"by": "rolf (Rolf)"}, {"date": "2020-01-01"}], ids=["names", "date"]
)
def test_names_and_date_cannot_be_changed_to_use_it_twice(approved, entries, tmp_path):
    changed = replace(approved, approval=replace(approved.approval, **entries))
    with pytest.raises(PlanError, match="names or its date"):
        confirm(changed, tmp_path, hosting(), "ada")


@pytest.fixture
def charge(protocol, tmp_path):
    """Charges a release with an approval; gives the number."""
    ledger = Ledger(tmp_path, who="ada (Ada)")
    ledger.register(ASSET, epsilon=9.0, delta=1e-6)
    price = protocol.plan.price

    def charged(approval) -> int:
        return ledger.charge(
            ASSET,
            step="release",
            spent=price.spent,
            events=price.events,
            plan=price.plan,
            accountant=price.accountant,
            approval=approval,
        )

    return charged


def test_an_approval_is_used_once(approved, charge, tmp_path):
    number = charge(approved.approval)
    (note,) = Ledger(tmp_path).get(number).corrections
    assert note.note.startswith("Approved by rita (Rita) (privacy committee)")
    assert note.who == "ada (Ada)"
    with pytest.raises(LedgerError, match="used for charge 1"):
        charge(approved.approval)


def test_a_committee_of_another_name_does_not_make_an_approval_new(
    approved, charge, room, tmp_path
):
    renamed = replace(hosting(), committee="ethics board")
    charge(approved.approval)
    ada = Committee(tmp_path, person("ada"), renamed)
    again = ada.approval(ada.get(approved.approval.protocol))
    assert again.approval != approved.approval
    confirm(again, tmp_path, renamed, "ada")
    with pytest.raises(LedgerError, match="used for charge 1"):
        charge(again.approval)


def test_a_vote_that_comes_later_does_not_make_an_approval_new(approved, charge, room, tmp_path):
    """Where the quorum is raised the protocol waits again, and is decided on a second time."""
    charge(approved.approval)
    number = approved.approval.protocol
    room("rolf", 2).approve(number)
    ada = room("ada", 2)
    again = ada.approval(ada.get(number))
    assert again.approval != approved.approval
    confirm(again, tmp_path, hosting(2), "ada")
    with pytest.raises(LedgerError, match="used for charge 1"):
        charge(again.approval)


def test_a_ledger_of_an_earlier_version_knows_a_used_approval(approved, charge, tmp_path):
    """It holds the mark of names, role and date."""
    ledger = Ledger(tmp_path)
    number = charge(None)
    ledger.correct(number, f"Approved by rita (Rita) ({approved.approval.marks[1]})")
    with pytest.raises(LedgerError, match="used for charge 1"):
        charge(approved.approval)


def test_the_same_plan_is_approved_anew_on_the_same_day(room, approved, protocol):
    ada = room("ada")
    second = ada.submit(protocol, PROJECT, ProjectFile(name="stays")).number
    room("rita").approve(second)
    again = ada.approval(ada.get(second))
    assert not set(again.approval.marks) & set(approved.approval.marks)


def test_another_workspace_did_not_sign_it(approved, tmp_path, tmp_path_factory, room):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "committee").symlink_to(tmp_path / "committee")
    with pytest.raises(PlanError, match="not signed"):
        confirm(approved, elsewhere, hosting(), "ada")


def test_who_voted_does_not_run_it(approved, tmp_path):
    with pytest.raises(PlanError, match="nobody approves their own"):
        confirm(approved, tmp_path, hosting(), "rita")


def test_a_quorum_that_was_raised_holds_at_the_gate(approved, tmp_path):
    with pytest.raises(PlanError, match="it takes 2 people"):
        confirm(approved, tmp_path, hosting(2), "ada")


def test_votes_of_a_protocol_that_was_sent_back_do_not_pass_the_gate(
    room, waiting, protocol, tmp_path
):
    """Two had to approve; one did, one sent it back, and then one is said to be enough."""
    room("rita", 2).approve(waiting)
    found = room("rolf", 2).send_back(waiting, "no")
    made = approval_file.approve(
        protocol.to_json(),
        by=names_of(found.votes),
        role="privacy committee",
        date=found.votes[0].at[:10],
        number=waiting,
        votes=found.votes,
    )
    with pytest.raises(ConfigError, match="is sent back"):
        confirm(made, tmp_path, hosting(1), "ada")


def test_a_run_says_no_other_words_than_the_approved_ones(approved, protocol, tmp_path):
    """Whatever a page hands to its process."""
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / folders.APPROVAL).write_text(approved.dumps())
    (folder / folders.SAID).write_text(json.dumps(STATED.to_dict()))
    assert child._approval(folder, protocol.plan, "") == approved.approval
    other = replace(STATED, recipients="anybody").to_dict()
    (folder / folders.SAID).write_text(json.dumps(other))
    with pytest.raises(PlanError, match="is not what was approved"):
        child._approval(folder, protocol.plan, "")


def test_the_audit_log_tells_every_step_and_no_word(room, waiting, tmp_path):
    room("rita").comment(waiting, "secret words")
    room("rita").approve(waiting, "more of them")
    text = (tmp_path / "audit" / "log.jsonl").read_text()
    deeds = [json.loads(line)["did"] for line in text.splitlines()]
    assert deeds[-3:] == ["protocol submitted", "protocol commented", "protocol approved"]
    assert "words" not in text
    assert "of them" not in text
    assert audit_log.broken(tmp_path) is None
