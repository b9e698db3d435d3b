"""The public names are a table of contents."""

from __future__ import annotations

import prism_core


def test_the_names_are_sorted_and_there():
    assert sorted(prism_core.__all__) == list(prism_core.__all__)
    assert all(hasattr(prism_core, name) for name in prism_core.__all__)
