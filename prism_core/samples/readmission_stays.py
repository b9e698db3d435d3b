"""Generated hospital stays of people who come back: 1 to 12 stays a person, 2.3 on average.

Written down as a structural model, stay by stay: what a person is (age, sex, other disease), how
often she was here before and how that ended decide the next stay. A readmission is a stay of its
own, the next one. No patient is behind any row, and the sizes of the effects are invented.

People who come back often are few and have many of the stays, and their risk follows other causes
than that of a first stay: whether somebody looks after them, and not the illness. Whoever keeps one
stay of each person sees mostly the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from scipy.special import expit

from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.samples.scm import bernoulli, levels, normal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from prism_core.data.schema.level import Level

Columns: TypeAlias = "dict[str, NDArray[Any]]"

TARGET = "readmitted_30d"
PERSON = "patient"
PERSONS = (20_000, 5_000)  # training, test
MAX_ROWS = 3
MOST_STAYS = 12

CAUSES: dict[str, tuple[str, ...]] = {
    "age": (),
    "sex": (),
    "charlson_index": ("age",),
    "earlier_stays": ("charlson_index",),
    "back_within_30d": ("earlier_stays",),
    "admission_type": ("age", "earlier_stays"),
    "length_of_stay": ("admission_type", "charlson_index"),
    "lives_alone": ("age",),
    "care_at_home": ("lives_alone", "length_of_stay"),
    "readmitted_30d": (
        "charlson_index",
        "earlier_stays",
        "back_within_30d",
        "length_of_stay",
        "care_at_home",
    ),
    "ed_visit_30d": ("readmitted_30d",),
}

LEVELS: dict[str, tuple[str, ...]] = {
    "sex": ("F", "M"),
    "admission_type": ("elective", "urgent", "ED"),
    "care_at_home": ("nobody", "family", "service"),
}

# Lower bound, upper bound and interior edges of whole numbers.
BINS: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "age": (18, 100, (49, 64, 79)),
    "charlson_index": (0, 15, (0, 1, 3)),
    "earlier_stays": (0, 11, (0, 1, 3)),
    "length_of_stay": (1, 45, (2, 4, 8)),
}

DESCRIPTIONS: dict[str, str] = {
    "age": "Age in whole years at the person's first stay.",
    "sex": "Sex in the registration record.",
    "charlson_index": "Charlson comorbidity index without age points at the first stay.",
    "earlier_stays": "Stays of the person in this table before this one.",
    "back_within_30d": "This stay is itself a readmission: the stay before ended at most 30 days "
    "earlier.",
    "admission_type": "How the stay began: planned, urgent, or through the emergency department.",
    "length_of_stay": "Nights in hospital.",
    "lives_alone": "The person lives alone.",
    "care_at_home": "Who looks after the person after discharge.",
    "readmitted_30d": "Unplanned readmission within 30 days after discharge: the outcome to "
    "predict, and the person's next stay.",
    "ed_visit_30d": "A visit to the emergency department within 30 days after discharge; most "
    "readmissions come through that door.",
}

# Log-odds of a readmission by code of the cause. What matters differs from the third stay on.
BASE_LOG_ODDS = -2.3
FIRST_STAYS: dict[str, tuple[float, ...]] = {
    "charlson_index": (-1.0, 0.0, 0.8, 1.5),
    "length_of_stay": (-0.5, 0.0, 0.4, 0.8),
    "care_at_home": (-0.3, 0.0, 0.3),
}
LATER_STAYS: dict[str, tuple[float, ...]] = {
    "charlson_index": (0.5, 0.2, 0.0, -0.2),
    "length_of_stay": (1.2, 0.4, -0.4, -0.8),
    "care_at_home": (1.6, 0.0, -1.6),
}
BACK_AGAIN = 0.6
OFTEN_HERE = (0.0, 0.3, 1.1, 1.3)
NEXT_STAY = (0.25, 0.45, 0.68)
"""Chance of another stay after one that was not followed by a readmission: the first, the second,
a later one."""


def tables(rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Stays of training people, and of others."""
    train, test = PERSONS
    # Numbered on: nobody is in both tables.
    return generate(rng, train), generate(rng, test, first=train)


def generate(rng: np.random.Generator, people: int, *, first: int = 0) -> pd.DataFrame:
    """Stays of so many people, the columns of the schema behind the person's number.

    Args:
        rng: the source of every draw.
        people: number of persons.
        first: number of the first one.
    """
    person: Columns = {PERSON: first + np.arange(people)}
    person["age"] = np.clip(np.round(62 + 17 * normal(rng, people)), 18, 100).astype(np.int64)
    person["sex"] = levels(rng, (0.52, 0.48), people)
    burden = np.maximum(0.0, 1.1 + 0.03 * (person["age"] - 62) + 1.6 * normal(rng, people))
    person["charlson_index"] = np.clip(np.floor(burden), 0, 15).astype(np.int64)
    alone = 0.22 + 0.006 * (person["age"] - 40)
    person["lives_alone"] = bernoulli(rng, np.clip(alone, 0.05, 0.6), people)
    person["earlier_stays"] = np.zeros(people, dtype=np.int64)
    person["back_within_30d"] = np.zeros(people, dtype=np.int64)
    stays: list[pd.DataFrame] = []
    # Stay by stay for all who are still here, until nobody comes back.
    while len(person["age"]):
        stay = _stay(rng, person)
        stays.append(pd.DataFrame({name: stay[name] for name in (PERSON, *CAUSES)}))
        person = _left(rng, stay)
    frame = pd.concat(stays).sort_values([PERSON, "earlier_stays"], ignore_index=True)
    return pd.DataFrame({name: _values(name, pd.Series(frame[name])) for name in (PERSON, *CAUSES)})


