"""Import of a graph: read it, fit its nodes to the columns, say what changes, take it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common.widgets import mistakes
from dashboard.session.shelf import project
from prism_core.errors import StructureError
from prism_core.structure import formats, matching
from prism_core.text.markdown import plain
from prism_core.text.numbers import count_text

if TYPE_CHECKING:
    from prism_core.structure.dag import Drawing
    from prism_core.structure.matching import Matched

_KEY = "brought"
_PENDING = "brought_pending"
_TEXT = "brought_text"
_ROWS = 8  # nodes fitted at a time
_SAID = 12  # sentences on what changes, at most
_DROP = "Drop it"
_KEEP = "Keep it: not in the table"
_FIXED = (_KEEP, _DROP)
_TYPES = ["json", "csv", "txt", "dag", "dot", "gv", "gml", "graphml", "xml", "bif", "gz", "r"]
_EXAMPLE = "dag { age -> ward -> readmitted  age -> readmitted }"


@dataclass
class ImportedGraph:
    """A graph on its way in.

    Attributes:
        source: what was uploaded or pasted, to notice another one.
        drawing: the graph as it came.
        columns: the columns it is fitted to.
        hints: columns that each odd node may mean.
        choice: the column of a node, or None to leave the node out; nodes that are not decided
            have no entry, and neither have those that are kept.
        kept: odd nodes that stay in the graph as unmeasured.
        join: nodes left out whose causes are to point at their effects.
        page: which of the odd nodes are on screen.
        outcome: whether the outcome that the file names becomes Y.
        known: the last choices, and the graph that came of them.
    """

    source: bytes
    drawing: Drawing
    columns: tuple[str, ...]
    hints: dict[str, tuple[str, ...]]
    choice: dict[str, str | None] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    join: set[str] = field(default_factory=set)
    page: int = 0
    outcome: bool = True
    known: tuple[object, Matched] | None = None

    @property
    def mark(self) -> str:
        """Short hash of what was brought."""
        return hashlib.sha256(self.source).hexdigest()[:12]

    def options(self, node: str) -> list[str]:
        """What an odd node may become: unmeasured, dropped, then the likely columns."""
        hints = self.hints.get(node, ())
        return [*_FIXED, *hints, *(name for name in self.columns if name not in hints)]

    def box(self, node: str) -> str:
        """Key of the entry for an odd node."""
        return f"odd_{self.mark}_{node}"

    def decided(self, node: str) -> bool:
        """Whether it is known what becomes of an odd node."""
        return node in self.choice or node in self.kept

    def place(self, node: str) -> int | None:
        """Where in its options the choice of a node stands; None while it is open."""
        if not self.decided(node):
            return None
        if node in self.kept:
            return _FIXED.index(_KEEP)
        column = self.choice[node]
        return _FIXED.index(_DROP) if column is None else self.options(node).index(column, 2)

    def put(self, node: str, place: int | None) -> None:
        """Take a choice by its place in the options; None opens it again."""
        self.choice.pop(node, None)
        self.kept.discard(node)
        if place is None:
            return
        if place == _FIXED.index(_KEEP):
            self.kept.add(node)
        else:
            dropped = place == _FIXED.index(_DROP)
            self.choice[node] = None if dropped else self.options(node)[place]

    @property
    def odd(self) -> tuple[str, ...]:
        """The nodes that are not columns."""
        return matching.strangers(self.drawing.dag, self.columns)

    def matched(self) -> Matched:
        """The graph over the columns; worked out once for each set of choices.

        Raises:
            StructureError: while a node is not decided, or two are the same column.
        """
        # Copies: the entries are changed in place, and would always equal themselves.
        asked = (tuple(self.choice.items()), frozenset(self.kept), frozenset(self.join))
        if self.known is None or self.known[0] != asked:
            # A tick stays when the node is given a column after all; joining is for nodes that are
            # dropped.
            join = [node for node in self.join if self.choice.get(node, "") is None]
            found = matching.match(
                self.drawing, self.columns, self.choice, connect=join, unmeasured=self.kept
            )
            self.known = (asked, found)
        return self.known[1]


def section() -> None:
    """Upload or paste, fit, and use."""
    source = _source()
    st.session_state[_PENDING] = source is not None
    if source is None:
        st.session_state.pop(_KEY, None)
        return
    with mistakes():
        _fit(_brought(source))


def pending() -> str:
    """A sentence when a graph was brought and is not in use; empty otherwise."""
    if not st.session_state.get(_PENDING):
        return ""
    return (
        "The graph that you uploaded or pasted is **not in use yet**: see *Upload or paste a "
        "graph* above, and press *Use this graph*."
    )


def _source() -> bytes | None:
    left, right = st.columns(2, gap="medium")
    file = left.file_uploader(
        "A file: DAGitty, DOT, GML, GraphML, BIF, JSON or CSV",
        type=_TYPES,
        key="upload_graph",
        max_upload_size=formats.MAX_BYTES // 1_000_000,
        help="The format is recognised by what the file holds. Only the graph is read: tables of "
        "probabilities in a BIF file are passed over.",
    )
    schema = project().data.schema
    names = () if schema is None else schema.names
    # Another tab or page drops the text of the box, but not what was pasted for these columns.
    kept, known = st.session_state.get(_TEXT, ("", names))
    text = right.text_area(
        "Or paste its text",
        value=kept if known == names else "",
        key="paste_graph",
        height=110,
        placeholder=_EXAMPLE,
        help="For example what DAGitty shows as model code, or a call of dagitty() from R.",
    )
    st.session_state[_TEXT] = (text, names)
    # Leaving the box sends its text, so the button has nothing to do but to be there.
    right.button("Read this text", key="read_graph", icon=":material/input:")
    if file is not None:
        if text.strip():
            st.caption("The file is read; remove it to read the text instead.")
        return file.getvalue()
    # A browser may send half of a surrogate pair, for which plain UTF-8 raises.
    return text.encode("utf-8", "surrogatepass") if text.strip() else None


def _brought(source: bytes) -> ImportedGraph:
    """The graph on its way in; read once, so that choices survive a rerun."""
    schema = project().data.schema
    assert schema is not None
    held = st.session_state.get(_KEY)
    if isinstance(held, ImportedGraph) and (held.source, held.columns) == (source, schema.names):
        return held
    st.session_state.pop(_KEY, None)
    _forget_rows()
    drawing = formats.parse(source)
    found = ImportedGraph(
        source=source,
        drawing=drawing,
        columns=schema.names,
        hints=matching.suggest(drawing.dag, schema.names),
    )
    # Names that differ in case or marks alone are not asked about, but can be changed like the
    # others.
    found.choice.update(matching.unambiguous(drawing.dag, schema.names))
    found.kept |= {node for node in found.odd if node in drawing.dag.unmeasured}
    st.session_state[_KEY] = found
    return found


def _fit(brought: ImportedGraph) -> None:
    dag, odd = brought.drawing.dag, brought.odd
    own = len(dag.nodes) - len(odd)
    st.markdown(
        f"**{count_text(len(dag.nodes), 'node')} and {count_text(len(dag.edges), 'edge')} were "
        f"read.** "
        f"{own:,} {'is a column' if own == 1 else 'are columns'} of this table"
        + (f", {len(odd):,} {'is' if len(odd) == 1 else 'are'} not." if odd else ".")
    )
    if odd:
        _odd_nodes(brought)
    try:
        matched = brought.matched()
    except StructureError as error:
        st.info(plain(str(error)), icon=":material/rule:")
        # Shown all the same, so that it is clear what the decisions are for.
        st.button("Use this graph", key="use_graph", disabled=True)
        return
    _changes(matched)
    _outcome(brought, matched)
    if matched.drawing.dag.edges == project().structure.graph.edges:  # names say what is unmeasured
        st.session_state[_PENDING] = False
        st.success("This graph is the one in use.", icon=":material/check:")
        return
    st.button(
        "Use this graph",
        type="primary",
        key="use_graph",
        icon=":material/check:",
        on_click=_use,
        args=(brought, matched),
    )
    if project().structure.graph.edges:
        st.caption(_instead(learned=matched.drawing.dag.learned))


def _instead(*, learned: bool) -> str:
    """What becomes of the graph drawn now."""
    if project().structure.graph.provenance != "declared":
        return "It takes the place of the learned graph; Undo does not bring that back."
    if learned:
        return (
            "It was learned from rows: it takes the place of the graph drawn now and ends the "
            "undo history. The graph drawn now is kept; a button below the drawing brings it back."
        )
    return "It takes the place of the graph drawn now; Undo brings that back."


def _odd_nodes(brought: ImportedGraph) -> None:
    """A row a node: which column it is, or leave it out."""
    odd = brought.odd
    marked = [node for node in odd if node in brought.drawing.dag.unmeasured]
    st.markdown(
        "Say which column each of these is. What nobody measured may stay in the graph: it is "
        "never in S, and counts for what S protects against. Or drop it."
    )
    if marked:
        st.caption(f"Marked in the file as unmeasured, and so kept: {plain(', '.join(marked))}.")
    pages = -(-len(odd) // _ROWS)
    if pages > 1:
        brought.page = (
            int(
                st.number_input(
                    f"Nodes, {_ROWS} at a time (page 1 to {pages})",
                    1,
                    pages,
                    min(brought.page + 1, pages),
                    key=f"odd_{brought.mark}/page",
                )
            )
            - 1
        )
    first = brought.page * _ROWS
    for node in odd[first : first + _ROWS]:
        _odd_node(brought, node)
    # Below the boxes, so that it counts what they say now.
    open_nodes = [node for node in odd if not brought.decided(node)]
    if open_nodes:
        drop, keep, _ = st.columns([1, 1.4, 1])
        number = count_text(len(open_nodes), "node")
        drop.button(
            f"Drop the {number} not decided yet",
            key="drop_rest",
            on_click=_decide_rest,
            args=(brought, _DROP),
        )
        keep.button(
            f"Keep the {number} as not in the table",
            key="keep_rest",
            on_click=_decide_rest,
            args=(brought, _KEEP),
        )


def _odd_node(brought: ImportedGraph, node: str) -> None:
    left, middle, right = st.columns([1, 1.2, 1.4], vertical_alignment="center")
    left.markdown(f"**{plain(node)}**")
    options, key = brought.options(node), brought.box(node)
    hints = brought.hints.get(node, ())
    fixed = len(_FIXED)
    middle.selectbox(
        f"Column for {node}",
        range(len(options)),
        key=key,
        label_visibility="collapsed",
        format_func=lambda i: (
            f"{options[i]} (similar)" if fixed <= i < fixed + len(hints) else options[i]
        ),
        index=brought.place(node),
        placeholder=f"Perhaps {hints[0]}" if hints else "Choose",
        on_change=_choose,
        args=(brought, node),
    )
    _choose(brought, node)
    dag = brought.drawing.dag
    if brought.choice.get(node, "") is None and dag.parents(node) and dag.children(node):
        joined = right.checkbox(
            "Join its causes to its effects", value=node in brought.join, key=f"join_{key}"
        )
        (brought.join.add if joined else brought.join.discard)(node)


def _choose(brought: ImportedGraph, node: str) -> None:
    """Take what the box of a node says; a box that is not on screen says nothing."""
    key = brought.box(node)
    if key not in st.session_state:
        return
    brought.put(node, st.session_state[key])


def _decide_rest(brought: ImportedGraph, what: str) -> None:
    """Drop or keep what is not decided when the button is pressed, not when it was drawn."""
    for node in brought.odd:
        _choose(brought, node)
    for node in brought.odd:
        if not brought.decided(node):
            brought.put(node, _FIXED.index(what))
            # The box would show its old state, and count as a choice in the next run.
            if brought.box(node) in st.session_state:
                st.session_state[brought.box(node)] = _FIXED.index(what)


def _forget_rows() -> None:
    """Entries for an earlier graph go with it."""
    for key in [key for key in st.session_state if str(key).startswith(("odd_", "join_odd_"))]:
        del st.session_state[key]


def _changes(matched: Matched) -> None:
    """What taking the graph does to it, before it is taken."""
    if matched.renamed:
        pairs = [f"{plain(node)} → {plain(name)}" for node, name in matched.renamed.items()]
        more = len(pairs) - _SAID
        st.caption(
            "Renamed: " + ", ".join(pairs[:_SAID]) + (f" and {more} more" if more > 0 else "")
        )
    said = matched.consequences
    harmless = [
        text for text in said if "nothing else changes" in text or "taken as measured" in text
    ]
    for text in [text for text in said if text not in harmless][:_SAID]:
        st.warning(plain(text), icon=":material/link_off:")
    serious = len(said) - len(harmless)
    if serious > _SAID:
        st.warning(f"{serious - _SAID:,} more dropped nodes change the graph likewise.")
    for text in harmless[:3]:
        st.caption(plain(text))
    if len(harmless) > 3:
        st.caption(f"{len(harmless) - 3:,} more nodes are dropped or taken without consequence.")


def _outcome(brought: ImportedGraph, matched: Matched) -> None:
    named = matched.drawing.outcome
    if len(named) == 1 and named[0] != project().structure.target:
        brought.outcome = st.checkbox(
            f"The file names an outcome: predict {plain(named[0])}",
            value=brought.outcome,
            key=f"use_outcome_{brought.mark}",
        )


def _use(brought: ImportedGraph, matched: Matched) -> None:
    """A callback, so that the target's own box is drawn with it."""
    state, drawing = project(), matched.drawing
    state.structure.graph.load(drawing.dag, drawing.positions)
    if len(drawing.outcome) == 1 and brought.outcome:
        state.structure.target = drawing.outcome[0]
    hidden = drawing.dag.unmeasured
    st.session_state["graph_taken"] = (
        f"The graph is in use: {count_text(len(drawing.dag.edges), 'edge')}"
        + (f", {count_text(len(hidden), 'node')} not in the table" if hidden else "")
        + (f", {count_text(len(matched.dropped), 'node')} dropped." if matched.dropped else ".")
    )
