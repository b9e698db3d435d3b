"""A workspace that asks for approvals, and rows."""

from __future__ import annotations

import pytest

from prism_core.data.encoding import encode
from prism_core.data.tables.raw_table import RawTable
from prism_core.privacy.ledger import Ledger


@pytest.fixture
def place(workspace):
    """A workspace with an asset, which asks for an approval of every release."""
    Ledger().register("ward", epsilon=50.0, delta=1e-5)
    (workspace / "settings.toml").write_text("[release]\napproval_required = true\n")
    return workspace


@pytest.fixture
def rows(schema, frame):
    return encode(schema, RawTable(frame))
