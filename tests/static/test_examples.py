"""Every example of README, CONTRIBUTING and docs/ is run, in order, from a fresh folder.

A block is Python, a file (YAML and TOML; `<!-- file: NAME -->` above it says which), or commands.
What takes minutes is run with fewer seeds and fewer held-out rows; as it stands in the tests marked
`long`. What cannot be run here (it installs, or measures for hours) is listed with its reason, and
of `prism` at least the options are looked at.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from prism_core import Ledger, SecureNoise, release
from prism_core.bundle import manifest
from prism_core.bundle.report import report_copy
from prism_core.cli import main
from prism_core.data.schema import looks, schema_file
from prism_core.hosting import configuration
from prism_core.learning.domain.outline_io import has_requests, loads_outline
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes import config, scenario_files
from prism_core.planning.wishes.scenario import Scenario
from prism_core.runs.inputs import fresh_rng, gather, plan_for, ready
from prism_core.structure import formats
from tests.support.hosting import hosting_file

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")),
)
HELD = 1_000  # rows of the sample kept aside, in the short test

_BLOCK = re.compile(
    r"(?:<!-- file: (?P<file>\S+) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)

NOT_RUN = {
    "python3 -m venv": "installs",
    "python3.11 -m venv": "installs",
    "export PRISM_COMPARATOR_PYTHON_DPMM": "names another Python",
    "python tests/": "a test or a benchmark of its own",
    "python -m pytest": "these tests themselves",
    "HYPOTHESIS_PROFILE=deep": "these tests themselves",
    "prism-dashboard": "runs until it is stopped; tests/browser starts it",
    "prism comparator CONFIG.toml --method dpmm-mst": "needs another package",
    "prism reproduce": "minutes to hours; see test_reproduce_cli.py",
    "prism bench": "minutes; see test_bench.py",
    "pip install": "installs",
    "psql": "needs a database",
    "export PRISM_LEDGER=": "needs a database; see test_ledger_database.py",
    "export PYSPARK_SUBMIT_ARGS=": "for a Spark of one's own; see test_spark.py",
    "0 6 * * *": "a line of cron; see test_ledger_transfer.py",
    "prism recover": "needs a run whose folder could not be written; see test_recovery.py",
}
RUN_AFTER_ALL: dict[str, list[str]] = {
    "prism reproduce scm-spurious --epsilon 1 --seeds 3 --methods causal-opt,mst "
    "--setting ours": [],
    "prism reproduce table docs/results.json --readme docs/reproduce.md": [],
    "prism bench fit --columns 200 --json": ["--no-mbi"],  # mbi alone takes many minutes
}
"""The shortest of what takes minutes or hours, run where a page is run as it stands; with options
that come after."""
SHORTER = {"prism rehearse": ["--epsilon", "1", "--seeds", "1", "--jobs", "1"]}
"""Options that come after those of the example in the short test."""
STATUS = {"prism verify stays": 3}
"""Consistent, not authenticated: no key was compared, as the page says."""
FEWER = (
    ("20_000", "1_000"),
    ("epsilons=(0.2, 1.0, 4.0))", "epsilons=(1.0,), seeds=1)"),
    ("epsilon=1.0)", "epsilon=1.0, seeds=1)"),
)


@dataclass(frozen=True)
class Block:
    """An example as it stands."""

    language: str
    text: str
    file: str | None

    @property
    def commands(self) -> list[str]:
        """Its lines as commands, without what they are explained by."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [line for line in lines if shlex.split(line, comments=True)]


def blocks(page: str) -> list[Block]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [Block(m["language"], m["text"], m["file"]) for m in _BLOCK.finditer(text)]


@dataclass
class Desk:
    """A fresh folder in which the examples of a page are run."""

    page: str
    whole: bool
    capsys: Any
    names: dict[str, object] = field(default_factory=dict)

    def prism(self, *arguments: object, status: int = 0) -> str:
        """What a command prints."""
        self.capsys.readouterr()
        found = main.main([str(argument) for argument in arguments])
        said = self.capsys.readouterr()
        assert found == status, f"{self.page}: prism {' '.join(map(str, arguments))}: {said.err}"
        assert "holds nothing" not in said.out + said.err, arguments
        return said.out

    def run(self, line: str) -> None:
        """One line of a block of commands."""
        words = shlex.split(line, comments=True)
        command = " ".join(words)
        words = [PLACEHOLDERS[word](self) if word in PLACEHOLDERS else word for word in words]
        really = self.whole and command in RUN_AFTER_ALL
        if any(command.startswith(start) for start in NOT_RUN) and not really:
            if words[0] == "prism":
                main._parser().parse_args(words[1:])
            for word in words:
                assert not word.startswith("tests/") or (ROOT / word).exists(), line
            return
        if words[0] == "prism":
            for start, make in BEFORE.items():
                if command.startswith(start):
                    make(self)
            short = RUN_AFTER_ALL.get(command, [])
            short = short if self.whole else SHORTER.get(" ".join(words[:2]), [])
            if "--pdf" in words and report_copy.chromium() is None:
                return
            self.prism(*words[1:], *short, status=STATUS.get(command, 0))
            return
        assert words[0] in ("openssl", "python"), f"{self.page}: {line} is not run"
        if shutil.which(words[0]) is None and words[0] == "openssl":
            return
        line = line.replace("python ", f"{shlex.quote(sys.executable)} ")
        done = subprocess.run(line, shell=True, check=False, capture_output=True, text=True)
        assert done.returncode == 0, f"{self.page}: {line}: {done.stderr}"


