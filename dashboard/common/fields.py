"""Fields that keep what is typed at the moment it changes; numbers with decimals as text."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from dashboard.session.designs import BudgetEntries, number_text, read_number
from dashboard.session.shelf import project
from prism_core.text.languages import LANGUAGES, NAMES, LanguageCode

if TYPE_CHECKING:
    from collections.abc import Callable


_REPLACED = "keys of replaced widgets"


def keep(
    owner: object, attribute: str, key: str, convert: Callable[[Any], Any] | None = None
) -> None:
    """For `on_change`: put the value of the widget `key` into `owner.attribute`."""
    if replaced(key):
        return
    value = st.session_state[key]
    setattr(owner, attribute, value if convert is None else convert(value))


def showing(base: str, value: object) -> str:
    """Key of a widget that shows `value`; it has to be given this value, too.

    The key is `base` until something else changes the value: then the widget is another one,
    `base-1`, `base-2`, ... Setting the value of the one that is there would go wrong where two
    widgets stand for one value: the browser sends what all widgets show, and while one of them is
    moved quickly the others still show what was before, which would count as a change made there.
    Every `on_change` of such a widget asks `replaced` first.
    """
    count = f"{base} shown"
    place = st.session_state.get(count, 0)
    key = f"{base}-{place}" if place else base
    if key in st.session_state and not _same(st.session_state[key], value):
        st.session_state.setdefault(_REPLACED, set()).add(key)
        st.session_state[count] = place + 1
        key = f"{base}-{place + 1}"
    return key


def keeping(
    owner: object,
    attribute: str,
    base: str,
    value: object,
    convert: Callable[[Any], Any] | None = None,
) -> dict[str, Any]:
    """What the widget of an entry gets beside its value: its key, and what keeps a change.

    The widget has to be given the value as well. A value put into the session's state would not
    do: until the browser has set it, the widget tells its default, and that would count as an
    entry.

    Args:
        owner: what holds the entry.
        attribute: under which name.
        base: see `showing`.
        value: what the widget shows.
        convert: makes the entry of what the widget gives.
    """
    key = showing(base, value)
    return {"key": key, "on_change": keep, "args": (owner, attribute, key, convert)}


def replaced(key: str) -> bool:
    """Whether another widget has taken the place of `key`; see `showing`.

    A message that was on its way from a slow browser may still tell what the old one showed, and
    Streamlit calls its `on_change` for it: nobody typed that.
    """
    return key in st.session_state.get(_REPLACED, ())


def _same(one: Any, other: Any) -> bool:  # noqa: ANN401
    # NaN, which may be typed, is not itself.
    return bool(one == other) or (one != one and other != other)


def from_percent(value: float) -> float:
    """Percents as a share."""
    return value / 100


def epsilon_entry(entries: BudgetEntries, base: str, label: str, *, help: str) -> None:
    """The entry of a design's epsilon, wherever it stands."""
    _field(base, label, entries.epsilon_text, entries.type_epsilon, help=help)


def number_entry(
    owner: object,
    attribute: str,
    base: str,
    label: str,
    *,
    value: float | None = None,
    help: str | None = None,
) -> None:
    """An entry of one number of `owner`; NaN where what is typed is none.

    Args:
        owner: what holds the number.
        attribute: under which name.
        base: key of the widget.
        label: of the field.
        value: what is shown; the owner's number when None.
        help: beside the label.
    """
    number = getattr(owner, attribute) if value is None else value
    _number(base, label, number, partial(setattr, owner, attribute), help=help)


def optional_entry(
    owner: object, attribute: str, base: str, label: str, *, placeholder: str, help: str
) -> None:
    """The same for a number that may be left out: None where nothing is typed."""
    number = getattr(owner, attribute)

    def take(found: float) -> None:
        empty = not str(st.session_state[f"{base} typed"]).strip()
        setattr(owner, attribute, None if empty else found)

    if number is None:  # also in another project, where something was typed in the last one
        st.session_state[f"{base} typed"] = ""
    _number(
        base,
        label,
        math.nan if number is None else number,
        take,
        help=help,
        placeholder=placeholder,
    )


def percent_entry(
    share: float,
    take: Callable[[float], None],
    base: str,
    label: str,
    *,
    help: str,
    width: int | Literal["stretch"] = "stretch",
) -> None:
    """An entry of a share, typed in percent; `take` gets the share, NaN where it is no number."""
    _number(
        base,
        label,
        # 0.07 * 100 is 7.000000000000001, and 7 was typed.
        round(share * 100.0, 9),
        lambda percent: take(from_percent(percent)),
        help=help,
        width=width,
        placeholder="for example 2.5",
    )


def _number(
    base: str,
    label: str,
    number: float,
    take: Callable[[float], None],
    **look: Any,  # noqa: ANN401
) -> None:
    # No widget has this key, so 0,5 is still written with its comma after a change of page.
    typed = f"{base} typed"

    def read(text: str) -> None:
        st.session_state[typed] = text
        take(read_number(text))

    _field(base, label, number_text(number, st.session_state.get(typed, "")), read, **look)


def _field(
    base: str,
    label: str,
    text: str,
    take: Callable[[str], None],
    *,
    help: str | None,
    placeholder: str = "for example 0.5",
    width: int | Literal["stretch"] = "stretch",
) -> None:
    key = showing(base, text)
    st.text_input(
        label,
        value=text,
        key=key,
        placeholder=placeholder,
        help=help,
        width=width,
        on_change=_typed,
        args=(take, key),
    )


def _typed(take: Callable[[str], None], key: str) -> None:
    if not replaced(key):
        take(str(st.session_state[key]))


def language_entry(key: str) -> LanguageCode:
    """The language, for protocol and report alike.

    Args:
        key: of the widget.
    """
    release = project().release
    st.selectbox(
        "Language",
        LANGUAGES,
        LANGUAGES.index(release.language),
        format_func=NAMES.__getitem__,
        key=key,
        on_change=keep,
        args=(release, "language", key),
        width=140,
        help="Of the whole paper. What you type stays as you type it.",
    )
    return release.language
