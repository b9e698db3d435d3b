"""XML that somebody else may have written, read with expat's own handlers.

A document type, and with it every entity, is refused before it is looked at: entities can stand for
any amount of text, or for other files.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING
from xml.parsers import expat

if TYPE_CHECKING:
    from prism_core.errors import PrismError


class XmlReader(ABC):
    """Handlers of expat; a format says what it makes of elements and texts.

    Attributes:
        parser: expat's, for the place in the text. Names come as their address, a blank and the
            name.
    """

    def __init__(self) -> None:
        # Overrules what the file declares: its text is decoded already.
        self.parser = expat.ParserCreate("utf-8", namespace_separator=" ")
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.EntityDeclHandler = self._doctype
        # Else expat hands a text over line by line.
        self.parser.buffer_text = True

    def parse(self, text: str) -> str:
        """Call the handlers for a whole text.

        Returns:
            Where and why it is no well-formed XML, as a sentence; empty where it is. Said by the
            caller's error outside of any handler: expat's error holds the text.

        Raises:
            PrismError: as `refuse` makes it, for a document type; and what the handlers raise.
        """
        try:
            # Half of a surrogate pair has no bytes in UTF-8, and must not end in an error of
            # another kind.
            self.parser.Parse(text.encode("utf-8", "replace"), True)
        except expat.ExpatError as error:
            return (
                f"Line {error.lineno}, column {error.offset + 1}: this is not well-formed XML "
                f"({expat.ErrorString(error.code)})."
            )
        return ""

    @abstractmethod
    def refuse(self, what: str) -> PrismError:
        """The error that says this of the place where the parser is."""

    @abstractmethod
    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    @abstractmethod
    def end(self, _: str) -> None:
        """An element ends."""

    @abstractmethod
    def characters(self, text: str) -> None:
        """A piece of text; a text may come in several."""

    def _doctype(self, *_: object) -> None:
        raise self.refuse(
            "the file declares a document type or an entity, which can hide other content. Remove "
            "the '<!DOCTYPE ...>'."
        )
