"""Scenario: a named set of wishes, all public."""

from __future__ import annotations

from dataclasses import dataclass, field

from prism_core.errors import ConfigError
from prism_core.planning.wishes.task import Budget, Synthesis, Task

MOST_NAME = 80
"""Longest name of a scenario, in characters."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """What a plan is designed from, without the table: schema, graph and n are the project's.

    Attributes:
        name: one line of text that can be printed, at most `MOST_NAME` characters.
        task, budget, synthesis: as for `design`.

    Raises:
        ConfigError: for an unusable name.
    """

    name: str
    task: Task
    budget: Budget = field(default_factory=Budget)
    synthesis: Synthesis = field(default_factory=Synthesis)

    def __post_init__(self) -> None:
        check_name(self.name)


def check_name(name: object, what: str = "scenario") -> str:
    """The name, when it is one.

    Raises:
        ConfigError: when it is empty, too long, or holds a character that cannot be printed.
    """
    if (
        not isinstance(name, str)
        or not name.strip()
        # Names that look alike must be alike.
        or name != name.strip()
        or len(name) > MOST_NAME
        or not name.isprintable()
    ):
        raise ConfigError(
            f"The name of a {what} is one line of text without blanks around it, at most "
            f"{MOST_NAME} characters.",
            field="name",
        )
    return name