def edges() -> tuple[tuple[str, str], ...]:
    """The true graph of a stay, as (cause, effect)."""
    return tuple((cause, name) for name, causes in CAUSES.items() for cause in causes)


def schema() -> Schema:
    """The declared domain: up to `MAX_ROWS` stays of each person are used."""
    return Schema(
        columns=tuple(_column(name) for name in CAUSES),
        person_id=PERSON,
        persons=PERSONS[0],
        max_rows=MAX_ROWS,
    )


def risk(stay: Columns) -> NDArray[np.float64]:
    """The true P(readmitted | causes) of every stay, from codes of levels and numbers."""
    often = _code("earlier_stays", stay)
    # From the third stay on: code 2 stands for two or three earlier ones.
    later = often >= 2
    odds = BASE_LOG_ODDS + np.asarray(OFTEN_HERE)[often] + BACK_AGAIN * stay["back_within_30d"]
    for name in FIRST_STAYS:
        code = _code(name, stay)
        first, late = (np.asarray(points[name])[code] for points in (FIRST_STAYS, LATER_STAYS))
        odds = odds + np.where(later, late, first)
    return expit(odds)


def _code(name: str, stay: Columns) -> NDArray[np.int64]:
    values = np.asarray(stay[name], dtype=np.int64)
    return np.searchsorted(BINS[name][2], values) if name in BINS else values


def _stay(rng: np.random.Generator, person: Columns) -> Columns:
    """The next stay of people who are here."""
    stay, people = dict(person), len(person["age"])
    old, often = stay["age"] > 64, stay["earlier_stays"] > 1
    # Axes: older than 64, two earlier stays or more, kind of admission.
    kinds = np.array(
        [[[0.38, 0.20, 0.42], [0.15, 0.25, 0.60]], [[0.25, 0.20, 0.55], [0.10, 0.22, 0.68]]]
    )
    stay["admission_type"] = levels(rng, kinds[old.astype(int), often.astype(int)], people)
    mean = np.asarray([0.7, 1.1, 1.3])[stay["admission_type"]]
    mean = mean + 0.06 * np.minimum(stay["charlson_index"], 8)
    nights = np.ceil(np.exp(mean + 0.6 * normal(rng, people)))
    stay["length_of_stay"] = np.clip(nights, 1, 45).astype(np.int64)
    # Axes: lives alone, more than four nights, who looks after the person.
    care = np.array([[[0.3, 0.6, 0.1], [0.2, 0.5, 0.3]], [[0.65, 0.1, 0.25], [0.5, 0.1, 0.4]]])
    long = (stay["length_of_stay"] > 4).astype(int)
    stay["care_at_home"] = levels(rng, care[stay["lives_alone"], long], people)
    stay[TARGET] = bernoulli(rng, risk(stay), people)
    stay["ed_visit_30d"] = bernoulli(rng, np.asarray([0.15, 0.6])[stay[TARGET]], people)
    return stay


def _left(rng: np.random.Generator, stay: Columns) -> Columns:
    """Those who have another stay, as they come to it."""
    people = len(stay["age"])
    later = bernoulli(rng, np.asarray(NEXT_STAY)[np.minimum(stay["earlier_stays"], 2)], people)
    # A readmission is a stay of this table: it makes another one for sure.
    again = ((stay[TARGET] == 1) | (later == 1)) & (stay["earlier_stays"] < MOST_STAYS - 1)
    kept = {name: values[again] for name, values in stay.items()}
    kept["earlier_stays"] = kept["earlier_stays"] + 1
    # Whether the stay that ends was followed by a readmission is whether the next one is one.
    kept["back_within_30d"] = kept[TARGET]
    return kept


def _column(name: str) -> Column:
    description = DESCRIPTIONS[name]
    if name in LEVELS:
        declared: tuple[Level, ...] = LEVELS[name]
        kind = "ordinal" if name == "admission_type" else "categorical"
        return Column(name=name, kind=kind, levels=declared, description=description)
    if name not in BINS:
        return Column(name=name, kind="boolean", description=description)
    lower, upper, inner = BINS[name]
    return Column(
        name=name,
        kind="numeric",
        lower=lower,
        upper=upper,
        edges=inner,
        decimals=0,
        description=description,
    )


def _values(name: str, codes: pd.Series) -> pd.Series:
    if name in LEVELS:
        return codes.map(dict(enumerate(LEVELS[name])))
    return codes if name in BINS or name == PERSON else codes.astype(bool)
