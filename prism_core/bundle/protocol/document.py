"""A short document in sections, as Markdown and as one HTML page without another host.

Texts are one line each in this program's Markdown: `**bold**`, and names from outside through
`markdown.plain`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.text import documents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.explain.meaning import Guess


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a document, each of its kinds optional, shown in this order.

    Attributes:
        title: its heading.
        paragraphs: texts.
        header, rows: a table; every row as long as the header.
        guesses: beliefs about one person, drawn as dots; on paper only, so that their words stand
            elsewhere.
        items: a list.
        to_sign: what may be decided, over a line for names, signature and date.
    """

    title: str
    paragraphs: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    guesses: tuple[Guess, ...] = ()
    items: tuple[str, ...] = ()
    to_sign: tuple[str, ...] = ()


def to_markdown(title: str, sections: Sequence[Section]) -> str:
    """The document as Markdown."""
    return documents.render("sections.md", title=title, sections=sections)


def to_html(title: str, sections: Sequence[Section]) -> str:
    """The document as one page: no script, no other file, made for printing, too."""
    return documents.render("sections.html", title=title, sections=sections)
