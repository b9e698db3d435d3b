"""The run description: TOML there and back, and a sentence for whatever is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_core.data.tables.address import parse
from prism_core.errors import BudgetError, ConfigError, PrismError, TaskError
from prism_core.planning.wishes import config as configs
from prism_core.planning.wishes.config import AssetConfig, RunConfig, TableConfig
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.task import (
    ALLOCATIONS,
    ENGINES,
    MODELS,
    PAIR_RULES,
    REGIMES,
    SAMPLINGS,
    Budget,
    Shares,
    Synthesis,
    Task,
)
from prism_core.privacy.accountants.accountant import ACCOUNTANTS

MINIMAL = '[table]\ntrain = "t.csv"\nschema = "s.yaml"\n[task]\ntarget = "y"\n'
TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
NAME = TEXT.filter(str.strip)
POSITIVE = st.floats(1e-9, 1e6)
PATHS = TEXT.filter(lambda text: "\x00" not in text and "/" not in text).map(
    lambda text: Path("/data") / (text + "x.csv")
)
ROWS = PATHS.filter(lambda path: not set("*?[") & set(str(path))) | st.sampled_from(
    ["part-*.csv", "duckdb:///x.db?table=t", "postgres://me:${SECRET}@host/db?table=t&schema=s"]
).map(parse)
SHARES = st.tuples(*[st.integers(0, 10)] * 3, st.integers(1, 10)).map(
    lambda parts: Shares(
        **dict(
            zip(
                ("selection", "choice", "background", "task"),
                (part / sum(parts) for part in parts),
                strict=True,
            )
        )
    )
)
LOCKS = st.dictionaries(st.frozensets(NAME, min_size=1, max_size=3), st.floats(1e-9, 0.3)).map(
    lambda held: tuple(Lock(columns=tuple(sorted(key)), share=held[key]) for key in list(held)[:3])
)
CONFIGS = st.builds(
    RunConfig,
    table=st.builds(
        TableConfig,
        train=ROWS,
        schema=PATHS,
        holdout=st.none() | ROWS,
        dag=st.none() | PATHS,
        public=st.booleans(),
        separator=st.sampled_from(",;\t|"),
        encoding=TEXT,
    ),
    task=st.builds(
        Task,
        target=NAME,
        regime=st.sampled_from(REGIMES),
        k=st.integers(1, 99),
        weights=st.dictionaries(NAME, POSITIVE, max_size=3),
        max_joint_cells=st.integers(0, 10**6),
    ),
    budget=st.builds(
        Budget,
        epsilon=POSITIVE,
        delta=st.none() | st.floats(1e-12, 0.5),
        shares=SHARES,
        tilt=st.floats(0.0, 1.0),
        locks=LOCKS,
        accountant=st.sampled_from(sorted(ACCOUNTANTS)),
        allocation=st.sampled_from(ALLOCATIONS),
    ),
    synthesis=st.builds(
        Synthesis,
        model=st.sampled_from(MODELS),
        sampling=st.sampled_from(SAMPLINGS),
        pairs=st.sampled_from(PAIR_RULES),
        rows=st.none() | st.integers(1, 10**8),
        iterations=st.integers(1, 10**5),
        engine=st.sampled_from(ENGINES),
    ),
    asset=st.none()
    | st.builds(
        AssetConfig,
        name=TEXT,
        lifetime_epsilon=POSITIVE,
        lifetime_delta=st.none() | st.floats(1e-12, 0.5),
        why=TEXT,
    ),
)


@given(CONFIGS)
def test_a_configuration_reads_back_as_it_was_written(tmp_path_factory, config):
    path = tmp_path_factory.getbasetemp() / "config.toml"
    path.write_text(configs.dumps(config), encoding="utf-8", newline="")
    assert configs.load(path) == config


def loaded(tmp_path: Path, text: str) -> RunConfig:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    return configs.load(path)


def test_the_least_one_has_to_say(tmp_path):
    config = loaded(tmp_path, MINIMAL)
    assert config.table == TableConfig(train=tmp_path / "t.csv", schema=tmp_path / "s.yaml")
    assert config.task == Task(target="y")
    assert (config.budget, config.synthesis, config.asset) == (Budget(), Synthesis(), None)


def test_file_names_are_relative_to_the_configuration(tmp_path):
    text = MINIMAL.replace('"t.csv"', '"/data/t.csv"')
    table = loaded(tmp_path, text + '[asset]\nname = "a"\nlifetime_epsilon = 3\n').table
    assert table.train == Path("/data/t.csv")
    assert table.schema == tmp_path / "s.yaml"


WRONG = [
    ("[budget]\nepsilon = 'one'", ConfigError, "budget.epsilon", "must be a number"),
    ("[budget]\nepsilon = true", ConfigError, "budget.epsilon", "must be a number"),
    (f"[budget]\nepsilon = {'9' * 400}", ConfigError, "budget.epsilon", "must be a number"),
    ("[budget]\nepsilon = 0", BudgetError, "epsilon", "must be a number above 0"),
    ("[budget]\nepsilon = -1", BudgetError, "epsilon", "must be a number above 0"),
    ("[budget]\nepsilon = nan", BudgetError, "epsilon", "must be a number above 0"),
    ("[budget]\nepsilon = inf", BudgetError, "epsilon", "must be a number above 0"),
    ("[budget]\ndelta = 'small'", ConfigError, "budget.delta", "must be a number"),
    ("[budget]\ndelta = 0", BudgetError, "delta", "strictly between 0 and 1"),
    ("[budget]\ndelta = -1e-6", BudgetError, "delta", "strictly between 0 and 1"),
    ("[budget]\ndelta = nan", BudgetError, "delta", "strictly between 0 and 1"),
    ("[budget]\ndelta = inf", BudgetError, "delta", "strictly between 0 and 1"),
    ("[budget]\ndelta = 1", BudgetError, "delta", "strictly between 0 and 1"),
    ("[budget]\naccountant = ['zcdp']", ConfigError, "budget.accountant", "must be a text"),
    ("[budget]\naccountant = 'magic'", BudgetError, "accountant", "must be one of"),
    ("[budget]\nallocation = 'magic'", BudgetError, "allocation", "closed_form, uniform"),
    ("[budget]\nshares = 3", ConfigError, "budget.shares", "must be a section"),
    ("[budget.shares]\ntask = 'all'", ConfigError, "budget.shares.task", "must be a number"),
    ("[budget.shares]\nrest = 0.5", ConfigError, "rest", "unknown entry 'rest'"),
    ("[budget.shares]\ntask = 0.9", BudgetError, "shares", "add up to 1"),
    ("[budget.shares]\ntask = nan", BudgetError, "shares", "between 0 and 1"),
    ("[synthesis]\nrows = 'many'", ConfigError, "synthesis.rows", "must be a whole number"),
    ("[synthesis]\nrows = 2.5", ConfigError, "synthesis.rows", "must be a whole number"),
    ("[synthesis]\nrows = true", ConfigError, "synthesis.rows", "must be a whole number"),
    ("[synthesis]\nrows = 0", PrismError, "rows", "between 1 and"),
    ("[synthesis]\niterations = 0", PrismError, "iterations", "between 1 and"),
    ("[synthesis]\nmodel = 5", ConfigError, "synthesis.model", "must be a text"),
    ("[synthesis]\nengine = 'gpu'", PrismError, "engine", "auto, fast, mbi"),
    ("[synthesis]\nmodel = 'gan'", PrismError, "model", "pgm, naive_bayes"),
    ("[synthesis]\nmodal = 'pgm'", ConfigError, "modal", "Allowed: engine, iterations, model"),
    ("[asset]\nname = 7\nlifetime_epsilon = 1", ConfigError, "asset.name", "must be a text"),
    ("[asset]\nname = 'a'", ConfigError, "asset.lifetime_epsilon", "needs the entry"),
    ("[asset]\nlifetime_epsilon = 1", ConfigError, "asset.name", "needs the entry name"),
    ("[asset]\nname = 'a'\nlifetime_epsilon = 'x'", ConfigError, "asset.lifetime_epsilon", "numb"),
    ("[sampling]\nrows = 3", ConfigError, "sampling", "unknown entry 'sampling'"),
]


@pytest.mark.parametrize(("text", "kind", "field", "expected"), WRONG)
def test_a_wrong_entry_is_named(tmp_path, text, kind, field, expected):
    with pytest.raises(kind, match=expected) as caught:
        loaded(tmp_path, MINIMAL + text)
    assert caught.value.field == field
    assert str(caught.value).endswith(".")


TASK = [
    ("", "task.target", "needs the entry target"),
    ("target = 5", "task.target", "must be a text"),
    ("target = ''", "target", "must name the column"),
    ("target = 'y'\nk = 2.5", "task.k", "must be a whole number"),
    ("target = 'y'\nk = true", "task.k", "must be a whole number"),
    ("target = 'y'\nk = 0", "k", "above 0"),
    ("target = 'y'\nregime = 'magic'", "regime", "causal, graphical, predictive"),
    ("target = 'y'\nregime = ['causal']", "task.regime", "must be a text"),
    ("target = 'y'\nweights = 'x'", "task.weights", "must be a section"),
    ("target = 'y'\nweights = [1, 2]", "task.weights", "must be a section"),
    ("target = 'y'\nweights = {a = 'x'}", "weights", "weight of 'a'"),
    ("target = 'y'\nweights = {a = nan}", "weights", "weight of 'a'"),
    ("target = 'y'\nmax_joint_cells = 1.5", "task.max_joint_cells", "whole number"),
]


@pytest.mark.parametrize(("text", "field", "expected"), TASK)
def test_a_wrong_task_is_named(tmp_path, text, field, expected):
    document = MINIMAL.partition("[task]")[0] + f"[task]\n{text}\n"
    with pytest.raises((ConfigError, TaskError), match=expected) as caught:
        loaded(tmp_path, document)
    assert caught.value.field == field


TABLE = [
    ("", "table.train", "needs the entry train"),
    ("train = 't.csv'", "table.schema", "needs the entry schema"),
    ("train = 5\nschema = 's'", "table.train", "must be a text"),
    ("train = 't'\nschema = 's'\ndag = 5", "table.dag", "must be a text"),
    ("train = 't'\nschema = 's'\nholdout = []", "table.holdout", "must be a text"),
    ("train = 't'\nschema = 's'\npublic = 'yes'", "table.public", "must be true or false"),
    ("train = 't'\nschema = 's'\npublic = 1", "table.public", "must be true or false"),
    ("train = 't'\nschema = 's'\nseparator = 5", "table.separator", "must be a text"),
    ("train = 't'\nschema = 's'\nencoding = 8", "table.encoding", "must be a text"),
    ("train = 't'\nschema = 's'\nsecret = true", "secret", "unknown entry 'secret'"),
]


@pytest.mark.parametrize(("text", "field", "expected"), TABLE)
def test_a_wrong_table_is_named(tmp_path, text, field, expected):
    with pytest.raises(ConfigError, match=expected) as caught:
        loaded(tmp_path, f"[table]\n{text}\n[task]\ntarget = 'y'\n")
    assert caught.value.field == field


@pytest.mark.parametrize("text", ["[table", "a = ", "table = 5\n[task]\ntarget = 'y'", "\x00"])
def test_what_is_no_toml_is_refused(tmp_path, text):
    with pytest.raises(ConfigError, match=r"not valid TOML|must be a section"):
        loaded(tmp_path, text)


def test_a_file_that_cannot_be_read(tmp_path):
    (tmp_path / "latin.toml").write_bytes("a = 'é'".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"'latin\.toml' is not UTF-8 text"):
        configs.load(tmp_path / "latin.toml")
    with pytest.raises(ConfigError, match=r"'absent\.toml' does not exist"):
        configs.load(tmp_path / "absent.toml")
