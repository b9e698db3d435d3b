"""Which features S a regime protects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.errors import TaskError
from prism_core.text.suggest import suggestion

if TYPE_CHECKING:
    from prism_core.data.schema import Schema
    from prism_core.planning.task import Regime, Task
    from prism_core.structure.dag import Dag


def given_by(dag: Dag, regime: Regime, target: str) -> tuple[str, ...]:
    """S as the graph gives it, in node order: causes in the causal regime, else the blanket.

    Unmeasured nodes are never in it; a cause that acts through them only counts as direct.

    Raises:
        StructureError: when the target is no node.
    """
    return dag.measured_parents(target) if regime == "causal" else dag.markov_blanket(target)


def features_of_interest(schema: Schema, task: Task, dag: Dag | None) -> tuple[str, ...] | None:
    """S in schema order, or None when it is chosen privately at run time. Spends nothing.

    In the predictive regime S is all features where k asks for as many.

    Raises:
        TaskError: when the target is not a column, a needed graph is missing, the target has
            no parents (causal) or no blanket (graphical), or k exceeds the features.
    """
    if task.target not in schema:
        raise TaskError(
            f"The target {task.target!r} is not a column of the schema."
            f"{suggestion(task.target, schema.names)}",
            field="target",
        )
    if schema.size(task.target) < 2:
        raise TaskError(
            f"The target {task.target!r} has a single level. Declare at least two levels.",
            field="target",
        )
    strangers = [name for name in task.weights if name not in schema or name == task.target]
    if strangers:
        raise TaskError(
            f"There is a weight for {strangers[0]!r}, which is no feature of the schema. Correct "
            f"the name or remove the weight.{suggestion(strangers[0], schema.names)}",
            field="weights",
        )
    if task.regime == "predictive":
        return _predictive(schema, task)
    if dag is None:
        raise TaskError(
            f"The {task.regime} regime needs a graph. Draw or upload one, or use the predictive "
            "regime.",
            field="dag",
        )
    graph = dag.over(schema.names)
    if task.regime == "causal":
        if graph.learned:
            raise TaskError(
                "The graph was learned from rows. It says which columns predict the target, not "
                "what causes it, so there are no known parents for the causal regime. Use the "
                "graphical regime, or draw a graph from knowledge.",
                field="regime",
            )
        hint = (
            "Draw the edges of its direct causes, use the graphical regime if its children "
            "matter and the world will not shift, or the predictive regime if nothing is known."
        )
    else:
        hint = "Draw its parents and children, or use the predictive regime."
    chosen = given_by(graph, task.regime, task.target)
    if not chosen:
        kind = "parents" if task.regime == "causal" else "neighbours"
        where = " among the columns" if graph.unmeasured else ""
        raise TaskError(
            f"The target {task.target!r} has no {kind}{where} in the graph. {hint}", field="dag"
        )
    return schema.canonical(chosen)


def feature_count(schema: Schema) -> int:
    """Columns besides the target.

    Raises:
        TaskError: when there is none.
    """
    features = len(schema.columns) - 1
    if features < 1:
        raise TaskError("The schema needs at least one column besides the target.", field="columns")
    return features


def _predictive(schema: Schema, task: Task) -> tuple[str, ...] | None:
    """All features where k asks for all: there is nothing to choose, and nothing is spent."""
    features = feature_count(schema)
    if task.k == features:
        return tuple(name for name in schema.names if name != task.target)
    if task.k is not None and task.k > features:
        raise TaskError(
            f"k = {task.k} is more than the {features} features. Choose at most {features}.",
            field="k",
        )
    return None
