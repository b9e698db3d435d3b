"""Numbers beside the report, and its copies."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from prism_core.bundle import bundle_files
from prism_core.bundle.report.report_copy import MISSING, copy_report, report_pdf
from prism_core.bundle.report.report_extras import Extras, outside
from prism_core.bundle.verify import verification
from prism_core.cli import main
from prism_core.errors import BundleError
from prism_core.evaluation.inside_epsilon.private_numbers import INSIDE_EPSILON
from prism_core.evaluation.results import OUTSIDE_EPSILON, MetricRow
from prism_core.rehearsal.estimates import Estimate
from tests.support.reports import Page, reported, text

if TYPE_CHECKING:
    from pathlib import Path

ROW = MetricRow(
    name="auc", learner="logistic", subject="readmitted", value=0.731, floor=0.5, ceiling=0.745
)
INSIDE: dict[str, Any] = {
    "private_evaluation": "private evaluation",
    "notice": INSIDE_EPSILON,
    "guarantee": {"epsilon": 0.2, "delta": 1e-6, "rho": 0.001},
    "charge": 4,
    "numbers": [
        {
            "name": "auc",
            "subject": "yes",
            "value": 0.7,
            "noise_interval_95": [0.66, 0.74],
            "note": "",
            "outside_epsilon": False,
        }
    ],
}
ESTIMATE = Estimate(
    variant="closed form", epsilon=1.0, shift="none", mean=0.71, half=0.01, ceiling=0.73, runs=10
)


@pytest.fixture(scope="module")
def home(tmp_path_factory, small) -> Path:
    return reported(tmp_path_factory.mktemp("reports"), small)


# --- copies with more ------------------------------------------------------------------------


@pytest.mark.privacy
def test_numbers_outside_epsilon_come_in_only_when_asked_and_each_is_marked(home):
    plain = Page(copy_report(home / "causal")).words
    assert copy_report(home / "causal") == text(home / "causal")
    assert "outside epsilon and stay with the data curator" in plain
    assert "0.731" not in plain
    second = replace(ROW, name="accuracy", value=0.8, floor=-2e-4)
    html = copy_report(home / "causal", Extras(evaluation=outside([ROW, second])))
    assert OUTSIDE_EPSILON in Page(html).words
    rows = [row for row in html.split("<tr>") if "0.731" in row or "0.800" in row]
    assert len(rows) == 2
    assert all("outside epsilon" in row for row in rows)
    assert "-0.000" not in html


def test_scores_stand_with_their_intervals_or_the_reason_why_there_is_none(home):
    row = replace(
        ROW,
        interval=(0.70123, 0.76),
        ceiling_interval=(0.72, 0.77),
        floor_interval=(0.5, 0.5),
        kept_interval=(0.81, 1.04),
    )
    few = replace(
        ROW,
        name="accuracy_from_s",
        value=None,
        floor=None,
        ceiling=None,
        note="Fewer than 10 test rows have y = yes: too few to score it.",
    )
    words = Page(copy_report(home / "causal", Extras(evaluation=outside([row, few])))).words
    assert "0.731 (0.701 to 0.760) 0.500 0.745 (0.720 to 0.770)" in words
    assert "carry 94% (95% interval 81% to 104%) of what can be learned" in words
    assert "its 95% interval over the test rows" in words
    assert "Accuracy, from the protected features S alone, logistic" in words
    assert "Fewer than 10 test rows have y = yes" in words
    # What an earlier version wrote has no intervals, and is taken.
    old = {k: v for k, v in ROW.to_dict().items() if "interval" not in k and k != "kept"}
    entries = outside([ROW]) | {"metrics": [old]}
    assert "0.731" in Page(copy_report(home / "causal", Extras(evaluation=entries))).words


def bought(folder: Path) -> dict[str, Any]:
    """Private numbers of the release in a folder."""
    known = json.loads((folder / bundle_files.CERTIFICATE).read_text())["plan_sha256"]
    return INSIDE | {"plan": {"release_plan_sha256": known}}


def test_numbers_inside_epsilon_name_their_charge(home):
    words = Page(copy_report(home / "causal", Extras(private=(bought(home / "causal"),)))).words
    assert "0.700 0.660 to 0.740 inside epsilon ε = 0.2, δ = 1e-6, charge 4" in words
    assert "Its epsilon comes on top" in words


@pytest.mark.privacy
def test_private_numbers_of_another_release_are_refused(home):
    for entry in (bought(home / "learned"), INSIDE, INSIDE | {"plan": {}}, INSIDE | {"plan": 3}):
        with pytest.raises(BundleError, match="of another release") as caught:
            copy_report(home / "causal", Extras(private=(bought(home / "causal"), entry)))
        assert caught.value.field == "private"


def test_rehearsals_and_a_date_are_shown(home):
    words = Page(
        copy_report(home / "causal", Extras(rehearsed=(ESTIMATE,), date="2026-03-01"))
    ).words
    assert "closed form unchanged 1 0.710 (0.700 to 0.720) 0.730 10" in words
    assert "AUC (95% interval)" in words
    numeric = Extras(rehearsed=(replace(ESTIMATE, metric="r2"),))
    assert "R² (95% interval)" in Page(copy_report(home / "causal", numeric)).words
    assert ", 2026-03-01" in words
    assert "basic.publication_date 2026-03-01" in words


@pytest.mark.privacy
@pytest.mark.parametrize(
    "change",
    [
        {"outside_epsilon": False},
        {"notice": None},
        {"metrics": None},
        {"metrics": [ROW.to_dict() | {"outside_epsilon": False}]},
        {"metrics": [ROW.to_dict() | {"value": float("nan")}]},
        {"metrics": [ROW.to_dict() | {"value": "0.7"}]},
        {"metrics": [ROW.to_dict() | {"interval": [0.7]}]},
        {"metrics": [ROW.to_dict() | {"interval": [0.8, 0.6]}]},
        {"metrics": [ROW.to_dict() | {"kept_interval": "<b>0.7</b>"}]},
        {"metrics": [ROW.to_dict() | {"kept": "<b>0.7</b>"}]},
        {"metrics": [ROW.to_dict() | {"note": 7}]},
    ],
)
def test_an_evaluation_without_its_marks_is_refused(change):
    with pytest.raises(BundleError, match="marked outside epsilon") as caught:
        Extras(evaluation=outside([ROW]) | change)
    assert caught.value.field == "evaluation"


@pytest.mark.privacy
@pytest.mark.parametrize(
    "change",
    [
        {"guarantee": {}},
        {"guarantee": {"epsilon": float("nan"), "delta": 0.1}},
        {"numbers": [INSIDE["numbers"][0] | {"outside_epsilon": True}]},
        {"numbers": [INSIDE["numbers"][0] | {"noise_interval_95": [0.1]}]},
        {"notice": 3},
        {"notice": "Differentially private."},
        {"private_evaluation": "private evaluation without a ledger"},
        {"private_evaluation": ""},
        {"charge": None},
        {"charge": 0},
        {"charge": True},
        {"charge": "4"},
        {"charge": 4.0},
    ],
)
def test_private_numbers_without_a_guarantee_are_refused(change):
    with pytest.raises(BundleError, match="guarantee and charge"):
        Extras(private=(INSIDE | change,))


@pytest.mark.privacy
def test_numbers_of_a_rehearsal_with_known_noise_are_refused_even_with_a_charge():
    stamp = "rehearsal, not a private evaluation"
    for charge in (None, 4):
        with pytest.raises(BundleError, match="its numbers are not private"):
            Extras(private=(INSIDE | {"private_evaluation": stamp, "charge": charge},))


def test_a_date_must_be_a_day():
    with pytest.raises(BundleError, match="YYYY-MM-DD"):
        Extras(date="<b>today</b>")


# --- paper and command -----------------------------------------------------------------------


def test_without_chromium_the_message_says_what_to_do(monkeypatch):
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")
    with pytest.raises(BundleError) as caught:
        report_pdf("<p>")
    assert str(caught.value) == MISSING
    assert "open report.html" in MISSING


def test_a_browser_that_prints_nothing_is_an_error(monkeypatch, tmp_path):
    fake = tmp_path / "chromium"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("CHROMIUM", str(fake))
    with pytest.raises(BundleError, match="did not print"):
        report_pdf("<p>")


def test_the_browser_gets_one_file_and_no_way_out(monkeypatch, tmp_path):
    fake, log = tmp_path / "chromium", tmp_path / "log"
    fake.write_text(
        f'#!/bin/sh\necho "$@" > {log}\n'
        'for word in "$@"; do case "$word" in --print-to-pdf=*) '
        'printf "%%PDF-1.7 paper" > "${word#--print-to-pdf=}";; esac; done\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("CHROMIUM", str(fake))
    assert report_pdf("<p>") == b"%PDF-1.7 paper"
    said = log.read_text()
    assert "--host-resolver-rules=MAP * ~NOTFOUND" in said
    assert ("--no-sandbox" in said) == (os.geteuid() == 0)
    place = re.findall(r"file://(\S+)/report.html", said)[0]
    assert not os.path.exists(place)  # noqa: PTH110  (deleted with everything in it)


def test_the_command_writes_a_copy_beside_the_bundle(home, tmp_path, capsys):
    assert main.main(["report", str(home / "causal"), "--out", str(tmp_path / "r.html")]) == 0
    assert (tmp_path / "r.html").read_text() == text(home / "causal")
    assert main.main(["report", str(home / "causal")]) == 0
    assert (home / "causal-report.html").read_text() == text(home / "causal")
    assert verification.verify(home / "causal").ok
    assert "report in" in capsys.readouterr().out


def test_the_command_takes_numbers_with_their_marks_only(home, tmp_path, capsys):
    out, numbers = tmp_path / "r.html", tmp_path / "e.json"
    command = ["report", str(home / "causal"), "--out", str(out)]
    numbers.write_text(json.dumps(outside([ROW])))
    assert main.main([*command, "--evaluation", str(numbers)]) == 0
    assert "outside epsilon, marked as such" in capsys.readouterr().out
    assert "0.731" in out.read_text()
    numbers.write_text(json.dumps({"metrics": [ROW.to_dict()]}))
    assert main.main([*command, "--evaluation", str(numbers)]) == 2
    assert "evaluation: The evaluation must be" in capsys.readouterr().err
    numbers.write_text("[")
    assert main.main([*command, "--private", str(numbers)]) == 2


def test_the_command_keeps_the_bundle_as_it_is(home, tmp_path, capsys, monkeypatch):
    folder = home / "causal"
    assert main.main(["report", str(folder), "--out", str(folder / "r.html")]) == 2
    assert "and no other" in capsys.readouterr().err
    assert main.main(["report", str(tmp_path / "none")]) == 2
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")
    assert main.main(["report", str(folder), "--pdf", "--out", str(tmp_path / "r.pdf")]) == 2
    assert "There is no Chromium" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
