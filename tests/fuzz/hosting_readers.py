"""Readers of the hosted form: files of its administrator, projects, and the committee."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from prism_core.bundle import project_file
from prism_core.bundle.project_file import ProjectFile
from prism_core.bundle.protocol.votes import Vote, votes_from
from prism_core.hosting import audit_log, configuration, people, sources, submission
from prism_core.hosting.committee import Committee
from prism_core.hosting.configuration import Hosting
from prism_core.hosting.identity import Identity
from prism_core.hosting.project_store import ProjectStore
from tests.fuzz.registry import Case, as_file, as_values, entry, every
from tests.support.hosting import hosting_file

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fuzz.shop import Shop

ADA = Identity(subject="ada", name="Ada", roles=frozenset({"curator", "reviewer"}))
ID, NUMBER = "an-id-of-a-project", f"{'0a' * 6}-1"
VOTE = Vote(
    subject="rita",
    name="Rita",
    at="2026-12-01T03:00:00+00:00",
    protocol=NUMBER,
    plan_sha256="0a" * 32,
    asset="ward 7",
    content_sha256="0b" * 32,
    signature="0c" * 64,
)


@entry("hosting file", "toml", 0.5)
def _hosting(shop: Shop) -> Case:
    place = shop.folder("hosting") / "hosting.toml"
    more = '[identity]\nlogin_hours = 8\n[committee]\nquorum = 2\n[sources]\nfile = "s.toml"\n'
    hosting_file(place, more=more)
    return Case(seeds=(place.read_bytes(),), read=as_file(place, configuration.load))


@entry("file of roles", "toml", 0.5)
def _roles(shop: Shop) -> Case:
    return Case(
        seeds=(b'curator = ["ada"]\nreviewer = ["rita", "rolf"]\n',),
        read=as_file(shop.folder("roles") / "roles.toml", configuration.load_roles),
    )


@entry("file of sources", "toml", 0.5)
def _sources(shop: Shop) -> Case:
    seed = (
        b'[[source]]\nname = "a"\naddress = "a.csv"\nasset = "ward 7"\nlifetime_epsilon = 3.0\n'
        b'curators = ["ada"]\n'
    )
    return Case(seeds=(seed,), read=as_file(shop.folder("sources") / "sources.toml", sources.load))


@entry("record of a project", "json", 0.5)
def _record(shop: Shop) -> Case:
    workspace = shop.folder("records")
    about = {
        "name": "stays",
        "owner": "ada",
        "owner_name": "Ada",
        "changed": "2026-12-01T03:00:00+00:00",
        "shared": {"ben": ["Ben", "editor"]},
        "source": "",
    }
    folder = workspace / "projects" / ID
    folder.mkdir(parents=True)
    (folder / "project.json").write_text(project_file.dumps(ProjectFile(name="stays")))
    store = ProjectStore(workspace, ADA)

    def read(_: Path) -> None:
        every(store.records, lambda: store.load(ID), lambda: submission.workers(workspace, ID))

    seed = json.dumps(about).encode()
    return Case(seeds=(seed,), read=as_file(folder / "about.json", read))


@entry("steps of a protocol", "json", 0.5)
def _steps(shop: Shop) -> Case:
    workspace = shop.folder("steps")
    folder = workspace / "committee" / NUMBER
    folder.mkdir(parents=True)
    about = {
        "project": ID,
        "title": "stays",
        "subject": "ada",
        "name": "Ada",
        "at": "2026-12-01T03:00:00+00:00",
        "plan_sha256": "0a" * 32,
        "asset": "ward 7",
        "workers": ["ada", "ben"],
    }
    (folder / "about.json").write_text(json.dumps(about))
    room = Committee(workspace, ADA, Hosting(address="https://studio.example"))

    def read(_: Path) -> None:
        every(room.all, room.unreadable, lambda: room.get(NUMBER))

    step = {"kind": "approve", "subject": "rita", "name": "Rita", "at": VOTE.at, "text": ""}
    seed = json.dumps(step | {"vote": VOTE.to_dict()}).encode()
    return Case(seeds=(seed,), read=as_file(folder / "steps.jsonl", read))


@entry("votes", "json", 0.5)
def _votes(shop: Shop) -> Case:
    assert shop.root
    return Case(
        seeds=(json.dumps([VOTE.to_dict()]).encode(),),
        read=lambda content: votes_from(as_values(content)),
    )


@entry("audit log", "json", 0.5)
def _audit(shop: Shop) -> Case:
    workspace = shop.folder("audit")
    audit_log.note(workspace, ADA, "login")
    place = workspace / audit_log.FOLDER / audit_log.FILE
    seed = place.read_bytes()

    def read(_: Path) -> None:
        every(lambda: audit_log.entries(workspace), lambda: audit_log.broken(workspace))

    return Case(seeds=(seed,), read=as_file(place, read))


@entry("names of people", "json", 0.5)
def _people(shop: Shop) -> Case:
    workspace = shop.folder("people")
    return Case(
        seeds=(b'{"ada": "Ada"}',),
        read=as_file(workspace / people.FILE, lambda path: people.names(path.parent)),
    )
