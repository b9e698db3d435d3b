"""Receipts are random: what is compared with something else goes without them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from prism_core.data.schema.schema import Schema
    from prism_core.structure.dag import Dag

Learned = TypeVar("Learned", "Schema", "Dag")


def without_receipts(learned: Learned) -> Learned:
    """The same learned schema or graph, with a cost that names no charge by its receipt."""
    assert learned.prior is not None
    assert any(learned.prior.receipts)
    return replace(learned, prior=replace(learned.prior, receipts=()))
