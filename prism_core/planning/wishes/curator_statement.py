"""The curator's statement on a release: who answers for what, for committees and registries.

Typed by a person, about people and purposes: it stands in the protocol and in the report, and with
the run it goes into the bundle. Nothing here is read from rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

from prism_core.errors import BundleError
from prism_core.planning.wishes.options import option, options_of

LONGEST = 500
"""Characters of an entry."""

TOP = ("organisation", "asset", "purpose", "contact")
"""Entries that stand at the top of the report, wherever it comes from."""

NEEDED = (
    "organisation",
    "asset",
    "purpose",
    "benefit",
    "harm",
    "recipients",
    "legal_basis",
    "accountable",
    "contact",
    "one_row",
    "sensitive",
    "threshold",
    "alternatives",
    "rows_kept",
    "ledger_kept",
    "incident",
)
"""Entries without which no committee is asked: a protocol that lacks one is a draft."""

NO_COLUMN = "none"
"""What `sensitive` says where no column is."""


def _entry(label: str, meaning: str) -> Any:  # noqa: ANN401  (as `dataclasses.field` returns it)
    return field(default="", metadata=option("text", label, help=meaning))


@dataclass(frozen=True, kw_only=True)
class CuratorStatement:
    """What is said about a release; "" where nothing is.

    Attributes:
        organisation: the controller, who holds the data.
        asset: the data asset, in words.
        purpose, benefit: what the rows are for, and who gains from it.
        harm: what could happen to a person about whom somebody guesses right.
        recipients: who gets the rows.
        legal_basis: what allows the release.
        accountable, contact: the person who answers for it, and whom to ask.
        one_row: who vouches that each person has one row, and how it was picked.
        sensitive: names of columns that need special care, with commas between; or `NO_COLUMN`.
        threshold: least score of usefulness at which the release is worth its risk; see `least`.
        alternatives: what else was considered, and why not.
        rows_kept, ledger_kept: how long the source rows and the record of spending are kept.
        incident: what happens after one.
        subjects: who the people are.
        region, sector: of the data product.
        justification: how epsilon and delta were decided.

    Raises:
        BundleError: naming the entry that is not one line of printable text, or no number.
    """

    organisation: str = _entry(
        "Controller", "the organisation that holds the data and answers for the release"
    )
    asset: str = _entry("Data asset", "the people's data in words, as the ledger names them")
    purpose: str = _entry("Purpose", "what the rows are to be used for, and by whom")
    benefit: str = _entry("Benefit", "who gains what if the purpose is reached")
    harm: str = _entry("Possible harm", "what could happen to a person if a guess comes true")
    recipients: str = _entry(
        "Recipients", "the public, named institutions, or whoever signs which contract"
    )
    legal_basis: str = _entry("Legal basis", "the law, consent or decision that allows it")
    accountable: str = _entry("Accountable person", "who answers for this release, by name")
    contact: str = _entry("Contact", "whom to ask; rather an office's address than a person's")
    one_row: str = _entry(
        "One row per person", "who vouches for it, and how the row was picked among several"
    )
    sensitive: str = _entry(
        "Sensitive columns", "their names with commas between, or the word none"
    )
    threshold: str = _entry(
        "Least usefulness",
        "the score below which the release is not worth its risk, such as 0.70 (0.5 is guessing)",
    )
    alternatives: str = _entry(
        "Alternatives", "fewer columns, more noise, access on site, no release: and why not"
    )
    rows_kept: str = _entry("Source rows kept", "until when, where, and who deletes them")
    ledger_kept: str = _entry(
        "Account kept", "how long the record of spending, the ledger, is kept"
    )
    incident: str = _entry("After an incident", "who is told, and what is stopped")
    subjects: str = _entry("Data subjects", "who the people in the data are, such as inpatients")
    region: str = _entry("Region", "where the data come from")
    sector: str = _entry("Sector", "such as health care")
    justification: str = _entry("Why these parameters", "how epsilon and delta were decided")

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
        if self.threshold and self.least is None:
            raise BundleError(
                f"{LABELS['threshold'][0]} must be a number between 0 and 1, such as 0.70.",
                field="threshold",
            )

    @property
    def some(self) -> bool:
        """Whether anything is said."""
        return bool(self.to_dict())

    @property
    def blank(self) -> tuple[str, ...]:
        """Entries that a committee needs and that say nothing."""
        return tuple(name for name in NEEDED if not getattr(self, name))

    @property
    def least(self) -> float | None:
        """The threshold as a number; None where none is said."""
        try:
            value = float(self.threshold)
        except ValueError:
            return None
        # `float` also reads "nan", which no comparison holds for, and "inf".
        return value if 0.0 <= value <= 1.0 else None

    @property
    def sensitive_names(self) -> tuple[str, ...]:
        """The sensitive columns as they are named; nothing checks here that there are such."""
        names = (name.strip() for name in self.sensitive.split(","))
        return tuple(name for name in names if name and name.casefold() != NO_COLUMN)

    def to_dict(self) -> dict[str, str]:
        """What is said, by entry, as `statement_from` reads it back."""
        every = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: text for name, text in every.items() if text}

    def over(self, other: CuratorStatement) -> CuratorStatement:
        """What another one says, where it says something; this one's elsewhere."""
        return replace(self, **other.to_dict())

    @property
    def top(self) -> tuple[str, ...]:
        """Entries at the top of the report that say something."""
        return tuple(name for name in TOP if getattr(self, name))

    @property
    def curators(self) -> str | None:
        """Who holds the data and whom to ask, in one field; None while neither is said."""
        contact = f"contact: {self.contact}" if self.contact else ""
        return "; ".join(part for part in (self.organisation, contact) if part) or None


LABELS = {one.name: (one.words, one.help) for one in options_of(CuratorStatement).values()}
"""Label and meaning of every entry, in the order in which they are asked."""


def blank_text(blank: tuple[str, ...]) -> str:
    """The labels of blank entries, with commas between."""
    return ", ".join(LABELS[name][0] for name in blank)


def statement_from(document: object) -> CuratorStatement:
    """What `CuratorStatement.to_dict` gave.

    Raises:
        BundleError: naming the entry that is unknown or not usable.
    """
    if not isinstance(document, dict) or not set(document) <= set(LABELS):
        raise BundleError(f"What is said has the entries {', '.join(LABELS)}.", field="said")
    entries: dict[str, Any] = document
    return CuratorStatement(**entries)
