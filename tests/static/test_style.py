"""The phrases that docs/style.md puts aside stand nowhere in the product."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STYLE = ROOT / "docs" / "style.md"
PAIRS = 20


def refused() -> list[str]:
    table = re.search(r"<!-- refused -->\n(.*?)<!-- /refused -->", STYLE.read_text(), re.DOTALL)
    assert table is not None
    rows = [line.strip("|").split("|") for line in table[1].splitlines()[2:] if line.strip()]
    return [squeezed(first) for first, _second in rows]


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("*", "")).strip().lower()


def written(path: Path) -> str:
    """What a person may read in a file: in Python the strings, wherever a line was broken."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return squeezed(text)
    parts: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            values = [part.value for part in node.values if isinstance(part, ast.Constant)]
            parts.append("".join(map(str, values)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            parts.append(node.value)
    return squeezed("\n".join(parts))


def product() -> list[Path]:
    found = [path for room in ("dashboard", "prism_core") for path in (ROOT / room).rglob("*.*")]
    found = [path for path in found if path.suffix in (".py", ".js", ".html", ".md", ".css")]
    return [*found, ROOT / "README.md", *(p for p in (ROOT / "docs").glob("*.md") if p != STYLE)]


@pytest.fixture(scope="module")
def texts() -> dict[Path, str]:
    return {path: written(path) for path in product()}


def test_there_are_twenty_pairs():
    assert len(set(refused())) == PAIRS


@pytest.mark.parametrize("phrase", refused())
def test_no_product_file_holds(phrase, texts):
    assert [str(p.relative_to(ROOT)) for p, text in texts.items() if phrase in text] == []


def test_a_phrase_is_found_across_broken_lines(tmp_path):
    path = tmp_path / "page.py"
    path.write_text('title = (\n    "Sharing "\n    "**out**"\n)\n')
    assert "sharing out" in written(path)
