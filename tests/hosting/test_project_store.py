"""Projects on disk: whose they are, who else may open them, and that nobody else does."""

from __future__ import annotations

import json
import stat
import threading

import pytest

from prism_core.bundle.project_file import ProjectFile
from prism_core.errors import AccessError, ConfigError
from prism_core.hosting import audit_log, people, project_store
from prism_core.hosting.identity import Identity
from prism_core.hosting.project_store import ProjectStore

ID = "an-id-of-a-project"


def person(subject: str) -> Identity:
    return Identity(subject=subject, name=subject.title(), roles=frozenset({"curator"}))


@pytest.fixture
def stores(tmp_path):
    """The stores of an owner and of somebody else, and a project of the first."""
    ada, ben = (ProjectStore(tmp_path, person(who)) for who in ("ada", "ben"))
    ada.save(ID, ProjectFile(name="stays", purpose="first"))
    return ada, ben


def test_what_is_saved_is_loaded_and_listed(stores, tmp_path):
    ada, ben = stores
    assert ada.load(ID) == ProjectFile(name="stays", purpose="first")
    ada.save(ID, ProjectFile(name="stays 2"), source="clinic A")
    (record,) = ada.records()
    assert (record.id, record.name, record.owner, record.source) == (
        ID,
        "stays 2",
        "ada",
        "clinic A",
    )
    assert ben.records() == ()
    for path in (tmp_path / "projects").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_the_project_of_another_is_not_opened_changed_shared_or_deleted(stores, tmp_path):
    ada, ben = stores
    for step in (
        lambda: ben.opened(ID),
        lambda: ben.load(ID),
        lambda: ben.save(ID, ProjectFile(name="mine now")),
        lambda: ben.share(ID, "ben", "Ben", "editor"),
        lambda: ben.unshare(ID, "ada"),
        lambda: ben.delete(ID),
    ):
        with pytest.raises(AccessError):
            step()
    assert ada.load(ID).name == "stays"
    refused = [one for one in audit_log.entries(tmp_path) if one.did == "refused"]
    assert {(one.who, one.what) for one in refused} == {("ben", ID)}
    assert len(refused) == 6


def test_an_editor_works_in_it_a_reader_does_not_and_neither_hands_it_on(stores):
    ada, ben = stores
    ada.share(ID, "ben", "Ben", "reader")
    assert ben.load(ID).name == "stays"
    with pytest.raises(AccessError, match="for reading"):
        ben.save(ID, ProjectFile(name="mine now"))
    ada.share(ID, "ben", "Ben", "editor")
    ben.save(ID, ProjectFile(name="by ben"))
    (record,) = ben.records()
    assert (record.owner, record.role_of("ben")) == ("ada", "editor")
    for step in (lambda: ben.share(ID, "eve", "Eve", "reader"), lambda: ben.delete(ID)):
        with pytest.raises(AccessError, match="Only its owner"):
            step()
    ada.unshare(ID, "ben")
    with pytest.raises(AccessError):
        ben.load(ID)


def test_a_share_that_is_taken_away_does_not_come_back_with_a_save(stores, monkeypatch):
    ada, ben = stores
    ada.share(ID, "ben", "Ben", "editor")
    takes = threading.Thread(target=ada.unshare, args=(ID, "ben"))
    dumps = project_store.project_file.dumps

    def meanwhile(project: ProjectFile) -> str:
        """Ben's save has read whose the project is, and has not written it yet."""
        takes.start()
        takes.join(0.3)
        return dumps(project)

    monkeypatch.setattr(project_store.project_file, "dumps", meanwhile)
    ben.save(ID, ProjectFile(name="by ben"))
    takes.join()
    found = ada.record(ID)
    assert (found.name, found.shared, found.authors) == ("by ben", {}, ("ada", "ben"))


def test_it_is_shared_with_another_person_in_a_known_role(stores):
    ada, _ = stores
    for subject, role in (("ada", "editor"), ("", "editor"), ("ben", "owner")):
        with pytest.raises(ConfigError):
            ada.share(ID, subject, "x", role)


@pytest.mark.parametrize("id", ["", "..", "../../etc", "a/b", "short", "x" * 65, "ümlaut-ümlaut"])
def test_an_id_leads_nowhere_else(stores, id, tmp_path):
    ada, _ = stores
    assert ada.record(id) is None
    with pytest.raises(ConfigError):
        ada.save(id, ProjectFile(name="stays"))
    with pytest.raises(ConfigError):
        ada.load(id)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"name": "x"}', "null", "\x00", f"[{'1,' * 200_000}1]"]
)
def test_a_damaged_record_opens_to_nobody(stores, tmp_path, text):
    ada, ben = stores
    (tmp_path / "projects" / ID / "about.json").write_text(text)
    assert ada.records() == ben.records() == ()
    with pytest.raises(ConfigError):
        ben.load(ID)
    with pytest.raises(ConfigError, match="cannot be read"):  # or it would be Ben's from now on
        ben.save(ID, ProjectFile(name="mine"))
    assert (tmp_path / "projects" / ID / "about.json").read_text() == text


def test_the_audit_log_tells_of_every_step_and_of_every_change_to_it(stores, tmp_path):
    ada, _ = stores
    ada.share(ID, "ben", "Ben", "reader")
    ada.delete(ID)
    people.seen(tmp_path, person("ben"))
    assert [(one.who, one.did, one.to) for one in reversed(audit_log.entries(tmp_path))] == [
        ("ada", "project made", ""),
        ("ada", "project shared", "ben"),
        ("ada", "project deleted", ""),
        ("ben", "login", ""),
    ]
    assert "stays" not in (tmp_path / "audit" / "log.jsonl").read_text()
    assert audit_log.broken(tmp_path) is None
    path = tmp_path / "audit" / "log.jsonl"
    lines = path.read_text().splitlines()
    for number, changed in (
        (2, [lines[0], *lines[2:]]),
        (3, [*lines[:1], lines[1].replace("ben", "eve"), *lines[2:]]),
        (2, [lines[0].replace("ada", "eve"), *lines[1:]]),
        (1, lines[1:]),
    ):
        path.write_text("\n".join(changed) + "\n")
        assert audit_log.broken(tmp_path) == number
    assert json.loads(lines[0])["name"] == "Ada"


def test_names_are_those_of_people_who_have_logged_in(tmp_path):
    assert people.names(tmp_path) == {}
    people.seen(tmp_path, person("ada"))
    people.seen(tmp_path, person("ben"))
    people.seen(tmp_path, Identity(subject="ada", name="Ada L", roles=frozenset()))
    assert people.names(tmp_path) == {"ada": "Ada L", "ben": "Ben"}
