"""A numeric column with special values and words for them."""

from __future__ import annotations

from prism_core.data.schema.column import Column

AGE = Column(
    name="age",
    kind="numeric",
    lower=0,
    upper=120,
    edges=(40, 80),
    decimals=0,
    nullable=True,
    special=(-9, 97, ".a"),
    value_labels=(("-9", "Refused"), (".a", "Not asked")),
)
