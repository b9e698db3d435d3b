"""Strategies: a valid file, changed a little, as its grammar has it or byte by byte; or no file."""

from __future__ import annotations

import copy
import json
import tomllib
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import tomli_w
import yaml
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Syntax = Literal["json", "toml", "yaml", "text", "bytes"]

_VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    7,
    10**6,
    2**31,
    2**63,
    -(2**63) - 1,
    10**40,
    10**400,
    0.0,
    -0.0,
    0.5,
    1e-320,
    1e300,
    float("inf"),
    float("-inf"),
    float("nan"),
    "",
    " ",
    "0",
    "1",
    "-1",
    "a",
    "A",
    "other",
    "true",
    "null",
    "NA",
    "1e5",
    "\n",
    "a\nb",
    "\t",
    "\x00",
    "\ud800",
    "\u202e",
    "\ufeff",
    "é",
    "e\u0301",
    "😀",
    "x" * 300,
    "../a",
    "/",
    "[",
    "{{",
    "2020-01-01",
    "9999-12-31",
    "categorical",
    "numeric",
    "date",
    "boolean",
    "zcdp",
    "a × b",
    [],
    {},
    [[]],
    [{}],
    [None],
    ["a"],
    ["a", "a"],
    [1, 2],
    [0.5, "a"],
    {"a": 1},
    {"": []},
    {"name": "a"},
    [[["a"]]],
    {"a": {"b": {}}},
]
"""Values that a reader may not expect where they stand."""

_TOKENS = [
    b"\x00",
    b"\xff",
    b"\xfe\xff",
    b"\xef\xbb\xbf",
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b" ",
    b"\t",
    b",",
    b";",
    b'"',
    b"'",
    b'""',
    b"\\",
    b"\\u",
    b"\\x",
    b"[",
    b"]",
    b"{",
    b"}",
    b"(",
    b")",
    b"<",
    b">",
    b"<!",
    b"&#0;",
    b"&x;",
    b":",
    b"::",
    b"=",
    b"->",
    b"<-",
    b"--",
    b"|",
    b"#",
    b"//",
    b"/*",
    b"*/",
    b"<!--",
    b"-->",
    b"!",
    b"*a",
    b"&a",
    b"%",
    b"~",
    b"`",
    b"-",
    b"0",
    b"-1",
    b"1e999",
    b"nan",
    b"9" * 30,
    b"9" * 5000,
    b"true",
    b"null",
    b"[[[[",
    b"{{{{",
    b"]]",
    b"graph",
    b"node",
    b"edge",
    b"digraph {",
    b"subgraph",
    b"variable",
    b"\xc3\xa9",
    b"\xed\xa0\x80",
    "×".encode(),
    "\u2028".encode(),
    "\x85".encode(),
    b"\x1f\x8b",
    b"PAR1",
    b"name",
    b"learn: true",
]


