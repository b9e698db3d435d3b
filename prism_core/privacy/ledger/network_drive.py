"""Network drives: whether a folder is on one, by the kind of its mount."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")

_PLAIN = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "ceph", "glusterfs", "lustre")
_CLUSTER = ("beegfs", "gpfs", "pvfs2", "orangefs", "ocfs2", "gfs2", "davfs")
_FUSE = ("sshfs", "glusterfs", "ceph", "cephfs", "davfs2", "rclone", "s3fs", "gcsfuse", "smbnetfs")
_FUSE_TOO = ("curlftpfs", "juicefs", "mfs")
KINDS = frozenset((*_PLAIN, *_CLUSTER, *(f"fuse.{name}" for name in (*_FUSE, *_FUSE_TOO))))
"""File systems that other machines write, too."""


def kind(folder: Path, mounts: Path | None = None) -> str:
    """The file system of a folder's network drive, "" where it is on none.

    Also "" where the system has no list of mounts (macOS): there nobody can tell.

    Args:
        folder: it need not be there yet.
        mounts: the system's list of mounts.
    """
    place = Path(os.path.realpath(folder))
    found, depth = "", -1
    with suppress(OSError):
        lines = (mounts or MOUNTS).read_text(encoding="utf-8", errors="replace").splitlines()
        for line in lines:
            before, _, after = line.partition(" - ")
            fields, system = before.split(), after.split()
            if len(fields) < 5 or not system:
                continue
            point = Path(_plain(fields[4]))
            # The innermost holds the folder; of two at one point the later one lies on top.
            if place.is_relative_to(point) and len(point.parts) >= depth:
                found, depth = system[0], len(point.parts)
    return found if found in KINDS else ""


def _plain(text: str) -> str:
    """A path whose spaces and the like are written as octal numbers."""
    # The backslash last: put back first, it would begin a number with the digits behind it.
    for code, mark in ((r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", "\\")):
        text = text.replace(code, mark)
    return text
