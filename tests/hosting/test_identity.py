"""An identity from a provider's claims: who, with which roles, and for how long."""

from __future__ import annotations

import math

import pytest

from prism_core.errors import AccessError
from prism_core.hosting.configuration import Hosting
from prism_core.hosting.identity import identified
from tests.support.hosting import claims

NOW = 2_000_000_000.0
HOSTING = Hosting(address="https://studio.example", login_hours=8.0)


def test_subject_name_and_roles():
    found = identified(claims("u-ada", NOW - 60), HOSTING, NOW)
    assert (found.subject, found.name, found.roles) == ("u-ada", "Ada Curator", {"curator"})
    assert found.who == "u-ada (Ada Curator)"


def test_nobody_is_nobody():
    for said in ({}, {"is_logged_in": False}, {"is_logged_in": False, "sub": "u-ada", "iat": NOW}):
        with pytest.raises(AccessError, match="Log in first"):
            identified(said, HOSTING, NOW)


@pytest.mark.parametrize(
    "issued",
    [NOW - 8 * 3600 - 1, NOW + 301, None, "x", True, math.nan, math.inf, -math.inf, 0],
)
def test_a_login_that_has_ended_or_has_no_time_is_refused(issued):
    with pytest.raises(AccessError, match="has ended"):
        identified(claims("u-ada", NOW, iat=issued), HOSTING, NOW)


def test_a_login_holds_to_its_last_second():
    identified(claims("u-ada", NOW - 8 * 3600), HOSTING, NOW)


@pytest.mark.parametrize("subject", ["", " a", "a\nb", "a" * 121, 3, ["a"]])
def test_a_subject_is_one_short_line(subject):
    with pytest.raises(AccessError, match="subject"):
        identified(claims("u-ada", NOW, sub=subject), HOSTING, NOW)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"name": "Ada\nL\u200b  x"}, "Ada L x"),
        ({"name": "", "preferred_username": "ada"}, "ada"),
        ({"name": 3, "email": "ada@clinic.example"}, "ada@clinic.example"),
        ({"name": "a" * 300}, "a" * 60),
        ({"name": None}, "u-ada"),
    ],
)
def test_a_name_is_one_line_whatever_the_provider_says(said, expected):
    found = identified(claims("u-ada", NOW, **said), HOSTING, NOW)
    assert found.name == expected
    assert found.who.isprintable()


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["reviewer", "curator", "king"], {"reviewer", "curator"}),
        ("auditor curator", {"auditor", "curator"}),
        ([3, None, {"a": 1}], set()),
        ({"curator": True}, set()),
        (None, set()),
    ],
)
def test_only_known_roles_of_the_claim_count(said, expected):
    assert identified(claims("u-ada", NOW, roles=said), HOSTING, NOW).roles == expected


def test_a_claim_within_claims_and_names_of_groups():
    hosting = Hosting(
        address="https://studio.example",
        roles_claim="realm_access.roles",
        claim_values={"curator": frozenset({"prism-curators"})},
    )
    said = claims("u-ada", NOW, realm_access={"roles": ["prism-curators", "reviewer"]})
    assert identified(said, hosting, NOW).roles == {"curator", "reviewer"}
    # The role's own name is no value of the claim where other values are named.
    said["realm_access"] = {"roles": ["curator"]}
    assert identified(said, hosting, NOW).roles == set()


def test_where_a_file_says_the_roles_no_claim_gives_one():
    hosting = Hosting(address="https://studio.example", subjects={"reviewer": frozenset({"u-ada"})})
    assert identified(claims("u-ada", NOW), hosting, NOW).roles == {"reviewer"}
    assert identified(claims("u-ben", NOW), hosting, NOW).roles == set()
