"""Every reader of a file that somebody else may have made, gathered from the modules."""

from __future__ import annotations

from tests.fuzz import (
    bundle_readers,
    codebook_readers,
    hosting_readers,
    run_readers,
    workspace_readers,
)
from tests.fuzz.registry import READERS

REGISTERED = (run_readers, codebook_readers, bundle_readers, workspace_readers, hosting_readers)
"""They register when they are imported."""

__all__ = ["READERS"]
