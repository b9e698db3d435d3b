"""Language of the papers for a committee, chosen where they are read."""

from __future__ import annotations

import streamlit as st

from dashboard.common.fields import keep
from dashboard.session.shelf import project
from prism_core.text.languages import LANGUAGES, NAMES, LanguageCode


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
