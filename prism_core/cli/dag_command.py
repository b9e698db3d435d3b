"""The commands `prism dag show | ask | convert`. They read graphs only, never a row."""

from __future__ import annotations

import os
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.cli.common import emit
from prism_core.errors import StructureError
from prism_core.structure import formats
from prism_core.text.numbers import count_text

if TYPE_CHECKING:
    import argparse

    from prism_core.structure.dag import Dag, Drawing


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add `dag` and its commands to the program's."""
    dag = commands.add_parser("dag", help="read, question and convert causal graphs; reads no row")
    ways = dag.add_subparsers(required=True, metavar="COMMAND")
    show = ways.add_parser("show", help="what a graph says, and what it means for a target")
    show.add_argument("file", type=Path, metavar="FILE")
    show.add_argument("--target", metavar="Y", help="parents, blanket, S and independences of Y")
    show.add_argument(
        "--limit", type=int, default=20, metavar="N", help="independences listed (default 20)"
    )
    show.set_defaults(run=_show)
    ask = ways.add_parser("ask", help="are two columns independent given others?")
    ask.add_argument("file", type=Path, metavar="FILE")
    ask.add_argument("left", metavar="A")
    ask.add_argument("right", metavar="B")
    ask.add_argument("--given", nargs="*", default=[], metavar="C", help="what is known")
    ask.set_defaults(run=_ask)
    convert = ways.add_parser("convert", help="write a graph in another format")
    convert.add_argument("file", type=Path, metavar="IN")
    convert.add_argument("out", type=Path, metavar="OUT", help="a new file, or - to print")
    convert.add_argument(
        "--to",
        choices=formats.FORMATS,
        metavar="FORMAT",
        help=f"one of {', '.join(formats.FORMATS)} (default: by the name of OUT)",
    )
    convert.set_defaults(run=_convert)
    for command in (show, ask, convert):
        command.add_argument(
            "--from",
            dest="format",
            choices=formats.FORMATS,
            metavar="FORMAT",
            help="the format of the file (default: recognised)",
        )
        command.add_argument("--json", action="store_true", help="print JSON")


def _drawing(arguments: argparse.Namespace) -> Drawing:
    return formats.read_drawing(arguments.file, arguments.format)


def _show(arguments: argparse.Namespace) -> None:
    if arguments.limit < 0:
        raise StructureError("--limit must be 0 or more.", field="limit")
    drawing = _drawing(arguments)
    dag = drawing.dag
    document: dict[str, Any] = {
        "nodes": list(dag.nodes),
        "edges": [list(edge) for edge in dag.edges],
        "outcome": list(drawing.outcome),
        "exposure": list(drawing.exposure),
        "unmeasured": list(dag.unmeasured),
    }
    nodes, edges = count_text(len(dag.nodes), "node"), count_text(len(dag.edges), "edge")
    lines = [f"{nodes}, {edges}, no cycle"]
    lines += [
        f"{role}: {', '.join(document[role])}"
        for role in ("outcome", "exposure", "unmeasured")
        if document[role]
    ]
    if arguments.target is None:
        lines += [f"{cause} -> {effect}" for cause, effect in dag.edges]
        emit(arguments, document, "\n".join(lines))
        return
    about, said = _about(dag, arguments.target, arguments.limit)
    emit(arguments, document | about, "\n".join([*lines, *said]))


def _about(dag: Dag, target: str, limit: int) -> tuple[dict[str, Any], list[str]]:
    """What the graph means for the target: as data and as lines."""
    from prism_core.explain.features_statement import features_statement
    from prism_core.planning.regimes import given_by
    from prism_core.planning.wishes.task import Task
    from prism_core.structure.independence import (
        blanket_sufficiency,
        changes_not_covered,
        missing_edges,
    )

    groups = {
        "parents": dag.parents(target),
        "children": dag.children(target),
        "co_parents": dag.co_parents(target),
        "markov_blanket": dag.markov_blanket(target),
        "ancestors": dag.ancestors(target),
    }
    # Without unmeasured nodes the causal S is the parents, which stand above.
    if dag.unmeasured:
        groups["causal_s"] = given_by(dag, "causal", target)
        groups["changes_not_covered"] = changes_not_covered(dag, target, groups["causal_s"])
    said = {
        regime: features_statement(Task(target=target, regime=regime), dag)
        for regime in ("causal", "graphical")
    }
    # Lazily: each one needs a search of the graph, and a wide graph implies many.
    found = list(islice(missing_edges(dag, of=target), limit))
    document = {
        "target": target,
        **{key: list(names) for key, names in groups.items()},
        "statements": said | {"sufficiency": blanket_sufficiency(dag, target)},
        "independences": [
            {"left": list(one.left), "right": list(one.right), "given": list(one.given)}
            for one in found
        ],
    }
    lines = ["", f"target {target}"]
    lines += [
        f"{key.replace('_', ' '):15} {', '.join(names) or '-'}" for key, names in groups.items()
    ]
    lines += ["", *(f"{regime}: {text}" for regime, text in said.items())]
    lines += [blanket_sufficiency(dag, target), ""]
    lines += [f"implied independences of {target} (at most {limit}):", *(f"  {o}" for o in found)]
    return document, lines


def _ask(arguments: argparse.Namespace) -> None:
    from prism_core.structure.independence import d_separated

    dag = _drawing(arguments).dag
    left, right, given = arguments.left, arguments.right, arguments.given
    apart = d_separated(dag, left, right, given)
    known = f" given {', '.join(given)}" if given else ""
    text = (
        f"{left} and {right} are independent{known}: the graph implies it."
        if apart
        else f"{left} and {right} may depend on each other{known}: an open path connects them."
    )
    # The answer holds in the graph all the same; only the rows cannot show it.
    hidden = [name for name in dag.unmeasured if name in {left, right, *given}]
    if hidden:
        text += (
            f" {', '.join(hidden)} {'is' if len(hidden) == 1 else 'are'} not in the table, so this "
            "cannot be looked up in the rows."
        )
    document = {"left": left, "right": right, "given": given, "independent": apart}
    emit(arguments, document | ({"unmeasured": hidden} if hidden else {}), text)


def _convert(arguments: argparse.Namespace) -> None:
    drawing, out = _drawing(arguments), arguments.out
    suffix = out.suffix.lower()
    # `-` has no suffix, so what is printed needs --to.
    form = arguments.to or formats.SUFFIXES.get(suffix)
    if form is None:
        raise StructureError(
            f"The name {out.name!r} does not say which format to write. Add --to FORMAT, one of "
            f"{', '.join(formats.FORMATS)}.",
            field="to",
        )
    text = formats.write(drawing, form)
    if str(out) == "-":
        sys.stdout.write(text)
        return
    # Not `exists`: a link that leads nowhere is a name that is taken, too.
    if os.path.lexists(out):
        raise StructureError(f"{str(out)!r} exists. Name a new file.", field="out")
    try:
        files.give(out, text.encode("utf-8"))
    except OSError:
        raise StructureError(f"{str(out)!r} cannot be written.", field="out") from None
    document = {
        "out": str(out),
        "format": form,
        "nodes": len(drawing.dag.nodes),
        "edges": len(drawing.dag.edges),
    }
    emit(
        arguments,
        document,
        f"wrote {out} ({form}: {count_text(document['nodes'], 'node')}, "
        f"{count_text(document['edges'], 'edge')})",
    )
