"""What each column is to the target, in words a curator knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from prism_core.structure.dag import Dag

Role: TypeAlias = Literal["target", "parent", "child", "co_parent", "ancestor", "other"]

ROLE_TEXT: dict[Role, str] = {
    "target": "target Y",
    "parent": "parent: a direct cause of Y",
    "child": "child: a direct effect of Y",
    "co_parent": "co-parent: another cause of a child of Y",
    "ancestor": "ancestor: an indirect cause of Y",
    "other": "other column",
}


def roles(dag: Dag, target: str) -> dict[str, Role]:
    """The role of every node, in node order."""
    found: dict[str, Role] = dict.fromkeys(dag.nodes, "other")
    found |= dict.fromkeys(dag.ancestors(target), "ancestor")
    found |= dict.fromkeys(dag.co_parents(target), "co_parent")
    found |= dict.fromkeys(dag.children(target), "child")
    found |= dict.fromkeys(dag.parents(target), "parent")
    found[target] = "target"
    return found
