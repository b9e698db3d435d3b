"""The hosting file: what it says, what is refused, and that a change holds at once."""

from __future__ import annotations

import os

import pytest

from prism_core.errors import ConfigError
from prism_core.hosting import configuration
from prism_core.privacy.ledger.rules import HOSTING_VARIABLE
from tests.support.hosting import CLIENT_SECRET, SECRET, hosting_file


def test_without_the_variable_there_is_no_hosted_form(monkeypatch):
    monkeypatch.delenv(HOSTING_VARIABLE, raising=False)
    assert configuration.current() is None


def test_all_entries(tmp_path):
    (tmp_path / "roles.toml").write_text('reviewer = ["u-1"]\n')
    found = configuration.load(
        hosting_file(
            tmp_path / "h.toml",
            "https://studio.example/prism",
            more='[identity]\nroles_file = "roles.toml"\nlogin_hours = 2.5\n'
            'claim_values = {curator = ["prism-curators"]}\n'
            '[committee]\nquorum = 2\nname = "data access committee"\n'
            '[sources]\nfile = "sources.toml"\n',
        )
    )
    assert found.address == "https://studio.example/prism"
    assert found.subjects == {"reviewer": frozenset({"u-1"})}
    assert found.claim_values == {"curator": frozenset({"prism-curators"})}
    assert (found.login_hours, found.quorum, found.committee) == (2.5, 2, "data access committee")
    assert found.sources == tmp_path / "sources.toml"


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ("[identity]\nlogin_hours = 0\n", "login_hours"),
        ("[identity]\nlogin_hours = true\n", "login_hours"),
        ("[identity]\nlogin_hours = nan\n", "login_hours"),
        ('[identity]\nroles_claim = ""\n', "roles_claim"),
        ('[identity]\nclaim_values = {owner = ["x"]}\n', "claim_values"),
        ('[identity]\nclaim_values = {curator = "x"}\n', "claim_values"),
        ('[identity]\nroles_file = "nowhere.toml"\n', "hosting"),
        ("[committee]\nquorum = 0\n", "quorum"),
        ("[committee]\nquorum = 6\n", "quorum"),
        ("[committee]\nquorum = true\n", "quorum"),
        ("[comittee]\nquorum = 1\n", "comittee"),
        ("[committee]\nquorums = 1\n", "quorums"),
        ("committee = 3\n", "committee"),
        ("[sources]\nfile = 3\n", "file"),
        ("[identity\n", "hosting"),
    ],
)
def test_what_is_not_usable_is_refused_by_name(tmp_path, more, field):
    path = hosting_file(tmp_path / "h.toml", more=more)
    if more.startswith("committee"):
        path.write_text(more + path.read_text())
    with pytest.raises(ConfigError) as found:
        configuration.load(path)
    assert found.value.field == field
    assert SECRET not in str(found.value)
    assert CLIENT_SECRET not in str(found.value)


@pytest.mark.parametrize(
    ("before", "after", "field"),
    [
        (f'cookie_secret = "{SECRET}"', 'cookie_secret = "short"', "cookie_secret"),
        (f'client_secret = "{CLIENT_SECRET}"\n', "", "client_secret"),
        ("/oauth2callback", "/elsewhere", "redirect_uri"),
        ("http://127.0.0.1:8501", "http://studio.example", "redirect_uri"),
        ("http://127.0.0.1:8501", "ftp://studio.example", "redirect_uri"),
    ],
)
def test_a_login_that_could_not_be_trusted_is_refused(tmp_path, before, after, field):
    path = hosting_file(tmp_path / "h.toml")
    path.write_text(path.read_text().replace(before, after))
    with pytest.raises(ConfigError) as found:
        configuration.load(path)
    assert found.value.field == field


def test_a_file_that_others_can_read_is_refused(tmp_path):
    path = hosting_file(tmp_path / "h.toml")
    path.chmod(0o644)
    with pytest.raises(ConfigError, match="other users"):
        configuration.load(path)


def test_roles_that_every_user_may_rewrite_are_refused(tmp_path):
    roles = tmp_path / "roles.toml"
    roles.write_text('reviewer = ["u-1"]\n')
    roles.chmod(0o646)
    path = hosting_file(tmp_path / "h.toml", more='[identity]\nroles_file = "roles.toml"\n')
    with pytest.raises(ConfigError, match="every user of the machine"):
        configuration.load(path)


def test_a_named_file_that_is_gone_lets_nobody_in(tmp_path, monkeypatch):
    monkeypatch.setenv(HOSTING_VARIABLE, str(tmp_path / "gone.toml"))
    with pytest.raises(ConfigError, match="nobody is let in"):
        configuration.current()


def test_a_role_that_is_taken_away_is_gone_without_a_new_start(tmp_path, monkeypatch):
    roles = tmp_path / "roles.toml"
    roles.write_text('curator = ["u-1"]\n')
    path = hosting_file(tmp_path / "h.toml", more='[identity]\nroles_file = "roles.toml"\n')
    monkeypatch.setenv(HOSTING_VARIABLE, str(path))
    assert configuration.current().subjects == {"curator": frozenset({"u-1"})}
    roles.write_text("curator = []\n")
    os.utime(roles, (1, 1))  # as an editor or a copy may set it
    assert configuration.current().subjects == {"curator": frozenset()}
