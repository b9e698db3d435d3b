"""Entries of the page Data: the table, its declaration, who a row is, columns that are learned.

A design may be made for a number of persons before its table is there; the table comes later.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from prism_core.data.schema.codebook_source import WITHOUT_CODEBOOK, CodebookReading, CodebookSource
from prism_core.data.schema.column import Column
from prism_core.data.schema.looks import Look, Looks, merged, redeclared, this_minute, unsourced
from prism_core.learning.domain.requests import Outline, Request, RowsRequest
from prism_core.planning.search.rows_per_person import MEAN_ROWS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dashboard.jobs.worker import Job
    from dashboard.session.memory import LetGo
    from dashboard.session.project import Project
    from prism_core.data.codebooks import Codebook
    from prism_core.data.codebooks.usual_bounds import UsualBounds
    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.schema.schema import Provenance, Schema
    from prism_core.data.tables.raw_table import RawTable
    from prism_core.learning.domain.domain_plan import DomainPlan
    from prism_core.privacy.contribution import Weighting


@dataclass(frozen=True, kw_only=True)
class People:
    """How rows and people relate, as in `Schema`."""

    one_row_per_person: bool = False
    person_id: str | None = None
    persons: int | None = None
    max_rows: int = 1
    weighting: Weighting = "rows"


@dataclass
class Learning:
    """Learning the open columns with budget.

    Attributes:
        share: part of the budget for it.
        delta_share: part of delta for names of categories.
        details: how columns are learned, by name; see `learning.domain.outline_io`.
        job: the step under way, or the last one.
        attempt: counts the steps, so that each is confirmed by itself.
        message: what the last step came to, for the page.
        clipped: of the last step, by column: share of values that may lie outside at one end.
        rows: whether the number of rows used of a person is to be learned, too.
        most_rows: the largest number that may come out.
    """

    share: float = 0.10
    delta_share: float = 0.10
    details: dict[str, dict[str, Any]] = field(default_factory=dict)
    job: Job[DomainPlan] | None = None
    attempt: int = 0
    message: str = ""
    clipped: dict[str, float] = field(default_factory=dict)
    rows: bool = False
    most_rows: int = RowsRequest.most


@dataclass
class DataEntries:
    """The table, what is declared of it, and what is known of both.

    Attributes:
        name: of the file or sample.
        sample: name of the packaged sample; None for a table of one's own.
        raw: the table.
        announced: persons of the table, typed before there is one.
        test: a second table, kept for evaluation.
        test_file: whether a file of its own is tested on, there or not yet.
        public: whether the rows are called public.
        private_marks, public_marks: of tables that this session loaded as private, and of those
            she said to be public nevertheless.
        holdout_share: part of the rows that is kept aside, where there is no second table.
        schema: the declaration in use.
        form, form_edited: rows of the form of columns, and as they are typed since.
        form_rev: revision of the rows that Python put into the form last.
        form_provenance: where the declaration in the form comes from.
        read: the codebook that the form was filled from.
        carried: the codebook in the table's own file (SPSS, Stata, SAS).
        outlined: columns of an uploaded outline that is not learned yet.
        decimals_proposed: by column, proposed once.
        bounds_suggested: of a codebook's numbers without bounds, by column: what was filled in.
        draft_people: how rows and people relate, while there is no schema.
        learning: of open columns, with budget.
        file_sha256: of an uploaded table.
        looks: what opened the rows before the plan, and what was changed afterwards.
        looked: looks at every table of this session, by its key.
        source: the document that a declaration after a look is stated to come from.
        person_hint: the column that is said to name the person, before it is declared.
        mean_rows: rows of a person on average, a public guess.
        several_rows: `max_rows` and `weighting` as they were entered last; a schema in which a
            person is one row has no place for them.
        left_out: columns that were not needed, by name, with the place where they stood.
        compared: the form as it was compared with a schema last, and whether the two are the same.
        from_source: name of the administrator's source that the rows come from, "" for none.
        rows_let_go, test_let_go: the tables whose rows are no longer in memory.
    """

    name: str = ""
    sample: str | None = None
    raw: RawTable | BigTable | None = None
    announced: int | None = None
    test: RawTable | None = None
    test_file: bool = False
    public: bool = False
    private_marks: frozenset[str] = frozenset()
    public_marks: frozenset[str] = frozenset()
    holdout_share: float = 0.2
    schema: Schema | None = None
    form: list[dict[str, Any]] | None = None
    form_edited: list[dict[str, Any]] | None = None
    form_rev: int = 0
    form_provenance: Provenance | None = None
    read: CodebookReading | None = None
    carried: Codebook | None = field(default=None, repr=False)
    outlined: tuple[Column | Request, ...] = ()
    decimals_proposed: dict[str, int] = field(default_factory=dict)
    bounds_suggested: dict[str, UsualBounds] = field(default_factory=dict)
    draft_people: People = field(default_factory=People)
    learning: Learning = field(default_factory=Learning)
    file_sha256: str = ""
    looks: Looks = ()
    looked: dict[str, Looks] = field(default_factory=dict)
    source: str = ""
    person_hint: str = ""
    mean_rows: float = MEAN_ROWS
    several_rows: tuple[int, Weighting] = (1, "rows")
    left_out: dict[str, tuple[int, Column]] = field(default_factory=dict)
    compared: tuple[list[dict[str, Any]], Schema | None, bool] | None = field(
        default=None, repr=False, compare=False
    )
    from_source: str = ""
    rows_let_go: LetGo | None = None
    test_let_go: LetGo | None = None

    @property
    def holdout_rows(self) -> int:
        """Rows kept aside for evaluation; a fixed number, whatever they hold."""
        whole = self.whole
        if whole == 0 or self.own_test:
            return 0
        # At least one row is left for training.
        return min(whole - 1, round(whole * self.holdout_share))

    @property
    def n(self) -> int:
        """Training rows (persons); public."""
        return self.whole - self.holdout_rows

    @property
    def whole(self) -> int:
        """Rows (persons) with those kept aside; public.

        A number that was announced holds until it is given up: the plan was made for it.
        """
        # Also once the table is there: another number would be another plan, and no approval holds.
        if self.announced is not None:
            return self.announced
        return 0 if self.raw is None else self.people.persons or self.raw.rows

    @property
    def own_test(self) -> bool:
        """Whether a test file takes the place of a share that is kept aside."""
        return self.test_file or self.test is not None

    @property
    def awaits_table(self) -> bool:
        """Whether the design comes before its table."""
        # Rows that have gone from memory are loaded again, which is another way than a first
        # table's.
        return self.raw is None and self.announced is not None and self.rows_let_go is None

    @property
    def people(self) -> People:
        """How rows and people relate; kept apart while there is no schema yet."""
        if self.schema is None:
            return self.draft_people
        return People(
            one_row_per_person=self.schema.one_row_per_person,
            person_id=self.schema.person_id,
            persons=self.schema.persons,
            max_rows=self.schema.max_rows,
            weighting=self.schema.weighting,
        )

    @property
    def table_key(self) -> str:
        """What tells this table from others: the file's hash, or the name where there is none."""
        return self.file_sha256 or self.name

    @property
    def told(self) -> Looks:
        """The looks that a plan tells of: rows that are public may be looked at."""
        return () if self.public else self.looks

    @property
    def checked(self) -> bool:
        """Whether something was seen that may say what a column should hold."""
        return any(isinstance(event, Look) and event.tells for event in self.told)

    @property
    def checks(self) -> int:
        """How often it was looked."""
        return sum(isinstance(event, Look) for event in self.looks)

    @property
    def rows_of_form(self) -> list[dict[str, Any]]:
        """The form of columns as it is typed."""
        return (self.form if self.form_edited is None else self.form_edited) or []

    @property
    def to_learn(self) -> tuple[str, ...]:
        """Columns that are ticked to be learned."""
        return tuple(
            str(row.get("name") or "") for row in self.rows_of_form if row.get("learn") is True
        )

    @property
    def rows_to_learn(self) -> RowsRequest | None:
        """What is to be learned of the rows of a person, if that is."""
        if not self.learning.rows or self.people.person_id is None:
            return None
        return RowsRequest(most=self.learning.most_rows)

    @property
    def anything_to_learn(self) -> bool:
        """Whether columns, or the rows of a person, wait for learning."""
        return bool(self.to_learn) or self.rows_to_learn is not None

    @property
    def learns(self) -> bool:
        """Whether a domain is being learned now."""
        job = self.learning.job
        return job is not None and job.outcome().state == "running"

    def outline(self, provenance: Provenance) -> Outline:
        """What is declared and what is to be learned, as the form says.

        Args:
            provenance: of what is declared about the columns.

        Raises:
            PrismError: when something is missing or not usable.
        """
        from prism_core.learning.domain import outline_io
        from prism_core.learning.domain.requests import Outline

        people, rows = self.people, self.rows_to_learn
        if rows is not None:  # what was declared before stands back until it is known
            people = replace(people, max_rows=1, weighting="rows")
        columns = outline_io.from_rows(self.rows_of_form, self.learning.details)
        known, provenance = self.on_record(columns, provenance)
        return Outline(
            columns=columns,
            provenance=provenance,
            looks=known,
            codebook=self.codebook_of(columns, provenance),
            prior=self.schema.prior if self.schema else None,
            learn_rows=rows,
            **vars(people),
        )

    def codebook_of(
        self, columns: Sequence[Column | Request], provenance: Provenance
    ) -> CodebookSource | None:
        """The codebook that a declaration of this provenance names, with what is done by hand."""
        if self.read is None or provenance in WITHOUT_CODEBOOK:
            return None
        # What is still to be learned is neither read nor typed.
        return self.read.source_of(each for each in columns if isinstance(each, Column))

    def on_record(
        self,
        columns: Sequence[Column | Request],
        provenance: Provenance,
        came_with: Looks = (),
        *,
        whole: bool = False,
    ) -> tuple[Looks, Provenance]:
        """Looks and provenance once these columns are declared; see `data.looks`."""
        before = self.outlined if self.schema is None else self.schema.columns
        known = redeclared(
            self.told,
            came_with,
            {each.name: each for each in before},
            {each.name: each for each in columns},
            source=self.source,
            when=this_minute(),
            whole=whole,
        )
        names = [each.name for each in columns]
        return known, "private rows" if unsourced(known, names) else provenance

    def show_form(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Put other rows into the form of columns."""
        # Copies: what is typed here must not change the rows that were handed in.
        self.form, self.form_edited = [dict(row) for row in rows], None
        # The grid's key holds it: under the old key Streamlit would lay what was typed over the new
        # rows.
        self.form_rev += 1


def announce(state: Project, persons: int) -> None:
    """Say how many persons the table will hold; public.

    Raises:
        SchemaError: when the number is not usable.
    """
    state.data.announced = persons
    if state.data.people.person_id is not None:
        state.declare_people(replace(state.data.people, persons=persons))


def bind(
    state: Project,
    raw: RawTable | BigTable,
    name: str,
    *,
    public: bool,
    marks: frozenset[str],
) -> None:
    """Put the table under the design. Nothing of the design changes, the number least of all.

    Args:
        state: the project of the design.
        raw: the table.
        name: of its file.
        public: whether its rows are public.
        marks: by which it is known as private; of public rows none.
    """
    state.data.raw, state.data.name, state.data.public = raw, name, public
    state.data.private_marks |= marks
    state.data.file_sha256 = getattr(raw, "sha256", "")
    seen = state.data.looked.get(state.data.table_key, ())
    if seen:  # this session opened these rows before: the plan has to say so
        state.data.looks = merged(state.data.looks, seen)
        state.use_schema(state.data.schema)


def unbind(state: Project) -> None:
    """Take the table away from a design that was made before it."""
    if state.data.announced is not None:
        # The number stays: the design waits for a table again.
        state.data.raw, state.data.file_sha256 = None, ""


def count_anew(state: Project) -> None:
    """Give up the announced number for that of the table: the plan is designed anew.

    Where a column names the person, it has to be said again how many there are.
    """
    state.data.announced = None
    if state.data.people.person_id is not None:
        state.data.person_hint = state.data.people.person_id
        state.declare_people(People())
