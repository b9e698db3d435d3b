"""Option: one field of a section of the configuration, with all that is said of it anywhere.

A record such as `Task` is a frozen dataclass whose fields carry an `Option`. Reading and writing of
files, refusals, lists of settings and the pages follow from it: none of them names an option again.
Another option is a field of its record, the line that uses it, a field of `Entries` in the
dashboard, and its widget on the page.

No library for this: those that structure plain values turn the whole number 1 of a file into 1.0
where a float is declared, which would change the bytes of what is written and the hash of a plan.
"""

from __future__ import annotations

import functools
import math
from dataclasses import MISSING, dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from prism_core.errors import ConfigError, PrismError
from prism_core.text.suggestions import suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Kind: TypeAlias = Literal["text", "flag", "whole", "number", "section", "texts", "sections"]
_KIND_TEXT: dict[Kind, str] = {
    "text": "a text",
    "flag": "true or false",
    "whole": "a whole number",
    "number": "a number",
    "section": "a section",
    "texts": "a list of texts",
    "sections": "a list of sections",
}
_KIND_TYPES: dict[Kind, tuple[type, ...]] = {
    "text": (str,),
    # None: flags are told by `is_kind` itself, as every bool of Python is an int, too.
    "flag": (),
    "whole": (int,),
    "number": (int, float),
    "section": (dict,),
}
_KEY = "option"
_Record = TypeVar("_Record")


