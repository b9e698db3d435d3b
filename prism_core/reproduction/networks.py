"""Published Bayesian networks whose structure and tables are known, as benchmarks.

The files are those in pgmpy's package (extra `networks`), read by pgmpy; rows are drawn here, so a
seed gives the same rows whatever its version.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.errors import ConfigError
from prism_core.reproduction.benchmarks import Benchmark, Case
from prism_core.structure.dag import Dag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

ROWS, TEST_ROWS = 20_000, 10_000
_TABLE = 2  # stream of a seed, as in `benchmarks`


@dataclass(frozen=True, kw_only=True)
class NetworkTarget:
    """What is predicted in a network unless another target is asked for.

    Attributes:
        target: the node.
        why: what it means.
    """

    target: str
    why: str


NETWORKS: dict[str, NetworkTarget] = {
    "child": NetworkTarget(
        target="Disease",
        why="which of six congenital heart diseases a newborn has (macro one-vs-rest AUC)",
    ),
    "alarm": NetworkTarget(
        target="CO", why="low, normal or high cardiac output of a patient under anaesthesia"
    ),
    "insurance": NetworkTarget(
        target="Accident",
        why="how severe a car accident of an insured person was: no clinical "
        "network, but one whose target has causes and consequences",
    ),
    "hepar2": NetworkTarget(
        target="Cirrhosis", why="absent, compensated or decompensated cirrhosis of the liver"
    ),
}
"""The networks with their default targets; each has parents and children."""


@dataclass(frozen=True, kw_only=True)
class NodeDistribution:
    """The distribution of one node.

    Attributes:
        name: of the node.
        levels: its states.
        parents: in the order of the axes.
        values: P(node | parents), shape (levels, *levels of the parents).
    """

    name: str
    levels: tuple[str, ...]
    parents: tuple[str, ...]
    values: NDArray[np.float64] = field(repr=False)

    def __post_init__(self) -> None:
        shaped = self.values.ndim == 1 + len(self.parents) and len(self.values) == len(self.levels)
        if not shaped or not np.all(self.values >= 0.0):
            raise ConfigError(f"The table of {self.name} does not fit its node.", field="network")
        # Published tables are rounded; what is drawn from is scaled to 1.
        if not np.allclose(self.values.sum(axis=0), 1.0, atol=1e-3):
            raise ConfigError(f"The table of {self.name} does not sum to 1.", field="network")

    def draw(self, parents: Mapping[str, NDArray[np.int32]], u: NDArray[np.float64]) -> Any:  # noqa: ANN401
        """Codes by inversion of uniform numbers, shape (rows,)."""
        cumulative = np.cumsum(self.values / self.values.sum(axis=0), axis=0)
        chosen = cumulative[(slice(None), *(parents[name] for name in self.parents))]
        # The last bound is 1 by definition; leaving it out keeps float error from adding a level.
        bounds = chosen.reshape(len(self.levels), -1)[:-1]
        return (u >= bounds).sum(axis=0).astype(np.int32)


@dataclass(frozen=True, kw_only=True)
class Network:
    """Nodes with their tables, causes before effects."""

    tables: tuple[NodeDistribution, ...]

    @property
    def dag(self) -> Dag:
        """The true graph."""
        edges = tuple((cause, table.name) for table in self.tables for cause in table.parents)
        return Dag(nodes=tuple(table.name for table in self.tables), edges=edges)

    @property
    def schema(self) -> Schema:
        """The domain that the network declares."""
        columns = tuple(
            Column(name=table.name, kind="categorical", levels=table.levels)
            for table in self.tables
        )
        return Schema(columns=columns, one_row_per_person=True)

    def draw(self, rows: int, rng: np.random.Generator) -> NDArray[np.int32]:
        """Codes by ancestral sampling, shape (rows, nodes)."""
        drawn: dict[str, NDArray[np.int32]] = {}
        for table in self.tables:
            drawn[table.name] = table.draw(drawn, rng.random(rows))
        # In the order of the tables, which is that of the schema's columns.
        return np.column_stack(list(drawn.values()))


def read(text: str) -> Network:
    """The network in a BIF text that pgmpy ships; others' graphs go through `structure.formats`.

    Raises:
        ConfigError: when pgmpy is not installed.
    """
    try:
        from pgmpy.readwrite import BIFReader
    except ImportError:
        raise _missing() from None
    model: Any = BIFReader(string=text).get_model()
    tables: dict[str, NodeDistribution] = {}
    for cpd in model.get_cpds():
        # The node first, then its parents: the order of the axes of its values.
        name, *parents = (str(variable) for variable in cpd.variables)
        tables[name] = NodeDistribution(
            name=name,
            levels=tuple(map(str, cpd.state_names[name])),
            parents=tuple(parents),
            values=np.asarray(cpd.values, dtype=float),
        )
    graph = Dag(
        nodes=tuple(tables),
        edges=tuple((cause, t.name) for t in tables.values() for cause in t.parents),
    )
    return Network(tables=tuple(tables[name] for name in _causes_first(graph)))


def _causes_first(graph: Dag) -> tuple[str, ...]:
    import networkx as nx

    made: Any = nx.DiGraph()
    made.add_nodes_from(sorted(graph.nodes))
    made.add_edges_from(graph.edges)
    # In one order, whatever the file's: it decides which random numbers a node gets.
    return tuple(nx.lexicographical_topological_sort(made))


@cache
def load(name: str) -> Network:
    """A network by name.

    Raises:
        ConfigError: when there is none of that name, or pgmpy is not installed.
    """
    if name not in NETWORKS:
        raise ConfigError(f"network must be one of {', '.join(NETWORKS)}.", field="network")
    # Found and not imported: of the whole package one file is read here.
    spec = find_spec("pgmpy")
    if spec is None or spec.origin is None:
        raise _missing()
    file = Path(spec.origin).parent / "utils" / "example_models" / f"{name}.bif.gz"
    return read(gzip.decompress(file.read_bytes()).decode())


def network_benchmark(name: str, target: str | None = None) -> Benchmark:
    """A network with its true graph; new rows for every seed.

    Args:
        name: one of `NETWORKS`.
        target: the node to predict; the network's default when None.

    Raises:
        ConfigError: when network or target is unknown.
    """
    if name not in NETWORKS:
        raise ConfigError(f"network must be one of {', '.join(NETWORKS)}.", field="network")
    chosen = target or NETWORKS[name].target
    # The default target needs no look into the file, so benchmarks are listed without pgmpy.
    if target is not None and target not in load(name).dag.nodes:
        raise ConfigError(f"The network {name} has no node {target!r}.", field="target")
    default = chosen == NETWORKS[name].target
    return Benchmark(
        # With its default target a network has the name under which results are stored.
        name=f"bn:{name}" if default else f"bn:{name}:{chosen}",
        title=f"Bayesian network {name}, target {chosen}",
        target=chosen,
        settings=("ours",),
        methods=("causal-opt", "graphical-opt", "predictive-opt", "mst"),
        sizes=(None,),
        epsilons=(0.2, 1.0, 4.0),
        draw=partial(_drawn, name=name),
        k_ours=None,
    )


def _drawn(seed: int, *, name: str) -> Case:
    network = load(name)
    return case_of(network, np.random.default_rng([seed, _TABLE]), ROWS, TEST_ROWS)


def case_of(network: Network, rng: np.random.Generator, rows: int, test: int) -> Case:
    """Training and test rows of a network."""
    schema = network.schema
    train, other = (
        EncodedTable(schema=schema, codes=network.draw(count, rng), public=True)
        for count in (rows, test)
    )
    return Case(train=train, test=other, dag=network.dag)


def _missing() -> ConfigError:
    return ConfigError(
        "The networks need pgmpy: pip install 'prism-dashboard[networks]'.", field="network"
    )
