"""`prism ledger`: what it prints, what it refuses, and that it only reads."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from prism_core.cli.main import main
from prism_core.privacy.accountants.accountant import Spent
from prism_core.privacy.accountants.conversions import epsilon_to_rho
from prism_core.privacy.events import GaussianEvent
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.ledger.fingerprint import MEMORY

pytestmark = pytest.mark.privacy


@pytest.fixture
def ledger(tmp_path):
    found = Ledger(tmp_path / "work")
    for name in ("ward 7", "clinic"):
        found.register(name, epsilon=2.0, delta=1e-6)
    for asset, why in (("ward 7", "a first benchmark"), ("ward 7", ""), ("clinic", "")):
        spent = Spent(epsilon=0.5, delta=1e-6, rho=epsilon_to_rho(0.5, 1e-6))
        found.charge(
            asset,
            step="release",
            spent=spent,
            events=(GaussianEvent(sigma=50.0, label="age × y"),),
            plan="abc",
            accountant="zcdp",
            why=why,
        )
    found.mark(1, "done")
    found.mark(2, "void")
    found.correct(1, "for two teams")
    return found


@pytest.fixture
def prism(ledger, capsys):
    def call(*words):
        status = main(["ledger", *map(str, words), "--workspace", str(ledger.path.parent)])
        out = capsys.readouterr()
        return status, out.out, out.err

    return call


def test_list_shows_assets_and_charges(prism):
    status, text, _ = prism("list")
    assert status == 0
    lines = text.splitlines()
    assert lines[0].split()[:3] == ["asset", "lifetime", "spent"]
    assert lines[1].startswith("ward 7")
    assert "spent: finished; a first benchmark" in text
    assert "not spent: no mechanism ran" in text
    assert "no end is recorded" in text
    assert "compose less than additively" in text


def test_list_in_json_and_of_one_asset(prism, ledger):
    document = json.loads(prism("list", "--json")[1])
    ward, clinic = document["assets"]
    assert ward["charges"] == 1  # the void one does not count
    assert ward["spent_epsilon_naive_sum"] == 0.5
    assert ward["left_epsilon"] == ledger.balance("ward 7").left_epsilon
    assert clinic["asset"] == "clinic"
    assert [c["id"] for c in document["charges"]] == [1, 2, 3]
    document = json.loads(prism("list", "--asset", "CLINIC", "--json")[1])
    assert [c["asset"] for c in document["charges"]] == ["clinic"]
    status, _, err = prism("list", "--asset", "x")
    assert status == 2
    assert "no asset 'x'" in err


def test_show(prism):
    status, text, _ = prism("show", 1)
    assert status == 0
    for words in (
        "charge 1 to 'ward 7'",
        "a first benchmark",
        "reserved",
        "done",
        "for two teams",
        "gaussian: sigma 50",
        "age × y",
        "reserve: rho",
    ):
        assert words in text
    document = json.loads(prism("show", 1, "--json")[1])
    assert [event["event"] for event in document["events"]] == ["gaussian", "reserve"]
    assert [change["state"] for change in document["history"]] == ["reserved", "done"]
    status, _, err = prism("show", 9)
    assert (status, err) == (2, "prism: charge: There is no charge 9 in the ledger.\n")


def test_verify(prism, ledger):
    status, text, _ = prism("verify")
    assert status == 0
    head = text.split()[-1]
    assert len(head) == 64
    assert prism("verify", "--head", head)[0] == 0
    status, text, err = prism("verify", "--head", "0" * 64)
    assert status == 2
    assert "removed or rewritten" in text
    assert "not as this program wrote it" in err
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as db:
        db.execute("DROP TRIGGER charges_no_update")
        db.execute("UPDATE charges SET epsilon = 0.1 WHERE id = 1")
    status, text, _ = prism("verify", "--json")
    assert status == 2
    found = json.loads(text)
    assert found["ok"] is False
    assert "Row 1 of charges is not as it was written" in found["findings"][0]


def test_export(prism, tmp_path):
    status, text, _ = prism("export")
    assert status == 0
    document = json.loads(text)
    assert document["verification"]["ok"] is True
    assert len(document["chain"]) == document["verification"]["rows"]
    assert document["charges"][0]["corrections"][0]["note"] == "for two teams"
    out = tmp_path / "ledger.json"
    status, text, _ = prism("export", "--out", out, "--json")
    assert json.loads(text) == {"out": str(out)}
    assert json.loads(out.read_text())["charges"] == document["charges"]
    status, _, err = prism("export", "--out", tmp_path / "absent" / "x.json")
    assert status == 2
    assert "cannot be written" in err


def test_reading_makes_no_ledger(tmp_path, capsys):
    for command in (["list"], ["verify"], ["export"], ["show", "1"]):
        assert main(["ledger", *command, "--workspace", str(tmp_path / "absent")]) == 2
        assert "There is no ledger in" in capsys.readouterr().err
    assert not (tmp_path / "absent").exists()


def test_reading_changes_nothing(prism, ledger):
    before = ledger.verify()
    for command in (["list"], ["show", 1], ["verify"], ["export"]):
        prism(*command)
    assert ledger.verify() == before


def test_an_empty_ledger(tmp_path, capsys):
    Ledger(tmp_path)
    assert main(["ledger", "list", "--workspace", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "The ledger holds no asset yet.\n"


def test_a_release_of_known_rows_under_another_name_is_told_and_runs(make_run, tmp_path, capsys):
    """The notice goes to the curator's screen; run and outcome are those of any other table."""
    names = {}
    for number, name in enumerate(("ward 7", "another name", "ward 7")):
        config = make_run(name=f"run {number}", public=False, asset=9.0)
        text = config.read_text().replace('"ward 7"', f'"{name}"')
        config.write_text(text)
        status = main(
            [
                "release",
                str(config),
                "--out",
                str(tmp_path / f"out {number}"),
                "--json",
                "--workspace",
                str(tmp_path / "work"),
            ]
        )
        out = capsys.readouterr()
        told = json.loads(out.out)
        assert status == 0
        assert told["stamp"] == "release"
        assert "ward 7" not in out.out
        names[number] = _told(out.err)
    assert names[0] == ""
    assert "already charged under “ward 7”" in names[1]
    assert "already charged under “another name”" in names[2]
    states = [charge.state for charge in Ledger(tmp_path / "work").charges()]
    assert states == ["done"] * 3
    known = map(json.loads, filter(None, (tmp_path / "work" / MEMORY).read_text().split("\n")))
    mark = next(entry["fingerprint"] for entry in known if "fingerprint" in entry)
    for path in tmp_path.glob("out */*"):
        assert mark.encode() not in path.read_bytes()
        assert b"already charged" not in path.read_bytes()


def test_rows_of_persons_are_known_again_though_another_row_is_drawn(
    schema, frame, make_run, tmp_path, capsys
):
    several = frame.assign(mrn=[f"p{number // 2}" for number in range(len(frame))])
    persons = replace(schema, one_row_per_person=False, person_id="mrn", persons=150)
    told = []
    for name in ("ward 7", "another name"):
        config = make_run(name=name, public=False, asset=9.0, frame=several, schema=persons)
        config.write_text(config.read_text().replace('"ward 7"', f'"{name}"'))
        assert (
            main(
                [
                    "release",
                    str(config),
                    "--out",
                    str(tmp_path / f"out {name}"),
                    "--workspace",
                    str(tmp_path / "work"),
                ]
            )
            == 0
        )
        told.append(capsys.readouterr().err)
    assert _told(told[0]) == ""
    assert "already charged under “ward 7”" in told[1]


def _told(text: str) -> str:
    """Without the note that nobody has checked the declaration."""
    return "".join(line for line in text.splitlines(True) if "prism check" not in line)
