"""A generated hospital table: was the patient readmitted within 30 days of discharge?

Written down as a structural model: every column is drawn from the columns named beside it
in `CAUSES`, and from nothing else, so the graph is the truth about the rows. No patient is
behind any row, and each stands for one stay of a person who has no other row. The risk
follows the ingredients of the published LACE and HOSPITAL scores, in steps at the declared
bin edges: given the codes of its causes the outcome carries no more information about the
finer values, and the graph also holds for the encoded table. The sizes of the effects are
invented.

Units: days, g/dL (hemoglobin), mg/dL (creatinine), percent (HbA1c).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from scipy.special import expit

from prism_core.data.schema.column import Column
from prism_core.data.schema.level import Level, day_number
from prism_core.data.schema.schema import Schema
from prism_core.samples.scm import bernoulli, levels, normal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


# Codes of levels, numbers and day numbers of all patients, filled stage by stage.
Columns: TypeAlias = "dict[str, NDArray[Any]]"

TARGET = "readmitted_30d"
ROWS = (20_000, 5_000)  # training, test

CAUSES: dict[str, tuple[str, ...]] = {
    "discharge_date": (),
    "age": (),
    "sex": (),
    "language": (),
    "insurance": ("age", "language"),
    "admission_type": ("age",),
    "admission_weekday": ("admission_type",),
    "bed_unit": ("discharge_date", "insurance", "admission_weekday"),
    "diabetes": ("age",),
    "hba1c": ("diabetes",),
    "heart_failure": ("age", "diabetes"),
    "charlson_index": ("age", "diabetes", "heart_failure"),
    "creatinine": ("age", "diabetes", "heart_failure", "admission_type"),
    "hemoglobin": ("sex", "charlson_index", "admission_type"),
    "prior_admissions_12m": ("charlson_index",),
    "icu_nights": ("admission_type", "heart_failure"),
    "length_of_stay": ("admission_type", "charlson_index", "icu_nights"),
    "discharge_to": ("age", "length_of_stay"),
    "followup_booked": ("insurance",),
    "call_reached": ("language",),
    "ed_visit_30d": ("readmitted_30d", "call_reached"),
    "followup_attended": ("readmitted_30d", "followup_booked"),
    "survey_rating": ("readmitted_30d",),
    "readmitted_30d": (
        "prior_admissions_12m",
        "charlson_index",
        "length_of_stay",
        "admission_type",
        "hemoglobin",
        "discharge_to",
    ),
}

LEVELS: dict[str, tuple[str, ...]] = {
    "sex": ("F", "M"),
    "language": ("en", "es", "zh", "other"),
    "insurance": ("MCR", "MCD", "PRV", "SELF"),
    "admission_type": ("elective", "urgent", "ED"),
    "admission_weekday": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
    "bed_unit": ("3N", "3S", "4N", "4S", "5W"),
    "discharge_to": ("home", "HHC", "rehab", "SNF"),
    "survey_rating": ("poor", "fair", "good", "best"),
}

FIRST_DAY = day_number("2023-01-01", field="first day")
LAST_DAY = day_number("2024-12-31", field="last day")
NEW_WARD_DAY = day_number("2023-09-30", field="last day without ward 5W")
QUARTER_ENDS = tuple(
    day_number(text, field="quarter")
    for text in (
        *("2023-03-31", "2023-06-30", "2023-09-30", "2023-12-31"),
        *("2024-03-31", "2024-06-30", "2024-09-30"),
    )
)

# Lower bound, upper bound, interior edges and decimals, as a hospital's codebook would fix them.
BINS: dict[str, tuple[float, float, tuple[float, ...], int]] = {
    "discharge_date": (FIRST_DAY, LAST_DAY, QUARTER_ENDS, 0),
    "age": (18, 100, (39, 49, 59, 69, 79), 0),
    "hba1c": (4.0, 14.0, (5.6, 6.4, 7.0, 8.0, 9.0), 1),
    "charlson_index": (0, 15, (0, 1, 2, 3, 5), 0),
    "creatinine": (0.3, 8.0, (0.7, 0.9, 1.1, 1.3, 1.6, 2.0), 2),
    "hemoglobin": (6.0, 19.0, (10.0, 12.0, 14.0, 16.0), 1),
    "prior_admissions_12m": (0, 12, (0, 1, 2, 4), 0),
    "length_of_stay": (1, 45, (1, 2, 3, 6, 13), 0),
    "icu_nights": (0, 20, (0, 1, 3), 0),
}
NULLABLE = ("hba1c", "creatinine", "hemoglobin", "survey_rating")

# Log-odds of a readmission: one number per code of each cause, missing last.
BASE_LOG_ODDS = -3.45
POINTS: dict[str, tuple[float, ...]] = {
    "prior_admissions_12m": (0.0, 0.5, 0.9, 1.3, 1.7),
    "charlson_index": (0.0, 0.2, 0.4, 0.6, 0.85, 1.1),
    "length_of_stay": (0.0, 0.1, 0.2, 0.5, 0.8, 1.1),
    "admission_type": (0.0, 0.4, 0.7),
    "hemoglobin": (1.0, 0.5, 0.15, 0.0, 0.0, -0.1),
    "discharge_to": (0.0, 0.3, 0.4, 0.6),
}

DESCRIPTIONS: dict[str, str] = {
    "discharge_date": "Day the patient left the hospital after the stay the row is about.",
    "age": "Age in whole years on the day of discharge.",
    "sex": "Sex in the registration record.",
    "language": "Language the patient prefers to speak with staff.",
    "insurance": "Payer of the stay: Medicare (MCR), Medicaid (MCD), a private insurer (PRV) or "
    "the patient (SELF).",
    "admission_type": "How the stay began: planned, urgent, or through the emergency department "
    "(ED). Emergency stays carry more risk of a readmission.",
    "admission_weekday": "Day of the week of admission; planned stays begin on working days.",
    "bed_unit": "Ward of the last night. Ward 5W opened in October 2023. Beds are given by "
    "availability, so the ward says nothing about the risk once the patient is known.",
    "diabetes": "Diabetes among the diagnoses of the stay or of earlier ones.",
    "hba1c": "Long-term blood sugar, HbA1c in percent. Mostly ordered for patients with diabetes, "
    "so it is empty for most others.",
    "heart_failure": "Heart failure among the diagnoses of the stay or of earlier ones.",
    "charlson_index": "Charlson comorbidity index without age points: how much other disease the "
    "patient has. One of the causes of a readmission.",
    "creatinine": "Last creatinine of the stay in mg/dL, a marker of kidney function. Empty when "
    "not ordered, more often so for planned stays.",
    "hemoglobin": "Last hemoglobin before discharge in g/dL. Anaemia raises the risk of a "
    "readmission. Empty when no blood count was ordered, more often so for planned stays.",
    "prior_admissions_12m": "Number of hospital stays in the twelve months before this one. The "
    "strongest single cause of a readmission in this table.",
    "icu_nights": "Nights in intensive care during the stay. They prolong the stay and act on the "
    "risk through that only.",
    "length_of_stay": "Nights in hospital, those in intensive care included. Longer stays carry "
    "more risk.",
    "discharge_to": "Where the patient went: home, home with home health care (HHC), a "
    "rehabilitation clinic or a skilled nursing facility (SNF).",
    "followup_booked": "A clinic appointment was booked before the patient left. It does not "
    "change the risk here, but decides with it whether a clinic visit took place.",
    "call_reached": "The nurse reached the patient by telephone within two days of discharge. It "
    "does not change the risk here, but makes a needless emergency visit less likely.",
    "ed_visit_30d": "A visit to the emergency department within 30 days after discharge. Most "
    "readmissions come through that door: it is a consequence of being readmitted, not known at "
    "discharge, so the causal regime leaves it out.",
    "followup_attended": "The patient came to a clinic visit within 30 days after discharge. Those "
    "readmitted first often miss it: a consequence, not known at discharge, so the causal regime "
    "leaves it out.",
    "survey_rating": "Rating in the patient survey sent 30 days after discharge; empty when not "
    "returned. A readmission lowers it: a consequence, so the causal regime leaves it out.",
    "readmitted_30d": "Unplanned readmission to any ward within 30 days after discharge: the "
    "outcome to predict.",
}


def tables(rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training and test table from the same distribution."""
    train, test = ROWS
    return generate(rng, train), generate(rng, test)