@dataclass(frozen=True, kw_only=True)
class Option:
    """What a field of a record is as an entry of a file and on a page.

    Attributes:
        kind: of its value in a file.
        words: its name as pages and reports call it.
        choices: the values there are, and each in words.
        low, high: ends of the range of a number, both allowed; None where there is no end.
        range_text: the range in a refusal, where the numbers alone do not say it.
        help: of the command line's flag.
        parts: the record that a section stands for, or each of several sections.
        entry: of a list of records: the fields that name one, and that hold its value.
        listed: whether a record's value matters, for lists of settings; None is always.
        written: the same for files, whose entries also say what would matter.
        in_plan: whether the plan's own document has it, under the same name.
        name: of the field; filled in by `options_of`.
        default: of the field, filled in likewise; of one that is made anew, what makes it.
        needed: whether there is no default; filled in likewise.
    """

    kind: Kind
    words: str = ""
    choices: Mapping[Any, str] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None
    range_text: str = ""
    help: str = ""
    parts: type[Any] | None = None
    entry: tuple[str, str] | None = None
    listed: Callable[[Any], bool] | None = None
    written: Callable[[Any], bool] | None = None
    in_plan: bool = False
    name: str = ""
    default: Any = None
    needed: bool = False

    @property
    def allowed(self) -> str:
        """What a value must be, after "must be"."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.range_text:
            return self.range_text
        if self.high is not None:
            return f"between {self.low or 0:,} and {self.high:,}"
        if self.low is None:
            return _KIND_TEXT[self.kind]
        if self.kind == "whole":
            return f"a whole number above {self.low - 1:g}"
        return f"a number of {self.low:g} or more"

    @property
    def is_checked(self) -> bool:
        """Whether the table alone says which values there are."""
        return bool(self.choices) or self.kind == "whole" or self.low is not None

    def allows(self, value: object) -> bool:
        """Whether the field may hold the value."""
        if value is None:
            return self.default is None and not self.needed
        if self.choices:
            return value in tuple(self.choices)  # a value of a file may be one without a hash
        # A bool is an int to Python: k = true must not mean 1.
        if isinstance(value, bool) or not isinstance(value, _KIND_TYPES[self.kind]):
            return False
        return self._in_range(value)

    def _in_range(self, value: Any) -> bool:  # noqa: ANN401
        # Infinite ends instead of none: NaN fails the comparison, whichever end is open.
        low = -math.inf if self.low is None else self.low
        return low <= value <= (math.inf if self.high is None else self.high)

    def is_kind(self, value: object) -> bool:
        """Whether a file's value is of this kind; its range is the record's to check."""
        if isinstance(value, bool):
            return self.kind == "flag"
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            return False  # more than TOML promises, and more than a float can hold
        if self.kind in ("texts", "sections"):
            each: type = str if self.kind == "texts" else dict
            return isinstance(value, list) and all(isinstance(item, each) for item in value)
        return isinstance(value, _KIND_TYPES[self.kind])


def option(kind: Kind, words: str = "", **facts: Any) -> Mapping[str, Option]:  # noqa: ANN401
    """The metadata of a field that is an option; see `Option`."""
    return MappingProxyType({_KEY: Option(kind=kind, words=words, **facts)})


def choice(words: str, choices: Mapping[Any, str], **facts: Any) -> Mapping[str, Option]:  # noqa: ANN401
    """The same for one of several values, each with its words."""
    return option("text", words, choices=choices, **facts)


@functools.cache
def options_of(record: type[Any]) -> Mapping[str, Option]:
    """Options of a record by name, in the order of its fields."""
    found: dict[str, Option] = {}
    for item in fields(record):
        default = item.default if item.default_factory is MISSING else item.default_factory
        needed = default is MISSING
        found[item.name] = replace(
            item.metadata[_KEY],
            name=item.name,
            default=None if needed else default,
            needed=needed,
        )
    return MappingProxyType(found)


def check(record: object, error: Callable[..., PrismError]) -> None:
    """Refuse a value outside its choices or range. For `__post_init__`.

    Args:
        record: with options.
        error: the error to raise; it gets the sentence and the field.
    """
    for one in options_of(type(record)).values():
        value = getattr(record, one.name)
        if one.is_checked and not one.allows(value):
            close = suggestion(value, one.choices) if one.choices else ""
            raise error(f"{one.name} must be {one.allowed}.{close}", field=one.name)


def read(record: type[_Record], part: object, section: str) -> _Record:
    """A record from a section of a file; sections within it, too.

    Raises:
        ConfigError: for an unknown or missing entry, or one of the wrong kind; other PrismErrors
            for values.
    """
    return record(**read_values(record, part, section))


def read_values(record: type[Any], part: object, section: str) -> dict[str, Any]:
    """The entries of a section as arguments of its record; see `read`."""
    if not isinstance(part, dict):
        raise ConfigError(f"[{section}] must be a section.", field=section)
    options = options_of(record)
    check_known(part, options, f"[{section}]")
    for one in options.values():
        if one.needed and one.name not in part:
            raise ConfigError(
                f"[{section}] needs the entry {one.name}.", field=f"{section}.{one.name}"
            )
    for key, value in part.items():
        if not options[key].is_kind(value):
            raise ConfigError(
                f"[{section}] {key} must be {_KIND_TEXT[options[key].kind]}.",
                field=f"{section}.{key}",
            )
    return {key: _read(options[key], value, f"{section}.{key}") for key, value in part.items()}


def _read(one: Option, value: Any, section: str) -> Any:  # noqa: ANN401
    if one.parts is None:
        return value
    if one.kind == "section":
        return read(one.parts, value, section)
    return tuple(read(one.parts, each, section) for each in value)


def check_known(part: Mapping[str, Any], keys: Iterable[str], where: str) -> None:
    """Refuse an entry that there is not.

    Raises:
        ConfigError: naming it, and those there are.
    """
    # Sorted: of several mistakes the same one is named every time.
    unknown = sorted(set(part).difference(keys))
    if unknown:
        raise ConfigError(
            f"{where} has an unknown entry {unknown[0]!r}. Allowed: {', '.join(sorted(keys))}."
            f"{suggestion(unknown[0], keys)}",
            field=unknown[0],
        )


def write(record: object) -> dict[str, Any]:
    """Plain values that `read` reads back, in the order of the fields."""
    found: dict[str, Any] = {}
    for one in options_of(type(record)).values():
        value = getattr(record, one.name)
        empty = one.kind in ("section", "sections") and not value
        if value is None or empty or not (one.written is None or one.written(record)):
            continue
        found[one.name] = _written(one, value)
    return found


def _written(one: Option, value: Any) -> Any:  # noqa: ANN401
    if one.kind == "section":
        return dict(value) if one.parts is None else write(value)
    if one.kind == "sections":
        return [write(each) for each in value]
    if one.kind == "texts":
        return list(value)
    # Paths and addresses are texts in a file; an address leaves its password out.
    return str(value) if one.kind == "text" else value


def listed(record: object, section: str) -> dict[str, Any]:
    """What a record sets, one entry a line: "task.k"; only what matters.

    What every record has stands first, then what only some have, then what goes by name, as
    "task.weights.age".
    """
    lists: tuple[dict[str, Any], ...] = ({}, {}, {})
    for one in options_of(type(record)).values():
        if one.listed is None or one.listed(record):
            value, what = getattr(record, one.name), f"{section}.{one.name}"
            if one.kind in ("section", "sections"):
                place = lists[2 if one.listed is None else 1]
                place |= {f"{what}.{name}": each for name, each in _by_name(one, value).items()}
            else:
                lists[0 if one.listed is None else 1][what] = value
    return lists[0] | lists[1] | lists[2]


def in_plan(record: object) -> dict[str, Any]:
    """Options that a plan's own document has, where they matter."""
    return {
        one.name: getattr(record, one.name)
        for one in options_of(type(record)).values()
        if one.in_plan and (one.listed is None or one.listed(record))
    }


def _by_name(one: Option, value: Any) -> dict[str, Any]:  # noqa: ANN401
    """A section or a list of them as values by name."""
    if one.entry is not None:
        name, amount = one.entry
        return {getattr(each, name): getattr(each, amount) for each in value}
    if one.parts is not None:
        return {name: getattr(value, name) for name in options_of(one.parts)}
    return dict(value)
