"""BIF, bnlearn's and the Bayesian Network Repository's interchange format: the structure only.

Blocks `variable` and `probability ( child | parents )` are read; levels and tables are skipped.
Positions are those of `property "position = (x, y)"`, and `property "role = latent"` marks a node
as unmeasured. What is written has no levels and no tables
either: nothing is made up, and a program that needs them will say so.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prism_core.errors import StructureError
from prism_core.structure.formats._sketch import Sketch, cannot_hold, place, position_of, shown

if TYPE_CHECKING:
    from prism_core.structure.dag import Drawing

_SPACE = re.compile(r"(?:[\s\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r'"(?P<quoted>[^"]*)"|(?P<plain>[^\s{}()|,;"]+)')
# Inside a block only braces, quotes and comments matter; a comment follows a space or a sign.
_INSIDE = re.compile(r'[{}]|"(?P<quoted>[^"]*)"|(?<=[\s{};,])(?://[^\n]*|/\*)')
_POSITION = re.compile(r"\s*position\s*=\s*\(([^()]*)\)\s*")
_UNMEASURED = re.compile(r"\s*role\s*=\s*latent\s*")
_PLAIN = re.compile(r'[^\s{}()|,;"/\x00-\x1f\x7f-\x9f]+')


def read(text: str) -> Drawing:
    """The drawing in a BIF file."""
    return _BifReader(text).drawing()


class _BifReader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.sketch = Sketch(lambda offset: place(text, offset), declared=True)
        self.children: set[str] = set()

    def drawing(self) -> Drawing:
        while not self.done():
            word, mark = self.word()
            if word == "network":
                if self.sketch.nodes:
                    raise self.sketch.refuse(
                        mark, "there is a second network. Keep one graph only."
                    )
                if not self.ahead("{"):
                    self.word()
                self.block()
            elif word == "variable":
                self.variable()
            elif word == "probability":
                self.probability()
            else:
                raise self.sketch.refuse(
                    mark,
                    f"{shown(word)} is unexpected. A block starts with 'network', 'variable' or "
                    "'probability'.",
                )
        if not self.sketch.nodes:
            raise StructureError("The BIF text holds no variable.", field="dag")
        return self.sketch.drawing()

    def done(self) -> bool:
        found = _SPACE.match(self.text, self.at)
        assert found is not None  # it matches the empty text
        self.at = found.end()
        if self.text.startswith("/*", self.at):
            raise self.unclosed(self.at)
        return self.at >= len(self.text)

    def ahead(self, sign: str) -> bool:
        return not self.done() and self.text.startswith(sign, self.at)

    def take(self, sign: str) -> None:
        if not self.ahead(sign):
            raise self.unexpected(f"{sign!r} is missing here")
        self.at += len(sign)

    def unexpected(self, what: str) -> StructureError:
        end = " (the text ends too early)" if self.at >= len(self.text) else ""
        return self.sketch.refuse(self.at, f"{what}{end}.")

    def unclosed(self, mark: int) -> StructureError:
        return self.sketch.refuse(mark, "this comment is not closed. Add '*/'.")

    def word(self) -> tuple[str, int]:
        self.done()
        mark = self.at
        found = _WORD.match(self.text, mark)
        if found is None:
            raise self.unexpected("a name is missing here")
        self.at = found.end()
        quoted = found.group("quoted")
        return (found.group("plain") if quoted is None else quoted), mark

    def block(self) -> list[str]:
        """Step over `{ ... }`; the quoted texts in it."""
        self.take("{")
        depth, start, texts = 1, self.at, []
        while (found := _INSIDE.search(self.text, self.at)) is not None:
            self.at = found.end()
            if found.group() == "/*":  # looked for once: many that are not closed take no longer
                end = self.text.find("*/", self.at)
                if end < 0:
                    raise self.unclosed(found.start())
                self.at = end + 2
            elif found.group() == "{":
                depth += 1
            elif found.group() == "}":
                depth -= 1
            elif found.group("quoted") is not None and len(texts) < 100:
                texts.append(found.group("quoted"))
            if depth == 0:
                return texts
        raise self.sketch.refuse(start - 1, "this block is not closed. Add the missing '}'.")

    def variable(self) -> None:
        name, mark = self.word()
        self.sketch.node(name, mark, once=True)
        for text in self.block():
            found = _POSITION.fullmatch(text)
            if found:
                self.sketch.at(name, position_of(found.group(1)))
            elif _UNMEASURED.fullmatch(text):
                self.sketch.role(name, "latent")

    def probability(self) -> None:
        self.take("(")
        child, mark = self.word()
        if child in self.children:
            raise self.sketch.refuse(
                mark, f"there are two probability blocks for {shown(child)}.", field="edges"
            )
        if child not in self.sketch.nodes:
            raise self.sketch.refuse(
                mark, f"{shown(child)} is not declared as a variable before.", field="nodes"
            )
        self.children.add(child)
        if self.ahead("|"):
            self.take("|")
            while not self.ahead(")"):
                parent, at = self.word()
                self.sketch.edge(parent, child, at)
                if not self.ahead(")"):
                    self.take(",")
        self.take(")")
        if self.ahead(";"):
            self.take(";")
            return
        self.block()


def write(drawing: Drawing) -> str:
    """The structure as BIF, without levels and tables.

    Raises:
        StructureError: for a name with white space or a sign that BIF uses.
    """
    cannot_hold(
        drawing.dag.nodes,
        "BIF",
        lambda name: _PLAIN.fullmatch(name) is not None,
        "names there have no white space, quotes, slashes, braces, bars, commas or semicolons.",
    )
    lines = ["// structure only: no levels, no tables", "network unknown {", "}"]
    for node in drawing.dag.nodes:
        lines.append(f"variable {node} {{")
        if node in drawing.positions:
            x, y = drawing.positions[node]
            lines.append(f'  property "position = ({x!r}, {y!r})" ;')
        if node in drawing.dag.unmeasured:
            lines.append('  property "role = latent" ;')
        lines.append("}")
    parents: dict[str, list[str]] = {node: [] for node in drawing.dag.nodes}
    for cause, effect in drawing.dag.edges:
        parents[effect].append(cause)
    for node, causes in parents.items():
        given = f" | {', '.join(causes)}" if causes else ""
        lines += [f"probability ( {node}{given} ) {{", "}"]
    return "\n".join(lines) + "\n"
