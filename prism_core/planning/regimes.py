"""Regimes: the features S that each target's regime protects, and what separates targets.

One target is the case of a list of one, and gives the plan it always gave.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from prism_core.errors import PlanError, TaskError
from prism_core.planning.candidates import task_pairs
from prism_core.planning.step_plan import check_declared
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from prism_core.data.schema.schema import Schema
    from prism_core.planning.tree.junction_tree import Clique
    from prism_core.planning.wishes.task import Regime, Synthesis, Task
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
    check_declared(task.target, schema)
    # Nothing can be predicted of one level, and scores would all be 0.
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
    # Refuses nodes that are neither columns nor marked as unmeasured.
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


@dataclass(frozen=True, kw_only=True)
class Aim:
    """One target with the features that are protected for it.

    Attributes:
        target: the column Y_t.
        weight: of the target.
        s: its features S_t, in schema order; another target is among them where the graph says so.
    """

    target: str
    weight: float
    s: tuple[str, ...]


def aims_of(schema: Schema, task: Task, dag: Dag | None) -> tuple[Aim, ...] | None:
    """S_t of every target, the first target first; None when chosen at run time. Spends nothing.

    Causal: Pa(Y_t); graphical: MB(Y_t). Predictive: k features that are no target, since whoever
    predicts one outcome does not know the others yet; they are chosen with noise.

    Raises:
        TaskError: see `features_of_interest`; and when in the causal regime two targets cannot be
            protected together, see `check_separation`.
    """
    if not task.further:
        s = features_of_interest(schema, task, dag)
        return None if s is None else (Aim(target=task.target, weight=1.0, s=s),)
    predictive = task.regime == "predictive"
    found: list[Aim] = []
    for target in task.targets:
        # Weights and k are checked below for all targets together: a target may be a weighted
        # feature of another, and the other targets do not count among the k features.
        alone = replace(task, target=target.name, further=(), weights={}, k=None)
        s = features_of_interest(schema, alone, dag)
        # Without S in the predictive regime: it is filled in below, or chosen when the plan runs.
        found.append(Aim(target=target.name, weight=target.weight, s=s or ()))
    _check_weights(schema, task)
    if predictive:
        free = free_features(schema, task)
        _check_k(task, len(free))
        return tuple(replace(aim, s=free) for aim in found) if task.k == len(free) else None
    check_separation(found)
    return tuple(found)


def widest(schema: Schema, task: Task) -> tuple[Aim, ...]:
    """The worst case before features are chosen: the k largest columns for every target."""
    free = free_features(schema, task)
    # By name where sizes tie: the worst case must not hang on the order of the columns.
    largest = sorted(free, key=lambda name: (-schema.size(name), name))[: task.count]
    s = schema.canonical(largest)
    return tuple(Aim(target=each.name, weight=each.weight, s=s) for each in task.targets)


def with_s(task: Task, schema: Schema, chosen: Sequence[Sequence[str]]) -> tuple[Aim, ...]:
    """The aims once S_t was chosen for every target, in the order of the targets."""
    return tuple(
        Aim(target=each.name, weight=each.weight, s=schema.canonical(s))
        for each, s in zip(task.targets, chosen, strict=True)
    )


def free_features(schema: Schema, task: Task) -> tuple[str, ...]:
    """Columns that are no target, in schema order."""
    targets = set(task.target_names)
    return tuple(name for name in schema.names if name not in targets)


def union(schema: Schema, aims: Iterable[Aim]) -> tuple[str, ...]:
    """S: the features of all targets together, in schema order."""
    return schema.canonical({name for aim in aims for name in aim.s})


def target_pairs(schema: Schema, aims: Iterable[Aim]) -> tuple[Clique, ...]:
    """All (X_j, Y_t), j in S_t; a pair that serves two targets is measured once.

    Raises:
        PlanError: when a pair is larger than any clique may be.
    """
    found = (pair for aim in aims for pair in task_pairs(schema, aim.s, aim.target))
    # A dict keeps the order, which the plan's hash covers; that of a set changes by process.
    return tuple(dict.fromkeys(found))


def marginal_weight(clique: Clique, aims: Iterable[Aim], weights: Mapping[str, float]) -> float:
    """Weight of a task marginal: of the target times of its features, summed over whom it serves.

    It serves Y_t when it holds Y_t and all its other columns are in S_t.
    """
    parts = []
    for aim in aims:
        rest = [name for name in clique if name != aim.target]
        if aim.target in clique and set(rest) <= set(aim.s):
            parts.append(aim.weight * math.fsum(weights.get(name, 1.0) for name in rest))
    return math.fsum(parts)


def selection_parts(weights: Sequence[float]) -> tuple[float, ...]:
    """Parts of the selection pool by weight; their float sum is never above 1.

    One target gets the whole pool, to the last digit.
    """
    if len(weights) == 1:
        return (1.0,)
    whole = math.fsum(weights)
    # The hair less outweighs what rounding may add over at most 8 targets.
    return tuple(weight / whole * (1.0 - 1e-12) for weight in weights)


def leaks(aims: Sequence[Aim], cliques: Iterable[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    """Where the regime guard does not hold: pairs of a target and a feature it can hear from.

    In the graph of the cliques S_t must separate Y_t from every feature outside S_t: the model
    factorises over it, so Y_t is then independent of them given S_t. Another target outside S_t is
    no feature of Y_t; it may be a neighbour, but nothing may come through it.

    Args:
        aims: targets with their features.
        cliques: what is measured.
    """
    near: dict[str, set[str]] = {}
    for clique in cliques:
        for name in clique:
            near.setdefault(name, set()).update(clique)
    targets = {aim.target for aim in aims}
    found: list[tuple[str, str]] = []
    for aim in aims:
        seen, open_names = {aim.target, *aim.s}, [aim.target]
        while open_names:
            fresh = near.get(open_names.pop(), set()) - seen
            seen |= fresh
            # Sorted, as sets have no order: the same mistake gives the same message.
            found += [(aim.target, name) for name in sorted(fresh - targets)]
            # A feature that is reached is a leak already; further ones would not explain it.
            open_names += sorted(fresh & targets)
    return tuple(found)


def check_separation(aims: Sequence[Aim]) -> None:
    """Refuse targets whose pairs would let one hear from a feature outside its own S_t.

    Markov blankets never do: Y_u is in MB(Y_t) exactly when Y_t is in MB(Y_u). In the causal regime
    a target may be a direct cause of another one; then the other causes of the second one must be
    among those of the first.

    Raises:
        TaskError: naming the targets and the feature.
    """
    found = leaks(aims, [(name, aim.target) for aim in aims for name in aim.s])
    if not found:
        return
    target, feature = found[0]
    raise TaskError(
        f"The targets cannot be protected together in the causal regime: {target!r} is a cause of "
        f"another target, and through it {feature!r}, which is no cause of {target!r}, would say "
        "something about it. Leave one of the two targets out and release it by itself, or use the "
        "graphical regime if the world will not shift.",
        field="further",
    )


def check_model(task: Task, synthesis: Synthesis) -> None:
    """Naive Bayes has one target.

    Raises:
        PlanError: when there are several.
    """
    if task.further and synthesis.model == "naive_bayes":
        raise PlanError(
            "Naive Bayes has one target, given which all features are independent. Choose the "
            "model pgm for several targets.",
            field="model",
        )


def features_for(schema: Schema, aims: Iterable[Aim], target: str) -> tuple[str, ...]:
    """Columns a target is predicted from: no other target, unless the graph makes it a feature."""
    every = tuple(aims)
    own = next(aim for aim in every if aim.target == target)
    hidden = {aim.target for aim in every} - set(own.s) | {target}
    return tuple(name for name in schema.names if name not in hidden)


def _check_weights(schema: Schema, task: Task) -> None:
    """A target may have a weight, too: it can be a feature of another one."""
    strangers = [name for name in task.weights if name not in schema]
    if strangers:
        raise TaskError(
            f"There is a weight for {strangers[0]!r}, which is no column of the schema. Correct "
            f"the name or remove the weight.{suggestion(strangers[0], schema.names)}",
            field="weights",
        )


def _check_k(task: Task, features: int) -> None:
    if features < 1:
        raise TaskError("The schema needs at least one column that is no target.", field="columns")
    if task.k is not None and task.k > features:
        raise TaskError(
            f"k = {task.k} is more than the {features} columns that are no target. Choose at most "
            f"{features}.",
            field="k",
        )
