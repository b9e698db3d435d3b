"""A project with a graph, whose table is too large for one joint histogram."""

from __future__ import annotations

import pytest

from dashboard.session.data_entries import DataEntries
from dashboard.session.designs import Designs, Entries
from dashboard.session.graph import EditedGraph, StructureEntries
from dashboard.session.project import Project
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import read_table
from tests.support.budget_page import NAMES


@pytest.fixture
def project() -> Project:
    rows = "\n".join(f"{i % 6},{i % 3},{i % 4},{i % 9},{i % 2}" for i in range(1_000))
    levels = (6, 3, 40, 9, 2)
    return Project(
        data=DataEntries(
            name="stays.csv",
            public=True,
            raw=read_table(f"{','.join(NAMES)}\n{rows}\n".encode()),
            schema=Schema(
                columns=tuple(
                    Column(name=name, kind="ordinal", levels=tuple(range(count)))
                    for name, count in zip(NAMES, levels, strict=True)
                ),
                one_row_per_person=True,
            ),
        ),
        structure=StructureEntries(
            target="Y",
            graph=EditedGraph(
                edges=(("age", "Y"), ("<b>$x$</b>", "Y"), ("grade", "Y"), ("Y", "ward"))
            ),
        ),
        designs=Designs(plan=Entries(joint=False)),
    )
