"""Claim that rows are public: the one check, and the curator's answer to a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.key import access
from dashboard.session.shelf import project
from prism_core.data.table_identity import check_public, marks, remember_private
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.data.tables.raw_table import RawTable
    from prism_core.errors import KnownPrivateError

_ASKED = "public_question"


def check(
    raw: RawTable | BigTable, how: str = "load them as public on the page Data and confirm it there"
) -> frozenset[str]:
    """Refuse rows that this session or this workspace knows as private; gives their marks.

    Without the key the workspace is not asked: its answer says whether somebody guessed the rows of
    a private table, and names the asset. A session without the key holds no private rows either.

    Args:
        raw: the rows.
        how: she may overrule it, as the end of a sentence.

    Raises:
        KnownPrivateError: see `public_rows.check_public`.
    """
    if not access.granted():
        return marks(raw)
    data = project().data
    return check_public(raw, private=data.private_marks, said=data.public_marks, how=how)


def remember(plan: str, raw: RawTable | BigTable | None = None) -> None:
    """Remember rows that are about to be charged; nothing where they are public.

    Args:
        plan: SHA-256 of what is to be charged: it counts once that stands.
        raw: the rows; the open table where None.

    Raises:
        LedgerError: when the workspace cannot be written.
    """
    state = project()
    rows = state.data.raw if raw is None else raw
    if not state.data.public and rows is not None:
        remember_private(access.ledger(), state.account.asset, rows, plan)


def refused(key: str, error: KnownPrivateError) -> None:
    """Keep a refusal for the page: the curator may overrule it before she loads the table again.

    Args:
        key: of what was asked for: another file is another question.
        error: why it was refused.
    """
    # Kept for the next run: the box that overrules it stands above, where this run has passed.
    st.session_state[_ASKED] = (key, str(error))
    st.rerun()


def overruled(key: str) -> bool:
    """Show the refusal that stands, if there is one; whether the curator overrules it."""
    asked, why = st.session_state.get(_ASKED, ("", ""))
    if asked != key:
        return False
    st.error(plain(why), icon=":material/privacy_tip:")
    return st.checkbox(
        "I decide: everybody may see these rows. Take them as public although they are known as "
        "private; nobody is charged for what is made of them.",
        # By the question: what is decided about one file holds for no other.
        key=f"{key}_overruled",
    )


def settled() -> None:
    """Forget the question: the table is open."""
    st.session_state.pop(_ASKED, None)
