"""PRISM: differentially private synthetic tables made for one prediction task.

The public names. Each is imported from its module when it is first used, so that `import
prism_core` takes no time and brings nothing heavy along.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prism_core.bundle.reader import read_bundle
    from prism_core.bundle.verify.verification import verify as verify_bundle
    from prism_core.bundle.write.bundle_folder import write as write_bundle
    from prism_core.data.codebooks import Codebook, read_codebook, table_schema_text
    from prism_core.data.decoding import decode
    from prism_core.data.encoding import EncodedTable, encode
    from prism_core.data.schema.column import Column
    from prism_core.data.schema.schema import Schema
    from prism_core.data.schema.schema_file import load as load_schema
    from prism_core.data.schema.schema_file import save as save_schema
    from prism_core.data.tables.raw_table import RawTable, from_frame, read_table
    from prism_core.data.tables.spreadsheet import csv_text
    from prism_core.errors import PrismError
    from prism_core.evaluation.evaluate import evaluate
    from prism_core.learning.domain.domain_plan import DomainPlan, design_domain
    from prism_core.learning.domain.learned_domain import LearnedDomain, learn_domain
    from prism_core.learning.domain.outline_io import load_outline
    from prism_core.learning.domain.requests import (
        CategoryRequest,
        NumericRequest,
        Outline,
        RowsRequest,
    )
    from prism_core.learning.graph.graph_plan import GraphPlan, design_graph
    from prism_core.learning.graph.learned_graph import LearnedDag, graph_of_public, learn_graph
    from prism_core.planning.brief import Brief
    from prism_core.planning.design import design
    from prism_core.planning.plan import Plan
    from prism_core.planning.wishes.locks import Lock
    from prism_core.planning.wishes.task import Budget, Shares, Synthesis, Task
    from prism_core.privacy.ledger import Ledger
    from prism_core.privacy.noise import SecureNoise, SeededNoise
    from prism_core.structure.dag import Dag, Drawing
    from prism_core.structure.formats import read as read_dag
    from prism_core.structure.formats import read_drawing
    from prism_core.structure.formats import write as write_dag
    from prism_core.synthesis.release import Release, draw, fit_model, release
    from prism_core.synthesizer import (
        PlanWarning,
        PrismSynthesizer,
        SameRowsWarning,
        UncheckedWarning,
    )

__all__ = [
    "Brief",
    "Budget",
    "CategoryRequest",
    "Codebook",
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
    "RowsRequest",
    "SameRowsWarning",
    "Schema",
    "SecureNoise",
    "SeededNoise",
    "Shares",
    "Synthesis",
    "Task",
    "UncheckedWarning",
    "csv_text",
    "decode",
    "design",
    "design_domain",
    "design_graph",
    "draw",
    "encode",
    "evaluate",
    "fit_model",
    "from_frame",
    "graph_of_public",
    "learn_domain",
    "learn_graph",
    "load_outline",
    "load_schema",
    "read_bundle",
    "read_codebook",
    "read_dag",
    "read_drawing",
    "read_table",
    "release",
    "save_schema",
    "table_schema_text",
    "verify_bundle",
    "write_bundle",
    "write_dag",
]

_HOMES = {
    "Brief": ("prism_core.planning.brief", "Brief"),
    "Budget": ("prism_core.planning.wishes.task", "Budget"),
    "CategoryRequest": ("prism_core.learning.domain.requests", "CategoryRequest"),
    "Codebook": ("prism_core.data.codebooks", "Codebook"),
    "Column": ("prism_core.data.schema.column", "Column"),
    "Dag": ("prism_core.structure.dag", "Dag"),
    "DomainPlan": ("prism_core.learning.domain.domain_plan", "DomainPlan"),
    "Drawing": ("prism_core.structure.dag", "Drawing"),
    "EncodedTable": ("prism_core.data.encoding", "EncodedTable"),
    "GraphPlan": ("prism_core.learning.graph.graph_plan", "GraphPlan"),
    "LearnedDag": ("prism_core.learning.graph.learned_graph", "LearnedDag"),
    "LearnedDomain": ("prism_core.learning.domain.learned_domain", "LearnedDomain"),
    "Ledger": ("prism_core.privacy.ledger", "Ledger"),
    "Lock": ("prism_core.planning.wishes.locks", "Lock"),
    "NumericRequest": ("prism_core.learning.domain.requests", "NumericRequest"),
    "Outline": ("prism_core.learning.domain.requests", "Outline"),
    "Plan": ("prism_core.planning.plan", "Plan"),
    "PrismError": ("prism_core.errors", "PrismError"),
    "PrismSynthesizer": ("prism_core.synthesizer", "PrismSynthesizer"),
    "RawTable": ("prism_core.data.tables.raw_table", "RawTable"),
    "Release": ("prism_core.synthesis.release", "Release"),
    "RowsRequest": ("prism_core.learning.domain.requests", "RowsRequest"),
    "PlanWarning": ("prism_core.synthesizer", "PlanWarning"),
    "SameRowsWarning": ("prism_core.synthesizer", "SameRowsWarning"),
    "Schema": ("prism_core.data.schema.schema", "Schema"),
    "SecureNoise": ("prism_core.privacy.noise", "SecureNoise"),
    "SeededNoise": ("prism_core.privacy.noise", "SeededNoise"),
    "Shares": ("prism_core.planning.wishes.task", "Shares"),
    "Synthesis": ("prism_core.planning.wishes.task", "Synthesis"),
    "Task": ("prism_core.planning.wishes.task", "Task"),
    "UncheckedWarning": ("prism_core.synthesizer", "UncheckedWarning"),
    "csv_text": ("prism_core.data.tables.spreadsheet", "csv_text"),
    "decode": ("prism_core.data.decoding", "decode"),
    "design": ("prism_core.planning.design", "design"),
    "design_domain": ("prism_core.learning.domain.domain_plan", "design_domain"),
    "design_graph": ("prism_core.learning.graph.graph_plan", "design_graph"),
    "draw": ("prism_core.synthesis.release", "draw"),
    "encode": ("prism_core.data.encoding", "encode"),
    "evaluate": ("prism_core.evaluation.evaluate", "evaluate"),
    "fit_model": ("prism_core.synthesis.release", "fit_model"),
    "from_frame": ("prism_core.data.tables.raw_table", "from_frame"),
    "graph_of_public": ("prism_core.learning.graph.learned_graph", "graph_of_public"),
    "learn_domain": ("prism_core.learning.domain.learned_domain", "learn_domain"),
    "learn_graph": ("prism_core.learning.graph.learned_graph", "learn_graph"),
    "load_outline": ("prism_core.learning.domain.outline_io", "load_outline"),
    "load_schema": ("prism_core.data.schema.schema_file", "load"),
    "read_bundle": ("prism_core.bundle.reader", "read_bundle"),
    "read_codebook": ("prism_core.data.codebooks", "read_codebook"),
    "read_dag": ("prism_core.structure.formats", "read"),
    "read_drawing": ("prism_core.structure.formats", "read_drawing"),
    "read_table": ("prism_core.data.tables.raw_table", "read_table"),
    "release": ("prism_core.synthesis.release", "release"),
    "save_schema": ("prism_core.data.schema.schema_file", "save"),
    "table_schema_text": ("prism_core.data.codebooks", "table_schema_text"),
    "verify_bundle": ("prism_core.bundle.verify.verification", "verify"),
    "write_bundle": ("prism_core.bundle.write.bundle_folder", "write"),
    "write_dag": ("prism_core.structure.formats", "write"),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  (any public name)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, own = _HOMES[name]
    found = getattr(import_module(module), own)
    # From now on the name is found without this function.
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
