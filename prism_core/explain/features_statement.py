"""Statement on the features: a few sentences that say what S is and why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from prism_core.planning.regimes import given_by
from prism_core.structure.independence import changes_not_covered
from prism_core.text.numbers import count_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism_core.planning.wishes.task import Task
    from prism_core.structure.dag import Dag

SHOWN = 12
"""How many names of a set are written out."""


def features_statement(task: Task, dag: Dag | None, features: int | None = None) -> str:
    """What the release will protect for prediction, in a curator's words. Data-free.

    With several targets each has its own sentences, and one says what holds between them.

    Args:
        task: settled, as in a plan, or not yet.
        dag: the public graph, if any.
        features: columns that are no target, where they are known.
    """
    if not task.further:
        return _of_one(task, dag, task.target, features)
    each = [
        f"{target.name} (weight {target.weight:g}): {_of_one(task, dag, target.name, features)}"
        for target in task.targets
    ]
    return " ".join([*each, _between(task, dag)])


def statement_without(task: Task, dag: Dag, name: str) -> str:
    """What the statement would say if one column were not in the table. Data-free.

    Args:
        task: as for `features_statement`.
        dag: the public graph.
        name: a column of it that is no target; its arrows stay, as those of an unmeasured cause.

    Raises:
        StructureError: when there is no such node.
    """
    without = replace(dag, unmeasured=(*dag.unmeasured, name))
    features = len(without.measured) - len(task.target_names)
    return features_statement(task, without, features)


def _between(task: Task, dag: Dag | None) -> str:
    """What one target says about another one."""
    if dag is None or task.regime == "predictive":
        return "No target is a feature of another one: who predicts one does not know the others."
    # By the graph alone: each target has an S of its own, which may hold another target.
    chosen = {name: given_by(dag, task.regime, name) for name in task.target_names}
    found = [
        f"{name} is a feature of {target}"
        + ("" if target in chosen[name] else f" ({target} is none of {name}: leave it out there)")
        for target in task.target_names
        for name in chosen[target]
        if name in task.target_names
    ]
    if not found:
        return "No target is a feature of another one."
    return f"Between the targets: {', '.join(found)}, as the graph says."


def _of_one(task: Task, dag: Dag | None, target: str, features: int | None) -> str:
    if task.regime == "predictive":
        if task.k is None:
            return (
                f"S is all columns that may help to predict {target} where the budget carries "
                "them, and otherwise some of them, chosen privately when the release runs. No "
                "graph is needed, and nothing is claimed about causes."
            )
        if features is not None and task.k == features:
            return (
                f"S is {_all(features)} besides {target}: nothing has to be chosen. No graph "
                "is needed, and nothing is claimed about causes."
            )
        return (
            f"S is not known yet: the {count_text(task.k, 'feature')} most associated with "
            f"{target} will be chosen privately, with part of the budget, when the release runs. "
            "No graph is needed, and nothing is claimed about causes."
        )
    if dag is None:
        return f"Draw what causes {target}, or upload a graph."
    if task.regime == "causal":
        if dag.learned:
            return (
                f"This graph was learned from rows. It says what predicts {target}, not what "
                "causes it: use the graphical regime, or start again from knowledge."
            )
        return _causal(dag, target)
    return _learned(dag, target) if dag.learned else _graphical(dag, target)


def _all(features: int) -> str:
    return "the only column" if features == 1 else f"all {features} columns"


def _learned(dag: Dag, target: str) -> str:
    """Without parents and children: the direction of a learned edge means nothing."""
    cost = (
        "from public rows"
        if dag.prior is None
        else (f"with epsilon = {dag.prior.spent.epsilon:.3g}")
    )
    blanket = dag.markov_blanket(target)
    if not blanket:
        return (
            f"Learned {cost}, not causal: no column that predicts {target} stood out of the noise "
            "at this budget. There may be some all the same."
        )
    one = len(blanket) == 1
    rest = len(dag.measured) - 1 - len(blanket)
    others = "" if not rest else f" {rest} {'column is' if rest == 1 else 'columns are'} left out."
    return (
        f"S = {_set(blanket)}: {'this column was' if one else 'these columns were'} learned "
        f"{cost}, not causal, as {'the one that predicts' if one else 'those that predict'} "
        f"{target}. No other was found above the noise at this budget, which does not mean that no "
        f"other helps.{others}"
    )


def _causal(dag: Dag, target: str) -> str:
    parents, children = dag.measured_parents(target), dag.measured_children(target)
    if not parents:
        where = " among the columns" if dag.unmeasured else ""
        return f"{target} has no parents{where} yet: draw an edge from each of its direct causes."
    text = (
        f"S = Pa({target}) = {_set(parents)}: robust if the world shifts but the way these "
        f"causes act on {target} does not"
    )
    open_ways = changes_not_covered(dag, target, parents)
    text += ", except for what is not in the table, see below." if open_ways else "."
    if children:
        one = len(children) == 1
        text += (
            f" Its {'child' if one else 'children'} {_set(children)} {'is' if one else 'are'} left "
            f"out: {'it follows' if one else 'they follow'} from {target} and "
            f"{'misleads' if one else 'mislead'} when that link changes."
        )
    # What S leaves open and what is not in the table has sentences of its own.
    apart = {*parents, *open_ways, *dag.unmeasured}
    earlier = [name for name in dag.ancestors(target) if name not in apart]
    if earlier:
        one = len(earlier) == 1
        noun, verb = ("cause", "is") if one else ("causes", "are")
        text += (
            f" The indirect {noun} {_set(earlier)} {verb} "
            f"not needed: {'it acts' if one else 'they act'} on {target} through S."
        )
    return text + _unmeasured(dag, target, parents, robust=True)


def _graphical(dag: Dag, target: str) -> str:
    blanket = dag.markov_blanket(target)
    if not blanket:
        return f"{target} has no neighbours yet: draw its causes and effects."
    words = (
        ("parent", "parents"),
        ("child", "children"),
        ("co-parent", "co-parents"),
        ("tied by an unmeasured cause", "tied by unmeasured causes"),
    )
    known = (dag.measured_parents(target), dag.measured_children(target), dag.co_parents(target))
    # Whatever else is in the blanket is tied to the target by what is not in the table.
    groups = (*known, tuple(set(blanket).difference(*known)))
    parts = [
        f"{len(group)} {word[len(group) != 1]}"
        for group, word in zip(groups, words, strict=True)
        if group
    ]
    # Unmeasured nodes are no columns, so they cannot be left out.
    rest = len(dag.measured) - 1 - len(blanket)
    others = "" if not rest else f" {rest} {'column is' if rest == 1 else 'columns are'} left out."
    return (
        f"S = MB({target}) = {_set(blanket)} ({', '.join(parts)}): given these, no other column "
        f"helps to predict {target} as long as the world stays as it is.{others}"
    ) + _unmeasured(dag, target, blanket, robust=False)


def _unmeasured(dag: Dag, target: str, s: Sequence[str], *, robust: bool) -> str:
    """What is not in the table, and which changes S does not cover because of it.

    Where S is said to be `robust`, the columns of which a change is not covered are named, too.
    """
    if not dag.unmeasured:
        return ""
    found = changes_not_covered(dag, target, s)
    bad = [name for name in dag.unmeasured if name in found]
    fine = [name for name in dag.unmeasured if name not in found]
    others = [name for name in found if name not in bad]
    text = ""
    if bad:
        whose = "its distribution" if len(bad) == 1 else "the distribution of one of them"
        text += (
            f" {_who(bad)} not in the table. Where {whose} changes, the relation between S and "
            f"{target} may change too."
        )
    if others and robust:
        one = len(others) == 1
        text += (
            f" It may change, too, where the way in which {_some(others)} "
            f"{'comes' if one else 'come'} about changes: {'it is' if one else 'they are'} tied to "
            f"{target} by an unmeasured cause."
        )
    if fine:
        whose = "of it" if len(fine) == 1 else "of one of them"
        text += (
            f" {_who(fine)} not in the table{' either' if bad else ''}: a change {whose} leaves "
            f"the relation between S and {target} as it is."
        )
    return text


def _who(names: Sequence[str]) -> str:
    return f"{_some(names)} {'is' if len(names) == 1 else 'are'}"


def _some(names: Sequence[str]) -> str:
    """One name as it is, several as a set."""
    return names[0] if len(names) == 1 else _set(names)


def _set(names: Sequence[str]) -> str:
    more = len(names) - SHOWN
    # "And 1 more" would save nothing, so that one is written out.
    tail = f" and {more} more" if more > 1 else ""
    return "{" + ", ".join(names[:SHOWN] if tail else names) + tail + "}"
