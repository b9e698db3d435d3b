"""Readers of what a run hands on: bundles, protocols, rehearsals and comparators."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from prism_core.bundle import (
    bundle_files,
    manifest,
    measurements_file,
    project_file,
    reader,
)
from prism_core.bundle.protocol import approval_file
from prism_core.bundle.verify import counts_check, verification
from prism_core.bundle.write import bundle_folder
from prism_core.cli import common, report_command
from prism_core.comparators import design_comparator
from prism_core.comparators import folder as compared
from prism_core.comparators.comparator_run import run_comparator
from prism_core.data.schema import column_form, schema_file
from prism_core.planning.wishes.curator_statement import CuratorStatement
from prism_core.rehearsal import stand_in_rows
from prism_core.rehearsal.estimates import Estimate
from prism_core.rehearsal.points import PointStore, RehearsalPoint
from prism_core.rehearsal.variants import Rehearsal
from prism_core.reproduction.results import Results, packaged
from prism_core.structure.dag import Drawing
from tests.fuzz.registry import Case, as_file, as_text, as_values, entry, every
from tests.fuzz.steps import MOST

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.fuzz.mutants import Syntax
    from tests.fuzz.shop import Shop
# --- the folder of a release -----------------------------------------------------------------


@entry("project", "json", 0.5)
def _project(shop: Shop) -> Case:
    blank = column_form.blank_rows(["age", "ward"])
    full = project_file.ProjectFile(
        name="stays of 2026",
        persons=300,
        schema=shop.grouped,
        form=tuple(dict(row) for row in blank),
        drawing=Drawing(dag=shop.dag, positions={shop.dag.nodes[0]: (1.0, -2.0)}),
        target="readmitted",
        designs=shop.scenarios[:1],
        saved=shop.scenarios,
        approval=approval_file.loads(shop.approval),
        asset="ward 7",
        purpose="a benchmark",
        statement=CuratorStatement(organisation="Clinic A"),
        p_min=0.01,
    )
    learned = project_file.ProjectFile(
        name="n", schema=shop.schema, drawing=Drawing(dag=shop.learned_dag)
    )
    seeds = [project_file.dumps(one) for one in (full, learned)]
    return Case(
        seeds=tuple(map(str.encode, seeds)),
        read=as_file(shop.folder("project") / "p.json", project_file.load),
    )


def _bundle(name: str) -> Callable[[Shop], Case]:
    def make(shop: Shop) -> Case:
        place = shop.bundle_copy(name) / name

        def read(path: Path) -> None:
            every(*(partial(act, path.parent) for act in _ACTS))

        return Case(seeds=(place.read_bytes(),), read=as_file(place, read))

    return make


def _replayed(folder: Path) -> None:
    found = reader.read_bundle(folder)
    found.stages()
    found.considered()


_ACTS: tuple[Callable[[Path], object], ...] = (
    _replayed,
    reader.read_said,
    lambda folder: bundle_folder.read_plan(bundle_folder.read(folder)),
    lambda folder: manifest.check_manifest(folder, signed=True),
    lambda folder: measurements_file.read_measurements(
        folder, schema_file.load(folder / bundle_files.SCHEMA)
    ),
)

_OF_BUNDLE: dict[str, Syntax] = {
    bundle_files.PLAN: "json",
    bundle_files.CERTIFICATE: "json",
    bundle_files.MEASUREMENTS: "json",
    bundle_files.SCENARIOS: "json",
    bundle_files.GRAPH: "json",
    bundle_files.MANIFEST: "json",
    bundle_files.RUN: "toml",
    bundle_files.SCHEMA: "yaml",
    bundle_files.PUBLIC_KEY: "bytes",
    bundle_files.SIGNATURE: "bytes",
    bundle_files.LOCAL: "json",
}
for _name, _kind in _OF_BUNDLE.items():
    entry(f"bundle: {_name}", _kind, 0.1)(_bundle(_name))


@entry("bundle: verify", "json", 0.015, 20 * MOST)  # fits a model and draws its rows again
def _verified(shop: Shop) -> Case:
    """All of a certificate's check, with a certificate, a plan or counts that are not ours."""
    folder = shop.bundle_copy("verify")
    parts = [bundle_files.CERTIFICATE, bundle_files.PLAN, bundle_files.MEASUREMENTS]
    seeds = {name: (folder / name).read_bytes() for name in parts}

    def read(content: bytes) -> None:
        known = next((name for name in parts if content[:20] == seeds[name][:20]), parts[0])
        for name, seed in seeds.items():
            (folder / name).write_bytes(content if name == known else seed)
        assert verification.verify(folder, workspace=shop.workspace).to_dict()

    return Case(seeds=tuple(seeds.values()), read=read)


