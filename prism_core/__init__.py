"""PRISM: differentially private synthetic tables made for one prediction task.

The public names. Each is imported from its module when it is first used, so that `import
prism_core` takes no time and brings nothing heavy along.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prism_core.bundle.verify import verify as verify_bundle
    from prism_core.bundle.writer import write as write_bundle
    from prism_core.data.column import Column
    from prism_core.data.encoding import EncodedTable, decode, encode
    from prism_core.data.schema import Schema
    from prism_core.data.schema_io import load as load_schema
    from prism_core.data.schema_io import save as save_schema
    from prism_core.data.tables import RawTable, from_frame, read_table
    from prism_core.errors import PrismError
    from prism_core.learning.graph import LearnedDag, graph_of_public, learn_graph
    from prism_core.learning.graph_plan import GraphPlan, design_graph
    from prism_core.learning.learn import LearnedDomain, learn_domain
    from prism_core.learning.outline_io import load_outline
    from prism_core.learning.plan import DomainPlan, design_domain
    from prism_core.learning.requests import CategoryRequest, NumericRequest, Outline
    from prism_core.pipeline import Release, design, evaluate, release
    from prism_core.planning.locks import Lock
    from prism_core.planning.plan import Plan
    from prism_core.planning.task import Budget, Shares, Synthesis, Task
    from prism_core.privacy.ledger import Ledger
    from prism_core.privacy.noise import SecureNoise, SeededNoise
    from prism_core.structure.dag import Dag
    from prism_core.structure.drawing import Drawing
    from prism_core.structure.formats import read as read_dag
    from prism_core.structure.formats import read_drawing
    from prism_core.structure.formats import write as write_dag
    from prism_core.synthesizer import (
        PlanWarning,
        PrismSynthesizer,
        SameRowsWarning,
        UncheckedWarning,
    )

__all__ = [
    "Budget",
    "CategoryRequest",
    "Column",
    "Dag",
    "DomainPlan",
    "Drawing",
    "EncodedTable",
    "GraphPlan",
    "LearnedDag",
    "LearnedDomain",
    "Ledger",
    "Lock",
    "NumericRequest",
    "Outline",
    "Plan",
    "PlanWarning",
    "PrismError",
    "PrismSynthesizer",
    "RawTable",
    "Release",
    "SameRowsWarning",
    "Schema",
    "SecureNoise",
    "SeededNoise",
    "Shares",
    "Synthesis",
    "Task",
    "UncheckedWarning",
    "decode",
    "design",
    "design_domain",
    "design_graph",
    "encode",
    "evaluate",
    "from_frame",
    "graph_of_public",
    "learn_domain",
    "learn_graph",
    "load_outline",
    "load_schema",
    "read_dag",
    "read_drawing",
    "read_table",
    "release",
    "save_schema",
    "verify_bundle",
    "write_bundle",
    "write_dag",
]

_HOMES = {
    "Budget": ("prism_core.planning.task", "Budget"),
    "CategoryRequest": ("prism_core.learning.requests", "CategoryRequest"),
    "Column": ("prism_core.data.column", "Column"),
    "Dag": ("prism_core.structure.dag", "Dag"),
    "DomainPlan": ("prism_core.learning.plan", "DomainPlan"),
    "Drawing": ("prism_core.structure.drawing", "Drawing"),
    "EncodedTable": ("prism_core.data.encoding", "EncodedTable"),
    "GraphPlan": ("prism_core.learning.graph_plan", "GraphPlan"),
    "LearnedDag": ("prism_core.learning.graph", "LearnedDag"),
    "LearnedDomain": ("prism_core.learning.learn", "LearnedDomain"),
    "Ledger": ("prism_core.privacy.ledger", "Ledger"),
    "Lock": ("prism_core.planning.locks", "Lock"),
    "NumericRequest": ("prism_core.learning.requests", "NumericRequest"),
    "Outline": ("prism_core.learning.requests", "Outline"),
    "Plan": ("prism_core.planning.plan", "Plan"),
    "PrismError": ("prism_core.errors", "PrismError"),
    "PrismSynthesizer": ("prism_core.synthesizer", "PrismSynthesizer"),
    "RawTable": ("prism_core.data.tables", "RawTable"),
    "Release": ("prism_core.pipeline", "Release"),
    "PlanWarning": ("prism_core.synthesizer", "PlanWarning"),
    "SameRowsWarning": ("prism_core.synthesizer", "SameRowsWarning"),
    "Schema": ("prism_core.data.schema", "Schema"),
    "SecureNoise": ("prism_core.privacy.noise", "SecureNoise"),
    "SeededNoise": ("prism_core.privacy.noise", "SeededNoise"),
    "Shares": ("prism_core.planning.task", "Shares"),
    "Synthesis": ("prism_core.planning.task", "Synthesis"),
    "Task": ("prism_core.planning.task", "Task"),
    "UncheckedWarning": ("prism_core.synthesizer", "UncheckedWarning"),
    "decode": ("prism_core.data.encoding", "decode"),
    "design": ("prism_core.pipeline", "design"),
    "design_domain": ("prism_core.learning.plan", "design_domain"),
    "design_graph": ("prism_core.learning.graph_plan", "design_graph"),
    "encode": ("prism_core.data.encoding", "encode"),
    "evaluate": ("prism_core.pipeline", "evaluate"),
    "from_frame": ("prism_core.data.tables", "from_frame"),
    "graph_of_public": ("prism_core.learning.graph", "graph_of_public"),
    "learn_domain": ("prism_core.learning.learn", "learn_domain"),
    "learn_graph": ("prism_core.learning.graph", "learn_graph"),
    "load_outline": ("prism_core.learning.outline_io", "load_outline"),
    "load_schema": ("prism_core.data.schema_io", "load"),
    "read_dag": ("prism_core.structure.formats", "read"),
    "read_drawing": ("prism_core.structure.formats", "read_drawing"),
    "read_table": ("prism_core.data.tables", "read_table"),
    "release": ("prism_core.pipeline", "release"),
    "save_schema": ("prism_core.data.schema_io", "save"),
    "verify_bundle": ("prism_core.bundle.verify", "verify"),
    "write_bundle": ("prism_core.bundle.writer", "write"),
    "write_dag": ("prism_core.structure.formats", "write"),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  (any public name)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, own = _HOMES[name]
    found = getattr(import_module(module), own)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
