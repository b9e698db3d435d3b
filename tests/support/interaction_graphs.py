"""The interaction graph of cliques, to check trees against."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import networkx as nx

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def interaction_graph(names: Iterable[str], cliques: Iterable[Sequence[str]]) -> nx.Graph:
    """Columns joined when they stand in one clique."""
    graph = nx.Graph()
    graph.add_nodes_from(names)
    for clique in cliques:
        graph.add_edges_from(itertools.combinations(clique, 2))
    return graph
