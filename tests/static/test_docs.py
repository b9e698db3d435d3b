"""What the documents say of the tree is true: files, names, links, rooms and the version."""

from __future__ import annotations

import importlib
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from prism_core.planning.wishes import config
from prism_core.planning.wishes.options import options_of
from prism_core.planning.wishes.task import Budget, Synthesis, Task

ROOT = Path(__file__).parents[2]
TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
PAGES = (*TOP, *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))
MADE_UP = ("dashboard/audit", "tests/dashboard/audit")  # the example page of CONTRIBUTING
WORDS_OF_README = 900
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

_PATH = re.compile(r"(?<![\w/.-])(?:prism_core|dashboard|docs|tests|sample_data)/[\w./-]*")
_INSIDE = re.compile(r"`((?:\w+/)+\w+\.py)`")
_FILE = re.compile(r"`(\w+\.py)`")
_NAME = re.compile(r"\b(?:prism_core|dashboard)(?!\.md)(?:\.\w+)+")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_ROOMS = re.compile(r"<!-- rooms: (\w+) -->\n```mermaid\n(.*?)```", re.DOTALL)


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def files() -> list[str]:
    folders = ("prism_core", "dashboard", "tests")
    return [str(p.relative_to(ROOT)) for name in folders for p in (ROOT / name).rglob("*.py")]


@pytest.mark.parametrize("page", PAGES)
def test_files_that_a_page_names_exist(page):
    text, known = text_of(page), files()
    paths = {path.rstrip("./") for path in _PATH.findall(text)}
    gone = [p for p in paths if not p.startswith(MADE_UP) and not (ROOT / p).exists()]
    gone += [p for p in _INSIDE.findall(text) if not any(f"/{f}".endswith(f"/{p}") for f in known)]
    own = {"refit.py"}  # a file of every bundle
    gone += [p for p in set(_FILE.findall(text)) - own if not any(f.endswith(p) for f in known)]
    assert gone == []


def found(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        return True
    return False


@pytest.mark.parametrize("page", PAGES)
def test_names_that_a_page_gives_can_be_imported(page):
    assert [name for name in sorted(set(_NAME.findall(text_of(page)))) if not found(name)] == []


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    headings = _HEADING.findall(page.read_text(encoding="utf-8"))
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    lost = []
    for link in _LINK.findall(text_of(page)):
        if link.startswith(("http://", "https://")):
            continue
        place, _, anchor = link.partition("#")
        target = (ROOT / page).parent / place if place else ROOT / page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    assert lost == []


def test_the_index_names_every_page_once():
    named = re.findall(r"^\| \[(\S+\.md)\]", text_of("docs/index.md"), re.MULTILINE)
    assert named == sorted(set(named))
    assert set(named) == {Path(p).name for p in PAGES if p.startswith("docs/")} - {"index.md"}


def test_the_readme_is_short_and_shows_one_picture():
    text = text_of("README.md")
    assert len(text.split()) <= WORDS_OF_README
    (picture,) = re.findall(r"!\[[^\]]+\]\((\S+)\)", text)
    assert (ROOT / picture).stat().st_size < 300_000


def layers(package: str) -> list[set[str]]:
    """The layers that import-linter checks, from the top."""
    for contract in PROJECT["tool"]["importlinter"]["contracts"]:
        if contract["type"] == "layers" and contract["containers"] == [package]:
            return [set(re.findall(r"\w+", layer)) for layer in contract["layers"]]
    raise AssertionError(package)


def drawn(text: str) -> list[set[str]]:
    """The layers of a drawing: what stands between two arrows, once each, from the top."""
    order: list[set[str]] = []
    labels: dict[str, set[str]] = {}
    for line in text.splitlines()[1:]:
        for step in line.split("-->"):
            name, _, label = step.strip().partition("[")
            if label:
                labels[name] = set(re.findall(r"\w+", label))
            rooms = labels.get(name) or set(re.findall(r"\w+", name))
            if rooms not in order:
                order.append(rooms)
    return order


@pytest.mark.parametrize("package", ["prism_core", "dashboard"])
def test_the_drawing_of_the_rooms_is_true(package):
    """Drawing, import-linter's layers, and the files and folders that are there."""
    text = text_of("docs/architecture.md")
    rooms = drawn(dict(_ROOMS.findall(text))[package])
    assert rooms == layers(package)
    there = {
        path.stem
        for path in (ROOT / package).iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert set().union(*rooms) == there - {"__init__"}


def test_every_room_of_the_core_has_its_line():
    lines = re.findall(r"^\| `(\w+)` \|", text_of("docs/architecture.md"), re.MULTILINE)
    rooms = set().union(*layers("prism_core"))
    assert [line for line in lines if line in rooms] == lines[-len(rooms) :]
    assert set(lines[-len(rooms) :]) == rooms


def test_the_changelog_begins_with_the_version():
    versions = re.findall(r"^## (\S+)$", text_of("CHANGELOG.md"), re.MULTILINE)
    assert versions[0] == PROJECT["project"]["version"]


def test_hooks_before_a_commit_fetch_nothing():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert {repo["repo"] for repo in hooks["repos"]} == {"local"}
    assert {hook["language"] for repo in hooks["repos"] for hook in repo["hooks"]} == {"system"}


RECORDS = {
    "table": config.TableConfig,
    "task": Task,
    "budget": Budget,
    "domain": config.DomainConfig,
    "graph": config.GraphConfig,
    "synthesis": Synthesis,
    "asset": config.AssetConfig,
}


@pytest.mark.parametrize("section", RECORDS)
def test_the_page_of_the_configuration_names_every_entry_and_choice(section):
    (line,) = re.findall(
        rf"^\| `\[{section}\]` \| (.+) \|$", text_of("docs/configuration.md"), re.MULTILINE
    )
    options = options_of(RECORDS[section])
    names, choices = set(options), {str(c) for one in options.values() for c in one.choices}
    said = set(re.findall(r"`(\w+)`", line))
    assert said == names | choices
