"""Documents: every page and text that is handed out is a template, filled in by one environment.

What ends in `.html` has each value escaped; in Markdown, text from outside goes through the filter
`plain`. A missing name is an error, so that no document has a silent gap.
"""

from __future__ import annotations

import base64
from functools import cache
from typing import TYPE_CHECKING

from prism_core.text.languages import MARKS, TEMPLATES, Language, LanguageCode, translated
from prism_core.text.markdown import pieces, plain
from prism_core.text.numbers import (
    count_text,
    delta_text,
    eps_text,
    error_text,
    left_text,
    percent,
    rho_text,
    score_text,
    seldom,
    sensitivity_text,
    share_text,
    sigma_text,
    small,
    up,
    whole_percent,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import Environment


def render(template: str, /, **values: object) -> str:
    """A template filled in. The same values give the same text, to the byte.

    Args:
        template: name of a file among the templates.
        values: what it names.
    """
    return _environment().get_template(template).render(values)


def paper(name: str, language: LanguageCode = "en", /, **values: object) -> str:
    """A paper in a language: what people decide on, and the annex for statisticians.

    Args:
        name: of the paper, `protocol` or `report`.
        language: the name of a folder of templates.
        values: what both parts name.
    """
    made = _environment(language)
    annex = made.get_template(f"{language}/{name}_annex.html").render(values)
    template = made.get_template(f"{language}/{name}.html")
    return template.render(values, annex=annex, language=language)


@cache
def style() -> str:
    """The style sheet of the papers with their font, to stand inside a page.

    A file beside the page would be one more to keep and to load.
    """
    faces = "".join(_face(name, weight) for name, weight in _FONTS.items())
    return faces + (TEMPLATES / "paper.css").read_text(encoding="utf-8")


# Two fonts, not one of variable weight: Chromium prints such a one as drawings of its letters.
_FONTS = {"paper.woff2": "400", "paper-bold.woff2": "600 700"}


def _face(name: str, weight: str) -> str:
    font = base64.b64encode((TEMPLATES / "fonts" / name).read_bytes()).decode("ascii")
    return (
        f'@font-face {{ font-family: "PRISM Paper"; font-weight: {weight}; '
        f'src: url(data:font/woff2;base64,{font}) format("woff2"); }}\n'
    )


@cache
def _environment(language: LanguageCode = "en") -> Environment:
    # Here, not on top: Jinja takes a tenth of a second, and plans and releases need none of it.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=_is_html,
        # A value that a template names and nobody gives is an error, and no gap in a paper.
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    marks = MARKS[language]
    numbers = {name: _marked(marks, text) for name, text in _NUMBERS.items()}
    made.filters |= numbers | {
        "seldom": seldom,
        "one_of": marks.one_of,
        "factor": marks.factor,
        "width": _width,
        "plain": plain,
        "pieces": lambda text: _pieces(text, language),
        "shown": _printable,
        "told": lambda text: _told(text, language),
        "phrase": lambda text: _phrase(_printable(text), language),
    }
    return made


_NUMBERS: dict[str, Callable[..., str]] = {
    "up": up,
    "small": small,
    "percent": percent,
    "eps": eps_text,
    "delta": delta_text,
    "sigma": sigma_text,
    "error": error_text,
    "share": share_text,
    "count": count_text,
    "left": left_text,
    "rho": rho_text,
    "score": score_text,
    "sensitivity": sensitivity_text,
    "whole": whole_percent,
    "number": lambda value: f"{value:,}",
}


def _marked(marks: Language, text: Callable[..., str]) -> Callable[..., str]:
    """A filter that writes a number with a language's marks."""
    return lambda value, *more: marks.number(text(value, *more))


def _is_html(template: str | None) -> bool:
    # Markdown is no HTML: what is escaped there would be shown as it stands.
    return template is None or template.endswith(".html")


def _width(share: float | None) -> str:
    """A share as the width of a bar."""
    return f"{100.0 * min(1.0, max(0.0, share or 0.0)):.2f}%"


def _told(text: object, language: LanguageCode) -> str:
    """Sentences of the program in a language; marked as English where it has no words for them."""
    # Checked before, not after: a language may have spaces in its numbers that never break.
    english = _printable(text)
    said = translated(english, language)
    if said is not None:
        return said
    # Here, not on top: it belongs to Jinja, which is imported late.
    from markupsafe import Markup

    return Markup('<span lang="en">{}</span>').format(english)


def _phrase(english: str, language: LanguageCode) -> str:
    """As `_told`, for what may be no words of the program at all, such as names of columns."""
    said = translated(english, language)
    return english if said is None else said


def _pieces(text: str, language: LanguageCode) -> tuple[tuple[str, bool], ...]:
    """A line of the program's Markdown in a language, as plain texts, each with whether it is bold.

    A line that the language has no words for, or with a name that looks like a mark, stays English.
    """
    english = pieces(_printable(text))
    if language == "en" or any("**" in part for part, _ in english):
        return english
    said = translated("".join(f"**{p}**" if bold else p for p, bold in english), language)
    if said is None:
        return english
    # Every other piece stood between two marks of bold.
    parts = enumerate(said.split("**"))
    return tuple((part, place % 2 == 1) for place, part in parts if part)


def _printable(text: object) -> str:
    """One line; control and direction marks, which could make a name look like another, go."""
    return "".join(c if c.isprintable() else "�" for c in str(text))
