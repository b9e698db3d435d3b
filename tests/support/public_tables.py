"""Two public tables with a numeric target: diabetes, and house prices that are generated here.

Bounds and bins are declared from what the columns mean, not read off the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from prism_core.data.schema.column import Column, equal_edges
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import from_frame

if TYPE_CHECKING:
    from prism_core.data.tables.raw_table import RawTable

DIABETES_TARGET = "progression"
HOUSING_TARGET = "value"
HOUSING_ROWS = 20_000

# Lower and upper bound, decimals, description; bounds as a codebook of adult outpatients has them.
_DIABETES: dict[str, tuple[float, float, int, str]] = {
    "age": (18, 80, 0, "Age in years."),
    "bmi": (16, 44, 1, "Body mass index, kg/m²."),
    "bp": (60, 140, 0, "Average blood pressure, mm Hg."),
    "s1": (90, 310, 0, "Total serum cholesterol, mg/dl."),
    "s2": (40, 250, 1, "Low-density lipoproteins, mg/dl."),
    "s3": (20, 100, 0, "High-density lipoproteins, mg/dl."),
    "s4": (2, 10, 2, "Total over high-density cholesterol."),
    "s5": (3.2, 6.4, 4, "Logarithm of serum triglycerides."),
    "s6": (50, 130, 0, "Blood sugar, mg/dl."),
}
_PLACES = ("inland", "within an hour of the sea", "at a bay", "at the sea")


def diabetes() -> RawTable:
    """The 442 rows of Efron, Hastie, Johnstone and Tibshirani (2004), as scikit-learn ships them.

    Unscaled, with the target's name in words. Public rows.
    """
    from sklearn.datasets import load_diabetes

    loaded: Any = load_diabetes(scaled=False, as_frame=True)  # carries no types
    frame: pd.DataFrame = loaded.frame
    return from_frame(frame.rename(columns={"target": DIABETES_TARGET}))


def diabetes_schema(*, bins: int = 4, target_bins: int = 6) -> Schema:
    """The declared domain: equal bins within round bounds. One row is one patient.

    Few bins, as 442 rows shared out over many would be fewer than the noise of each.

    Args:
        bins: of every feature.
        target_bins: of the target.
    """
    columns = [_number(name, *entry[:3], bins, entry[3]) for name, entry in _DIABETES.items()]
    sex = Column(name="sex", kind="categorical", levels=(1, 2), description="Sex, coded.")
    what = "Progression of the disease after a year, as a score."
    target = _number(DIABETES_TARGET, 25, 350, 0, target_bins, what)
    return Schema(columns=(columns[0], sex, *columns[1:], target), one_row_per_person=True)


def housing(rows: int = HOUSING_ROWS, seed: int = 0) -> RawTable:
    """House prices by district, generated: eight features, one of them categorical.

    Made to look like the census table of California: incomes are skewed, prices follow income
    (with a saturating effect), place, rooms and a ridge over latitude and longitude, and are cut
    off at 5. No row belongs to anybody.

    Args:
        rows: how many.
        seed: the same seed gives the same rows.
    """
    rng = np.random.default_rng(seed)
    latitude = rng.choice([34.0, 37.6, 36.0], rows, p=[0.5, 0.3, 0.2]) + rng.normal(0, 0.7, rows)
    longitude = -119.6 - 0.8 * (latitude - 36.0) + rng.normal(0, 0.8, rows)
    sea = longitude + 0.8 * (latitude - 36.0) + 119.6  # degrees off the coast line, west below 0
    place = np.digitize(-sea + rng.normal(0, 0.3, rows), [-0.2, 0.5, 0.9])
    income = np.clip(rng.lognormal(1.2 + 0.12 * place, 0.45, rows), 0.5, 15.0)
    age = np.clip(rng.gamma(6.0, 4.8, rows) + 3.0 * place, 1.0, 52.0)
    rooms = np.clip(3.2 + 0.45 * income + rng.normal(0, 0.9, rows), 1.0, 12.0)
    crowd = np.clip(4.2 - 0.25 * rooms + rng.gamma(2.0, 0.35, rows), 1.0, 8.0)
    people = np.clip(rng.lognormal(7.0, 0.65, rows), 50.0, 6_000.0)
    value = (
        3.2 * (1.0 - np.exp(-income / 5.0))
        + 0.35 * place
        - 0.22 * (crowd - 3.0)
        + 0.006 * (age - 28.0)
        - 0.25 * np.abs(latitude - 34.5) / 2.0
        + rng.normal(0, 0.5, rows)
    )
    frame = pd.DataFrame(
        {
            "income": income.round(2),
            "age": age.round(),
            "rooms": rooms.round(2),
            "crowd": crowd.round(2),
            "people": people.round(),
            "latitude": latitude.round(2),
            "longitude": longitude.round(2),
            "place": np.array(_PLACES)[place],
            HOUSING_TARGET: np.clip(value, 0.15, 5.0).round(2),
        }
    )
    return from_frame(frame)


def housing_schema(*, bins: int = 8, target_bins: int = 16) -> Schema:
    """The declared domain: equal bins within round bounds.

    Args:
        bins: of every numeric feature.
        target_bins: of the target.
    """
    columns = (
        _number("income", 0, 15, 2, bins, "Median income, 10,000 dollars."),
        _number("age", 1, 52, 0, bins, "Median age of the houses, years."),
        _number("rooms", 1, 12, 2, bins, "Rooms a household."),
        _number("crowd", 1, 8, 2, bins, "People a household."),
        _number("people", 0, 6_000, 0, bins, "People in the district."),
        _number("latitude", 32, 42, 2, bins, "Degrees north."),
        _number("longitude", -125, -114, 2, bins, "Degrees east."),
        Column(name="place", kind="categorical", levels=_PLACES, description="Where it lies."),
        _number(HOUSING_TARGET, 0.1, 5, 2, target_bins, "Median value, 100,000 dollars."),
    )
    return Schema(columns=columns, one_row_per_person=True)


def _number(
    name: str, lower: float, upper: float, decimals: int, bins: int, description: str
) -> Column:
    return Column(
        name=name,
        kind="numeric",
        lower=lower,
        upper=upper,
        decimals=decimals,
        edges=equal_edges(lower, upper, bins, decimals),
        description=description,
    )
