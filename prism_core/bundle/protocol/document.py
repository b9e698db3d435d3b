"""A short document in sections, as Markdown and as one HTML page without another host.

Texts are one line each in this program's Markdown: `**bold**`, and names from outside through
`markdown.plain`.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prism_core.text.markdown import pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1d2433; background: #fff; margin: 2.5rem auto;
  max-width: 52rem; padding: 0 1.5rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; border-bottom: 1px solid #cfd6e4;
  padding-bottom: .2rem; break-after: avoid; }
table { border-collapse: collapse; width: 100%; margin: .8rem 0; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0;
  border-bottom: 1px solid #e3e8f1; overflow-wrap: anywhere; }
tr { break-inside: avoid; }
li { margin: .25rem 0; }
@page { margin: 18mm; }
@media print { body { margin: 0; max-width: none; padding: 0; font-size: 10.5pt; } }
"""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a document, each of its kinds optional, shown in this order.

    Attributes:
        title: its heading.
        paragraphs: texts.
        header, rows: a table; every row as long as the header.
        items: a list.
    """

    title: str
    paragraphs: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    items: tuple[str, ...] = ()


def to_markdown(title: str, sections: Sequence[Section]) -> str:
    """The document as Markdown."""
    blocks = [f"# {title}"]
    for section in sections:
        blocks.append(f"## {section.title}")
        blocks += section.paragraphs
        if section.rows:
            lines = [section.header, ("---",) * len(section.header), *section.rows]
            blocks.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
        if section.items:
            blocks.append("\n".join(f"- {item}" for item in section.items))
    return "\n\n".join(blocks) + "\n"


def to_html(title: str, sections: Sequence[Section]) -> str:
    """The document as one page: no script, no other file, made for printing, too."""
    body = [f"<h1>{_inline(title)}</h1>"]
    for section in sections:
        body.append(f"<h2>{_inline(section.title)}</h2>")
        body += [f"<p>{_inline(text)}</p>" for text in section.paragraphs]
        if section.rows:
            body.append(_table(section))
        if section.items:
            items = "".join(f"<li>{_inline(item)}</li>" for item in section.items)
            body.append(f"<ul>{items}</ul>")
    plain = "".join(text for text, _ in pieces(title))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(plain)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _table(section: Section) -> str:
    head = "".join(f'<th scope="col">{_inline(cell)}</th>' for cell in section.header)
    rows = "".join(
        f"<tr>{''.join(f'<td>{_inline(cell)}</td>' for cell in row)}</tr>\n" for row in section.rows
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>"


def _inline(text: str) -> str:
    return "".join(
        f"<strong>{html.escape(part)}</strong>" if bold else html.escape(part)
        for part, bold in pieces(text)
    )
