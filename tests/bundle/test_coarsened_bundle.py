"""A coarsened release as a bundle: it verifies, and parts of one's own choice do not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from prism_core.bundle.bundle_files import CERTIFICATE, MEASUREMENTS, PLAN
from prism_core.bundle.reader import read_bundle
from prism_core.bundle.verify.verification import verify
from prism_core.bundle.write import bundle_folder
from prism_core.errors import PrismError
from tests.support.coarsened import coarsened_release
from tests.support.verified import wrong

pytestmark = pytest.mark.privacy


@pytest.fixture(scope="module")
def made():
    return coarsened_release()


@pytest.fixture
def folder(made, tmp_path):
    return bundle_folder.write(made, tmp_path / "run")


def test_it_verifies_and_its_plan_is_made_again(made, folder):
    report = verify(folder)
    assert not wrong(report), report.findings
    bundle = read_bundle(folder)
    assert bundle.stages() == made.stages
    assert bundle.choices.parts == made.plan.parts


def test_the_certificate_lists_what_the_fine_counts_cost(made, folder):
    document = json.loads((folder / CERTIFICATE).read_text())
    labels = [event["label"] for event in document["events"] if "label" in event]
    for name in made.plan.coarsening.names:
        assert any(name in label and "fine grid" in label for label in labels)
    columns = document["coarsening"]["columns"]
    assert [column["name"] for column in columns] == list(made.plan.coarsening.names)


def test_parts_of_ones_own_choice_are_found_out(made, tmp_path):
    """The whole bundle is made for other parts than the fine counts give."""
    other = made.plan.parts[0]
    moved = list(other.parts)
    place = next(i for i in range(1, len(moved)) if moved[i] != moved[i - 1])
    moved[place] = moved[place - 1]
    forged = (replace(other, parts=tuple(moved)), *made.plan.parts[1:])
    from prism_core.planning.choices import Choices, replay

    stages = replay(made.plan.brief, replace(Choices.of(made.plan), parts=forged))
    folder = bundle_folder.write(replace(made, stages=stages), tmp_path / "forged")
    assert "measurements" in wrong(verify(folder))


@pytest.mark.parametrize(
    "change",
    [
        lambda parts: parts[:-1],
        lambda parts: [True, *parts[1:]],
        lambda parts: ["a", *parts[1:]],
        lambda parts: [part + 1 for part in parts],
    ],
    ids=["short", "flag", "text", "unnumbered"],
)
def test_parts_that_are_none_are_refused(folder, change):
    plan = json.loads((folder / PLAN).read_text())
    column = plan["coarsening"]["columns"][0]
    column["parts"] = change(column["parts"])
    (folder / PLAN).write_text(json.dumps(plan))
    with pytest.raises(PrismError):
        read_bundle(folder).stages()


def test_fine_counts_that_do_not_add_up_are_found_out(folder):
    lines = json.loads((folder / MEASUREMENTS).read_text())
    fine = next(entry for entry in lines["measurements"] if entry.get("fine"))
    fine["counts"][0] += 10**6
    (folder / MEASUREMENTS).write_text(json.dumps(lines))
    findings = verify(folder).findings
    assert any("do not add up" in text for text in findings)
