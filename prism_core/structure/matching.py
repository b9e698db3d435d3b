"""A graph whose nodes are not quite the columns: suggest, map, keep, drop, say what is lost."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from prism_core.errors import StructureError
from prism_core.structure.dag import Dag, Drawing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


MAX_COMPARED = 40_000
"""Pairs of node and column compared for similar spelling; beyond, only equal keys count."""


def key(name: str) -> str:
    """A name without case, spaces, punctuation, accents and forms of Unicode."""
    # NFKD parts accents from their letters; by themselves they are not alphanumeric and fall
    # away.
    flat = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    # Of punctuation alone nothing would be left, and all such names would be equal.
    return "".join(sign for sign in flat if sign.isalnum()) or flat


def strangers(dag: Dag, columns: Iterable[str]) -> tuple[str, ...]:
    """The nodes that are not columns, in node order."""
    known = set(columns)
    return tuple(node for node in dag.nodes if node not in known)


def suggest(dag: Dag, columns: Iterable[str], *, most: int = 3) -> dict[str, tuple[str, ...]]:
    """Columns that each stranger may mean, best first; only columns that no node has yet.

    Equal but for case, spaces, punctuation and accents first; then initials (LOS for
    length_of_stay), shared words in any form (Readmission 30d for readmitted_30d), and similar
    spelling.
    """
    odd, taken = strangers(dag, columns), set(dag.nodes)
    free = [column for column in columns if column not in taken]
    by_key: dict[str, list[str]] = {}
    for column in free:
        by_key.setdefault(key(column), []).append(column)
    compare = len(odd) * len(free) <= MAX_COMPARED
    words_of = {column: words_of_name(column) for column in free} if compare else {}
    index: dict[str, set[str]] = {}
    for column, parts in words_of.items():
        for sign in _signs(parts):
            index.setdefault(sign, set()).add(column)
    # A word that many columns have is no evidence, and would make each pair be compared.
    index = {sign: held for sign, held in index.items() if len(held) <= _COMMON}
    found = {}
    for node in odd:
        same = by_key.get(key(node), [])
        close = difflib.get_close_matches(key(node), by_key, n=most, cutoff=0.75) if compare else []
        spelt = {column for found_key in close for column in by_key[found_key]}
        mine = words_of_name(node)
        near = spelt.union(*(index.get(sign, ()) for sign in _signs(mine))) - {*same}
        ranks = {
            column: _likeness(mine, words_of[column], spelt=column in spelt)
            for column in free
            if column in near
        }
        similar = [column for column in ranks if ranks[column] >= _ALIKE]
        # Stable, also in reverse: columns that are equally alike keep the order of the table.
        similar.sort(key=ranks.__getitem__, reverse=True)
        found[node] = tuple([*same, *similar][:most])
    return found


_ALIKE = 0.5
_BREAK = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_COMMON = 12
"""Columns that may share a word for it to say anything."""
_STEM = 4
"""Letters that two forms of a word share at least."""


def words_of_name(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case: parted by punctuation, spaces and inner capitals.

    Example:
        >>> words_of_name("NumberOfDrugs"), words_of_name("readmitted_30d")
        (('number', 'of', 'drugs'), ('readmitted', '30d'))
    """
    parts = (key(part) for part in _BREAK.split(unicodedata.normalize("NFKC", name)))
    return tuple(part for part in parts if part)


def _signs(parts: tuple[str, ...]) -> set[str]:
    """What two names have in common at least when they are alike but for spelling."""
    initials = "".join(part[0] for part in parts)
    return {initials if len(parts) > 1 else parts[0] if parts else "", *(p[:_STEM] for p in parts)}


def _likeness(one: tuple[str, ...], other: tuple[str, ...], *, spelt: bool) -> float:
    """How likely two names mean the same, 0 to 1; from 0.5 on it is worth a suggestion."""
    if _initials(one, other) or _initials(other, one):
        return 0.9
    # The cutoff of similar spelling in `suggest`.
    least = 0.75 if spelt else 0.0
    longer, shorter = sorted((_content(one), _content(other)), key=len, reverse=True)
    left = list(longer)
    whole = half = 0
    for word in shorter:
        near = next((w for w in left if _same_word(word, w)), None)
        if near is not None:
            # A word answers for one other alone.
            left.remove(near)
            whole += 1
            continue
        near = next((w for w in left if _short_for(word, w) or _short_for(w, word)), None)
        if near is not None:
            left.remove(near)
            half += 1
    # A single letter, such as the n of n_drugs, is no evidence by itself.
    shared = (whole + half) / len(longer) if whole else 0.0
    return max(least, shared)


def _content(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part for part in parts if part not in _FILLERS) or parts


_FILLERS = frozenset({"of", "the", "in", "at", "a", "an", "for", "to", "and"})


