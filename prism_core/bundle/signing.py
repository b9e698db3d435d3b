"""The workspace's signature: Ed25519 (RFC 8032), by the library `cryptography`.

A key of its own, not the secret of the fingerprints: whoever checks an HMAC could also make one,
so an HMAC tells nothing to people outside. Here the public key travels with the bundle, and its
fingerprint, learned another way (a letter, the ledger's owner), says whose it is.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core import files
from prism_core.errors import BundleError

if TYPE_CHECKING:
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

KEY = "signing.key"
"""The workspace's file of the private key: 32 bytes, for this user only."""


@dataclass(frozen=True, kw_only=True)
class Signed:
    """A signature with what is needed to check it.

    Attributes:
        signature: 64 bytes.
        pem: the public key.
    """

    signature: bytes
    pem: bytes


def sign(content: bytes, workspace: Path) -> Signed:
    """Sign with the workspace's key, which is made on first use.

    Raises:
        BundleError: when the workspace cannot be read or written.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        # In the workspace and never in a bundle: whoever gets one cannot sign another.
        secret = files.secret(files.folder(workspace) / KEY)
        key = Ed25519PrivateKey.from_private_bytes(secret)
    except OSError:
        raise BundleError(
            "The workspace's signing key cannot be read or made. Check that its folder is yours "
            "and writable.",
            field="workspace",
        ) from None
    return Signed(signature=key.sign(content), pem=_pem(key.public_key()))


def check_signing(workspace: Path) -> None:
    """Make sure that the workspace can sign, before anything is spent on what is to be signed.

    Raises:
        BundleError: when the key cannot be read or made.
    """
    # The key is made on first use, so only signing shows that it can be made.
    sign(b"", workspace)


def public_pem(workspace: Path) -> bytes | None:
    """The public key of a workspace, None where it has signed nothing yet."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    path = workspace / KEY
    if not path.is_file():
        return None
    try:
        return _pem(Ed25519PrivateKey.from_private_bytes(path.read_bytes()).public_key())
    except (OSError, ValueError):
        raise BundleError("The workspace's signing key is not readable.", field="key") from None


def fingerprint(pem: bytes) -> str:
    """SHA-256 of a public key, as hexadecimal digits: short enough to be read out.

    Raises:
        BundleError: when it is no Ed25519 public key.
    """
    # Of the raw bytes: the same key in a PEM with other line ends has the same fingerprint.
    return hashlib.sha256(_public(pem).public_bytes_raw()).hexdigest()


def confirm(content: bytes, signed: Signed) -> None:
    """Check a signature.

    Raises:
        BundleError: when it is not this key's over this content.
    """
    from cryptography.exceptions import InvalidSignature

    try:
        _public(signed.pem).verify(signed.signature, content)
    except InvalidSignature:
        raise BundleError(
            "The signature does not fit: the manifest was changed after it was signed, or another "
            "key was put beside it.",
            field="signature",
        ) from None


def _public(pem: bytes) -> Ed25519PublicKey:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = serialization.load_pem_public_key(pem)
    except (ValueError, TypeError):
        key = None
    # PEM may hold a key of another kind, whose `verify` takes other arguments.
    if not isinstance(key, Ed25519PublicKey):
        raise BundleError("The bundle's public key is no Ed25519 public key.", field="key")
    return key


def _pem(key: Ed25519PublicKey) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
