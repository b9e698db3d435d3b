"""Learning, planning and releasing in a row, from Python and from the command line."""

from __future__ import annotations

import json
import logging

import numpy as np
import pandas as pd
import pytest

import prism_core
from prism_core.bundle.certificate import Facts
from prism_core.bundle.certificate import certificate as certificate_of
from prism_core.bundle.write import bundle_folder
from prism_core.cli import main
from prism_core.data.schema import schema_file
from prism_core.data.tables.raw_table import from_frame
from prism_core.learning.domain.domain_plan import design_domain
from prism_core.learning.domain.outline_io import loads_outline
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.config import DomainConfig, dumps, load
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.accountants.conversions import epsilon_to_rho, rho_to_epsilon
from prism_core.privacy.ledger import Ledger
from prism_core.synthesis.release import release

N = 3_000
OUTLINE = """
one_row_per_person: true
columns:
  - {name: age, kind: numeric, lower: 0, upper: 150, integer: true, learn: {cells: 75, bins: 4}}
  - {name: ward, kind: categorical, learn: true}
  - {name: readmitted, kind: boolean}
"""


def people(rows: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(9)
    age = rng.integers(18, 90, rows)
    return pd.DataFrame(
        {
            "age": age.astype(str),
            "ward": rng.choice(["north", "south"], rows),
            "readmitted": np.where(rng.random(rows) < 0.2 + 0.5 * (age > 60), "yes", "no"),
        }
    )


@pytest.fixture
def folder(tmp_path, workspace):
    """Writes a run with an outline, and one with the schema that will be learned from it."""

    def make(frame: pd.DataFrame, name: str = "run", *, public: bool = False, budget: str = ""):
        place = tmp_path / name
        place.mkdir()
        frame.to_csv(place / "train.csv", index=False)
        (place / "outline.yaml").write_text(OUTLINE, encoding="utf-8")
        for step, schema in (("learn", "outline"), ("release", "schema")):
            (place / f"{step}.toml").write_text(
                f'[table]\ntrain = "train.csv"\nschema = "{schema}.yaml"\n'
                f"public = {str(public).lower()}\n"
                '[task]\ntarget = "readmitted"\nregime = "predictive"\nk = 2\n'
                f"[budget]\nepsilon = 2.0\n{budget}\n[domain]\nshare = 0.3\n"
                '[synthesis]\nmodel = "naive_bayes"\nrows = 100\n'
                '[asset]\nname = "ward 7"\nlifetime_epsilon = 2.0\n',
                encoding="utf-8",
            )
        return place

    return make


def prism(*arguments: object) -> int:
    return main.main([str(argument) for argument in arguments])


@pytest.mark.privacy
def test_learn_design_release_and_the_certificate_lists_it(tmp_path):
    ledger = Ledger(tmp_path)
    delta = 1.0 / N**2
    ledger.register("ward 7", epsilon=2.0, delta=delta)
    raw = from_frame(people())
    plan = design_domain(loads_outline(OUTLINE), 2.0, None, N, share=0.3)
    rng = np.random.default_rng(1)
    learned = prism_core.learn_domain(plan, raw, ledger=ledger, asset="ward 7", rng=rng)
    schema = learned.schema
    assert schema["ward"].levels == ("north", "south", "other")
    # 12 years are 500 rows; a cumulative count has a standard deviation below 50 and a cell of 2
    # years: false alarm below 1e-15.
    quarters = np.quantile(people()["age"].astype(int), [0.25, 0.5, 0.75])
    np.testing.assert_allclose(schema["age"].edges, quarters, atol=12)
    later = design(
        Brief(
            schema,
            Task(target="readmitted", regime="predictive", k=2),
            Budget(epsilon=2.0),
            N,
            synthesis=Synthesis(model="naive_bayes", rows=100),
        )
    )
    made = release(later, prism_core.encode(schema, raw), ledger=ledger, asset="ward 7", rng=rng)
    assert len(made.table) == 100
    certificate = certificate_of(made.stages, Facts.of(made))
    json.dumps(certificate, allow_nan=False)
    domain = certificate["domain"]
    assert domain["charge"] == learned.charge
    assert domain["plan_sha256"] == plan.hash
    assert [event["event"] for event in domain["events"]] == ["gaussian", "stable histogram"]
    assert domain["epsilon"] == learned.spent.epsilon
    assert domain["rho"] == learned.spent.rho
    assert domain["delta_of_histograms"] == plan.prior().failing
    assert certificate["schema_provenance"] == "dp"
    guarantee = certificate["guarantee"]
    assert guarantee["epsilon"] <= 2.0
    assert guarantee["rho"] == pytest.approx(domain["rho"] + made.plan.spent.rho)
    assert guarantee["epsilon"] == rho_to_epsilon(guarantee["rho"], delta - plan.prior().failing)
    first, second = ledger.charges()
    assert (first.state, second.state) == ("done", "done")
    assert second.rho == later.total  # the release is charged for the rest only
    assert first.rho + second.rho <= epsilon_to_rho(2.0, delta - plan.prior().failing)


@pytest.mark.privacy
def test_the_same_from_the_command_line(folder, tmp_path, capsys):
    place = folder(people())
    assert (
        prism("learn-domain", place / "learn.toml", "--out", place / "schema.yaml", "--json") == 0
    )
    document = json.loads(capsys.readouterr().out)
    assert document["columns"] == ["age", "ward"]
    assert document["stamp"] == "learned"
    assert document["spent"]["epsilon"] < 2.0
    assert prism("plan", place / "release.toml", "--json") == 0
    plan = json.loads(capsys.readouterr().out)
    assert prism("plan", place / "release.toml") == 0
    assert "learning the domain spent epsilon" in capsys.readouterr().out
    assert plan["domain"]["charge"] == document["charge"] == 1
    assert plan["with_learning"]["epsilon"] <= 2.0
    assert prism("release", place / "release.toml", "--out", tmp_path / "out") == 0
    charges = Ledger(tmp_path / "workspace").charges()
    assert [charge.state for charge in charges] == ["done", "done"]
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert certificate["domain"]["charge"] == 1
    assert bundle_folder.read(tmp_path / "out").schema.prior is not None
    # The lifetime is used up: neither learning again nor another release.
    for command, config in (("learn-domain", "learn"), ("release", "release")):
        assert prism(command, place / f"{config}.toml", "--out", tmp_path / "again") == 2
        assert "lifetime epsilon" in capsys.readouterr().err
    assert len(Ledger(tmp_path / "workspace").charges()) == 2


def test_a_domain_learned_of_people_is_released_and_evaluated(folder, tmp_path, capsys):
    """The rows are recognised, and synthetic ones encoded, in a domain without the person."""
    frame = people()
    frame.insert(0, "person", [f"p{i // 2}" for i in range(len(frame))])
    place = folder(frame)
    unit = f"person_id: person\npersons: {N // 2}"
    text = OUTLINE.replace("one_row_per_person: true", unit)
    (place / "outline.yaml").write_text(text, encoding="utf-8")
    assert prism("learn-domain", place / "learn.toml", "--out", place / "schema.yaml") == 0
    assert prism("release", place / "release.toml", "--out", tmp_path / "out") == 0
    capsys.readouterr()
    others = frame.assign(person=[f"q{i // 2}" for i in range(len(frame))])
    others.to_csv(place / "others.csv", index=False)
    assert prism("evaluate", tmp_path / "out", "--holdout", place / "others.csv", "--json") == 0, (
        capsys.readouterr().err
    )


@pytest.mark.privacy
def test_a_lone_category_or_extreme_never_leaves(folder, tmp_path, capsys, caplog, canary):
    """T-DOMAIN: what is printed is the same, and the lone value stands nowhere.

    delta = 1e-11 of which the histogram has a tenth: it comes out in one run of 1e12.
    """
    caplog.set_level(logging.DEBUG)
    printed = []
    for name, values in (("one", people().iloc[0]), ("two", (f"9{canary}", canary, canary))):
        frame = people()
        frame.iloc[0] = list(values)
        place = folder(frame, name, budget="delta = 1e-11")
        workspace = tmp_path / f"ledger of {name}"
        status = prism(
            "learn-domain",
            place / "learn.toml",
            "--out",
            place / "schema.yaml",
            "--json",
            "--workspace",
            workspace,
        )
        out, err = capsys.readouterr()
        document = json.loads(out)
        document.pop("out")
        printed.append((status, document, err))
        learned = (place / "schema.yaml").read_text(encoding="utf-8")
        ledger = (workspace / "ledger.sqlite").read_bytes()
        assert canary not in learned + out + err + caplog.text
        assert canary.encode() not in ledger
        schema = schema_file.load(place / "schema.yaml")
        assert schema["ward"].levels == ("north", "south", "other")
    assert printed[0] == printed[1]


@pytest.mark.privacy
def test_known_noise_is_for_public_tables(folder, tmp_path, capsys):
    private, public = folder(people(300)), folder(people(300), "open", public=True)
    out = tmp_path / "schema.yaml"
    assert prism("learn-domain", private / "learn.toml", "--out", out, "--seed", 1) == 2
    assert "public only" in capsys.readouterr().err
    assert not out.exists()
    assert not (tmp_path / "workspace").exists()
    texts = []
    for _ in range(2):
        assert prism("learn-domain", public / "learn.toml", "--out", out, "--seed", 1) == 0
        assert "rehearsal, not learned" in capsys.readouterr().out
        texts.append(out.read_text())
    assert texts[0] == texts[1]
    assert not (tmp_path / "workspace").exists()


def test_the_outline_is_not_written_over_and_nothing_is_spent_on_what_cannot_be_written(
    folder, tmp_path, capsys
):
    place = folder(people(300))
    for target in (place / "outline.yaml", place, place / "train.csv" / "x.yaml"):
        assert prism("learn-domain", place / "learn.toml", "--out", target) == 2
        assert capsys.readouterr().err.startswith("prism: out: ")
    assert (place / "outline.yaml").read_text() == OUTLINE
    assert not (tmp_path / "workspace").exists()


def test_the_domain_section_is_read_and_written(folder):
    config = load(folder(people(10)) / "learn.toml")
    assert config.domain == DomainConfig(share=0.3)
    assert "[domain]\nshare = 0.3" in dumps(config)
