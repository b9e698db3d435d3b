"""The command that evaluates inside epsilon: charge, entry, and what it leaves alone."""

from __future__ import annotations

import json

import pytest

from prism_core.bundle.bundle_files import json_text
from prism_core.bundle.manifest import digests
from prism_core.cli import main
from prism_core.data.tables.raw_table import read_table
from prism_core.privacy.ledger import Ledger

pytestmark = pytest.mark.privacy


def test_the_command_charges_the_run_s_asset_and_writes_the_entry(make_run, tmp_path, capsys):
    config, work, out = make_run(public=False, asset=9.0), tmp_path / "work", tmp_path / "out"

    def prism(*words) -> tuple[int, str, str]:
        status = main.main([str(word) for word in words])
        return status, *capsys.readouterr()

    assert prism("release", config, "--out", out, "--workspace", work)[0] == 0
    before = {path.name for path in out.iterdir()}
    holdout = ("--holdout", config.parent / "holdout.csv")
    asked = ("evaluate", out, *holdout, "--private", "2", "--workspace", work)
    status, text, _ = prism(*asked)
    assert status == 0
    assert "charge 2" in text
    assert "outside epsilon" not in text
    assert {path.name for path in out.iterdir()} == before
    entry = json.loads((tmp_path / "out-private-evaluation.json").read_text())
    assert entry["guarantee"]["epsilon"] == pytest.approx(2.0, abs=1e-6)
    assert (
        entry["guarantee"]["delta"]
        == json.loads((out / "certificate.json").read_text())["guarantee"]["delta"]
    )
    assert entry["charge"] == 2
    assert len(Ledger(work).charges("ward 7")) == 2
    much = (*asked[:-4], "--private", "50", "--workspace", work)
    assert "maximum of this workspace, 20" in prism(*much)[2]
    status, _, err = prism(*much, "--epsilon-above-limit")
    assert status == 2
    assert "lifetime epsilon" in err
    (out / "local.json").unlink()
    status, _, err = prism(*asked)
    assert status == 2
    assert "Name the asset with --asset" in err
    elsewhere = tmp_path / "entry.json"
    status, text, _ = prism(*asked, "--asset", "WARD 7", "--out", elsewhere, "--json")
    assert status == 0
    assert json.loads(text) == json.loads(elsewhere.read_text())
    for option in ("--delta", "--seed"):
        status, _, err = prism("evaluate", out, *holdout, option, "1")
        assert status == 2
        assert "needs --private" in err
    status, _, err = prism(*asked, "--seed", "1", "--asset", "ward 7")
    assert status == 2
    assert "public only" in err


def test_a_rehearsal_on_public_rows_is_repeatable_and_not_charged(make_run, tmp_path, capsys):
    config, out = make_run(), tmp_path / "out"
    assert main.main(["release", str(config), "--out", str(out), "--seed", "1"]) == 0
    entries = []
    for _ in range(2):
        command = ["evaluate", str(out), "--holdout", str(config.parent / "holdout.csv")]
        assert main.main([*command, "--private", "2", "--seed", "3"]) == 0
        entries.append((tmp_path / "out-private-evaluation.json").read_text())
    assert entries[0] == entries[1]
    entry = json.loads(entries[0])
    assert entry["private_evaluation"] == "rehearsal, not a private evaluation"
    assert entry["charge"] is None
    assert entry["guarantee"] is None
    assert "not private" in entry["notice"]
    assert "differentially private" not in entry["notice"]
    assert all(number["outside_epsilon"] for number in entry["numbers"])
    capsys.readouterr()
    told = ["report", str(out), "--private", str(tmp_path / "out-private-evaluation.json")]
    assert main.main([*told, "--out", str(tmp_path / "report.html")]) == 2
    assert "its numbers are not private" in capsys.readouterr().err
    assert not (tmp_path / "report.html").exists()


def evaluated(out, *words: object) -> int:
    return main.main(["evaluate", str(out), *map(str, words)])


def test_a_public_run_makes_no_other_file_public(make_run, tmp_path, capsys):
    """Another file may be private: no known noise on its rows, and none without a charge."""
    config, out, work = make_run(), tmp_path / "out", tmp_path / "work"
    assert main.main(["release", str(config), "--out", str(out), "--seed", "1"]) == 0
    other, entry = tmp_path / "private.csv", tmp_path / "out-private-evaluation.json"
    other.write_bytes((config.parent / "holdout.csv").read_bytes())
    asked = ("--holdout", other, "--private", "2", "--workspace", work)
    capsys.readouterr()
    assert evaluated(out, *asked, "--seed", "7") == 2
    assert "public only" in capsys.readouterr().err
    assert evaluated(out, *asked) == 2
    err = capsys.readouterr().err
    assert "asset" in err
    assert "--holdout-public" in err
    assert not entry.exists()
    Ledger(work).register("ward", epsilon=9.0, delta=1e-4)
    assert evaluated(out, *asked, "--asset", "ward", "--delta", "1e-6") == 0
    assert json.loads(entry.read_text())["charge"] == 1
    public = (*asked, "--seed", "7", "--holdout-public")
    assert evaluated(out, *public) == 2  # its rows were just charged
    assert "charged as private, under “ward”" in capsys.readouterr().err
    assert evaluated(out, *public, "--although-charged") == 0
    assert json.loads(entry.read_text())["charge"] is None
    around = config.parent / ".." / config.parent.name / "holdout.csv"
    own = ("--holdout", around, "--private", "2", "--seed", "7")
    assert evaluated(out, *own) == 0  # the same file by another way
    assert evaluated(out, "--holdout", other, "--holdout-public") == 2
    assert "--holdout-public needs --private" in capsys.readouterr().err


