"""Projects on disk: each belongs to its owner, is shared by name, and outlives the server.

A project's folder holds the project as a file (`bundle.project_file`), so no row is in it, and who
owns it. Its id stands in addresses and is no secret: whoever opens it is asked who they are.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from prism_core import files
from prism_core.bundle import project_file
from prism_core.errors import AccessError, ConfigError
from prism_core.hosting import audit_log
from prism_core.text import untrusted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from prism_core.bundle.project_file import ProjectFile
    from prism_core.hosting.identity import Identity

FOLDER = "projects"

Share: TypeAlias = Literal["editor", "reader"]
SHARES: tuple[Share, ...] = get_args(Share)

_PROJECT, _ABOUT = "project.json", "about.json"
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_FOREIGN = "This project belongs to somebody else. Ask its owner to share it. Nothing was opened."


@dataclass(frozen=True, kw_only=True)
class ProjectRecord:
    """Whose a project is.

    Attributes:
        id: stands in its address.
        name: of its table or design.
        owner, owner_name: subject and name of whoever made it.
        changed: UTC time of the last change.
        shared: by subject: the name of who else may open it, and as what.
        source: name of the administrator's source that its rows come from, if any.
        authors: subjects who have changed it; they decide on none of its protocols.
    """

    id: str
    name: str
    owner: str
    owner_name: str
    changed: str
    shared: dict[str, tuple[str, Share]] = field(default_factory=dict)
    source: str = ""
    authors: tuple[str, ...] = ()

    def role_of(self, subject: str) -> Literal["owner", "editor", "reader"] | None:
        """As what somebody may open it, None where they may not."""
        if subject == self.owner:
            return "owner"
        return self.shared[subject][1] if subject in self.shared else None


class ProjectStore:
    """The projects that a person may see in a workspace."""

    def __init__(self, workspace: Path, person: Identity) -> None:
        self._workspace, self._person = workspace, person

    def records(self) -> tuple[ProjectRecord, ...]:
        """One's own and those shared with one, the last changed first."""
        root = self._workspace / FOLDER
        found = [self.record(path.parent.name) for path in root.glob(f"*/{_ABOUT}")]
        mine = [one for one in found if one is not None and one.role_of(self._person.subject)]
        return tuple(sorted(mine, key=lambda one: (one.changed, one.id), reverse=True))

    def record(self, id: str) -> ProjectRecord | None:
        """Whose a project is, whoever asks; None where there is none."""
        return self.record_in(self._workspace, id)

    @staticmethod
    def record_in(workspace: Path, id: str) -> ProjectRecord | None:
        """As `record`, where nobody asks: at the gate of a run."""
        # Matched before it becomes part of a path: the id stands in an address.
        if not _ID.fullmatch(id):
            return None
        try:
            path = workspace / FOLDER / id / _ABOUT
            document = untrusted.from_json(
                untrusted.text_of(path, untrusted.CONFIG), untrusted.CONFIG
            )
            shared = {who: (name, role) for who, (name, role) in document.pop("shared").items()}
            authors = tuple(document.pop("authors", ()))  # earlier records have none
            return ProjectRecord(id=id, shared=shared, authors=authors, **document)
        # What is beyond the limits of a read file is damaged like any other.
        except (OSError, ValueError, TypeError, KeyError, AttributeError, ConfigError):
            return None

    def opened(self, id: str) -> ProjectRecord | None:
        """The record of a project that this person may open; None where there is none.

        Raises:
            AccessError: when it is somebody else's; the audit log says who tried.
        """
        found = self.record(id)
        if found is not None and found.role_of(self._person.subject) is None:
            audit_log.note(self._workspace, self._person, "refused", id, "project of another")
            raise AccessError(_FOREIGN, field="project")
        return found

    def load(self, id: str) -> ProjectFile:
        """What was entered in a project.

        Raises:
            AccessError: when it is somebody else's.
            PrismError: when there is none, or it cannot be read.
        """
        if self.opened(id) is None:
            raise ConfigError("There is no project of this address.", field="project")
        return project_file.load(self._workspace / FOLDER / id / _PROJECT)

    def save(self, id: str, project: ProjectFile, *, source: str = "") -> None:
        """Keep what was entered; the first to save it owns it.

        Args:
            id: of the project.
            project: what is entered.
            source: see `ProjectRecord`.

        Raises:
            AccessError: when it is somebody else's, or shared for reading only.
            ConfigError: when it cannot be written.
        """
        with self._alone():
            found = self._editable(id)
            me = self._person.subject
            before = () if found is None else found.authors
            record = ProjectRecord(
                id=id,
                name=project.name,
                owner=me if found is None else found.owner,
                # The owner stays, whoever saves: an editor does not take a project over.
                owner_name=self._person.name if found is None else found.owner_name,
                changed=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
                shared={} if found is None else found.shared,
                source=source,
                authors=before if me in before else (*before, me),
            )
            if found is None:
                audit_log.note(self._workspace, self._person, "project made", id)
            # Before its record: a project that is listed can be opened.
            self._write(id, _PROJECT, project_file.dumps(project))
            self._describe(record)

    def share(self, id: str, subject: str, name: str, role: Share) -> None:
        """Let somebody else open a project; only its owner can.

        Args:
            id: of the project.
            subject: of the other person.
            name: of the other person.
            role: an editor works in it; a reader opens a copy.

        Raises:
            AccessError: when it is somebody else's.
            ConfigError: for the owner, or another role.
        """
        with self._alone():
            found = self._own(id)
            if subject == found.owner or role not in SHARES or not subject:
                raise ConfigError(
                    f"Share it with another person, as {' or '.join(SHARES)}.", field="share"
                )
            # Before the share: what the log cannot say is not done.
            audit_log.note(self._workspace, self._person, "project shared", id, subject)
            self._describe(replace(found, shared=found.shared | {subject: (name, role)}))

    def unshare(self, id: str, subject: str) -> None:
        """Take it away again.

        Raises:
            AccessError: when it is somebody else's.
        """
        with self._alone():
            found = self._own(id)
            audit_log.note(self._workspace, self._person, "project no longer shared", id, subject)
            rest = {who: how for who, how in found.shared.items() if who != subject}
            self._describe(replace(found, shared=rest))

    def delete(self, id: str) -> None:
        """Delete what was entered; only its owner can. Charges and files of runs stay.

        Raises:
            AccessError: when it is somebody else's.
        """
        with self._alone():
            self._own(id)
            audit_log.note(self._workspace, self._person, "project deleted", id)
            shutil.rmtree(self._workspace / FOLDER / id, ignore_errors=True)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One change at a time: a share that was taken away must not come back with a save."""
        try:
            with files.alone(files.folder(self._workspace / FOLDER)):
                yield
        except OSError:
            raise ConfigError(
                "The project cannot be saved. Check the workspace's folder and its disk.",
                field="workspace",
            ) from None

    def _own(self, id: str) -> ProjectRecord:
        found = self.opened(id)
        if found is None or found.owner != self._person.subject:
            raise AccessError("Only its owner can do this. Nothing was done.", field="project")
        return found

    def _editable(self, id: str) -> ProjectRecord | None:
        if not _ID.fullmatch(id):
            raise ConfigError("This is no id of a project.", field="project")
        found = self.opened(id)
        if found is None and (self._workspace / FOLDER / id / _ABOUT).exists():
            raise ConfigError(
                "Whose project this is cannot be read, so nothing is saved in it. Ask who runs "
                "this server.",
                field="project",
            )
        if found is not None and found.role_of(self._person.subject) == "reader":
            raise AccessError(
                "This project is shared with you for reading. Work in a copy.", field="project"
            )
        return found

    def _describe(self, record: ProjectRecord) -> None:
        document: dict[str, Any] = dict(vars(record))
        # The folder's name is the id; a second one in the file could differ from it.
        del document["id"]
        self._write(record.id, _ABOUT, json.dumps(document, ensure_ascii=False))

    def _write(self, id: str, name: str, text: str) -> None:
        folder = files.folder(self._workspace / FOLDER / id)
        files.replace(folder / name, text.encode("utf-8"))
