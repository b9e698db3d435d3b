"""Every public function that takes rows says in its docstring what it spends."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re

import pytest

import prism_core

ROWS = ("EncodedTable", "RawTable", "StoredTable", "BigTable", "Rows")
RELATED = ("Inputs",)  # carries rows


def modules():
    for found in pkgutil.walk_packages(prism_core.__path__, "prism_core."):
        yield importlib.import_module(found.name)


def callables(module):
    """Public functions of a module and public methods of its public classes."""
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(value):
            yield f"{module.__name__}.{name}", value
        elif inspect.isclass(value):
            for part, method in vars(value).items():
                function = getattr(method, "__func__", method)
                if not part.startswith("_") and inspect.isfunction(function):
                    yield f"{module.__name__}.{name}.{part}", function


def takes_rows(function) -> bool:
    """Annotations are texts (from __future__ import annotations), whole or in a union."""
    annotations = [str(p.annotation) for p in inspect.signature(function).parameters.values()]
    kinds = re.compile(rf"({'|'.join(ROWS)})\b|\b({'|'.join(RELATED)})\b")
    return any(kinds.search(text) for text in annotations)


def says(function) -> bool:
    return "spend" in (inspect.getdoc(function) or "").lower()


FOUND = {name: f for module in modules() for name, f in callables(module) if takes_rows(f)}


@pytest.mark.privacy
def test_every_function_that_takes_rows_says_what_it_spends():
    silent = sorted(name for name, function in FOUND.items() if not says(function))
    assert silent == []


@pytest.mark.privacy
@pytest.mark.parametrize(
    "name",
    [
        "prism_core.synthesizer.PrismSynthesizer.fit",
        "prism_core.data.encoding.encode",
        "prism_core.privacy.mechanisms.noisy_marginal",
        "prism_core.synthesis.release.release",
        "prism_core.privacy.ledger.ledger.Ledger.recognise",
        "prism_core.runs.inputs.encode_rows",
    ],
)
def test_the_search_finds_what_it_should(name):
    assert name in FOUND


def test_a_silent_function_is_found():
    def measure(table: EncodedTable) -> None:  # noqa: F821  (a text, as in the package)
        """Counts."""

    assert takes_rows(measure)
    assert not says(measure)
