"""Documents: every page and text that is handed out is a template, filled in by one environment.

What ends in `.html` has each value escaped; in Markdown, text from outside goes through the filter
`plain`. A missing name is an error, so that no document has a silent gap.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from prism_core.text.markdown import pieces, plain
from prism_core.text.numbers import (
    count_text,
    delta_text,
    eps_text,
    error_text,
    factor_text,
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
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"


def render(template: str, /, **values: object) -> str:
    """A template filled in. The same values give the same text, to the byte.

    Args:
        template: name of a file among the templates.
        values: what it names.
    """
    return _environment().get_template(template).render(values)


def style() -> str:
    """The style sheet of the papers, to stand inside a page.

    A file beside the page would be one more to keep and to load.
    """
    return (TEMPLATES / "paper.css").read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
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
    made.filters |= {
        "up": up,
        "small": small,
        "percent": percent,
        "eps": eps_text,
        "delta": delta_text,
        "sigma": sigma_text,
        "error": error_text,
        "share": share_text,
        "count": count_text,
        "factor": factor_text,
        "left": left_text,
        "rho": rho_text,
        "score": score_text,
        "seldom": seldom,
        "number": lambda value: f"{value:,}",
        "width": _width,
        "plain": plain,
        "pieces": pieces,
        "shown": _printable,
    }
    return made


def _is_html(template: str | None) -> bool:
    return template is None or template.endswith(".html")


def _width(share: float | None) -> str:
    """A share as the width of a bar."""
    return f"{100.0 * min(1.0, max(0.0, share or 0.0)):.2f}%"


def _printable(text: object) -> str:
    """One line; control and direction marks, which could make a name look like another, go."""
    return "".join(c if c.isprintable() else "�" for c in str(text))
