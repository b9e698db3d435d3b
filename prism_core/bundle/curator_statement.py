"""The curator's statement on a release, for the top of its report and for a registry.

Typed by a person, about people and purposes: before the run it goes into the bundle, afterwards
into a copy of its report. Nothing here is read from rows.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from prism_core.errors import BundleError

LONGEST = 500
"""Characters of an entry."""

TOP = ("organisation", "asset", "purpose", "contact")
"""Entries that stand at the top of the report; the others stand among the registry's fields."""

LABELS = {
    "organisation": ("Organisation", "who holds the data and answers for the release"),
    "asset": ("Data asset", "the people's data in words, as the ledger names them"),
    "purpose": ("Purpose", "what the rows are to be used for, and by whom"),
    "contact": ("Contact", "whom to ask; rather an office's address than a person's"),
    "subjects": ("Data subjects", "who the people in the data are, such as adult inpatients"),
    "region": ("Region", "where the data come from"),
    "sector": ("Sector", "such as health care"),
    "justification": ("Why these parameters", "how epsilon and delta were decided"),
}
"""Label and meaning of every entry, in the order in which they are asked."""


@dataclass(frozen=True, kw_only=True)
class CuratorStatement:
    """What is said about a release; "" where nothing is.

    Attributes:
        organisation: who holds the data.
        asset: the data asset, in words.
        purpose: what the rows are for.
        contact: whom to ask.
        subjects: who the people are.
        region, sector: of the data product.
        justification: how epsilon and delta were decided.

    Raises:
        BundleError: naming the entry that is not one line of printable text.
    """

    organisation: str = ""
    asset: str = ""
    purpose: str = ""
    contact: str = ""
    subjects: str = ""
    region: str = ""
    sector: str = ""
    justification: str = ""

    def __post_init__(self) -> None:
        for one in fields(self):
            text = getattr(self, one.name)
            good = isinstance(text, str) and (not text or text.isprintable())
            if not good or text != text.strip() or len(text) > LONGEST:
                raise BundleError(
                    f"{LABELS[one.name][0]} must be one line of at most {LONGEST} printable "
                    "characters, without spaces around it.",
                    field=one.name,
                )

    @property
    def some(self) -> bool:
        """Whether anything is said."""
        return bool(self.to_dict())

    def to_dict(self) -> dict[str, str]:
        """What is said, by entry, as `said_from` reads it back."""
        every = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: text for name, text in every.items() if text}

    def over(self, other: CuratorStatement) -> CuratorStatement:
        """What another one says, where it says something; this one's elsewhere."""
        return replace(self, **other.to_dict())

    @property
    def top(self) -> tuple[tuple[str, str], ...]:
        """Label and text of what stands at the top of the report."""
        return tuple((LABELS[name][0], getattr(self, name)) for name in TOP if getattr(self, name))

    @property
    def curators(self) -> str | None:
        """Who holds the data and whom to ask, in one field; None while neither is said."""
        contact = f"contact: {self.contact}" if self.contact else ""
        return "; ".join(part for part in (self.organisation, contact) if part) or None


def statement_from(document: object) -> CuratorStatement:
    """What `Said.to_dict` gave.

    Raises:
        BundleError: naming the entry that is unknown or not usable.
    """
    if not isinstance(document, dict) or not set(document) <= set(LABELS):
        raise BundleError(f"What is said has the entries {', '.join(LABELS)}.", field="said")
    entries: dict[str, Any] = document
    return CuratorStatement(**entries)
