"""One sentence that says what S is and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.planning.task import Task
    from prism_core.structure.dag import Dag


def statement(task: Task, dag: Dag | None) -> str:
    """What the release will protect for prediction, in a curator's words. Data-free."""
    target = task.target
    if task.regime == "predictive":
        return (
            f"S is not known yet: the {task.k} features most associated with {target} will be "
            "chosen privately, with part of the budget, when the release runs. No graph is "
            "needed, and nothing is claimed about causes."
        )
    if dag is None:
        return f"Draw what causes {target}, or upload a graph."
    parents, children = dag.parents(target), dag.children(target)
    if task.regime == "causal":
        if not parents:
            return f"{target} has no parents yet: draw an edge from each of its direct causes."
        tail = (
            f" Its children {_set(children)} are left out: they follow from {target} and mislead "
            "when that link changes."
            if children
            else ""
        )
        return (
            f"S = Pa({target}) = {_set(parents)}: robust if the world shifts but the way these "
            f"causes act on {target} does not.{tail}"
        )
    blanket = dag.markov_blanket(target)
    if not blanket:
        return f"{target} has no neighbours yet: draw its causes and effects."
    parts = [
        f"{len(group)} {word}{'' if len(group) == 1 else 's'}"
        for group, word in (
            (parents, "parent"), (children, "child"), (dag.co_parents(target), "co-parent"),
        )
        if group
    ]  # fmt: skip
    return (
        f"S = MB({target}) = {_set(blanket)} ({', '.join(parts).replace('childs', 'children')}): "
        f"given these, no other column helps to predict {target} as long as the world stays as "
        "it is."
    )


def _set(names: Sequence[str]) -> str:
    return "{" + ", ".join(names) + "}"