def sample(desk: Desk) -> None:
    """The sample, and the files that docs/commands.md puts beside it."""
    desk.prism("sample-data", "readmission", "--out", "demo")
    cut(desk)
    for block in blocks("docs/commands.md"):
        if block.file is not None:
            Path(block.file).write_text(block.text)


def cut(desk: Desk) -> None:
    """In the short test, fewer rows to score on."""
    path = Path("demo", "test.csv")
    if not desk.whole:
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(lines[: HELD + 1]))


def charged(desk: Desk) -> None:
    """A private run in `run`, charged; its held-out rows, and open rows of other people."""
    sample(desk)
    lines = Path("demo/test.csv").read_text().splitlines(keepends=True)
    half = len(lines) // 2
    Path("test.csv").write_text("".join(lines[:half]))
    Path("open.csv").write_text("".join([lines[0], *lines[half:]]))
    desk.prism("release", "demo/private.toml", "--out", "run")


def configured(desk: Desk) -> None:
    """The sample's configuration as CONFIG.toml, with the scenarios of docs/commands.md."""
    sample(desk)
    Path("CONFIG.toml").write_text(
        Path("demo/config.toml")
        .read_text()
        .replace('= "train', '= "demo/train')
        .replace('= "test', '= "demo/test')
        .replace('= "schema', '= "demo/schema')
        .replace('= "dag', '= "demo/dag')
    )
    Path("other.toml").rename("scenarios.toml")


def in_bundle(desk: Desk) -> None:
    """Inside a signed folder, with the release that it was written from."""
    charged(desk)
    loaded = config.load("demo/private.toml")
    inputs, rng = gather(loaded), fresh_rng()
    desk.names["release"] = release(
        plan_for(loaded, inputs),
        ready(inputs.schema, inputs.raw, public=False, rng=rng),
        ledger=Ledger(),
        asset="readmissions 2024",
        noise=SecureNoise(),
        rng=rng,
    )
    os.chdir("run")


def rehearsed(desk: Desk) -> None:
    configured(desk)
    loaded = config.load("CONFIG.toml")
    inputs = gather(loaded)
    desk.names |= {
        "schema": inputs.schema,
        "dag": inputs.dag,
        "folder": Path("points"),
        "scenario": Scenario(
            name="this plan", task=loaded.task, budget=loaded.budget, synthesis=loaded.synthesis
        ),
    }


def beside_report(desk: Desk) -> None:
    """The files that the report takes along, made by the commands that it names."""
    if desk.page != "docs/report.md" or Path("evaluation.json").exists():
        return
    holdout = ["--holdout", "demo/test.csv"]
    Path("evaluation.json").write_text(desk.prism("evaluate", "run", *holdout, "--json"))
    desk.prism("evaluate", "run", *holdout, "--private", 1, "--out", "private-evaluation.json")
    Path("rehearsed.json").write_text(
        desk.prism("rehearse", "demo/private.toml", *SHORTER["prism rehearse"], "--json")
    )


def results(_desk: Desk) -> None:
    """The file of results and the page with its table, as in the repository."""
    Path("docs").mkdir(exist_ok=True)
    for name in ("docs/results.json", "docs/reproduce.md"):
        shutil.copyfile(ROOT / name, name)


def nothing(desk: Desk) -> None:
    """No example of the page needs a file."""


SETUP: dict[str, Callable[[Desk], None]] = {
    "docs/bundle.md": in_bundle,
    "docs/comparators.md": configured,
    "docs/holdout.md": charged,
    "docs/inspect.md": charged,
    "docs/rehearsals.md": rehearsed,
    "docs/report.md": sample,
}
BEFORE: dict[str, Callable[[Desk], None]] = {
    "prism report run --": beside_report,
    "prism reproduce table": results,
}
PLACEHOLDERS: dict[str, Callable[[Desk], str]] = {
    "DIGEST": lambda desk: json.loads(
        desk.prism("ledger", "verify", "--workspace", "trial", "--json")
    )["head"],
    "FINGERPRINT": lambda desk: desk.prism("ledger", "key", "--workspace", "trial").split()[0],
    "NAME": lambda desk: "readmissions 2024",
    "CHARGE": lambda desk: "1",
}


