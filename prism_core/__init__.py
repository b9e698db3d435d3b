"""PRISM: differentially private synthetic tables made for one prediction task.

The public names; heavy libraries are imported when they are used, not here.
"""

from prism_core.data.column import Column
from prism_core.data.encoding import EncodedTable, decode, encode
from prism_core.data.schema import Schema
from prism_core.data.schema_io import load as load_schema
from prism_core.data.schema_io import save as save_schema
from prism_core.data.tables import RawTable, from_frame, read_table
from prism_core.errors import PrismError
from prism_core.learning.learn import LearnedDomain, learn_domain
from prism_core.learning.outline_io import load_outline
from prism_core.learning.plan import DomainPlan, design_domain
from prism_core.learning.requests import CategoryRequest, NumericRequest, Outline
from prism_core.pipeline import Release, design, evaluate, release
from prism_core.planning.plan import Plan
from prism_core.planning.task import Budget, Shares, Synthesis, Task
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.noise import SecureNoise, SeededNoise
from prism_core.structure.dag import Dag
from prism_core.structure.drawing import Drawing
from prism_core.structure.formats import read as read_dag
from prism_core.structure.formats import read_drawing
from prism_core.structure.formats import write as write_dag
from prism_core.synthesizer import PrismSynthesizer

__all__ = [
    "Budget",
    "CategoryRequest",
    "Column",
    "Dag",
    "DomainPlan",
    "Drawing",
    "EncodedTable",
    "LearnedDomain",
    "Ledger",
    "NumericRequest",
    "Outline",
    "Plan",
    "PrismError",
    "PrismSynthesizer",
    "RawTable",
    "Release",
    "Schema",
    "SecureNoise",
    "SeededNoise",
    "Shares",
    "Synthesis",
    "Task",
    "decode",
    "design",
    "design_domain",
    "encode",
    "evaluate",
    "from_frame",
    "learn_domain",
    "load_outline",
    "load_schema",
    "read_dag",
    "read_drawing",
    "read_table",
    "release",
    "save_schema",
    "write_dag",
]
