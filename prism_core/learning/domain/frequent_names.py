"""Frequent names: which names many rows have, in memory that does not grow with the rows.

A summary of Misra and Gries (1982), which is filled batch by batch (Agarwal et al. 2012,
"Mergeable summaries"): where more than `most` names are kept, the count of the first that is too
many is taken off every name, and names without a count are dropped. Of all rows at most one in
`most` + 1 is taken off any name, so each name of more rows than that is kept to the end. Where
names were dropped, a second pass counts those that were kept.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from pandas.util import hash_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(kw_only=True)
class FrequentNames:
    """Names with the number of their rows; as private as the rows.

    Attributes:
        most: names that are kept.
        counts: of each name that was kept; of every row where none was dropped.
        exact: whether no name was dropped.
        rows: in all, those without a name included.
        mark: of all names and rows, under a secret key: equal for two passes over the same rows.
    """

    most: int
    counts: dict[str, int] = field(default_factory=dict, repr=False)
    exact: bool = True
    rows: int = 0
    mark: int = field(default=0, repr=False)
    key: str = field(default_factory=lambda: secrets.token_hex(8), repr=False)
    _fixed: bool = field(default=False, repr=False)

    def add(self, names: Sequence[str | None], rows: NDArray[np.int64]) -> None:
        """Take in a batch: names, None where there is none, and how many rows have each."""
        self.rows += int(rows.sum())
        texts = np.array(["" if name is None else name for name in names], dtype=object)
        hashed: Any = hash_array  # pandas types it as an object
        marks = hashed(texts, hash_key=self.key) * rows.astype(np.uint64)  # modulo 2^64
        self.mark = (self.mark + int(marks.sum())) % 2**64
        for name, count in zip(names, rows.tolist(), strict=True):
            if name is not None and (not self._fixed or name in self.counts):
                self.counts[name] = self.counts.get(name, 0) + count
        if len(self.counts) > self.most:
            self._drop()

    def _drop(self) -> None:
        many = sorted(self.counts.values(), reverse=True)[self.most]
        self.counts = {name: n - many for name, n in self.counts.items() if n > many}
        self.exact = False

    def again(self) -> FrequentNames:
        """What a second pass over the same rows fills: exact counts of the names kept here."""
        return FrequentNames(
            most=self.most, counts=dict.fromkeys(self.counts, 0), key=self.key, _fixed=True
        )

    def same_rows(self, other: FrequentNames) -> bool:
        """Whether two passes saw the same names in the same numbers of rows."""
        return (self.rows, self.mark) == (other.rows, other.mark)

    def above(self, least: int) -> dict[str, int]:
        """The names of at least so many rows."""
        return {name: count for name, count in self.counts.items() if count >= least}
