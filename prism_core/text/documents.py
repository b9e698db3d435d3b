"""Documents: every page and text that is handed out is a template, filled in by one environment.

What ends in `.html` has each value escaped; in Markdown, text from outside goes through the filter
`plain`. A missing name is an error, so that no document has a silent gap.
"""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from prism_core.text.languages import MARKS
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
    share_text,
    sigma_text,
    small,
    up,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import Environment

    from prism_core.text.languages import Language, LanguageCode

TEMPLATES = Path(__file__).parent / "templates"


def render(template: str, /, **values: object) -> str:
    """A template filled in. The same values give the same text, to the byte.

    Args:
        template: name of a file among the templates.
        values: what it names.
    """
    return _environment().get_template(template).render(values)


def paper(name: str, language: LanguageCode = "en", /, **values: object) -> str:
    """A paper: what people decide on in their language, the annex for statisticians in English.

    Args:
        name: of the paper, `protocol` or `report`.
        language: of its front; the name of a folder of templates.
        values: what both parts name.
    """
    annex = render(f"en/{name}_annex.html", **values)
    template = _environment(language).get_template(f"{language}/{name}.html")
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
        "pieces": pieces,
        "shown": _printable,
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
    "number": lambda value: f"{value:,}",
}


def _marked(marks: Language, text: Callable[..., str]) -> Callable[..., str]:
    """A filter that writes a number with a language's marks."""
    return lambda value, *more: marks.number(text(value, *more))


def _is_html(template: str | None) -> bool:
    return template is None or template.endswith(".html")


def _width(share: float | None) -> str:
    """A share as the width of a bar."""
    return f"{100.0 * min(1.0, max(0.0, share or 0.0)):.2f}%"


def _printable(text: object) -> str:
    """One line; control and direction marks, which could make a name look like another, go."""
    return "".join(c if c.isprintable() else "�" for c in str(text))
