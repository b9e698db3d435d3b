"""Schema downloads: the schema in use as a file for other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from prism_core.data.codebooks import table_schema_text

if TYPE_CHECKING:
    from prism_core.data.schema.schema import Schema


def table_schema(schema: Schema) -> None:
    """The schema as Frictionless Table Schema, beside its own file."""
    st.download_button(
        "Download as Table Schema (JSON)",
        table_schema_text(schema),
        "schema.json",
        mime="application/json",
        icon=":material/download:",
        key="download_table_schema",
        help="Frictionless Table Schema, for other programs. This page reads it as a codebook, "
        "unless something of it came from rows: only the schema's own file keeps that.",
    )
