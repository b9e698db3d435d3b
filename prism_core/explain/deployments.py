"""Deployments of differential privacy, published, for a sense of size: facts with sources."""

from __future__ import annotations

from dataclasses import dataclass

from prism_core.text.numbers import small


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """One published release.

    Attributes:
        name: what was released, and by whom.
        year: of the release.
        unit: what one epsilon protects.
        epsilon: as published.
        delta: as published; None for pure differential privacy.
        source: address of the publication.
    """

    name: str
    year: int
    unit: str
    epsilon: float
    delta: float | None
    source: str

    @property
    def delta_words(self) -> str:
        """Delta as text; "none" for pure differential privacy."""
        return "none" if self.delta is None else small(self.delta)


NOT_COMPARABLE = (
    "The units differ. An epsilon for a person's whole record is not the same as one for a day or "
    "an action of hers: where days or actions are protected one by one, what can be learned about "
    "the person adds up over them. Local privacy (noise added on the person's own device) is "
    "another matter again. The list gives a sense of size; it is no yardstick."
)

DEPLOYMENTS: tuple[Deployment, ...] = (
    Deployment(
        name="Births of 2014 (Ministry of Health, Israel)",
        year=2024,
        unit="a birth: mother and newborn",
        epsilon=9.98,
        delta=None,
        source="https://arxiv.org/abs/2405.00267",
    ),
    Deployment(
        name="2020 Census, persons (US Census Bureau)",
        year=2021,
        unit="a person",
        epsilon=17.14,
        delta=1e-10,
        source="https://www.census.gov/newsroom/press-releases/2021/2020-census-key-parameters.html",
    ),
    Deployment(
        name="Page views by country and day (Wikimedia)",
        year=2023,
        unit="the first 10 views of a device in a day",
        epsilon=1.0,
        delta=1e-7,
        source="https://analytics.wikimedia.org/published/datasets/country_project_page/00_README.html",
    ),
    Deployment(
        name="Searches for symptoms (Google)",
        year=2020,
        unit="a user's day",
        epsilon=1.68,
        delta=None,
        source="https://arxiv.org/abs/2009.01265",
    ),
    Deployment(
        name="Searches for vaccination (Google)",
        year=2021,
        unit="a user's day",
        epsilon=2.19,
        delta=1e-5,
        source="https://arxiv.org/abs/2107.01179",
    ),
    Deployment(
        name="Links shared on Facebook (Meta)",
        year=2020,
        unit="actions of one kind, for 99% of users",
        epsilon=0.45,
        delta=1e-5,
        source="https://doi.org/10.7910/DVN/TDOAPG",
    ),
    Deployment(
        name="Audience engagements (LinkedIn)",
        year=2020,
        unit="a member, one analyst, one month",
        epsilon=34.9,
        delta=7e-9,
        source="https://arxiv.org/abs/2002.05839",
    ),
    Deployment(
        name="Popular emoji (Apple), noise on the device",
        year=2017,
        unit="a user's day",
        epsilon=4.0,
        delta=None,
        source="https://www.apple.com/privacy/docs/Differential_Privacy_Overview.pdf",
    ),
)
