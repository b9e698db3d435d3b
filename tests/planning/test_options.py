"""The table of options: whole, true of the types, and all that files, lists and pages know."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

from prism_core.errors import ConfigError, PrismError, TaskError
from prism_core.planning.wishes import task as wishes
from prism_core.planning.wishes.config import wishes_from
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.options import (
    check,
    choice,
    in_plan,
    listed,
    option,
    options_of,
    read,
    write,
)
from prism_core.planning.wishes.targets import Target
from prism_core.planning.wishes.task import OPTIONS, WISHES, Budget, Shares, Synthesis, Task
from prism_core.privacy.accountants.accountant import AccountantName


@dataclass(frozen=True, kw_only=True)
class Made:
    """A record with one option of each kind."""

    name: str = field(metadata=option("text", "Name"))
    rule: str = field(default="one", metadata=choice("Rule", {"one": "First", "two": "Second"}))
    rounds: int = field(
        default=3, metadata=option("whole", low=1, high=9, listed=lambda made: made.rule == "two")
    )
    limit: float | None = field(default=None, metadata=option("number", low=0.5, in_plan=True))
    flag: bool = field(default=False, metadata=option("flag", written=lambda made: made.flag))
    parts: tuple[Target, ...] = field(
        default=(), metadata=option("sections", parts=Target, entry=("name", "weight"))
    )

    def __post_init__(self) -> None:
        check(self, TaskError)


def test_a_record_is_read_written_and_listed_by_its_options_alone():
    document = {"name": "x", "rule": "two", "limit": 1, "parts": [{"name": "y", "weight": 2}]}
    made = read(Made, document, "made")
    assert made == Made(name="x", rule="two", limit=1, parts=(Target(name="y", weight=2),))
    assert list(write(made)) == ["name", "rule", "rounds", "limit", "parts"]
    assert read(Made, write(made), "made") == made
    assert listed(made, "made") == {
        "made.name": "x",
        "made.rule": "two",
        "made.limit": 1,
        "made.flag": False,
        "made.rounds": 3,
        "made.parts.y": 2,
    }
    assert in_plan(made) == {"limit": 1}
    assert write(Made(name="x")) == {"name": "x", "rule": "one", "rounds": 3}


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        (3, "[made] must be a section."),
        ({}, "[made] needs the entry name."),
        ({"name": 3}, "[made] name must be a text."),
        ({"name": "x", "flag": 1}, "[made] flag must be true or false."),
        ({"name": "x", "parts": [3]}, "[made] parts must be a list of sections."),
        ({"name": "x", "parts": [{}]}, "[made.parts] needs the entry name."),
        (
            {"name": "x", "round": 1},
            "[made] has an unknown entry 'round'. Allowed: flag, limit, name, parts, rounds, rule. "
            "Did you mean 'rounds'? Correct the name.",
        ),
    ],
)
def test_a_section_that_cannot_be_read(document, sentence):
    with pytest.raises(ConfigError) as caught:
        read(Made, document, "made")
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rule": "tow"}, "rule must be one of one, two. Did you mean 'two'? Correct the name."),
        ({"rule": []}, "rule must be one of one, two."),
        ({"rounds": 10}, "rounds must be between 1 and 9."),
        ({"rounds": True}, "rounds must be between 1 and 9."),
        ({"rounds": None}, "rounds must be between 1 and 9."),
        ({"limit": float("nan")}, "limit must be a number of 0.5 or more."),
    ],
)
def test_a_value_outside_its_range(change, sentence):
    with pytest.raises(TaskError) as caught:
        Made(name="x", **change)
    assert str(caught.value) == sentence
    assert caught.value.field == next(iter(change))


def test_every_field_is_an_option_with_words_and_every_choice_of_its_type_has_some():
    assert set(WISHES) == {"task", "budget", "synthesis"}
    for section, record in WISHES.items():
        assert [item.name for item in fields(record)] == list(options_of(record))
        hints = get_type_hints(
            record, vars(wishes) | {"Mapping": dict, "AccountantName": AccountantName}
        )
        for name, one in options_of(record).items():
            assert OPTIONS[f"{section}.{name}"] == one
            assert one.words
            if get_origin(hints[name]) is Literal:
                assert tuple(one.choices) == get_args(hints[name])
                assert all(one.choices.values())


def test_parts_of_options_are_records_with_options():
    for record in (Target, Shares, Lock):
        assert [item.name for item in fields(record)] == list(options_of(record))


@pytest.mark.parametrize("what", sorted(what for what, one in OPTIONS.items() if one.choices))
def test_each_choice_is_taken_from_a_file_and_another_word_refused(what):
    section, name = what.split(".")
    for value in OPTIONS[what].choices:
        document = {"task": {"target": "y"}}
        document.setdefault(section, {})[name] = value
        found = dict(zip(WISHES, wishes_from(document), strict=True))[section]
        assert getattr(found, name) == value
    document = {"task": {"target": "y"}}
    document.setdefault(section, {})[name] = "no such word"
    with pytest.raises(PrismError, match=f"{name} must be one of") as caught:
        wishes_from(document)
    assert caught.value.field == name


def test_what_a_plan_says_of_its_budget_is_what_matters():
    assert "tilt" not in in_plan(Budget())
    assert in_plan(Budget(allocation="tilted", tilt=0.5))["tilt"] == 0.5
    assert "above_limit" not in in_plan(Budget())
    assert set(in_plan(Synthesis())) == {"model", "sampling", "pairs", "iterations"}
    assert in_plan(Task(target="y")) == {"target": "y", "regime": "causal"}