def _initials(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    letters = "".join(part[0] for part in long)
    return len(short) == 1 and len(long) > 1 and short[0] == letters


def _same_word(one: str, other: str) -> bool:
    """Equal, or two forms of one word: the first letters are most of both."""
    if one == other:
        return True
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return (
        shared >= _STEM
        and shared >= 0.6 * min(len(one), len(other))
        and shared >= 0.5 * max(len(one), len(other))
    )


def _short_for(short: str, word: str) -> bool:
    """An abbreviation: the first letter alone, or a beginning of three letters or more."""
    return word.startswith(short) and short.isalpha() and len(short) in {1, *range(3, len(word))}


def unambiguous(dag: Dag, columns: Iterable[str]) -> dict[str, str]:
    """The strangers that mean one column beyond doubt: keys are equal, and nobody else's is.

    A node that the file marks as unmeasured is none of them: the mark is a doubt.
    """
    names = tuple(columns)
    taken = set(dag.nodes)
    free = [column for column in names if column not in taken]
    hidden = set(dag.unmeasured)
    odd = [node for node in strangers(dag, names) if node not in hidden]
    columns_of, nodes_of = Counter(map(key, free)), Counter(map(key, odd))
    by_key = {key(column): column for column in free}
    return {
        node: by_key[key(node)]
        for node in odd
        if columns_of[key(node)] == 1 and nodes_of[key(node)] == 1
    }


@dataclass(frozen=True, kw_only=True)
class Matched:
    """A graph over the columns, and how it came about.

    Attributes:
        drawing: the graph over all columns and the unmeasured nodes, with what is left of
            positions and roles.
        renamed: the column of each node whose name changed.
        dropped: the nodes that were taken out, in the order in which they went.
        consequences: what that changes, a sentence or more a dropped node, and one for a node
            that is marked as unmeasured and is a column.
    """

    drawing: Drawing
    renamed: Mapping[str, str]
    dropped: tuple[str, ...]
    consequences: tuple[str, ...]


def match(
    graph: Dag | Drawing,
    columns: Sequence[str],
    mapping: Mapping[str, str | None] | None = None,
    *,
    connect: Iterable[str] = (),
    unmeasured: Iterable[str] = (),
) -> Matched:
    """Rename nodes to columns, keep nodes as unmeasured, drop nodes.

    A node that is a column needs no entry, and a node that the graph marks as unmeasured stays so
    without one. A column is measured, whatever its mark says.

    Args:
        graph: the graph as it came.
        columns: the columns of the table.
        mapping: the column of a node, or None to drop the node.
        connect: dropped nodes whose parents are to be joined to their children.
        unmeasured: nodes that are no column and stay as unmeasured, besides those marked so.

    Raises:
        StructureError: for a node that is neither a column nor mapped nor unmeasured, an entry
            for what is no node or no column, two nodes for one column, `connect` of a node that
            stays, or an unmeasured node that is a column; it says which columns may be meant.
    """
    drawing = graph if isinstance(graph, Drawing) else Drawing(dag=graph)
    dag, wanted, joins = drawing.dag, dict(mapping or {}), set(connect)
    hidden = set(unmeasured)
    _check_unmeasured(dag, columns, wanted, hidden)
    # After the check: a mark of the file gives way to a column and to an entry of the mapping, a
    # wish of the caller does not.
    hidden |= {node for node in dag.unmeasured if node not in {*wanted, *columns}}
    _check(dag, columns, wanted, joins, hidden)
    dropped: list[str] = []
    consequences = [
        f"{node} is marked as unmeasured, and {wanted.get(node) or node} is a column of the table: "
        "it is taken as measured."
        for node in dag.unmeasured
        if node not in hidden and wanted.get(node, node) is not None
    ]
    left = dag
    for node in _causes_first(dag):
        if node in wanted and wanted[node] is None:
            # Of what is left and not of `dag`: nodes dropped before have changed it, and may have
            # been joined.
            consequences += consequences_of_dropping(left, node, connect=node in joins)
            left = _without(left, node, connect=node in joins)
            dropped.append(node)
    name = {node: wanted.get(node) or node for node in left.nodes}
    edges = tuple((name[cause], name[effect]) for cause, effect in left.edges)
    kept_hidden = tuple(node for node in left.nodes if node in hidden)
    over = replace(dag, nodes=tuple(name.values()), edges=edges, unmeasured=kept_hidden).over(
        columns
    )
    kept = {node: where for node, where in drawing.positions.items() if node in name}
    marks = {
        role: tuple(name[node] for node in getattr(drawing, role) if node in name)
        for role in ("outcome", "exposure")
    }
    return Matched(
        drawing=Drawing(
            dag=over, positions={name[node]: where for node, where in kept.items()}, **marks
        ),
        renamed={node: column for node, column in name.items() if node != column},
        dropped=tuple(dropped),
        consequences=tuple(consequences),
    )


def _check_unmeasured(
    dag: Dag, columns: Sequence[str], wanted: Mapping[str, str | None], hidden: set[str]
) -> None:
    # Sorted, as a set has no order: the same mistake gives the same message.
    for node in sorted(hidden):
        if node not in dag.graph:
            raise StructureError(
                f"unmeasured names {node!r}, which is not a node of the graph.", field="unmeasured"
            )
        if node in wanted or node in columns:
            raise StructureError(
                f"{node!r} is said to be unmeasured and is mapped to a column, dropped, or itself "
                "a column. Choose one.",
                field="unmeasured",
            )


def _check(
    dag: Dag,
    columns: Sequence[str],
    wanted: Mapping[str, str | None],
    joins: set[str],
    hidden: set[str],
) -> None:
    nodes, known = set(dag.nodes), set(columns)
    for node, column in wanted.items():
        if node not in nodes:
            raise StructureError(
                f"The mapping names {node!r}, which is not a node of the graph.", field="mapping"
            )
        if column is not None and column not in known:
            raise StructureError(
                f"The mapping gives {node!r} the name {column!r}, which is not a column of the "
                "table.",
                field="mapping",
            )
    lost = [node for node in strangers(dag, columns) if node not in {*wanted, *hidden}]
    if lost:
        hints = suggest(dag, columns).get(lost[0], ())
        meant = f" Did you mean {' or '.join(map(repr, hints))}?" if hints else ""
        more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        raise StructureError(
            f"{lost[0]!r}{more} is not a column of the table.{meant} Map it to a column, keep it "
            "as unmeasured, or drop it.",
            field="mapping",
        )
    stays = joins - {node for node, column in wanted.items() if column is None}
    if stays:
        raise StructureError(
            # The least, as a set has no order: the same mistake gives the same message.
            f"connect names {min(stays)!r}, which is not dropped. Only a dropped node's parents "
            "are joined to its children.",
            field="connect",
        )
    owner: dict[str, str] = {}
    for node in dag.nodes:
        column = wanted.get(node, node)
        if column is not None and owner.setdefault(column, node) != node:
            raise StructureError(
                f"{owner[column]!r} and {node!r} are both mapped to the column {column!r}. A "
                "column is one node; map or drop one of them.",
                field="mapping",
            )


def _causes_first(dag: Dag) -> list[str]:
    import networkx as nx

    # In the order of the nodes where the graph leaves it open: the same graph gives the same
    # sentences.
    return list(nx.lexicographical_topological_sort(dag.graph, key=dag.nodes.index))


def _without(dag: Dag, node: str, *, connect: bool) -> Dag:
    """The graph without `node`; with `connect`, its parents point at its children."""
    # A dict, as a joined edge may be there already; it keeps their order, too.
    edges = dict.fromkeys(edge for edge in dag.edges if node not in edge)
    if connect:  # no cycle can come of it: parents stand before children in every order
        edges |= dict.fromkeys((p, c) for p in dag.parents(node) for c in dag.children(node))
    return replace(
        dag,
        nodes=tuple(n for n in dag.nodes if n != node),
        edges=tuple(edges),
        unmeasured=tuple(n for n in dag.unmeasured if n != node),
    )


def consequences_of_dropping(dag: Dag, node: str, *, connect: bool = False) -> tuple[str, ...]:
    """What is no longer true of the graph when `node` is left out, in sentences.

    Leaving out an effect without effects of its own, or a cause of a single node without causes of
    its own, is exact: the other nodes keep their law and the graph still says so. A node between
    causes and one effect is exact when they are joined. A common cause of two nodes is not
    expressible by any graph over the others alone (Pearl 2009, section 2.6).

    Raises:
        StructureError: when `node` is not in the graph.
    """
    parents, children = dag.parents(node), dag.children(node)
    if not children:
        return (f"{node} is dropped: it causes no other node, so nothing else changes.",)
    found = []
    if parents and connect:
        found.append(
            f"{node} is dropped: its causes {_set(parents)} now point at its effects "
            f"{_set(children)} directly, in place of the way through {node}."
        )
    elif parents:
        found.append(
            f"{node} is dropped: the way from {_set(parents)} through {node} to {_set(children)} "
            "is lost, and the graph now denies an effect that it stated. Join them (connect) to "
            "keep it."
        )
    elif len(children) == 1:
        return (
            f"{node} is dropped: it has no causes and is a cause of {children[0]} only, so it "
            "becomes part of the chance in it, and nothing else changes.",
        )
    if len(children) > 1:
        pairs = (
            f"{_set(children[:-1])} and {children[-1]}"
            if len(children) > 2
            else (f"{children[0]} and {children[1]}")
        )
        found.append(
            f"{node} is dropped, a common cause of {pairs}: no graph over the other columns can "
            "express what they share. They will look unrelated given their parents although they "
            "are not. A release in the causal or the graphical regime rests on this; if it matters "
            "for the target, keep the node as unmeasured, draw an edge between the columns, or use "
            "the predictive regime."
        )
    return tuple(found)


def _set(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"