@pytest.fixture
def desk(request, tmp_path, monkeypatch, capsys) -> Desk:
    page, whole = request.param
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRISM_WORKSPACE", str(tmp_path / "workspace"))
    made = Desk(page=page, whole=whole, capsys=capsys)
    SETUP.get(page, nothing)(made)
    return made


BOTH = [pytest.param((page, False), id=page) for page in PAGES] + [
    pytest.param((page, True), id=f"{page}-whole", marks=pytest.mark.long) for page in PAGES
]
LONG_PYTHON = ("docs/reproduce.md",)


@pytest.mark.slow
@pytest.mark.parametrize("desk", BOTH, indirect=True)
def test_the_examples_of_a_page_run_in_order(desk):
    for block in blocks(desk.page):
        if block.file is not None:
            Path(block.file).write_text(block.text)
        elif block.language == "python":
            python(desk, block)
        elif block.language == "":
            for line in block.commands:
                desk.run(line)
                if line.startswith("prism sample-data"):
                    cut(desk)


def python(desk: Desk, block: Block) -> None:
    """A block of Python: all of it, or, where that takes minutes, its imports alone."""
    code = block.text
    if not desk.whole and desk.page in LONG_PYTHON:
        code = "\n".join(line for line in code.splitlines() if re.match("from|import", line))
        assert code
    for many, few in () if desk.whole else FEWER:
        code = code.replace(many, few)
    if "2638417f483d630b" in code:  # a fingerprint of somebody's workspace
        code = code.replace("2638417f483d630b", manifest.signer(Path.cwd()) or "")
    exec(compile(code, desk.page, "exec"), desk.names)


@pytest.mark.parametrize("page", PAGES)
def test_yaml_and_toml_are_read(page, tmp_path):
    for block in blocks(page):
        if block.language == "yaml":
            document = schema_file.parse(block.text)
            if "looks" in document:
                assert looks.from_list(document["looks"])
            elif has_requests(block.text):
                assert loads_outline(block.text).requests
            else:
                _write_maps(tmp_path)
                (tmp_path / "schema.yaml").write_text(block.text)
                assert schema_file.load(tmp_path / "schema.yaml").columns
        elif block.language == "toml":
            _toml(block.text, tmp_path)


def _write_maps(folder: Path) -> None:
    """What docs/wide.md says of the two files that its schema names."""
    (folder / "procedures.csv").write_text("P1,A\nP2,B\n")
    (folder / "icd10.csv").write_text("I50.1\nE11.9\n")


def _toml(text: str, folder: Path) -> None:
    """An example, in the place of the same sections of the sample's configuration."""
    sample_config = ROOT / "sample_data" / "readmission" / "config.toml"
    base = config.load(sample_config)
    if "[[scenario]]" in text:
        plan = Scenario(name="a", task=base.task, budget=base.budget, synthesis=base.synthesis)
        assert scenario_files.loads(text, base=plan)
        return
    document, found = tomllib.loads(sample_config.read_text()), tomllib.loads(text)
    if set(found) & {"auth", "identity", "committee", "sources"}:
        hosting_file(folder / "hosting.toml")
        login = "" if "auth" in found else (folder / "hosting.toml").read_text()
        (folder / "hosting.toml").write_text(f"{login}{text}")
        (folder / "hosting.toml").chmod(0o600)
        assert configuration.load(folder / "hosting.toml").address
        return
    if {"table", "task"} <= set(found):
        document = {}
    for section, entries in found.items():
        document[section] = {**document.get(section, {}), **entries}
    loaded = config.from_dict(document, folder=folder)
    if loaded.budget.locks:
        schema = ROOT / "sample_data" / "readmission" / "schema.yaml"
        dag = formats.read(ROOT / "sample_data" / "readmission" / "dag.json")
        plan = design(Brief(schema_file.load(schema), loaded.task, loaded.budget, 20_000, dag=dag))
        assert any(query.locked for query in plan.queries)
        assert not any("holds nothing" in warning for warning in plan.warnings)


def test_what_is_not_run_is_still_there():
    """The list of what is not run, and that of pages with files of their own, do not rot."""
    lines = [
        " ".join(shlex.split(line, comments=True))
        for page in PAGES
        for block in blocks(page)
        if block.language == ""
        for line in block.commands
    ]
    for start in (*NOT_RUN, *RUN_AFTER_ALL, *SHORTER, *STATUS, *BEFORE):
        assert any(line.startswith(start) for line in lines), start
    assert set(SETUP) <= set(PAGES)
    assert {b.language for page in PAGES for b in blocks(page)} <= {
        "",
        "python",
        "yaml",
        "toml",
        "mermaid",
    }
