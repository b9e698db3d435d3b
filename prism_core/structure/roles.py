"""What each column is to the target, in words a curator knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from prism_core.errors import StructureError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prism_core.structure.dag import Dag

Role: TypeAlias = Literal[
    "target", "parent", "child", "co_parent", "tied", "ancestor", "other", "unmeasured"
]

ROLE_TEXT: dict[Role, str] = {
    "target": "target Y",
    "parent": "parent: a direct cause of Y",
    "child": "child: a direct effect of Y",
    "co_parent": "co-parent: another cause of a child of Y",
    "tied": "tied to Y or to an effect of Y by an unmeasured cause",
    "ancestor": "ancestor: an indirect cause of Y",
    "other": "other column",
    "unmeasured": "unmeasured: not in the table",
}


def roles(dag: Dag, target: str) -> dict[str, Role]:
    """The role of every node, in node order.

    What acts through unmeasured nodes only is a direct cause or effect. `tied` is the rest of the
    Markov blanket: it is connected with the target by unmeasured common causes.
    """
    # From the least telling role to the most: a later one takes the place of an earlier one.
    found: dict[str, Role] = dict.fromkeys(dag.nodes, "other")
    found |= dict.fromkeys(dag.ancestors(target), "ancestor")
    found |= dict.fromkeys(dag.markov_blanket(target), "tied")
    found |= dict.fromkeys(dag.co_parents(target), "co_parent")
    found |= dict.fromkeys(dag.measured_children(target), "child")
    found |= dict.fromkeys(dag.measured_parents(target), "parent")
    found |= dict.fromkeys(dag.unmeasured, "unmeasured")
    found[target] = "target"
    return found


@dataclass(frozen=True, kw_only=True)
class NodeRole:
    """What a column is to the target, and whether it is one of S.

    Attributes:
        name: the column.
        role: its role in the graph.
        in_s: whether the regime protects it as a feature.
        also_ancestor: whether a co-parent or a tied column is an indirect cause of the target, too.
    """

    name: str
    role: Role
    in_s: bool
    also_ancestor: bool = False

    @property
    def text(self) -> str:
        """Role and membership in words."""
        also = ", and an indirect cause of Y" if self.also_ancestor else ""
        if self.role in {"target", "unmeasured"}:
            return ROLE_TEXT[self.role]
        return f"{ROLE_TEXT[self.role]}{also}; {'in S' if self.in_s else 'not in S'}"


def node_roles(dag: Dag, target: str, s: Iterable[str] = ()) -> tuple[NodeRole, ...]:
    """Every node with its role and its place in `s`, in node order.

    Raises:
        StructureError: when the target is not a node, or S holds the target, an unmeasured node
            or no node.
    """
    chosen, ancestors = set(s), set(dag.ancestors(target))
    for name in chosen:
        if name == target or name not in dag.measured:
            raise StructureError(
                f"S holds {name!r}, which is the target, unmeasured or not a node of the graph.",
                field="s",
            )
    return tuple(
        NodeRole(
            name=name,
            role=role,
            in_s=name in chosen,
            also_ancestor=role in {"co_parent", "tied"} and name in ancestors,
        )
        for name, role in roles(dag, target).items()
    )


def touching(dag: Dag, names: Iterable[str]) -> tuple[str, ...]:
    """`names` and their neighbours, in node order: what stays on screen when the rest is hidden.

    Raises:
        StructureError: when one of them is not a node.
    """
    found: set[str] = set()
    for name in names:
        found |= {name, *dag.parents(name), *dag.children(name)}
    return tuple(node for node in dag.nodes if node in found)
