"""Refusals as tests expect them: by the kind of the error and the field that it names."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prism_core.errors import PrismError


@contextmanager
def refused(kind: type[PrismError], field: str) -> Iterator[pytest.ExceptionInfo[PrismError]]:
    """The block ends with an error of this kind about this field, whatever its words are.

    Where several reasons share a field and the test is about one of them, or where the words are a
    guarantee, `pytest.raises` with `match` says more.
    """
    with pytest.raises(kind) as caught:
        yield caught
    assert caught.value.field == field, str(caught.value)
