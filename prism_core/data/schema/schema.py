"""Schema: the public domain of a table, where its columns come from, and who a row is."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from prism_core.data.schema.codebook_source import CodebookSource, check_codebook
from prism_core.data.schema.looks import Looks, check_looks
from prism_core.errors import SchemaError
from prism_core.privacy.contribution import Contribution, Weighting
from prism_core.privacy.learning_charge import ROWS_SUBJECT, LearningCharge
from prism_core.scalars import plain_fields
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prism_core.data.schema.column import Column

Provenance: TypeAlias = Literal["declared", "codebook", "public twin", "dp", "private rows"]
PROVENANCES: tuple[Provenance, ...] = get_args(Provenance)

PROVENANCE_TEXT: dict[Provenance, str] = {
    "declared": "typed or uploaded by the curator; this program took nothing of it from the rows",
    "codebook": "read from {codebook}",
    "public twin": "drafted from a public file with the same layout",
    "dp": "learned from the rows with part of the privacy budget",
    "private rows": "drafted from the private rows themselves: this step is not private, and "
    "every report says so",
}


_AFTER_LOOKS: dict[Provenance, str] = {
    "declared": "typed or uploaded by the curator, after the rows had been opened",
    "codebook": "read from {codebook}, and kept or changed after the rows had been opened",
    "public twin": "drafted from a public file with the same layout, and kept or changed after the "
    "rows had been opened",
    "dp": "learned from the rows with part of the privacy budget, after the rows had been opened "
    "outside it, too",
    "private rows": "drafted from the private rows, or changed after a look at them without a "
    "source: this step is not private, and every report says so",
}
"""The same where the rows were opened before the plan."""


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The declared public domain.

    Attributes:
        columns: the columns that take part, in table order. Others in a file are ignored.
        provenance: where the declaration comes from; carried to every report.
        one_row_per_person: the curator's declaration that no person has two rows.
        person_id: alternatively the column that names the person. Up to `max_rows` uniformly
            chosen rows per person are kept before anything else and the ID itself is never
            synthesised.
        persons: with `person_id`, the declared public number of persons.
        max_rows: with `person_id`, the most rows of a person that are used.
        weighting: whether kept rows count one each, or share one for each person.
        prior: what learning the domain cost (provenance `dp`); every plan deducts it.
        looks: what opened the rows before the plan, and what was changed afterwards; see `looks`.
        codebook: the file that the declaration was read from (provenance `codebook`); kept where
            columns were learned, or changed after a look, beside it.

    Raises:
        SchemaError: when columns repeat, the two ways to name a person are mixed up, or the
            provenance is not that of a change after a look.
    """

    columns: tuple[Column, ...]
    provenance: Provenance = "declared"
    one_row_per_person: bool = False
    person_id: str | None = None
    persons: int | None = None
    max_rows: int = 1
    weighting: Weighting = "rows"
    prior: LearningCharge | None = None
    looks: Looks = ()
    codebook: CodebookSource | None = None

    def __post_init__(self) -> None:
        plain_fields(self)
        if not self.columns:
            raise SchemaError("The schema has no columns. Declare at least two.", field="columns")
        seen: set[str] = set()
        for column in self.columns:
            if column.name in seen:
                raise SchemaError(
                    f"Column {column.name!r} is declared twice. Names must be unique.",
                    field="columns",
                )
            seen.add(column.name)
        if self.provenance not in PROVENANCES:
            raise SchemaError(
                f"provenance must be one of {', '.join(PROVENANCES)}."
                f"{suggestion(self.provenance, PROVENANCES)}",
                field="provenance",
            )
        self._check_persons(seen)
        check_prior(self.provenance, self.prior, self.person_id)
        check_looks(self.looks, self.provenance, seen)
        check_codebook(self.provenance, self.codebook)

    @cached_property
    def contribution(self) -> Contribution:
        """What one person adds to the counts."""
        return Contribution(self.max_rows, self.weighting)

    def _check_persons(self, names: set[str]) -> None:
        several = not self.contribution.single  # refuses unusable numbers
        if not several:  # one row weighs one either way, and equal plans have equal hashes
            object.__setattr__(self, "weighting", "rows")
        if self.person_id is None:
            if self.persons is not None:
                raise SchemaError("persons needs person_id to be declared.", field="persons")
            if several:
                raise SchemaError("max_rows needs person_id to be declared.", field="max_rows")
            return
        if self.one_row_per_person:
            raise SchemaError(
                "Declare either one row per person or a person-ID column, not both.",
                field="person_id",
            )
        if self.person_id in names:
            raise SchemaError(
                f"The person-ID column {self.person_id!r} must not be one of the columns: "
                "an ID is never synthesised. Remove it from the columns.",
                field="person_id",
            )
        # Declared, and not counted in the rows: the plan and its delta rest on it before a row is
        # read.
        if self.persons is None or self.persons < 1:
            raise SchemaError(
                "With a person-ID column, persons (how many people the table holds) must be "
                "declared as a whole number above 0.",
                field="persons",
            )

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(column.name for column in self.columns)

    @property
    def header(self) -> tuple[str, ...]:
        """The columns that a table of this schema has at least; the person-ID column is one."""
        return self.names if self.person_id is None else (*self.names, self.person_id)

    @property
    def provenance_text(self) -> str:
        """Where the declaration comes from, in words; follows "the columns were"."""
        text = (_AFTER_LOOKS if self.looks else PROVENANCE_TEXT)[self.provenance]
        if self.codebook is None:
            return text
        if self.provenance == "codebook":
            return text.format(codebook=self.codebook.text)
        return f"{text}; what was not, was read from {self.codebook.text}"

    @property
    def people_declared(self) -> bool:
        """Whether the schema says how rows and people relate; no release without it."""
        return self.one_row_per_person or self.person_id is not None

    def __getitem__(self, name: str) -> Column:
        """The column of that name.

        Raises:
            SchemaError: when there is none.
        """
        try:
            return self._by_name[name]
        except KeyError:
            raise SchemaError(
                f"There is no column {name!r} in the schema.{suggestion(name, self.names)}",
                field="columns",
            ) from None

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def index(self, name: str) -> int:
        """Position of a column."""
        # For its error, which suggests a name; the look-up below would be a bare KeyError.
        self[name]
        return self._places[name]

    def size(self, name: str) -> int:
        """Number of codes of a column, missing included."""
        return self[name].size

    def cells(self, clique: Iterable[str]) -> int:
        """Number of cells of the marginal over `clique`."""
        return math.prod(self.shape(tuple(clique)))

    @cached_property
    def _sizes(self) -> dict[str, int]:
        return {column.name: column.size for column in self.columns}

    def shape(self, clique: Sequence[str]) -> tuple[int, ...]:
        """Shape of the marginal over `clique`."""
        sizes = self._sizes  # asked for every pair of a wide table
        return tuple([sizes[name] if name in sizes else self[name].size for name in clique])

    def canonical(self, clique: Iterable[str]) -> tuple[str, ...]:
        """The clique in schema order."""
        places = self._places  # asked for every pair of a wide table
        return tuple(sorted({name for name in clique if name in places}, key=places.__getitem__))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def without_looks(self) -> Schema:
        """The same columns for rows that are not the private ones: nothing opened those."""
        return replace(self, looks=())

    def without_person(self) -> Schema:
        """The same columns where every row stands for itself, and nothing was learned.

        For encoding rows that no plan measures: synthetic ones, public ones, a fingerprint. What
        learning cost holds for the declared person only, and has no meaning here.
        """
        provenance = self.provenance
        if provenance == "dp":
            provenance = "declared" if self.codebook is None else "codebook"
        return replace(
            self,
            person_id=None,
            persons=None,
            max_rows=1,
            weighting="rows",
            one_row_per_person=True,
            prior=None,
            provenance=provenance,
        )

    @property
    def rows_learned(self) -> bool:
        """Whether a part of the budget was spent on how many rows people have."""
        return self.prior is not None and ROWS_SUBJECT in self.prior.subjects

    @property
    def counted(self) -> str:
        """What n counts, as a plural: rows, or persons where several rows of each are used."""
        return "persons" if self.max_rows > 1 else "training rows"

    def with_one_row(self) -> Schema:
        """The same where one row of each person is used, as learning and private numbers do."""
        return replace(self, max_rows=1, weighting="rows")


def check_prior(
    provenance: Provenance, prior: LearningCharge | None, person_id: str | None
) -> None:
    """What was learned has its cost beside it, and the cost is that of the declared unit.

    Raises:
        SchemaError: for the provenance `dp` without a cost; for another unit of protection than
            the one that was counted: with other rows per person the cost would be another.
    """
    if provenance == "dp" and prior is None:
        raise SchemaError(
            "The schema was learned with privacy budget and does not say what it cost, so it "
            "cannot be deducted. Use the schema as `prism learn-domain` wrote it.",
            field="learned",
        )
    if prior is not None and prior.person_id != person_id:
        unit = "a row" if prior.person_id is None else f"a value of {prior.person_id!r}"
        raise SchemaError(
            f"The domain was learned with {unit} as the person, and its cost holds for that only. "
            "Declare people as then, or declare the domain anew.",
            field="person_id",
        )