def test_a_charged_release_is_not_made_public_by_its_local_file(make_run, tmp_path, capsys):
    config, out, work = make_run(public=False, asset=9.0), tmp_path / "out", tmp_path / "work"
    assert main.main(["release", str(config), "--out", str(out), "--workspace", str(work)]) == 0
    public = config.with_name("public.toml")
    public.write_text(config.read_text().replace("public = false", "public = true"))
    local = json.loads((out / "local.json").read_text())
    (out / "local.json").write_text(json.dumps(local | {"config": str(public)}))
    asked = ("--holdout", config.parent / "holdout.csv", "--private", "2", "--workspace", work)
    capsys.readouterr()
    assert evaluated(out, *asked, "--seed", "7") == 2
    assert "public only" in capsys.readouterr().err
    assert evaluated(out, *asked) == 2
    assert "Name the asset to charge with --asset" in capsys.readouterr().err
    assert len(Ledger(work).charges()) == 1


def test_a_folder_that_is_not_as_it_was_written_is_refused_before_the_charge(
    make_run, tmp_path, capsys
):
    """A model trained on rows that somebody put there is as private as those rows."""
    config, out, work = make_run(public=False, asset=9.0), tmp_path / "out", tmp_path / "work"
    assert main.main(["release", str(config), "--out", str(out), "--workspace", str(work)]) == 0
    asked = ("--holdout", config.parent / "holdout.csv", "--private", "1", "--workspace", work)
    parquet = out / "synthetic.parquet"
    good = parquet.read_bytes()
    read_table(config.parent / "train.csv").frame.to_parquet(parquet, index=False)
    capsys.readouterr()
    assert evaluated(out, *asked) == 2
    assert "synthetic.parquet was changed" in capsys.readouterr().err
    listed = (out / "manifest.json").read_text()
    (out / "manifest.json").write_text(json_text({"algorithm": "sha256", "files": digests(out)}))
    assert evaluated(out, *asked) == 2  # the signature is over the other manifest
    assert "signature" in capsys.readouterr().err
    unsigned = [out / "manifest.sig", out / "public-key.pem"]
    kept = [path.read_bytes() for path in unsigned]
    for path in unsigned:
        path.unlink()
    (out / "manifest.json").write_text(json_text({"algorithm": "sha256", "files": digests(out)}))
    assert evaluated(out, *asked) == 2
    assert "not signed" in capsys.readouterr().err
    for path, content in zip(unsigned, kept, strict=True):
        path.write_bytes(content)
    (out / "manifest.json").write_text(listed)
    parquet.unlink()
    assert evaluated(out, *asked) == 2
    assert "synthetic.parquet is missing" in capsys.readouterr().err
    assert len(Ledger(work).charges()) == 1
    parquet.write_bytes(good)
    assert evaluated(out, *asked) == 0
    assert len(Ledger(work).charges()) == 2


def test_a_place_that_cannot_be_written_is_refused_before_the_charge(make_run, tmp_path, capsys):
    config, out, work = make_run(public=False, asset=9.0), tmp_path / "out", tmp_path / "work"
    assert main.main(["release", str(config), "--out", str(out), "--workspace", str(work)]) == 0
    asked = ("--holdout", config.parent / "holdout.csv", "--workspace", work, "--private")
    folder, entry = tmp_path / "folder", tmp_path / "entry.json"
    folder.mkdir()
    before = {path.name for path in out.iterdir()}
    capsys.readouterr()
    for place, words in (
        (folder, "is a folder"),
        (out / "private-evaluation.json", "and no other"),
        (tmp_path / "none" / "entry.json", "nothing was charged"),
    ):
        assert evaluated(out, *asked, "0.5", "--out", place) == 2
        assert words in capsys.readouterr().err
    assert {path.name for path in out.iterdir()} == before
    assert evaluated(out, *asked, "50", "--out", entry) == 2  # more than there is
    assert not entry.exists()
    assert len(Ledger(work).charges()) == 1
    for epsilon, status in (("0.5", 0), ("50", 2), ("0.7", 0)):
        assert evaluated(out, *asked, epsilon, "--out", entry) == status
        told = json.loads(entry.read_text())["guarantee"]["epsilon"]
        assert told == pytest.approx(0.7 if epsilon == "0.7" else 0.5, abs=1e-6)


def test_temporary_files_of_a_large_holdout_stand_in_the_workspace_that_is_named(
    make_run, tmp_path, monkeypatch
):
    from prism_core.runs import inputs

    config, out, work = make_run(public=True), tmp_path / "out", tmp_path / "work"
    assert main.main(["release", str(config), "--out", str(out), "--seed", "1"]) == 0
    asked, opened = [], inputs.open_rows

    def noted(place, workspace=None, **more):
        asked.append(workspace)
        return opened(place, workspace, **more)

    monkeypatch.setattr(inputs, "open_rows", noted)
    holdout = ["--holdout", str(config.parent / "holdout.csv"), "--holdout-public"]
    private = ["--private", "2", "--seed", "1", "--workspace", str(work)]
    assert main.main(["evaluate", str(out), *holdout, *private]) == 0
    assert asked == [work]