def generate(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """Rows of the model in schema order, missing values as NaN or None.

    Args:
        rng: the source of every draw.
        rows: number of rows, one person each.
    """
    codes: Columns = {}
    # Causes before effects; another order would change every row of the seed.
    for stage in (_person, _illness, _stay, _labs, _discharge, _outcome, _aftermath):
        stage(rng, rows, codes)
    return pd.DataFrame({name: _values(name, codes[name]) for name in CAUSES})


def edges() -> tuple[tuple[str, str], ...]:
    """The true graph, as (cause, effect)."""
    return tuple((cause, name) for name, causes in CAUSES.items() for cause in causes)


def schema() -> Schema:
    """The declared domain; bounds and edges come from `BINS`, never from rows."""
    return Schema(columns=tuple(_column(name) for name in CAUSES), one_row_per_person=True)


def risk(frame: pd.DataFrame) -> NDArray[np.float64]:
    """The true P(readmitted | causes) of every row: the best any predictor at discharge can do."""
    odds = np.full(len(frame), BASE_LOG_ODDS)
    for name, points in POINTS.items():
        if name in BINS:
            values = frame[name].to_numpy(dtype=float, na_value=np.nan)
        else:
            values = frame[name].map(LEVELS[name].index).to_numpy(dtype=float)
        odds += _points(name, values, points)
    return expit(odds)


def _points(name: str, values: NDArray[np.float64], points: Sequence[float]) -> NDArray[np.float64]:
    codes = np.searchsorted(BINS[name][2], values) if name in BINS else values.astype(np.int64)
    # NaN sorts past the last bin, which is the place of the missing code.
    return np.asarray(points)[np.where(np.isnan(values), len(points) - 1, codes)]


def _column(name: str) -> Column:
    description, nullable = DESCRIPTIONS[name], name in NULLABLE
    if name in LEVELS:
        ordered = name in ("admission_type", "admission_weekday", "survey_rating")
        declared: tuple[Level, ...] = LEVELS[name]
        return Column(
            name=name,
            kind="ordinal" if ordered else "categorical",
            levels=declared,
            nullable=nullable,
            description=description,
        )
    if name not in BINS:
        return Column(name=name, kind="boolean", nullable=nullable, description=description)
    lower, upper, inner, decimals = BINS[name]
    return Column(
        name=name,
        kind="date" if name == "discharge_date" else "numeric",
        lower=lower,
        upper=upper,
        edges=inner,
        decimals=decimals,
        nullable=nullable,
        description=description,
    )


def _values(name: str, codes: NDArray[Any]) -> pd.Series:
    if name == "discharge_date":
        # In seconds, as pandas has no unit of days.
        return pd.Series(codes.astype("datetime64[D]").astype("datetime64[s]"))
    if name in LEVELS:
        words = np.array([*LEVELS[name], None], dtype=object)
        # The code after the last level is the missing one.
        return pd.Series(words[codes.astype(np.int64)], dtype=object)
    if name not in BINS:
        return pd.Series(codes.astype(bool))
    return pd.Series(codes)


def _within(name: str, values: NDArray[np.float64]) -> NDArray[Any]:
    lower, upper, _, decimals = BINS[name]
    # Clipped last: rounding must not leave the bounds.
    kept = np.clip(np.round(values, decimals), lower, upper)
    return kept.astype(np.int64) if decimals == 0 else kept


def _geometric(rng: np.random.Generator, mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counts 0, 1, 2, ... with this mean: a few patients have very many, as in hospitals."""
    # By inversion of a uniform draw, whose stream numpy keeps stable. `random` is below 1, so the
    # logarithm is finite.
    return np.floor(np.log1p(-rng.random(len(mean))) / np.log(mean / (1 + mean)))


def _row(table: ArrayLike, *codes: NDArray[Any]) -> NDArray[np.float64]:
    """The entry (or the row of chances) of `table` for each patient's codes."""
    return np.asarray(table, dtype=float)[tuple(code.astype(np.int64) for code in codes)]


def _person(rng: np.random.Generator, rows: int, row: Columns) -> None:
    days = LAST_DAY - FIRST_DAY + 1
    # `random` and not `integers`: its stream is the one that numpy keeps stable.
    row["discharge_date"] = FIRST_DAY + np.floor(rng.random(rows) * days)
    row["age"] = _within("age", 66 + 16 * normal(rng, rows))
    row["sex"] = levels(rng, (0.52, 0.48), rows)
    row["language"] = levels(rng, (0.76, 0.13, 0.06, 0.05), rows)
    # (65 or older, not English-speaking) -> MCR, MCD, PRV, SELF
    payer = [
        [[0.06, 0.22, 0.62, 0.10], [0.04, 0.42, 0.34, 0.20]],
        [[0.82, 0.04, 0.13, 0.01], [0.70, 0.19, 0.07, 0.04]],
    ]
    chances = _row(payer, row["age"] >= 65, row["language"] > 0)
    row["insurance"] = levels(rng, chances, rows)


def _illness(rng: np.random.Generator, rows: int, row: Columns) -> None:
    # So that effects are for ten years more of age.
    decades = (row["age"] - 65) / 10
    row["diabetes"] = bernoulli(rng, expit(-0.9 + 0.2 * decades), rows)
    heart = expit(-1.8 + 0.45 * decades + 0.6 * row["diabetes"])
    row["heart_failure"] = bernoulli(rng, heart, rows)
    other = _geometric(rng, 0.9 * np.exp(0.18 * decades))
    named = row["diabetes"] + row["heart_failure"]
    row["charlson_index"] = _within("charlson_index", named + other)
    earlier = _geometric(rng, 0.25 + 0.22 * row["charlson_index"])
    row["prior_admissions_12m"] = _within("prior_admissions_12m", earlier)


def _stay(rng: np.random.Generator, rows: int, row: Columns) -> None:
    # (younger than 50, 50-69, 70 or older) -> elective, urgent, ED
    kinds = [[0.38, 0.20, 0.42], [0.34, 0.20, 0.46], [0.22, 0.20, 0.58]]
    band = np.searchsorted((49, 69), row["age"])
    row["admission_type"] = levels(rng, _row(kinds, band), rows)
    planned, unplanned = [0.23, 0.22, 0.20, 0.18, 0.13, 0.02, 0.02], [1 / 7] * 7
    week = _row([planned, unplanned, unplanned], row["admission_type"])
    row["admission_weekday"] = levels(rng, week, rows)
    intensive = _row([[0.05, 0.08], [0.07, 0.12], [0.13, 0.22]], *_pair(row, "heart_failure"))
    nights = bernoulli(rng, intensive, rows) * (1 + _geometric(rng, np.full(rows, 1.2)))
    row["icu_nights"] = _within("icu_nights", nights)
    burden = 0.05 * np.minimum(row["charlson_index"], 8)
    mean = _row([0.55, 0.9, 1.05], row["admission_type"]) + burden
    ward = np.ceil(np.exp(mean + 0.65 * normal(rng, rows)))
    row["length_of_stay"] = _within("length_of_stay", ward + row["icu_nights"])


def _pair(row: Columns, name: str) -> tuple[NDArray[Any], ...]:
    return row["admission_type"], row[name]


def _labs(rng: np.random.Generator, rows: int, row: Columns) -> None:
    diabetes, kind = row["diabetes"], row["admission_type"]
    sugar = np.where(diabetes == 1, 7.6 + 1.4 * normal(rng, rows), 5.5 + 0.4 * normal(rng, rows))
    # Chance that the test was not ordered.
    skipped = np.where(diabetes == 1, 0.10, 0.82)
    row["hba1c"] = _lab(rng, "hba1c", sugar, skipped)
    kidney = 0.007 * (row["age"] - 60) + 0.15 * diabetes + 0.15 * row["heart_failure"]
    filtered = np.exp(np.log(0.95) + kidney + 0.33 * normal(rng, rows))
    row["creatinine"] = _lab(rng, "creatinine", filtered, _row([0.22, 0.06, 0.03], kind))
    burden = 0.3 * np.minimum(row["charlson_index"], 8)
    blood = _row([12.8, 14.0], row["sex"]) - burden + 1.5 * normal(rng, rows)
    row["hemoglobin"] = _lab(rng, "hemoglobin", blood, _row([0.24, 0.07, 0.02], kind))


def _lab(
    rng: np.random.Generator, name: str, values: NDArray[np.float64], skipped: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.where(rng.random(len(values)) < skipped, np.nan, _within(name, values))


def _discharge(rng: np.random.Generator, rows: int, row: Columns) -> None:
    # (younger than 70, 70-79, 80 or older; at most 6 nights or more)
    # -> home, home health care, rehabilitation, nursing facility
    places = [
        [[0.86, 0.09, 0.03, 0.02], [0.62, 0.20, 0.13, 0.05]],
        [[0.72, 0.17, 0.06, 0.05], [0.42, 0.25, 0.20, 0.13]],
        [[0.54, 0.23, 0.09, 0.14], [0.27, 0.24, 0.21, 0.28]],
    ]
    chances = _row(places, np.searchsorted((69, 79), row["age"]), row["length_of_stay"] > 6)
    row["discharge_to"] = levels(rng, chances, rows)
    row["bed_unit"] = levels(rng, _ward(row), rows)
    booked = _row([0.74, 0.60, 0.78, 0.42], row["insurance"])
    row["followup_booked"] = bernoulli(rng, booked, rows)
    row["call_reached"] = bernoulli(rng, _row([0.72, 0.55, 0.50, 0.45], row["language"]), rows)


def _ward(row: Columns) -> NDArray[np.float64]:
    """Chances of the five wards: private rooms on 4S, fewer beds on 3S at weekends."""
    rows = len(row["insurance"])
    shares = np.tile([0.26, 0.24, 0.22, 0.14, 0.14], (rows, 1))
    shares[row["insurance"] == LEVELS["insurance"].index("PRV"), 3] += 0.22
    shares[row["admission_weekday"] >= LEVELS["admission_weekday"].index("Sat"), 1] *= 0.3
    shares[row["discharge_date"] <= NEW_WARD_DAY, 4] = 0.0
    return shares / shares.sum(axis=1, keepdims=True)


def _outcome(rng: np.random.Generator, rows: int, row: Columns) -> None:
    known = pd.DataFrame({name: _values(name, row[name]) for name in POINTS})
    # By the function that tells the true risk, so that the two cannot differ.
    row[TARGET] = bernoulli(rng, risk(known), rows)


def _aftermath(rng: np.random.Generator, rows: int, row: Columns) -> None:
    back = row[TARGET]
    # (readmitted, telephone call reached the patient)
    visit = _row([[0.20, 0.10], [0.62, 0.54]], back, row["call_reached"])
    row["ed_visit_30d"] = bernoulli(rng, visit, rows)
    # (readmitted, appointment booked)
    clinic = _row([[0.34, 0.76], [0.18, 0.46]], back, row["followup_booked"])
    row["followup_attended"] = bernoulli(rng, clinic, rows)
    # readmitted -> poor, fair, good, best, not returned
    opinion = _row([[0.02, 0.05, 0.15, 0.13, 0.65], [0.04, 0.07, 0.09, 0.04, 0.76]], back)
    row["survey_rating"] = levels(rng, opinion, rows)
