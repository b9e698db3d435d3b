"""The manifest: SHA-256 of every file that may be handed over, and a signature over it."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path

from prism_core.bundle import signing
from prism_core.bundle.bundle_files import (
    LOCAL,
    MANIFEST,
    NEEDED,
    OPTIONAL,
    PARQUET,
    PUBLIC_KEY,
    SIGNATURE,
    SYNTHETIC,
    json_text,
    read_json,
)
from prism_core.bundle.signing import Signed
from prism_core.errors import BundleError
from prism_core.text import untrusted

ALGORITHM = "sha256"
UNWRITTEN = (SYNTHETIC, PARQUET, PUBLIC_KEY)
"""Files that do not follow from the plan, the facts and the noisy counts alone."""


def write_manifest(folder: Path, workspace: Path | None) -> None:
    """Write the manifest over the bundle's files, signed with the workspace's key if there is one.

    Raises:
        BundleError: when the workspace's key cannot be read or made.
    """
    # A signature over an earlier manifest would make the folder look forged.
    (folder / SIGNATURE).unlink(missing_ok=True)
    (folder / PUBLIC_KEY).unlink(missing_ok=True)
    if workspace is not None:
        # Before the digests, so that the signed list holds the key, too.
        (folder / PUBLIC_KEY).write_bytes(signing.sign(b"", workspace).pem)
    content = json_text({"algorithm": ALGORITHM, "files": digests(folder)}).encode()
    (folder / MANIFEST).write_bytes(content)
    if workspace is not None:
        (folder / SIGNATURE).write_bytes(signing.sign(content, workspace).signature)


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of the bundle's files that are there."""
    # By name and not by what lies there: `local.json`, which may name private files, is never
    # listed.
    present = (name for name in (*NEEDED, *OPTIONAL) if (folder / name).is_file())
    return {name: _digest(folder / name) for name in present}


def _digest(path: Path) -> str:
    # Before it is read: a forged file could keep whoever verifies busy for hours.
    if path.stat().st_size > untrusted.TABLE.size:
        raise BundleError(
            f"The file {path.name} is larger than {untrusted.TABLE.size // 10**9} GB, which is not "
            "read.",
            field=path.name,
        )
    with path.open("rb") as file:
        return hashlib.file_digest(file, ALGORITHM).hexdigest()


def public_names(folder: Path) -> tuple[str, ...]:
    """What may be handed over, manifest and signature included."""
    names = (*NEEDED, *OPTIONAL, MANIFEST, SIGNATURE)
    return tuple(name for name in names if (folder / name).is_file())


def file_findings(folder: Path) -> list[str]:
    """What is wrong with the list of files: missing, added, no plain file."""
    listed = _listed(folder)
    found: list[str] = []
    present = {path.name: path for path in folder.iterdir()}
    for name in sorted({*NEEDED, *listed} - set(present)):
        found.append(f"The file {name} is missing.")
    for name in sorted(set(present) - {*listed, MANIFEST, SIGNATURE, LOCAL}):
        found.append(f"The file {name!r} is not in the manifest.")
    for name in sorted(set(listed) - {*NEEDED, *OPTIONAL}):
        found.append(f"The manifest lists {name!r}, which is no file of a bundle.")
    for name, path in sorted(present.items()):
        # What a link leads to is not in the folder, and is another file on another machine.
        if path.is_symlink() or not path.is_file():
            found.append(f"{name!r} is not a plain file.")
    return found


def checksum_findings(folder: Path) -> list[str]:
    """Files whose content is not what the manifest says."""
    listed, real = _listed(folder), digests(folder)
    return [
        f"The file {name} was changed: its checksum is not the manifest's."
        for name in sorted(set(listed) & set(real))
        if listed[name] != real[name]
    ]


def check_manifest(folder: Path, *, signed: bool) -> None:
    """Refuse a folder that is not as its manifest says, before its rows are used for anything.

    Less than `verify`: it does not ask whether the files follow from each other, or whose key
    signed. Reads the folder alone; spends nothing.

    Args:
        folder: of the run.
        signed: whether a signature must be there, as on a charged release.

    Raises:
        BundleError: saying all that does not fit.
    """
    found = [*file_findings(folder), *checksum_findings(folder)]
    # Only where all files fit: a signature of a list that does not says nothing more.
    if not found and signer(folder) is None and signed:
        found = ["The bundle is not signed; a release is."]
    if found:
        raise BundleError(
            f"{' '.join(found)} The rows may not be those that were released. Take the folder as "
            "the run left it; `prism verify` says more.",
            field="dir",
        )


def signer(folder: Path) -> str | None:
    """The fingerprint of the key that signed the manifest, None when nobody did.

    Raises:
        BundleError: when key or signature is missing, or does not fit.
    """
    pem, signature = folder / PUBLIC_KEY, folder / SIGNATURE
    if not pem.exists() and not signature.exists():
        return None
    if not (pem.is_file() and signature.is_file()):
        raise BundleError("Of the signature and its key one is missing.", field="signature")
    signed = Signed(
        signature=untrusted.content_of(signature, untrusted.SIGNATURE),
        pem=untrusted.content_of(pem, untrusted.SIGNATURE),
    )
    signing.confirm(untrusted.content_of(folder / MANIFEST, untrusted.BUNDLE), signed)
    return signing.fingerprint(signed.pem)


def _listed(folder: Path) -> dict[str, str]:
    document = read_json(folder / MANIFEST)
    files = document.get("files")
    known = isinstance(files, dict) and all(isinstance(value, str) for value in files.values())
    # Nothing else may stand there: it would be signed and mean nothing.
    if document.get("algorithm") != ALGORITHM or set(document) != {"algorithm", "files"}:
        known = False
    if not known:
        raise BundleError("manifest.json does not list SHA-256 checksums.", field=MANIFEST)
    assert isinstance(files, dict)
    return files


_FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # the earliest a ZIP file knows; no time of this machine


def zip_bytes(folder: str | Path) -> bytes:
    """The files that may be handed over; local.json stays. The same folder gives the same bytes."""
    source = Path(folder)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in public_names(source):
            entry = zipfile.ZipInfo(name, _FIRST_DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            # Without it zipfile writes 0600, for one user alone; a bundle is handed over.
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, (source / name).read_bytes())
    return buffer.getvalue()