@entry("bundle: synthetic.csv", "text", 0.05)
def _synthetic(shop: Shop) -> Case:
    folder = shop.bundle_copy("rows")
    final = reader.read_bundle(folder).stages().final

    def read(path: Path) -> object:
        return counts_check.rows_findings(path.parent, final)

    place = folder / bundle_files.SYNTHETIC
    return Case(seeds=(place.read_bytes(),), read=as_file(place, read))


# --- committee -------------------------------------------------------------------------------


@entry("protocol", "json")
def _protocol(shop: Shop) -> Case:
    return Case(
        seeds=(shop.protocol.encode(),),
        read=lambda content: approval_file.approve(
            as_text(content), by="A. B.", role="chair", date="2025-01-31"
        ),
    )


@entry("approval", "json")
def _approval(shop: Shop) -> Case:
    def read(path: Path) -> None:
        found = approval_file.load(path)
        assert found.changes(shop.plan) == () or not found.covers(shop.plan)
        found.check(shop.plan, "ward 7")

    return Case(
        seeds=(shop.approval.encode(),), read=as_file(shop.folder("approval") / "a.json", read)
    )


@entry("estimates of a rehearsal", "json")
def _estimates(shop: Shop) -> Case:
    one = Estimate(variant="a", epsilon=1.0, shift="none", mean=0.7, half=0.1, ceiling=0.8, runs=3)
    return Case(
        seeds=(json.dumps({"estimates": [one.to_dict(), one.to_dict()]}).encode(),),
        read=as_file(shop.folder("estimates") / "e.json", common.rehearsal_from),
    )


@entry("documents beside a report", "json", 0.3)
def _documents(shop: Shop) -> Case:
    from prism_core.bundle.report import report_extras

    row = {"name": "auc", "subject": "", "value": 0.7, "outside_epsilon": True, "note": ""}
    seen = report_extras.outside([]) | {"metrics": [row]}
    bought = {
        "private_evaluation": report_extras.PRIVATE,
        "charge": 1,
        "notice": report_extras.INSIDE_EPSILON,
        "guarantee": {"epsilon": 1.0, "delta": 1e-6},
        "plan": {"release_plan_sha256": shop.plan.hash},
        "numbers": [
            {"name": "auc", "value": 0.7, "outside_epsilon": False, "noise_interval_95": [0.6, 0.8]}
        ],
    }

    def read(path: Path) -> None:
        document = report_command._document(path, "evaluation")
        if isinstance(document, dict) and "private_evaluation" in document:
            report_extras.Extras(private=(document,)).check_release(shop.plan.hash)
        else:
            report_extras.Extras(evaluation=document)

    seeds = tuple(json.dumps(document).encode() for document in (seen, bought))
    return Case(seeds=seeds, read=as_file(shop.folder("documents") / "d.json", read))


# --- rehearsals and comparators --------------------------------------------------------------


@entry("rehearsal", "json")
def _rehearsal(shop: Shop) -> Case:
    made = Rehearsal(variants=shop.scenarios, epsilons=(0.5, 1.0), seeds=2)
    return Case(
        seeds=(json.dumps(made.to_dict()).encode(),),
        read=lambda content: Rehearsal.from_dict(as_values(content)),
    )


