"""Reading and writing graphs. One file a format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from prism_core.errors import StructureError
from prism_core.structure.formats import edge_list, node_link

if TYPE_CHECKING:
    from prism_core.structure.dag import Dag

FORMATS = {"node-link": node_link, "edge-list": edge_list}


def read(source: str | bytes | Path, format: str | None = None) -> Dag:
    """The graph in `source`, which is text, bytes or a path.

    Args:
        source: the graph, or where it stands.
        format: one of FORMATS; recognised from the text when None.

    Raises:
        StructureError: when the format is unknown or the graph is not usable.
    """
    if isinstance(source, Path):
        try:
            source = source.read_bytes()
        except OSError:
            raise StructureError(
                f"The graph file {source.name!r} cannot be read.", field="dag"
            ) from None
    if isinstance(source, bytes):
        try:
            source = source.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise StructureError(
                "The graph is not UTF-8 text. Upload node-link JSON or a from,to CSV.", field="dag"
            ) from None
    name = format or ("node-link" if source.lstrip().startswith(("{", "[")) else "edge-list")
    return _format(name).read(source)


def write(dag: Dag, format: str) -> str:
    """The graph as text in one of FORMATS."""
    return _format(format).write(dag)


def _format(name: str):  # noqa: ANN202  (a module)
    if name not in FORMATS:
        raise StructureError(f"format must be one of {', '.join(FORMATS)}.", field="format")
    return FORMATS[name]
