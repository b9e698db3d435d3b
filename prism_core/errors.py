"""One exception tree for everything a caller can get wrong.

A message names the field, what is allowed and what to do next. It never holds a
value taken from a private row: messages are built from declared facts (the schema,
the task, the budget) and from file-level facts (headers, separators) only.

    PrismError
    |- ConfigError        a run description (TOML) is incomplete or malformed
    |- SchemaError        the declared public domain is not usable
    |- TableError         a file cannot be read as a table; may carry a suggestion
    |- StructureError     a graph is not usable
    |  `- CycleError      ... because it has a cycle, which is named in full
    |- TaskError          target, regime or number of features is not usable
    |- BudgetError        epsilon, delta, shares or weights are not usable
    |- PlanError          the plan cannot run (memory, empty workload)
    |- PrivacyError       a mechanism was asked to run without a guarantee
    |  `- KnownPrivateError  ... or rows are called public that were private here
    |- LedgerError        the ledger refuses a charge
    |  `- OverspentError  ... because the asset's lifetime budget is too small
    |- BundleError        the folder of a run is not as this program writes it
    |- EvaluationError    there is nothing to evaluate against
    |- AccessError        whoever asks has not shown who they are, or may not do this
    `- CancelledError     the person asked the run to stop
"""

from __future__ import annotations


class PrismError(Exception):
    """Base of all errors raised on purpose by prism_core.

    Attributes:
        field: the input the message is about ("epsilon", "columns[3].levels"), or "".
    """

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class ConfigError(PrismError):
    """A run description is incomplete or malformed."""


class SchemaError(PrismError):
    """The declared public domain is not usable."""


class TableError(PrismError):
    """A file cannot be read as a table.

    Attributes:
        separator: a separator that would read it, when one was recognised.
        encoding: a text encoding that would read it, when one was recognised.
        sheets: names of the sheets, when one of them must be chosen.
    """

    def __init__(
        self,
        message: str,
        *,
        field: str = "table",
        separator: str | None = None,
        encoding: str | None = None,
        sheets: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message, field=field)
        self.separator = separator
        self.encoding = encoding
        self.sheets = sheets


class StructureError(PrismError):
    """A graph is not usable."""


class CycleError(StructureError):
    """A graph has a cycle.

    Attributes:
        cycle: the nodes on it, the first repeated at the end.
    """

    def __init__(self, cycle: tuple[str, ...]) -> None:
        super().__init__(
            "The graph has a cycle: " + " → ".join(cycle) + ". Remove one of these edges.",
            field="edges",
        )
        self.cycle = cycle

    def __reduce__(self) -> tuple[type[CycleError], tuple[tuple[str, ...]]]:
        return type(self), (self.cycle,)  # the message is made from the cycle, not kept beside it


class TaskError(PrismError):
    """Target, regime or number of features is not usable."""


class BudgetError(PrismError):
    """Epsilon, delta, shares or weights are not usable."""


class PlanError(PrismError):
    """The plan cannot run; raised before any row is read."""


class PrivacyError(PrismError):
    """A mechanism was asked to run without a guarantee."""


class KnownPrivateError(PrivacyError):
    """Rows that are to be taken as public are known as private; the curator may overrule."""


class LedgerError(PrismError):
    """The ledger refuses."""


class OverspentError(LedgerError):
    """A charge would exceed an asset's lifetime budget."""


class BundleError(PrismError):
    """The folder of a run is not as this program writes it."""


class EvaluationError(PrismError):
    """There is nothing to evaluate against."""


class AccessError(PrismError):
    """Whoever asks has not shown who they are, or may not do this."""


class CancelledError(PrismError):
    """The person asked the run to stop."""
