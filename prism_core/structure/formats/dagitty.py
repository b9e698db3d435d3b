"""DAGitty's text, bare or as a string in R.

Read are `dag { ... }`, the same inside `dagitty("...")` pasted from R or as R prints it (`[1]
"dag {..."`), and bare statements such as
`W->Y Z->{X Y}`. Chains, `<-`, groups in braces, quoted names, `bb=`, `pos=`, `[exposure]`,
`[outcome]`, `[latent]` and nodes without an edge are understood. A name with a hyphen has to be
quoted: `a -> b-c` is refused, never cut. `a <-> b` is an unmeasured common cause, and read as such
a node, `U(a, b)`. Edges without a direction (`--`, `@->`) are refused with their place, as are the
types `pdag`, `mag` and `pag` once they hold one or `<->`: an arrow of those does not say that there
is no unmeasured common cause besides.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from prism_core.errors import StructureError
from prism_core.structure.formats._arrow_grammar import Attribute, Dialect, Parser, quoted
from prism_core.structure.formats._sketch import (
    PRINTED,
    Sketch,
    check_alone,
    place,
    position_of,
    refusal,
    role_words,
    shown,
)

if TYPE_CHECKING:
    from prism_core.structure.dag import Drawing

_CALL = re.compile(r"(?<![\w.])dagitty[ \t\r\n]*\(\s*(?:x\s*=\s*)?(?=[rR]?[\"'])")
_RAW = re.compile(r"[rR](?P<quote>[\"'])(?P<dashes>-{0,16})(?P<open>[(\[{])")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_R_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u\{?([0-9a-fA-F]{1,4})\}?|U\{?([0-9a-fA-F]{1,8})\}?|(.))", re.DOTALL
)
_R_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "\n": "\n"} | {sign: sign for sign in "\\\"'` "}
_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
MAX_ESCAPES = 500_000  # every quote of the largest graph
_TYPES = {"dag", "digraph", "pdag", "mag", "pag", "graph"}
_ANCESTRAL = {"pdag", "mag", "pag"}


def is_r(text: str) -> bool:
    """Whether `text` holds a call of dagitty() with a string."""
    return _CALL.search(text) is not None


def read(text: str) -> Drawing:
    """The drawing in dagitty's text."""
    inner, starts, shifts = _unwrapped(text)

    def locate(offset: int) -> str:
        return place(text, offset + shifts[bisect_right(starts, offset) - 1])

    parser = Parser(
        inner,
        Dialect(
            backwards=True,
            keywords=False,
            on_node=_on_node,
            on_edge=lambda *_: None,
            both_ways=True,
        ),
        locate,
    )
    if not _header(parser):
        parser.statements(bare=True)
        if not parser.sketch.nodes:
            raise StructureError(
                "The text names no node. Write for example 'dag { A -> Y }'.", field="dag"
            )
    else:
        parser.statements()
        if not parser.done():
            raise parser.sketch.refuse(
                parser.at, "there is text after the closing brace. Keep one graph only."
            )
    return parser.sketch.drawing()


def _header(parser: Parser) -> bool:
    """Step over `dag name {`; False when the statements come bare."""
    found = parser.name()
    if found is not None and not found[2] and found[0].lower() in _TYPES:
        if not parser.peek("{") and not parser.peek("[") and not parser.peek("="):
            parser.name()  # the graph's own name
        if parser.take("{"):
            if found[0].lower() in _ANCESTRAL:
                parser.dialect = replace(parser.dialect, both_ways=False)
            return True
    # A bare statement may begin with a node that is named `dag`.
    parser.at = 0
    return False


def _on_node(sketch: Sketch, name: str, attribute: Attribute) -> None:
    if attribute.value is None:
        sketch.role(name, attribute.key)
    elif attribute.key == "pos":
        sketch.at(name, position_of(attribute.value))


def _unwrapped(text: str) -> tuple[str, list[int], list[int]]:
    """The graph's text, and what to add to an offset in it: `shifts[i]` from `starts[i]` on."""
    printed = PRINTED.match(text)
    if printed is not None:
        found = _r_string(text, printed.end())
        check_alone(text, printed.end() + len(_literal(text, printed.end())))
        return found
    # A text that begins as a graph is one: a name in quotes in it may read like a call.
    call = _CALL.search(text) if not re.match(r"\s*[a-z]+\s*\{", text) else None
    if call is None:
        return text, [0], [0]
    again = _CALL.search(text, call.end())
    if again is not None:
        raise refusal(
            place(text, again.start()), "there is a second call of dagitty(). Keep one graph only."
        )
    raw = _RAW.match(text, call.end())
    if raw is not None:
        end = text.find(
            _CLOSING[raw.group("open")] + raw.group("dashes") + raw.group("quote"), raw.end()
        )
        if end < 0:
            raise refusal(place(text, call.end()), "this string is not closed.")
        # A raw string has no escapes, so one shift holds for all of it.
        return text[raw.end() : end], [0], [raw.end()]
    return _r_string(text, call.end())


def _r_string(text: str, start: int) -> tuple[str, list[int], list[int]]:
    end = start + len(_literal(text, start))
    parts: list[str] = []
    starts, shifts, length, at = [0], [start + 1], 0, start + 1
    for escape in _R_ESCAPE.finditer(text, at, end - 1):
        if len(starts) > MAX_ESCAPES:
            raise refusal(place(text, at), f"there are more than {MAX_ESCAPES:,} escapes.")
        sign = _r_sign(text, escape)
        parts += [text[at : escape.start()], sign]
        length += escape.start() - at + len(sign)
        at = escape.end()
        starts.append(length)
        shifts.append(at - length)
    parts.append(text[at : end - 1])
    return "".join(parts), starts, shifts


def _literal(text: str, start: int) -> str:
    """The string of R that begins at `start`, with its quotes."""
    quote = text[start]
    literal = re.compile(rf"{quote}[^{quote}\\]*(?:\\.[^{quote}\\]*)*{quote}", re.DOTALL)
    found = literal.match(text, start)
    if found is None:
        raise refusal(place(text, start), "this string is not closed.")
    return found.group()


def _r_sign(text: str, escape: re.Match[str]) -> str:
    *codes, letter = escape.groups()
    code = next((int(digits, 16) for digits in codes if digits), None)
    sign = _R_SIGNS.get(letter) if code is None else None
    if code is not None and 0 < code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
        sign = chr(code)
    if sign is None:
        raise refusal(place(text, escape.start()), f"{shown(escape.group())} is no escape of R.")
    return sign


def write(drawing: Drawing) -> str:
    """`dag { ... }` with one line a node and one a edge; unusual names are quoted."""
    lines = ["dag {"]
    for node in drawing.dag.nodes:
        words = role_words(drawing, node)
        if node in drawing.positions:
            x, y = drawing.positions[node]
            words.append(f'pos="{x!r},{y!r}"')
        lines.append(_id(node) + (f" [{','.join(words)}]" if words else ""))
    lines += [f"{_id(cause)} -> {_id(effect)}" for cause, effect in drawing.dag.edges]
    return "\n".join([*lines, "}"]) + "\n"


def _id(name: str) -> str:
    plain = _SIMPLE.fullmatch(name) and name.lower() not in _TYPES
    return name if plain else quoted(name)
