"""Files of the workspace: for this user only, whatever the mode of the folder they stand in.

A workspace may be a folder that existed before, with mode 0755 and an ordinary umask; so every file
is made with mode 0600 and never made wider, and one that an earlier version left wider is narrowed
when it is next written. What a curator asks for elsewhere (`--out`) is hers, with the mode that her
umask gives; it is put in place as a whole, too (`whole`, `give`, `give_all`).
"""

from __future__ import annotations

import fcntl
import io
import os
import secrets
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FILE, FOLDER = 0o600, 0o700
SECRET_BYTES = 32
"""Length of a secret."""

_OTHERS = 0o077
_DATABASE = ("", "-wal", "-shm", "-journal")  # SQLite gives the last three the mode of the first


def folder(path: Path) -> Path:
    """A folder, made for this user only where it is not there; its path.

    One that is there keeps its mode: it may be the user's own, with other things in it. Parents
    that are made on the way have the mode that the umask gives.

    Raises:
        OSError: when it cannot be made.
    """
    path.mkdir(parents=True, exist_ok=True, mode=FOLDER)
    return path


def new(path: Path) -> BinaryIO:
    """A new private file, open for writing.

    Raises:
        OSError: when it is there already, or cannot be made.
    """
    # O_EXCL: a link that somebody left there is not followed.
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE), "wb")


def put(path: Path, text: str) -> None:
    """Write a text to a new private file.

    Raises:
        OSError: as `new`.
    """
    with new(path) as file:
        file.write(text.encode("utf-8"))


def replace(path: Path, content: bytes, *, sync: bool = True) -> None:
    """Put a private file in place as a whole: a reader, or a crash, never leaves half of it.

    Args:
        path: the file; it may be there.
        content: all of it.
        sync: whether it is on the disk when this returns, its place in the folder, too.

    Raises:
        OSError: when it cannot be written; the former file stands.
    """
    # In the same folder, as a rename is one step within a file system only; random, as two may
    # write.
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with new(draft) as file:
            file.write(content)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    if sync:
        # The rename is on the disk once its folder is.
        sync_folder(path.parent)


@contextmanager
def whole(out: Path) -> Iterator[BinaryIO]:
    """A file that the user asked for: at the end of the block it stands there, synced.

    Where the block fails, what stood there before stays. A device or a pipe, and a file in a folder
    that may not be written, are written at the end in one go.

    Raises:
        OSError: at once where it cannot be written, or at the end, when the disk is full.
    """
    place = Path(os.path.realpath(out))  # what a link points to is written, the link stays
    if place.is_dir():
        raise IsADirectoryError(str(place))
    there = place.exists()
    if there and not (place.is_file() and os.access(place.parent, os.W_OK)):
        with place.open("ab"):  # whether it may be written
            pass
        # Kept back until the end, so that a block that fails has written nothing.
        content = io.BytesIO()
        yield content
        place.write_bytes(content.getvalue())
        return
    # Cut, as most file systems take names of 255 bytes, and the mark needs some of them.
    draft = place.with_name(f".{place.name[:200]}.{secrets.token_hex(8)}")
    try:
        with draft.open("xb") as file:
            if there:
                # What is replaced keeps its mode; the umask is for new files.
                draft.chmod(place.stat().st_mode & 0o777)
            yield file
            file.flush()
            os.fsync(file.fileno())  # some disks say here alone that they are full
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)


def give(out: Path, content: bytes) -> None:
    """Write a file that the user asked for, whole or not at all; see `whole`.

    Raises:
        OSError: when it cannot be written; what stood there stays.
    """
    with whole(out) as file:
        file.write(content)


def give_all(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write the files of a folder that the user asked for: all of them or none.

    A file of the same name is replaced, any other stays. All are on the disk before the first one
    takes its place, so a full disk leaves the folder as it was, or makes none.

    Raises:
        OSError: when they cannot be written.
    """
    there = folder.is_dir()
    folder.mkdir(parents=True, exist_ok=True)
    mark = secrets.token_hex(8)
    drafts = {name: folder / f".{name}.{mark}" for name in contents}
    try:
        for name, content in contents.items():
            with drafts[name].open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for name, draft in drafts.items():
            draft.replace(folder / name)
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)
        if not there:
            with suppress(OSError):  # it holds the files
                folder.rmdir()


def reserve(folder: Path, size: int) -> Path:
    """A new private file that holds room for so many bytes, to be filled by `fill`; its path.

    Raises:
        OSError: when the disk has no room, or the folder cannot be written; nothing is left.
    """
    draft = folder / f".{secrets.token_hex(8)}"
    try:
        with new(draft) as file:
            # Real blocks: a length alone would be a promise that a full disk breaks.
            os.posix_fallocate(file.fileno(), 0, size)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return draft


def fill(draft: Path, path: Path, content: bytes) -> None:
    """Put a content that fits into the room of `reserve` in place, as `replace` does.

    Raises:
        OSError: when it cannot be written; the former file stands.
    """
    with draft.open("r+b") as file:  # into the blocks that are ours already
        file.write(content)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_folder(path.parent)


def append(path: Path, content: bytes, *, sync: bool = True) -> None:
    """Add to a private file by one write, so that lines of two processes do not mix.

    Raises:
        OSError: when it cannot be written.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, FILE)
    # Unbuffered: one call of the system, which O_APPEND puts at the end as a whole.
    with os.fdopen(handle, "ab", buffering=0) as file:
        # Before the content is in it.
        narrow(path)
        file.write(content)
        if sync:
            os.fsync(file.fileno())


def narrow(path: Path) -> None:
    """Take away what others may do with a file of ours; somebody else's stays as it is."""
    with suppress(OSError):
        found = path.stat(follow_symlinks=False)
        if found.st_mode & _OTHERS and found.st_uid == os.getuid():
            path.chmod(FILE, follow_symlinks=True)


def database(path: Path) -> None:
    """Make the file of a SQLite database before SQLite does, which would ask the umask alone.

    Raises:
        OSError: when it cannot be made.
    """
    with suppress(FileExistsError):
        new(path).close()
    for ending in _DATABASE:
        narrow(path.with_name(path.name + ending))


def secret(path: Path) -> bytes:
    """The secret in a file; made on first use, readable by this user only.

    Raises:
        OSError: when it cannot be read or made, or is not whole.
    """
    if not path.exists():
        draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        # Synced before it gets its name: a key cut short by a crash would be refused for good.
        append(draft, secrets.token_bytes(SECRET_BYTES))
        try:
            os.link(draft, path)  # whole or not at all; the first of two processes wins
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    narrow(path)
    key = path.read_bytes()
    if len(key) != SECRET_BYTES:
        raise OSError("the secret is not whole")
    return key


@contextmanager
def alone(place: Path) -> Iterator[None]:
    """Nobody else is in a folder meanwhile who asks in this way; processes take turns.

    Raises:
        OSError: when there is no such folder.
    """
    # O_NOFOLLOW: through a link it would be another folder that is locked.
    handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        # The lock goes with the handle, so a process that dies leaves none.
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def sync_folder(place: Path) -> None:
    """Sync the places of the files in a folder.

    Raises:
        OSError: when it cannot be read.
    """
    handle = os.open(place, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
