"""What people did about a protocol, in the words of the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from prism_core.hosting.submission import ProtocolState, StepKind, SubmittedProtocol

STATE_BADGES: dict[ProtocolState, str] = {
    "waiting": ":orange-badge[waiting]",
    "approved": ":green-badge[approved]",
    "sent back": ":red-badge[sent back]",
    "withdrawn": ":gray-badge[withdrawn]",
}
_DID: dict[StepKind, str] = {
    "comment": "wrote",
    "approve": "approved",
    "send back": "sent it back",
    "withdraw": "withdrew it",
}


def steps_section(found: SubmittedProtocol) -> None:
    """Comments and decisions, in order."""
    for step in found.steps:
        when = step.at[:16].replace("T", " ")
        words = f"**{plain(step.name)}** {_DID[step.kind]} · {when} UTC"
        if step.text:
            # Line by line: `plain` makes one line of a text, and a comment may have several.
            lines = "\n".join(f"> {plain(line)}" for line in step.text.splitlines())
            words += f"\n\n{lines}"
        st.markdown(words)
