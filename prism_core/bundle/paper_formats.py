"""Formats of a paper: its page as Markdown, and as a Word document that committees comment in.

The page is the one source: what a template says stands in every format, and nothing else. Pictures
are left out, for each has its numbers beside it in words.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from prism_core.errors import ConfigError
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind: TypeAlias = Literal["h1", "h2", "h3", "p", "li", "stamp", "table"]

_SILENT = frozenset({"style", "script", "title", "svg"})
_BLOCKS: dict[str, Kind] = {"h1": "h1", "h2": "h2", "h3": "h3", "p": "p", "li": "li"}
_EMPTY = frozenset({"meta", "br", "wbr", "path", "circle", "link"})
_CELLS = frozenset({"td", "th", "dt", "dd"})
_BOLD, _ITALIC = frozenset({"strong", "th", "dt"}), frozenset({"em"})


@dataclass(frozen=True, kw_only=True)
class Run:
    """A piece of text in one face."""

    text: str
    bold: bool = False
    italic: bool = False


@dataclass(kw_only=True)
class Block:
    """A heading, paragraph, item of a list, stamp of every page, or table.

    Attributes:
        kind: which.
        runs: its text; of a table its caption.
        rows: of a table: cells of runs.
        headed: whether the first row of the table names the columns.
        new_page: whether it begins one in print.
    """

    kind: Kind
    runs: list[Run] = field(default_factory=list)
    rows: list[list[list[Run]]] = field(default_factory=list)
    headed: bool = False
    new_page: bool = False

    @property
    def text(self) -> str:
        """Its words without faces."""
        return _words(self.runs)


class _Reader(HTMLParser):
    """Blocks of a page, in order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self._open: list[str] = []
        self._table: Block | None = None
        self._cell: list[Run] | None = None
        self._fresh = True  # the next text outside a block begins a paragraph
        self._new_page = False
        self._signing = 0  # so many elements are open within the lines to sign; 0 outside

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # They have no end tag, so nothing may wait for one.
        if tag in _EMPTY:
            return
        self._open.append(tag)
        said = dict(attrs)
        classes = (said.get("class") or "").split()
        if tag in ("table", "dl"):
            self._table = Block(kind="table")
            self.blocks.append(self._table)
        elif "sign" in classes:
            self._table = Block(kind="table", rows=[[]], headed=True)
            self._signing = len(self._open)
            self.blocks.append(self._table)
        elif self._table is not None:
            self._in_table(tag, int(said.get("colspan") or 1))
        elif tag in _BLOCKS:
            self.blocks.append(Block(kind=_BLOCKS[tag], new_page=self._new_page))
            self._fresh = self._new_page = False
        elif "stamp" in classes:
            self.blocks.append(Block(kind="stamp"))
            self._fresh = False
        elif tag in ("div", "section", "header", "ul"):
            self._fresh = True
            self._new_page = self._new_page or "part" in classes

    def _in_table(self, tag: str, columns: int) -> None:
        assert self._table is not None
        if tag in ("tr", "dt"):
            self._table.rows.append([])
        if tag == "thead":
            self._table.headed = True
        if (tag in _CELLS or self._signing) and self._table.rows:
            # A cell that spans columns stands in the first, and what follows keeps its own.
            cells: list[list[Run]] = [[] for _ in range(columns)]
            self._table.rows[-1] += cells
            self._cell = cells[0]

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            # What was left open within it ends with it.
            while self._open.pop() != tag:
                pass
        if self._signing and len(self._open) < self._signing:
            assert self._table is not None
            # Room to sign in, below the names of the columns.
            self._table.rows.append([[] for _ in self._table.rows[0]])
            self._table, self._signing, self._cell, self._fresh = None, 0, None, True
        elif self._signing:
            self._cell = None
        elif tag in ("table", "dl"):
            self._table, self._fresh = None, True
        elif tag in _CELLS:
            self._cell = None
        elif tag in _BLOCKS or tag == "div":
            self._fresh = True

    def handle_data(self, data: str) -> None:
        if _SILENT.intersection(self._open):
            return
        run = Run(
            text=data,
            bold=bool(_BOLD.intersection(self._open)),
            italic=bool(_ITALIC.intersection(self._open)),
        )
        if self._table is not None:
            if self._cell is not None:
                self._cell.append(run)
            elif "caption" in self._open:
                self._table.runs.append(run)
        elif not self._fresh:
            self.blocks[-1].runs.append(run)
        elif data.strip():
            self.blocks.append(Block(kind="p", runs=[run]))
            self._fresh = False


def blocks_of(html: str) -> list[Block]:
    """The blocks of a page that a template made."""
    reader = _Reader()
    # Chance ends of markup are text to the parser; pages are made by the templates alone.
    reader.feed(html)
    reader.close()
    for block in reader.blocks:
        _drop_bars(block)
    return [block for block in reader.blocks if block.text or block.rows]


def _drop_bars(block: Block) -> None:
    """Take the columns out of a table that hold pictures alone."""
    width = max((len(row) for row in block.rows), default=0)
    kept = [
        place
        for place in range(width)
        if any(len(row) > place and _words(row[place]) for row in block.rows)
    ]
    block.rows = [[row[place] for place in kept if place < len(row)] for row in block.rows]