def mutants(seeds: Sequence[bytes], syntax: Syntax, fixed: int = 0) -> st.SearchStrategy[bytes]:
    """Files to be read: valid ones with a few changes, and anything at all.

    Args:
        seeds: valid files.
        syntax: what they are written in.
        fixed: bytes at the beginning that no change touches, and that begin every file.
    """
    whole = st.integers(0, len(seeds) - 1).map(lambda place: seeds[place])
    edits = st.lists(_edits(), min_size=1, max_size=4)
    edited = st.tuples(whole, edits).map(lambda pair: _edited(*pair, fixed))
    kinds = [edited, edited]
    if syntax != "bytes":
        kinds.append(st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
    if syntax in _PLAIN:
        load, dump = _PLAIN[syntax]
        values = [load(seed) for seed in seeds]
        kinds += [_documents(values, dump)] * 4
    kinds += [st.binary(max_size=80), whole]
    head = seeds[0][:fixed]
    return st.one_of(kinds).map(lambda content: _headed(content, head))


def _headed(content: bytes, head: bytes) -> bytes:
    return content if content.startswith(head) else head + content


# --- bytes -----------------------------------------------------------------------------------


def _edits() -> st.SearchStrategy[tuple[str, float, int, bytes]]:
    return st.tuples(
        st.sampled_from(["insert", "replace", "delete", "double", "flip", "cut", "move"]),
        st.floats(0.0, 1.0),
        st.integers(1, 40) | st.integers(1, 3),
        st.sampled_from(_TOKENS) | st.binary(min_size=1, max_size=4),
    )


def _edited(content: bytes, edits: list[tuple[str, float, int, bytes]], fixed: int) -> bytes:
    head, found = content[:fixed], content[fixed:]
    for how, where, length, token in edits:
        at = int(where * len(found))
        here, rest = found[at : at + length], found[at + length :]
        found = (
            found[:at]
            + {
                "insert": token + here + rest,
                "replace": token + rest,
                "delete": rest,
                "double": here + here + rest,
                "flip": bytes(byte ^ (1 << length % 8) for byte in here[:1]) + here[1:] + rest,
                "cut": b"",
                "move": rest + here,
            }[how]
        )
    return head + found


# --- values ----------------------------------------------------------------------------------


Change: TypeAlias = tuple[str, float, float, int]
"""What is done, where (as a share of all places), another place, and the number of a value."""


def _documents(values: Sequence[Any], dump: Callable[[Any], bytes]) -> st.SearchStrategy[bytes]:
    changes = st.tuples(
        st.sampled_from(["value", "value", "near", "drop", "name", "other", "wrap", "twice"]),
        st.floats(0.0, 1.0, exclude_max=True),
        st.floats(0.0, 1.0, exclude_max=True),
        st.integers(0, len(_VALUES) - 1),
    )

    def written(pair: tuple[int, list[Change]]) -> bytes:
        value = copy.deepcopy(values[pair[0]])
        for change in pair[1]:
            value = _changed(value, *change)
        return dump(value)

    numbers = st.integers(0, len(values) - 1)
    return st.tuples(numbers, st.lists(changes, min_size=1, max_size=3)).map(written)


def _places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(pairs):
        found.append((value, key))
        if isinstance(inner, (dict, list)):
            _places(inner, found)
    return found


_NAMES = ("", "x", "name", " ", "A")


def _changed(value: Any, how: str, where: float, there: float, number: int) -> Any:
    places = _places(value, []) if isinstance(value, (dict, list)) else []
    if not places:
        return copy.deepcopy(_VALUES[number])
    holder, key = places[int(where * len(places))]
    if how == "value":
        holder[key] = copy.deepcopy(_VALUES[number])
    elif how == "near":
        holder[key] = _near(holder[key])
    elif how == "drop":
        del holder[key]
    elif how == "name" and isinstance(holder, dict):
        holder[_NAMES[number % len(_NAMES)]] = holder.pop(key)
    elif how == "other":
        other, name = places[int(there * len(places))]
        holder[key] = copy.deepcopy(
            other.get(name) if isinstance(other, dict) else _at(other, name)
        )
    elif how == "wrap":
        holder[key] = [holder[key]]
    elif isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))
    return value


def _at(values: list[Any], place: int) -> Any:
    return values[place] if place < len(values) else None


def _near(value: Any) -> Any:
    """A value of the same kind beside it."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return -value
    if isinstance(value, str):
        return value[::-1] if len(value) > 1 else value + "1"
    return list(value) if isinstance(value, list | dict) else value


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=True, default=str).encode()


def _yaml(value: Any) -> bytes:
    text = yaml.safe_dump(value, allow_unicode=True, sort_keys=False)
    return text.encode("utf-8", "surrogatepass")


def _toml(value: Any) -> bytes:
    try:
        text = tomli_w.dumps(_without_none(value))
    except (TypeError, ValueError, AttributeError):  # TOML has no word for it
        return _json(value)
    return text.encode("utf-8", "surrogatepass")


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _without_none(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_none(inner) for inner in value if inner is not None]
    return value


_PLAIN: dict[str, tuple[Callable[[bytes], Any], Callable[[Any], bytes]]] = {
    "json": (json.loads, _json),
    "yaml": (yaml.safe_load, _yaml),
    "toml": (lambda content: tomllib.loads(content.decode()), _toml),
}
