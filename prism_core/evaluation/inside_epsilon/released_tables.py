"""Tables that private numbers are bought for: released rows, and the plan's holdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.errors import PlanError, PrivacyError
from prism_core.planning.step_plan import check_one_row, check_people

if TYPE_CHECKING:
    from prism_core.data.encoding import EncodedTable
    from prism_core.data.schema.schema import Schema


def check_released_tables(
    schema: Schema, n: int, synthetic: EncodedTable, holdout: EncodedTable, instead: str
) -> None:
    """Refuse tables that do not fit the plan; reads no row, spends nothing.

    Args:
        schema: of the plan.
        n: holdout rows of the plan.
        synthetic: what models are trained on.
        holdout: the real rows.
        instead: what to do where the holdout has another number of rows.

    Raises:
        PlanError, PrivacyError: saying what does not fit.
    """
    for name, table in (("synthetic", synthetic), ("holdout", holdout)):
        if table.schema.columns != schema.columns:
            raise PlanError(f"The {name} rows have other columns than the plan.", field=name)
    if not synthetic.public:
        raise PrivacyError(
            "Models must be trained on released rows. One that is trained on private rows is "
            "itself private, and its scores are not covered.",
            field="synthetic",
        )
    check_people(holdout.schema)
    check_one_row(holdout.schema, "Private numbers are proven")
    # n is public and in the proof: the noise was made for so many rows.
    if holdout.n != n:
        raise PlanError(
            f"The plan is for {n:,} holdout rows (persons) and the table does not have that many. "
            f"{instead}",
            field="n",
        )
