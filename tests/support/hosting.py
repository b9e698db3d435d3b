"""The hosted form for tests: a hosting file, people, and a real OpenID Connect provider."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SECRET = "a-secret-of-the-tests-that-signs-cookies"
CLIENT_SECRET = "the-client-secret-of-the-tests"
PEOPLE = {
    "u-ada": ("Ada Curator", ["curator"]),
    "u-ben": ("Ben Curator", ["curator"]),
    "u-rita": ("Rita Reviewer", ["reviewer"]),
    "u-rolf": ("Rolf Reviewer", ["reviewer", "curator"]),
    "u-aud": ("Aude Auditor", ["auditor"]),
    "u-none": ("Nobody Yet", []),
}
"""By subject: name and roles."""


def hosting_file(
    path: Path,
    address: str = "http://127.0.0.1:8501",
    provider: str = "http://127.0.0.1:9400",
    more: str = "",
) -> Path:
    """A hosting file of mode 0600; `more` is put behind it."""
    path.write_text(
        f'[auth]\nredirect_uri = "{address}/oauth2callback"\ncookie_secret = "{SECRET}"\n'
        f'client_id = "prism"\nclient_secret = "{CLIENT_SECRET}"\n'
        f'server_metadata_url = "{provider}/.well-known/openid-configuration"\n{more}',
        encoding="utf-8",
    )
    path.chmod(0o600)
    return path


def claims(subject: str, now: float, **other: object) -> dict[str, object]:
    """What the provider says of one of `PEOPLE` who logged in at `now`."""
    name, roles = PEOPLE[subject]
    said = {"sub": subject, "name": name, "roles": roles, "iat": int(now), "is_logged_in": True}
    return said | other


@contextmanager
def provider(port: int) -> Iterator[str]:
    """A provider of identities on this machine, whose login is one click; gives its address."""
    address = f"http://127.0.0.1:{port}"
    people = [
        json.dumps({"sub": subject, "name": name, "roles": roles})
        for subject, (name, roles) in PEOPLE.items()
    ]
    flags = [part for one in people for part in ("--user-claims", one)]
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), *flags]
    process = subprocess.Popen(
        command,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not _answers(f"{address}/.well-known/openid-configuration"):
            assert process.poll() is None, "the provider ended"
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)


def cookie(said: Mapping[str, object], origin: str, secret: str = SECRET) -> str:
    """The signed cookie in which Streamlit keeps these claims for the app at an address."""
    from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

    content = json.dumps({"origin": origin, "provider": "default", **said})
    return create_signed_value(secret, "_streamlit_user", content).decode()


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as found:
            return found.status == 200
    except (urllib.error.URLError, OSError):
        time.sleep(0.05)
        return False


class Door:
    """Whom the provider says the session's person to be, and the server's clock."""

    def __init__(self) -> None:
        self.said: dict[str, object] = {}
        self.now = time.time()

    def let_in(self, subject: str, **other: object) -> None:
        self.said = claims(subject, self.now, **other)

    def time(self) -> float:
        return self.now
