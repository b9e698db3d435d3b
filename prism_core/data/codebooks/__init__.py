"""Codebooks: what a file about a table says of its columns. No row of the table is read.

One file a format; docs/codebooks.md says what each understands.

    redcap        data dictionary of REDCap, as CSV
    spss          metadata of a .sav or .zsav file
    stata         metadata of a .dta file
    sas           metadata of a .sas7bdat or .xpt file
    table-schema  Frictionless Table Schema and Data Package
    csvw          CSV on the Web
    ddi           DDI Codebook
    dictionary    a table with one row a column, as CSV or workbook
"""

from __future__ import annotations

from prism_core.data.codebooks.codebook import Codebook
from prism_core.data.codebooks.codebook_column import CURE_TEXT, CodebookColumn, Cure, OpenColumn
from prism_core.data.codebooks.codebook_file import read_codebook
from prism_core.data.codebooks.table_schema_text import table_schema_text

__all__ = [
    "CURE_TEXT",
    "Codebook",
    "CodebookColumn",
    "Cure",
    "OpenColumn",
    "read_codebook",
    "table_schema_text",
]
