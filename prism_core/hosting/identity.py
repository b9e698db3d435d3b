"""Identity of a person, from the claims of an OpenID Connect provider: subject, name, roles.

The provider checks who somebody is. Here its claims are read, and a login that has ended is
refused: the browser's cookie lives for weeks, and a provider may have shut the account since.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prism_core.bundle.protocol.votes import person_text
from prism_core.errors import AccessError
from prism_core.hosting.configuration import ROLES, Hosting, Role

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST_SUBJECT = 120
LONGEST_NAME = 60
_EARLY = 300.0  # seconds by which the provider's clock may be ahead of this one


@dataclass(frozen=True, kw_only=True)
class Identity:
    """A person who is logged in.

    Attributes:
        subject: by which the provider tells this person from all others, for good.
        name: as the person is called; may change, and two may share one.
        roles: what the person may do.
    """

    subject: str
    name: str
    roles: frozenset[Role]

    @property
    def who(self) -> str:
        """Subject and name, in one line: for the ledger, approvals and the audit log."""
        return person_text(self.subject, self.name)


def identified(claims: Mapping[str, Any], hosting: Hosting, now: float) -> Identity:
    """Who somebody is.

    Args:
        claims: of the ID token, as the provider signed them; empty where nobody is logged in.
        hosting: which claim or file says the roles, and how long a login holds.
        now: seconds since 1970.

    Raises:
        AccessError: when nobody is logged in, or the login has ended.
    """
    subject, issued = claims.get("sub"), claims.get("iat")
    if claims.get("is_logged_in") is False or subject is None:
        raise AccessError("Log in first. Nothing was done.", field="login")
    if not _one_line(subject) or len(subject) > LONGEST_SUBJECT:
        raise AccessError(
            f"The provider's subject must be one line of at most {LONGEST_SUBJECT} characters. Ask "
            "who runs this server. Nothing was done.",
            field="login",
        )
    # A login that does not say when it was made counts as ended.
    since = math.inf
    if isinstance(issued, int | float) and not isinstance(issued, bool):
        since = now - float(issued)
    # A time that is no number, not finite or in the future is no time of a login.
    if not -_EARLY <= since <= hosting.login_hours * 3600.0:
        raise AccessError(
            f"Your login has ended: it holds for {hosting.login_hours:g} hours. Log in again. "
            "Nothing was done.",
            field="login",
        )
    return Identity(subject=subject, name=_name(claims, subject), roles=_roles(claims, hosting))


def _name(claims: Mapping[str, Any], subject: str) -> str:
    """The first claim that names the person, as one short line."""
    for claim in ("name", "preferred_username", "email"):
        text = claims.get(claim)
        if isinstance(text, str):
            line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
            if line:
                return line[:LONGEST_NAME].strip()
    return subject


def _roles(claims: Mapping[str, Any], hosting: Hosting) -> frozenset[Role]:
    if hosting.subjects is not None:
        subject = claims["sub"]
        return frozenset(role for role, members in hosting.subjects.items() if subject in members)
    found: object = claims
    for part in hosting.roles_claim.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    # Providers write several roles as a list, or as words in one text.
    said = found.split() if isinstance(found, str) else found
    values = {one for one in said if isinstance(one, str)} if isinstance(said, list) else set()
    # A role that the file has no values for goes by its own name.
    return frozenset(
        role for role in ROLES if values & hosting.claim_values.get(role, frozenset({role}))
    )


def _one_line(text: object) -> bool:
    return isinstance(text, str) and bool(text) and text.isprintable() and text == text.strip()
