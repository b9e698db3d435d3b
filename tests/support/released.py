"""Projects with a finished run behind them, and the page Inspect opened on one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dashboard.session.data_entries import DataEntries
from dashboard.session.graph import EditedGraph, StructureEntries
from dashboard.session.inspection import Inspection
from dashboard.session.project import Project
from dashboard.session.release_entries import AccountEntries, ReleaseEntries
from prism_core.bundle.write import bundle_folder
from prism_core.data.tables.raw_table import from_frame
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.noise import SeededNoise
from prism_core.runs.finished_run import subject
from prism_core.runs.inputs import encode_holdout, encode_rows
from prism_core.structure.dag import Dag
from prism_core.synthesis.release import release
from tests.support.pages import session, settled, turned

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from streamlit.testing.v1 import AppTest

    from prism_core.data.schema.schema import Schema

EDGES = (("age", "readmitted"), ("smoker", "readmitted"))


def released_project(
    folder: Path,
    schema: Schema,
    frame: pd.DataFrame,
    *,
    public: bool = False,
    seed: int = 1,
    target: str = "readmitted",
    edges: tuple[tuple[str, str], ...] = EDGES,
) -> Project:
    """A project with a run in `folder`; private unless asked otherwise."""
    rng = np.random.default_rng(seed)
    raw = from_frame(frame)
    train = encode_rows(schema, raw, public=True, rng=rng)
    plan = design(
        Brief(
            schema,
            Task(target=target),
            Budget(epsilon=2.0),
            train.n,
            dag=Dag(nodes=schema.names, edges=edges),
            synthesis=Synthesis(model="naive_bayes", rows=300),
        )
    )
    made = release(plan, train, ledger=None, noise=SeededNoise(rng), rng=rng)
    return Project(
        data=DataEntries(name="stays", raw=raw, test=raw, public=public, schema=schema),
        structure=StructureEntries(target=target, graph=EditedGraph(edges=edges)),
        release=ReleaseEntries(
            train=train,
            holdout=encode_holdout(schema, raw, rng=rng, public=public),
            folder=bundle_folder.write(made, folder),
        ),
        account=AccountEntries(asset="ward 7"),
    )


def opened(project: Project, section: str = "") -> Project:
    """The same project with its release opened on the page Inspect, at a section."""
    assert project.release.folder is not None
    assert project.release.holdout is not None
    folder = bundle_folder.read(project.release.folder)
    project.inspection.shown = Inspection(
        folder=project.release.folder,
        certificate=folder.certificate,
        section=section,
        subject=subject(folder, project.release.holdout, project.release.train),
    )
    return project


def inspect_page(project: Project, section: str | None = None) -> AppTest:
    """The page Inspect at a section, once everything that it begins is there."""
    if section is not None:
        assert project.inspection.shown is not None
        project.inspection.shown.section = section
    return settled(turned(session(project), "inspect"), project)
