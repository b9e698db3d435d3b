"""Readers of codebooks, one an entry; each time all that is made of one is made."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from prism_core.data.codebooks import read_codebook, table_schema_text
from prism_core.data.codebooks.codebook import draft_text
from prism_core.data.schema import column_form
from prism_core.learning.domain.outline_io import loads_outline
from tests.fuzz.registry import Case, as_text, entry, every
from tests.support import codebooks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prism_core.data.codebooks import Codebook
    from tests.fuzz.mutants import Syntax
    from tests.fuzz.shop import Shop


def _used(codebook: Codebook) -> None:
    """The form, the draft, and what other programs get."""
    rows = [column.row for column in codebook.columns]
    draft_text(codebook)
    learnt = codebook.to_learn(one.column for one in codebook.open if "learn" in one.cures)
    text = draft_text(learnt)
    if not codebook.open:
        table_schema_text(codebook.schema())
        column_form.from_rows(rows)
    elif not learnt.open:
        loads_outline(text)


def _of_format(format: str) -> Callable[[Shop], Case]:
    def make(shop: Shop) -> Case:
        def read(content: bytes) -> None:
            every(
                lambda: _used(read_codebook(content, format=format, name="codebook")),
                lambda: read_codebook(as_text(content) + "\n", format=format),
            )

        seeds = [codebooks.texts()[format]]
        if format == "table-schema":
            seeds += [
                json.dumps(
                    codebooks.PACKAGE | {"resources": codebooks.PACKAGE["resources"][:1]}
                ).encode(),
                table_schema_text(replace(shop.grouped, provenance="declared", looks=())).encode(),
            ]
        return Case(seeds=tuple(seeds), read=read)

    return make


_SYNTAX: dict[str, Syntax] = {
    "redcap": "text",
    "table-schema": "json",
    "csvw": "json",
    "ddi": "text",
    "dictionary": "text",
}
for _name, _kind in _SYNTAX.items():
    entry(f"codebook: {_name}", _kind, 0.5)(_of_format(_name))


@entry("codebook: of any format", "text", 0.5)
def _recognised(shop: Shop) -> Case:
    return Case(seeds=tuple(codebooks.texts().values()), read=partial(read_codebook, name="x"))


def _of_file(write: Callable[[Path], Path], name: str) -> Callable[[Shop], Case]:
    def make(shop: Shop) -> Case:
        path = write(shop.folder(name))
        content = path.read_bytes()

        def read(changed: bytes) -> None:
            _used(read_codebook(changed, name="visits"))

        return Case(seeds=(content,), read=read)

    return make


# Each is read in a process of its own, which takes most of a second.
for _name, _writer in (("spss", codebooks.sav), ("stata", codebooks.dta), ("sas", codebooks.xpt)):
    entry(f"codebook: {_name}", "bytes", 0.03)(_of_file(_writer, f"codebook-{_name}"))