def to_markdown(html: str) -> str:
    """The page as Markdown; text from outside is escaped."""
    return "\n\n".join(_block_lines(blocks_of(html))) + "\n"


def to_docx(html: str) -> bytes:
    """The page as a Word document (python-docx).

    Raises:
        ConfigError: when python-docx is not installed.
    """
    try:
        import docx
    except ModuleNotFoundError:
        raise ConfigError(
            "A Word document needs the package python-docx. Install it, or write .html or .pdf.",
            field="out",
        ) from None
    from docx.shared import Mm, Pt
    from docx.styles.style import ParagraphStyle

    paper = docx.Document()
    page = paper.sections[0]
    page.page_width, page.page_height = Mm(210), Mm(297)
    page.left_margin = page.right_margin = page.top_margin = page.bottom_margin = Mm(18)
    normal = paper.styles["Normal"]
    assert isinstance(normal, ParagraphStyle)
    normal.font.size = Pt(10)
    for block in blocks_of(html):
        if block.kind == "stamp":
            # A stamp stands on every page.
            _fill(page.header.paragraphs[0], block.runs)
        elif block.kind == "table":
            _add_table(paper, block)
        elif block.kind in ("h1", "h2", "h3"):
            heading = paper.add_heading(block.text, level=int(block.kind[1]))
            heading.paragraph_format.page_break_before = block.new_page
        else:
            style = "List Bullet" if block.kind == "li" else None
            _fill(paper.add_paragraph(style=style), block.runs)
    content = io.BytesIO()
    paper.save(content)
    return content.getvalue()


def _add_table(paper: Any, block: Block) -> None:  # noqa: ANN401  (python-docx has no types)
    if block.text:
        caption = paper.add_paragraph()
        caption.add_run(block.text).bold = True
        caption.paragraph_format.keep_with_next = True
    width = max(len(row) for row in block.rows)
    table = paper.add_table(rows=0, cols=width, style="Table Grid")
    for number, row in enumerate(block.rows):
        added = table.add_row()
        _keep_whole(added, repeated=block.headed and number == 0)
        if not any(row):
            added.height = _ROOM
        for place, runs in enumerate(row):
            _fill(added.cells[place].paragraphs[0], runs)
    # Word runs two tables together where no paragraph stands between them.
    paper.add_paragraph()


_ROOM = 12 * 36_000  # of a signature: 12 mm, in the units of Word


def _keep_whole(row: Any, *, repeated: bool) -> None:  # noqa: ANN401
    """No page break within a row; the names of columns stand on every page of a table."""
    from docx.oxml import OxmlElement

    told = row._tr.get_or_add_trPr()  # python-docx has no name of its own for either
    for name in ("w:cantSplit", *(["w:tblHeader"] if repeated else [])):
        told.append(OxmlElement(name))


def _fill(paragraph: Any, runs: Sequence[Run]) -> None:  # noqa: ANN401
    for run in _tight(runs):
        added = paragraph.add_run(run.text)
        added.bold, added.italic = run.bold, run.italic


def _block_lines(blocks: Sequence[Block]) -> list[str]:
    found: list[str] = []
    marks = {"h1": "# ", "h2": "## ", "h3": "### ", "li": "- ", "p": "", "stamp": "> "}
    for place, block in enumerate(blocks):
        if block.kind == "table":
            found.append(_table_lines(block))
            continue
        line = f"{marks[block.kind]}{_marked(block.runs)}"
        if block.kind == "li" and place and blocks[place - 1].kind == "li":
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return found


def _table_lines(block: Block) -> str:
    width = max(len(row) for row in block.rows)
    rows = [[_marked(cell, bold=False) for cell in row] for row in block.rows]
    # Markdown knows no table without a head.
    head = rows.pop(0) if block.headed else [""] * width
    rows = [head, ["---"] * width, *rows]
    table = "\n".join(f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows)
    return f"**{plain(block.text)}**\n\n{table}" if block.text else table


def _marked(runs: Sequence[Run], *, bold: bool = True) -> str:
    return "".join(
        f"**{plain(run.text)}**" if bold and run.bold else plain(run.text) for run in _tight(runs)
    )


def _tight(runs: Sequence[Run]) -> list[Run]:
    """The runs with single spaces, none at the ends; a run never begins or ends with one bold."""
    found: list[Run] = []
    for run in runs:
        text = " ".join(run.text.split())
        # Markdown takes ** with a space inside for no mark, so spaces stand between the runs.
        before = run.text[:1].isspace() and bool(found) and not found[-1].text.endswith(" ")
        if before:
            found.append(Run(text=" "))
        if text:
            found.append(Run(text=text, bold=run.bold, italic=run.italic))
            if run.text[-1].isspace():
                found.append(Run(text=" "))
    while found and found[-1].text == " ":
        found.pop()
    return found


def _words(runs: Sequence[Run]) -> str:
    return "".join(run.text for run in _tight(runs))
