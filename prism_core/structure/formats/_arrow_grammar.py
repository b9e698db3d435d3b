"""The grammar that DOT and dagitty share: `a -> {b c} [attributes]; x = "y"`.

A recursive descent over one regular expression of tokens. A name is read whole or refused: what
follows it must be a space, a bracket, a separator or an arrow, so that `b-c` is never cut to `b`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from prism_core.structure.formats._sketch import MAX_DEPTH, MAX_TEXT, Sketch, place, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from prism_core.errors import StructureError

# Spaces, also those that come with text copied from a page, and comments.
SPACE = (
    r"(?:[ \t\r\n\f\v\x85\xa0\u2000-\u200a\u2028\u2029\u202f\u3000\ufeff]+|//[^\n]*|/\*.*?\*/"
    r"|(?:(?<=\s)|\A)\#[^\n]*)*"
)
# Letters, digits, dots and underscores of any script; no dashes, quotes, arrows or unseen marks.
NAME = (
    r"(?:[A-Za-z0-9_.]|[^\x00-\xa0\s\u200b-\u200f\u2010-\u2015\u2018-\u201f\u202a-\u202e"
    r"\u2060-\u206f\u2190-\u21ff\u2212\u27f0-\u27ff\u2900-\u297f\ufeff])+"
)
# Unrolled instead of (a|b)*: a quote that is never closed must not make the matching go back and
# forth.
QUOTED = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_SPACE = re.compile(SPACE, re.DOTALL)
_NAME = re.compile(NAME)
_QUOTED = re.compile(QUOTED, re.DOTALL)
# Longest first, as an alternation takes the first that fits.
_ARROW = re.compile(
    r"<-->|<->|<--|-->|@->|<-@|@-@|@--|--@|<-(?!>)|->|--|[\u2190-\u21ff\u27f0-\u27ff]"
)
_VALUE = re.compile(r"[^\s,;\[\]{}\"=<>]+")
_SOLID = frozenset('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_[]{}=;,-<>"')
MAX_STEPS = 400_000
_WORDS = {"subgraph", "node", "edge", "graph"}
_ESCAPE = re.compile(r"\\(\r?\n|.)", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """`key` or `key = value` in brackets; `value` is None when there is none."""

    key: str
    value: str | None
    mark: int


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """What differs between the languages.

    Attributes:
        backwards: whether `<-` is an arrow.
        keywords: whether `subgraph`, `node`, `edge` and `graph` are words of the language, and
            names may carry a port.
        on_node: called with the sketch, the name and an attribute of a node.
        on_edge: called with the sketch and an attribute of an edge.
        both_ways: whether `<->` says that the two have an unmeasured common cause.
    """

    backwards: bool
    keywords: bool
    on_node: Callable[[Sketch, str, Attribute], None]
    on_edge: Callable[[Sketch, Attribute], None]
    both_ways: bool = False


def unquoted(token: str) -> str:
    r"""The content of a quoted text: `\"` and `\\` are escapes, a `\` at a line's end joins."""

    def plain(match: re.Match[str]) -> str:
        after = match.group(1)
        if after in {'"', "\\"}:
            return after
        return "" if after.endswith("\n") else match.group(0)

    return _ESCAPE.sub(plain, token[1:-1])


def quoted(name: str) -> str:
    """The opposite of `unquoted`; exact for every name."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Parser:
    """Reads statements from `text` into a sketch."""

    def __init__(
        self, text: str, dialect: Dialect, locate: Callable[[int], str] | None = None
    ) -> None:
        self.text = text
        self.dialect = dialect
        self.at = 0
        self.sketch = Sketch(locate or (lambda offset: place(text, offset)))

    # --- tokens -------------------------------------------------------------------------------

    def skip(self) -> None:
        """Step over spaces and comments."""
        # Most tokens follow at once, and this is cheaper than the expression. A slice, as an
        # index would fail at the end.
        if self.text[self.at : self.at + 1] in _SOLID:
            return
        found = _SPACE.match(self.text, self.at)
        assert found is not None  # it matches the empty text
        self.at = found.end()
        if self.text.startswith("/*", self.at):
            raise self.sketch.refuse(self.at, "this comment is not closed. Add '*/'.")

    def peek(self, mark: str) -> bool:
        """Whether `mark` comes next."""
        self.skip()
        return self.text.startswith(mark, self.at)

    def take(self, mark: str) -> bool:
        """Step over `mark` if it comes next."""
        if not self.peek(mark):
            return False
        self.at += len(mark)
        return True

    def done(self) -> bool:
        """Whether nothing is left."""
        self.skip()
        return self.at >= len(self.text)

    def name(self) -> tuple[str, int, bool] | None:
        """A name, its place and whether it was quoted; None when something else comes next."""
        self.skip()
        start = self.at
        if self.text.startswith('"', start):
            value = self._text()
            if self.text.startswith('"', self.at) or _NAME.match(self.text, self.at):
                raise self.sketch.refuse(
                    self.at, f"the quoted name {shown(value)} goes on without a space or an arrow."
                )
            return value, start, True
        found = _NAME.match(self.text, start)
        if found is None:
            return None
        self.at = found.end()
        after = self.text[self.at : self.at + 2]
        if after.startswith("-") and after not in {"->", "--"}:
            whole = re.compile(rf"{NAME}(?:-(?![->])(?:{NAME})?)*").match(self.text, start)
            assert whole is not None
            raise self.sketch.refuse(
                start,
                f"{shown(whole.group())} holds a hyphen. If it is one name, put it in double "
                f"quotes; if it is an edge, write '->'.",
                field="nodes",
            )
        if after.startswith('"'):
            raise self.sketch.refuse(
                self.at, f"a quote follows {shown(found.group())} at once. Quote the whole name."
            )
        return found.group(), start, False

    def _text(self) -> str:
        """A quoted text, with what `+` joins to it."""
        start, parts = self.at, []
        while True:
            found = _QUOTED.match(self.text, self.at)
            if found is None:
                raise self.sketch.refuse(self.at, "this quote is not closed. Add the second '\"'.")
            if found.end() - start > MAX_TEXT:
                raise self.sketch.refuse(
                    start, f"this text is longer than {MAX_TEXT:,} characters. Shorten it."
                )
            parts.append(unquoted(found.group()))
            # Kept to go back to: a + that joins no text, or spaces after the text, are not part
            # of it.
            self.at = back = found.end()
            if not (self.dialect.keywords and self.take("+") and self.peek('"')):
                self.at = back
                return "".join(parts)

    def unexpected(self) -> StructureError:
        """The error for what comes next and should not."""
        if self.done():
            return self.sketch.refuse(self.at, "the graph ends too early. Add the missing '}'.")
        found = _ARROW.match(self.text, self.at)
        if found is not None:
            return self.sketch.refuse(
                self.at, f"the arrow '{found.group()}' has a name on one side only.", field="edges"
            )
        return self.sketch.refuse(
            self.at,
            f"{self.text[self.at]!r} is not expected here. Names with spaces or signs need double "
            "quotes.",
        )

    # --- statements ---------------------------------------------------------------------------

    def statements(self, depth: int = 0, *, bare: bool = False) -> dict[str, None]:
        """Statements up to the closing brace (or the end, when `bare`); the nodes they name."""
        # The descent is recursive: deeper nesting would end in Python's own limit.
        if depth > MAX_DEPTH:
            raise self.sketch.refuse(self.at, f"groups are nested more than {MAX_DEPTH} deep.")
        # A dict as an ordered set: nodes keep the order of the file.
        nodes: dict[str, None] = {}
        while True:
            while self.take(";") or (depth and self.take(",")):
                self.sketch.step(self.at, MAX_STEPS)
            if bare and self.done():
                return nodes
            if not bare and self.take("}"):
                return nodes
            nodes |= self._statement(depth)

    def _statement(self, depth: int) -> dict[str, None]:
        self.sketch.step(self.at, MAX_STEPS)
        ends = self._end(depth)
        if ends is None:
            return {}  # an assignment, or attributes of everything
        nodes = dict(ends)
        edges = False
        while (arrow := self._arrow()) is not None:
            sign, mark = arrow
            after = self._end(depth)
            if after is None:
                raise self.sketch.refuse(mark, f"the arrow '{sign}' points to no node.")
            for one, other in product(ends, after):
                self._join(one, sign, other, mark)
            nodes |= after
            ends, edges = after, True
        while self.peek("["):
            for attribute in self._attributes():
                if edges:
                    self.dialect.on_edge(self.sketch, attribute)
                else:
                    for node in ends:  # each is a step: many nodes times many attributes
                        self.sketch.step(attribute.mark, MAX_STEPS)
                        self.dialect.on_node(self.sketch, node, attribute)
        return nodes

    def _join(self, one: str, sign: str, other: str, mark: int) -> None:
        if sign == "<->":
            self.sketch.common_cause(one, other, mark)
        else:
            self.sketch.edge(*((one, other) if sign == "->" else (other, one)), mark)

    def _arrow(self) -> tuple[str, int] | None:
        self.skip()
        mark = self.at
        found = _ARROW.match(self.text, mark)
        if found is None:
            return None
        sign = found.group()
        known = {"->": True, "<-": self.dialect.backwards, "<->": self.dialect.both_ways}
        if known.get(sign, False):
            self.at = found.end()
            return sign, mark
        raise self.sketch.refuse(
            mark,
            f"'{sign}' is not a directed edge. PRISM needs a direction for every edge: write "
            "'cause -> effect', or add the unmeasured common cause as a node of its own.",
            field="edges",
        )

    def _end(self, depth: int) -> dict[str, None] | None:
        """One end of an edge: a name or a group. None after an assignment or defaults."""
        if self.take("{"):
            return self.statements(depth + 1)
        found = self.name()
        if found is None:
            raise self.unexpected()
        name, mark, was_quoted = found
        if self.take("="):
            self._value()
            return None
        # DOT's keywords have no case; in quotes they are names.
        if self.dialect.keywords and not was_quoted and name.lower() in _WORDS:
            return self._keyword(name.lower(), depth)
        while self.dialect.keywords and self.take(":"):
            self.sketch.step(self.at, MAX_STEPS)
            if self.name() is None:
                raise self.unexpected()
        self.sketch.node(name, mark)
        return {name: None}

    def _keyword(self, word: str, depth: int) -> dict[str, None] | None:
        """A group with a name, or defaults of all nodes or edges."""
        if word == "subgraph":
            self.name()  # the group's own name, if it has one
            if not self.take("{"):
                raise self.unexpected()
            return self.statements(depth + 1)
        for attribute in self._attributes():
            if word == "edge":
                self.dialect.on_edge(self.sketch, attribute)
        return None

    # --- attributes ---------------------------------------------------------------------------

    def _attributes(self) -> list[Attribute]:
        if not self.take("["):
            raise self.unexpected()
        found: list[Attribute] = []
        while not self.take("]"):
            self.sketch.step(self.at, MAX_STEPS)
            if self.take(",") or self.take(";"):
                continue
            if self.done():
                raise self.sketch.refuse(self.at, "this list is not closed. Add the missing ']'.")
            mark = self.at
            key = self._value()
            value = self._value() if self.take("=") else None
            found.append(Attribute(key=key, value=value, mark=mark))
        return found

    def _value(self) -> str:
        self.skip()
        if self.text.startswith('"', self.at):
            return self._text()
        if self.dialect.keywords and self.text.startswith("<", self.at):
            return self._html()
        found = _VALUE.match(self.text, self.at)
        if found is None:
            raise self.unexpected()
        self.at = found.end()
        return found.group()

    def _html(self) -> str:
        """A value in angle brackets, which may be nested."""
        start, depth = self.at, 0
        for found in re.compile("[<>]").finditer(self.text, start):
            depth += 1 if found.group() == "<" else -1
            if found.end() - start > MAX_TEXT:
                raise self.sketch.refuse(
                    start, f"this text is longer than {MAX_TEXT:,} characters. Shorten it."
                )
            if depth == 0:
                self.at = found.end()
                return self.text[start : self.at]
        raise self.sketch.refuse(start, "this '<' is not closed. Add the missing '>'.")