@entry("points of a rehearsal", "json")
def _points(shop: Shop) -> Case:
    kept = PointStore(shop.folder("points"))
    kept.add(
        "key",
        [
            RehearsalPoint(
                variant="a",
                epsilon=1.0,
                seed=1,
                shift="none",
                metric="auc",
                score=0.6,
                ceiling=0.7,
                seconds=1.0,
            )
        ],
    )
    path = kept.folder / "key.jsonl"
    return Case(seeds=(path.read_bytes(),), read=as_file(path, lambda _: kept.read("key", "b")))


@entry("stand-in: document", "json", 0.5)
def _stand_in(shop: Shop) -> Case:
    place = shop.folder("stand-in")
    stand_in_rows.save(
        stand_in_rows.from_graph(shop.schema, "readmitted", 60, shop.learned_dag, holdout=20), place
    )
    path = place / stand_in_rows._DOCUMENT
    return Case(seeds=(path.read_bytes(),), read=as_file(path, lambda _: stand_in_rows.load(place)))


@entry("stand-in: codes", "bytes", 0.5)
def _stand_in_codes(shop: Shop) -> Case:
    place = shop.folder("stand-in-codes")
    stand_in_rows.save(
        stand_in_rows.from_graph(shop.schema, "readmitted", 60, None, holdout=20), place
    )
    path = place / stand_in_rows._CODES
    return Case(seeds=(path.read_bytes(),), read=as_file(path, lambda _: stand_in_rows.load(place)))


def _compared(name: str) -> Callable[[Shop], Case]:
    def make(shop: Shop) -> Case:
        from prism_core.privacy.noise import SeededNoise

        place = shop.folder(f"comparator-{name}")
        rng = np.random.default_rng(0)
        plan = design_comparator("independent", shop.schema, shop.encoded.n, 1.0, 1e-6)
        made = run_comparator(plan, shop.encoded, ledger=None, noise=SeededNoise(rng), rng=rng)
        compared.write(made, place)
        from prism_core.runs.finished_run import candidate

        return Case(
            seeds=((place / name).read_bytes(),),
            read=as_file(place / name, lambda path: candidate(path.parent, "a")),
        )

    return make


entry("comparator: comparator.json", "json", 0.03)(_compared(compared.DOCUMENT))
entry("comparator: schema.yaml", "yaml", 0.03)(_compared(compared.SCHEMA))


@entry("output of another package", "text", 0.5)
def _output(shop: Shop) -> Case:
    from prism_core.comparators.external import external, interpreter

    place = shop.folder("output") / "synthetic.csv"
    return Case(
        seeds=(b"0,1,2\n1,0,0\n",),
        read=as_file(
            place, lambda path: interpreter._read(path, external("privbayes"), 2, (2, 2, 3))
        ),
    )


@entry("outcome of a benchmark", "json", 0.5)
def _outcome(shop: Shop) -> Case:
    from prism_core.reproduction.outcomes import RunOutcome, Scored

    score = Scored(auc=0.7, accuracy=0.6, ceiling=0.8, ceiling_all=0.9)
    made = RunOutcome(
        benchmark="adult",
        method="mst",
        setting="ours",
        epsilon=1.0,
        rows=100,
        seed=1,
        onehot=score,
        standardised=score,
        l1=0.1,
        seconds=2.0,
    )
    return Case(
        seeds=(json.dumps(made.to_dict()).encode(),),
        read=lambda content: RunOutcome.from_dict(as_values(content)),
    )


@entry("results of a benchmark", "json", 0.3)
def _results(shop: Shop) -> Case:
    book = packaged()
    text = json.loads(book.to_text())
    few = text | {"rows": text["rows"][:4]}
    return Case(
        seeds=(json.dumps(few).encode(),), read=lambda content: Results.from_text(as_text(content))
    )
