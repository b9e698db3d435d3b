"""MST, AIM and independent columns: what they spend, in which order, and what they find."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_core.cli.main import main
from prism_core.comparators import COMPARATORS, design_comparator, folder, run_comparator
from prism_core.comparators.adaptive_run import scores, weighted_sensitivity
from prism_core.comparators.comparator_plan import (
    RhoFilter,
    exponential,
    gaussian,
    weighted_closure,
)
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.data.tables.raw_table import read_table
from prism_core.errors import (
    BudgetError,
    CancelledError,
    EvaluationError,
    LedgerError,
    OverspentError,
    PlanError,
    PrismError,
    PrivacyError,
)
from prism_core.planning.tree.junction_tree import forecast
from prism_core.privacy.accountants.accountant import accountant
from prism_core.privacy.events import ExponentialEvent, GaussianEvent
from prism_core.privacy.learning_charge import LearningCharge
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.noise import SecureNoise, SeededNoise
from prism_core.runs.finished_run import candidate
from tests.support.noise import Tape
from tests.support.refusals import refused

METHODS = tuple(COMPARATORS)


def domain(*sizes: int, **about: object) -> Schema:
    columns = tuple(
        Column(name=f"c{i}", kind="categorical", levels=tuple(range(size)))
        for i, size in enumerate(sizes)
    )
    return Schema(columns=columns, one_row_per_person=True, **about)


def rows(schema: Schema, n: int, seed: int = 0, *, public: bool = True) -> EncodedTable:
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, schema.size(name), n) for name in schema.names]
    return EncodedTable(schema=schema, codes=np.stack(codes, 1).astype(np.int32), public=public)


class Untouchable:
    """Rows that must not be counted."""

    def __init__(self, schema: Schema, n: int) -> None:
        self.schema, self.n, self.public = schema, n, False
        self.people, self.contribution = n, schema.contribution

    def counts(self, cliques):
        raise AssertionError("rows were read")


@pytest.mark.privacy
@pytest.mark.parametrize("method", METHODS)
@given(
    epsilon=st.floats(0.01, 20.0),
    delta=st.floats(1e-12, 0.1),
    seed=st.integers(0, 99),
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    n=st.integers(2, 60),
    degree=st.sampled_from([2, 3]),
)
def test_what_is_spent_never_exceeds_epsilon_and_delta(
    method, epsilon, delta, seed, sizes, n, degree
):
    schema = domain(*sizes)
    plan = design_comparator(method, schema, n, epsilon, delta, degree=degree, rows=5)
    rng = np.random.default_rng(seed)
    made = run_comparator(plan, rows(schema, n), ledger=None, noise=SeededNoise(rng), rng=rng)
    rho = accountant("zcdp").amount(epsilon, delta)
    assert math.fsum(event.rho for event in made.events) <= plan.rho <= rho
    assert made.spent.epsilon <= epsilon
    assert plan.spent.epsilon <= epsilon
    assert all(type(event) in (GaussianEvent, ExponentialEvent) for event in made.events)
    assert made.measurements == sum(isinstance(e, GaussianEvent) for e in made.events)
    assert made.codes.shape == (5, len(sizes))
    if method == "aim":  # its last round takes what is left
        assert made.spent.rho >= plan.rho * (1.0 - 1e-9)
    assert math.fsum(event.rho for event in plan.events) <= plan.rho


@pytest.mark.privacy
def test_a_purse_is_never_overdrawn():
    purse = RhoFilter(0.5)
    purse.pay(gaussian(0.3))
    with pytest.raises(PrivacyError, match="spend more"):
        purse.pay(exponential(0.2 + 1e-9, 3))
    assert len(purse.events) == 1
    purse.pay(gaussian(purse.left))
    assert purse.spent <= 0.5
    for bad in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(PrivacyError):
            RhoFilter(bad)


@pytest.mark.privacy
def test_scores_move_by_their_sensitivity_at_most():
    """Every table with 3 rows over 2 x 2, every replaced row, several weights and models."""
    schema = domain(2, 2)
    cliques = [("c0",), ("c0", "c1")]
    weights = {("c0",): 1.0, ("c0", "c1"): 3.0}
    cells = list(itertools.product(range(2), repeat=2))
    rng = np.random.default_rng(0)
    bound, worst = weighted_sensitivity(cliques, weights), 0.0
    for _ in range(4):
        model = {clique: rng.random((2,) * len(clique)) * 3 for clique in cliques}
        penalties = {clique: float(rng.random()) for clique in cliques}

        def score(some, model=model, penalties=penalties):
            table = EncodedTable(schema=schema, codes=np.array(some, dtype=np.int32), public=True)
            return np.array(scores(table, cliques, model, weights, penalties))

        for some in itertools.combinations_with_replacement(cells, 3):
            before = score(some)
            for other in cells:
                worst = max(worst, float(np.abs(score((other, *some[1:])) - before).max()))
    assert bound == 6.0
    assert bound / 2 < worst <= bound * (1.0 + 1e-9)


def test_weights_are_the_overlap_with_the_workload():
    schema = domain(2, 3, 4, 5)
    names = schema.names
    found = weighted_closure(schema, 3, 10_000)
    asked = list(itertools.combinations(names, 3))
    assert len(found) == 4 + 6 + 4
    for clique, weight in found.items():
        assert weight == sum(len(set(clique) & set(s)) for s in asked)
    small = weighted_closure(schema, 3, 24)  # 2 x 3 x 4 alone
    assert set(small) == {(n,) for n in names} | {
        ("c0", "c1"),
        ("c0", "c2"),
        ("c1", "c2"),
        ("c0", "c1", "c2"),
    }


@pytest.mark.privacy
def test_noise_is_that_of_replace_one_neighbours():
    schema = domain(2, 3, 2)
    plan = design_comparator("mst", schema, 1000, 1.0, 1e-6)
    rho = accountant("zcdp").amount(1.0, 1e-6)
    one_way = next(e for e in plan.events if isinstance(e, GaussianEvent))
    assert one_way.sigma == pytest.approx(math.sqrt(2.0) / math.sqrt(2.0 * rho / 3 / 3))
    choice = next(e for e in plan.events if isinstance(e, ExponentialEvent))
    assert choice.count * choice.epsilon**2 / 8 == pytest.approx(rho / 3)
    assert math.fsum(e.rho for e in plan.events) == pytest.approx(rho)
    aim = design_comparator("aim", schema, 1000, 1.0, 1e-6)
    assert aim.first[0].rho == pytest.approx(0.9 * rho / 48)
    for about in COMPARATORS.values():
        assert about.neighbours.startswith("replace one")
        assert "does not know which column is to be predicted" in about.sentence


@pytest.mark.privacy
@pytest.mark.parametrize("method", METHODS)
def test_replayed_on_a_neighbour_nothing_changes(method):
    """With the noisy outputs frozen, control flow, events and rows are the same."""
    schema = domain(3, 2, 4, 2)
    table = rows(schema, 50, public=False)
    codes = table.codes.copy()
    codes[0] = (codes[0] + 1) % [3, 2, 4, 2]
    other = EncodedTable(schema=schema, codes=codes)
    plan = design_comparator(method, schema, 50, 2.0, 1e-4)
    first = Tape()
    made = run_comparator(plan, table, ledger=None, noise=first, rng=np.random.default_rng(1))
    second = Tape(first.outputs)
    again = run_comparator(plan, other, ledger=None, noise=second, rng=np.random.default_rng(1))
    assert second.played
    for before, after in zip(first.asked, second.asked, strict=True):
        assert (before.kind, before.scales) == (after.kind, after.scales)
        assert before.value.shape == after.value.shape
        moved = np.abs(before.value - after.value)
        if before.kind == "gaussian":
            assert float((moved**2).sum()) <= 2.0
        else:
            assert float(moved.max()) <= before.scales[1] * (1.0 + 1e-9)
    assert made.events == again.events
    assert (made.codes == again.codes).all()


@pytest.mark.privacy
def test_known_noise_on_private_rows_is_refused_before_a_row_is_read():
    schema = domain(2, 2)
    plan = design_comparator("aim", schema, 9, 1.0)
    rng = np.random.default_rng(0)
    with pytest.raises(PrivacyError, match="Seeded noise"):
        run_comparator(plan, Untouchable(schema, 9), ledger=None, noise=SeededNoise(rng), rng=rng)
    with pytest.raises(PlanError, match="training rows"):
        run_comparator(plan, Untouchable(schema, 8), ledger=None, rng=rng)


@pytest.fixture
def ledger(tmp_path):
    found = Ledger(tmp_path / "workspace")
    found.register("ward 7", epsilon=1.5, delta=1e-6)
    return found


@pytest.mark.privacy
@pytest.mark.parametrize("method", METHODS)
def test_the_whole_amount_is_charged_before_the_first_mechanism(method, ledger):
    schema = domain(2, 3, 2)
    plan = design_comparator(method, schema, 40, 1.0, 1e-6)
    seen: list[tuple[str, float]] = []

    def look(share: float) -> None:
        (charge,) = ledger.charges()
        seen.append((charge.state, charge.rho))

    made = run_comparator(
        plan,
        rows(schema, 40, public=False),
        ledger=ledger,
        asset="ward 7",
        rng=np.random.default_rng(0),
        progress=look,
    )
    assert set(seen) == {("reserved", plan.rho)}
    (charge,) = ledger.charges()
    assert (charge.state, charge.id, made.stamp) == ("done", made.charge, "comparator")
    assert charge.epsilon == pytest.approx(1.0)
    assert ledger.balance("ward 7").spent_epsilon == pytest.approx(1.0)
    assert COMPARATORS[method].title in charge.why


@pytest.mark.privacy
def test_without_budget_or_asset_no_row_is_read(ledger):
    schema = domain(2, 2)
    plan, table = design_comparator("mst", schema, 9, 2.0, 1e-6), Untouchable(schema, 9)
    rng = np.random.default_rng(0)
    with pytest.raises(OverspentError):
        run_comparator(plan, table, ledger=ledger, asset="ward 7", rng=rng)
    with pytest.raises(LedgerError, match="Name the data asset"):
        run_comparator(plan, table, ledger=ledger, rng=rng)
    assert ledger.charges() == ()


@pytest.mark.privacy
@pytest.mark.parametrize(("stop", "state"), [(0, "void"), (1, "failed")])
def test_a_charge_is_void_only_before_the_first_mechanism(stop, state, ledger):
    schema = domain(2, 2)
    told: list[float] = []

    def cancel(share: float) -> None:
        told.append(share)
        if len(told) > stop:
            raise CancelledError("Stopped.")

    with pytest.raises(CancelledError):
        run_comparator(
            design_comparator("aim", schema, 9, 1.0, 1e-6),
            rows(schema, 9, public=False),
            ledger=ledger,
            asset="ward 7",
            rng=np.random.default_rng(0),
            progress=cancel,
        )
    assert [charge.state for charge in ledger.charges()] == [state]


@pytest.mark.privacy
def test_what_learning_the_domain_cost_is_deducted_and_charged_where_it_is_lacking(ledger):
    prior = LearningCharge(events=(GaussianEvent(sigma=40.0, label="learning c0"),), delta=1e-6)
    plain = design_comparator("mst", domain(2, 2), 40, 1.0, 1e-6)
    schema = domain(2, 2, provenance="dp", prior=prior)
    plan = design_comparator("mst", schema, 40, 1.0, 1e-6)
    assert plan.rho == pytest.approx(plain.rho - prior.rho)
    run_comparator(
        plan,
        rows(schema, 40, public=False),
        ledger=ledger,
        asset="ward 7",
        rng=np.random.default_rng(0),
    )
    (charge,) = ledger.charges()
    assert charge.rho == pytest.approx(plain.rho)
    assert charge.epsilon == pytest.approx(1.0)
    greedy = LearningCharge(events=(GaussianEvent(sigma=1.0),), delta=1e-6)
    with pytest.raises(BudgetError, match="nothing is left"):
        design_comparator("aim", domain(2, 2, provenance="dp", prior=greedy), 40, 0.1, 1e-6)


def test_a_rehearsal_on_public_rows_charges_nobody_and_repeats(ledger):
    schema = domain(2, 3)
    plan = design_comparator("aim", schema, 40, 1.0)
    made = [
        run_comparator(
            plan, rows(schema, 40), ledger=ledger, asset="ward 7", noise=SeededNoise(rng), rng=rng
        )
        for rng in (np.random.default_rng(5), np.random.default_rng(5))
    ]
    assert ledger.charges() == ()
    assert {found.stamp for found in made} == {"rehearsal of a comparator"}
    assert (made[0].codes == made[1].codes).all()
    assert made[0].events == made[1].events


def joint_distance(made, table: EncodedTable, clique: tuple[str, ...]) -> float:
    got = EncodedTable(schema=table.schema, codes=made.codes, public=True).counts([clique])[0]
    true = table.counts([clique])[0]
    return 0.5 * float(np.abs(got / got.sum() - true / true.sum()).sum())


@pytest.mark.statistical
def test_what_each_method_can_find():
    """A chain a - b - c and an exclusive or. At epsilon 50 noise plays no part: no false alarm."""
    rng = np.random.default_rng(2)
    n = 4_000
    a = rng.integers(0, 3, n)
    b = np.where(rng.random(n) < 0.9, a, rng.integers(0, 3, n))
    c = np.where(rng.random(n) < 0.8, b % 2, rng.integers(0, 2, n))
    x, y = rng.integers(0, 2, n), rng.integers(0, 2, n)
    schema = domain(3, 3, 2, 2, 2, 2)
    codes = np.stack([a, b, c, x, y, x ^ y], 1).astype(np.int32)
    table = EncodedTable(schema=schema, codes=codes, public=True)
    found = {}
    for method in METHODS:
        plan = design_comparator(method, schema, n, 50.0, 1e-6)
        noise = np.random.default_rng(4)
        found[method] = run_comparator(
            plan, table, ledger=None, noise=SeededNoise(noise), rng=noise
        )
    chain, xor = ("c0", "c1", "c2"), ("c3", "c4", "c5")
    assert joint_distance(found["independent"], table, chain) > 0.3
    assert joint_distance(found["mst"], table, chain) < 0.03
    assert joint_distance(found["mst"], table, xor) > 0.4  # pairs alone do not show it
    assert joint_distance(found["aim"], table, chain) < 0.03
    assert joint_distance(found["aim"], table, xor) < 0.03
    labels = [e.label for e in found["mst"].events if " × " in e.label]
    assert len(labels) == 5
    assert {"c0 × c1", "c1 × c2"} <= set(labels)


@pytest.mark.parametrize("most", [50, 120])
def test_trees_stay_within_their_share(monkeypatch, most):
    """Five columns that are all but the same: every triple pays, and not every tree fits."""
    n, names = 3_000, [f"c{i}" for i in range(5)]
    rng = np.random.default_rng(6)
    first = rng.integers(0, 3, n)
    codes = [np.where(rng.random(n) < 0.8, first, rng.integers(0, 3, n)) for _ in names]
    schema = domain(3, 3, 3, 3, 3)
    table = EncodedTable(schema=schema, codes=np.stack(codes, 1).astype(np.int32), public=True)
    plan = design_comparator("aim", schema, n, 40.0, 1e-6)

    def cells() -> int:
        noise = np.random.default_rng(4)
        made = run_comparator(plan, table, ledger=None, noise=SeededNoise(noise), rng=noise)
        measured = [tuple(e.label.split(" × ")) for e in made.events if e.label.startswith("c")]
        cliques = [clique for clique in measured if set(clique) <= set(names)]
        assert max(len(clique) for clique in cliques) >= 2
        return forecast(dict.fromkeys(names, 3), cliques).cells

    assert cells() > 120
    monkeypatch.setattr("prism_core.comparators.mst_aim.TREE_CELLS", most)
    assert cells() <= most


def test_plans_name_what_is_not_allowed():
    schema = domain(2, 2)
    with refused(PlanError, "method"):
        design_comparator("gan", schema, 10, 1.0)
    with pytest.raises(PlanError, match="degree"):
        design_comparator("aim", schema, 10, 1.0, degree=4)
    with pytest.raises(PlanError, match="rows"):
        design_comparator("aim", schema, 10, 1.0, rows=0)
    for epsilon in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(BudgetError, match="epsilon"):
            design_comparator("aim", schema, 10, epsilon)
    for n in (1, 0, 2.5, True):
        with pytest.raises(PrismError):
            design_comparator("aim", schema, n, 1.0)
    people = Schema(columns=schema.columns)
    with pytest.raises(PrivacyError, match="one row"):
        design_comparator("mst", people, 10, 1.0)
    wide = domain(*[9] * 60)
    with pytest.raises(PlanError, match="degree 2"):
        design_comparator("aim", wide, 10, 1.0, degree=3)
    assert design_comparator("aim", wide, 10, 1.0, degree=2).degree == 2


# --- the command ----------------------------------------------------------------------------


def test_the_command_rehearses_on_public_rows(make_run, tmp_path, capsys):
    config, out = make_run(), tmp_path / "out"
    command = ["comparator", str(config), "--method", "mst", "--out", str(out)]
    assert main([*command, "--seed", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["stamp"] == "rehearsal of a comparator"
    assert told["neighbours"].startswith("replace one")
    assert told["neighbours_as_published"].startswith("add or remove")
    assert told["charge"] is None
    assert read_table(out / "synthetic.csv").rows == 200
    found = candidate(out, "MST")
    assert (found.method, found.charge, found.epsilon) == ("MST", None, 1.0)
    assert main([*command, "--seed", "1"]) == 0
    assert "does not know which column" in capsys.readouterr().out
    for method in ("aim", "independent"):
        other = [*command[:3], method, "--out", str(tmp_path / method), "--seed", "2"]
        assert main([*other, "--epsilon", "0.5", "--rows", "50", "--degree", "2"]) == 0
    assert main([*command[:3], "gan", "--out", str(tmp_path / "gan"), "--seed", "1"]) == 2
    assert main([*command[:4], "--out", str(config.parent), "--seed", "1"]) == 2
    (out / folder.DOCUMENT).write_text("{}", encoding="utf-8")
    with pytest.raises(EvaluationError, match="changed by hand"):
        candidate(out, "MST")


@pytest.mark.privacy
def test_the_command_charges_the_asset_of_private_rows(make_run, tmp_path, capsys):
    config, space = make_run(public=False, asset=1.2), tmp_path / "space"
    command = ["comparator", str(config), "--method", "independent", "--workspace", str(space)]
    assert main([*command, "--out", str(tmp_path / "a"), "--seed", "1"]) == 2
    assert "--seed is for tables marked public only" in capsys.readouterr().err
    assert not (space / "ledger.sqlite").exists()
    assert main([*command, "--out", str(tmp_path / "a"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["charge"] == 1
    assert candidate(tmp_path / "a", "x").charge == 1
    assert main([*command, "--out", str(tmp_path / "b"), "--asset", "Ward 7"]) == 2
    assert "lifetime" in capsys.readouterr().err
    assert not (tmp_path / "b").exists()
    assert [charge.state for charge in Ledger(space).charges()] == ["done"]


@pytest.mark.privacy
def test_where_releases_need_an_approval_a_comparator_reads_no_private_row(
    make_run, tmp_path, capsys
):
    space = tmp_path / "space"
    space.mkdir()
    (space / "settings.toml").write_text("[release]\napproval_required = true\n", "utf-8")
    command = ["comparator", "CONFIG", "--method", "mst", "--workspace", str(space), "--out"]
    command[1] = str(make_run(public=False, asset=1.2))
    assert main([*command, str(tmp_path / "a")]) == 2
    assert "cannot be approved" in capsys.readouterr().err
    assert not (space / "ledger.sqlite").exists()
    command[1] = str(make_run(name="public"))
    assert main([*command, str(tmp_path / "b"), "--seed", "1"]) == 0


def test_secure_noise_serves_every_method():
    schema = domain(2, 3)
    for method in METHODS:
        plan = design_comparator(method, schema, 30, 1.0, rows=7)
        table = rows(schema, 30, public=False)
        made = run_comparator(
            plan, table, ledger=None, noise=SecureNoise(), rng=np.random.default_rng(0)
        )
        assert made.stamp == "comparator without a ledger"
        assert len(made.table) == 7
