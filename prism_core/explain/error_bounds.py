"""Bounds of the paper's theorems for a plan before a row is read: expectations and guarantees.

An expectation says what the noise does on average. A guarantee holds but for a stated chance; some
need an assumption that no row can confirm, and say so. Everything is a function of public facts
and rounded up. A value above 1 says nothing about a distribution or a risk: `Bound.value` is None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeGuard

from prism_core.errors import BudgetError
from prism_core.planning.shrinkage import may_move_pairs
from prism_core.text.numbers import percent, up

if TYPE_CHECKING:
    from prism_core.planning.plan import Plan
    from prism_core.planning.queries import Query

BoundKind: TypeAlias = Literal["expectation", "guarantee", "assumption"]

KIND_WORDS: dict[BoundKind, str] = {
    "expectation": "expectation",
    "guarantee": "guarantee",
    "assumption": "guarantee under an assumption",
}

HISTOGRAM = "High-probability l1 error for Gaussian histogram (proposition)"
SAMPLING = "From empirical to population (remark), with the concentration of multinomials"
TREE = "Chow–Liu reconstruction error (proposition)"
ERM = "Excess risk of ERM on synthetic data (theorem)"
MEAN = "Mean absolute value of Gaussian noise"

HYPOTHESES = (
    "linear scores on the one-hot levels of S and a constant, weights of Euclidean length at most "
    "1, judged by the ramp loss (0 to 1, slope 1), one class against the rest"
)

# Far above what a few float operations lose (1e-16 each), and too small to be seen.
_UP = 1.0 + 1e-12


@dataclass(frozen=True, kw_only=True)
class Bound:
    """One number of the theory, with what it is worth.

    Attributes:
        name: what is bounded.
        raw: as the formula gives it, possibly above 1; None where nothing can be said.
        kind: expectation, guarantee, or guarantee under an assumption.
        theorem: its name in the paper.
        sentence: what it means, with the assumption where there is one. Of a guarantee above 1 it
            says that instead, as nothing else would be true.
        failing: chance that a guarantee does not hold; 0 for an expectation.
    """

    name: str
    raw: float | None
    kind: BoundKind
    theorem: str
    sentence: str
    failing: float = 0.0

    def __post_init__(self) -> None:
        if self.raw is not None and not 0.0 <= self.raw < math.inf:
            raise BudgetError("A bound must be a finite number, at least 0.", field="bounds")
        if self.raw is not None and self.value is None and self.kind != "expectation":
            said = (
                f"The formula gives {up(self.raw)}, and a guarantee above 1 promises nothing. More "
                "people, a larger epsilon or fewer features would lower it."
            )
            object.__setattr__(self, "sentence", said)

    @property
    def value(self) -> float | None:
        """The number, or None where it is no bound at all: unknown, or above 1."""
        return self.raw if self.raw is not None and self.raw <= 1.0 else None

    @property
    def text(self) -> str:
        """The number in words, rounded up."""
        if self.value is not None:
            return up(self.value)
        return "above 1" if self.kind == "expectation" else "no guarantee"


@dataclass(frozen=True, kw_only=True)
class MarginalBounds:
    """What is known of one noisy marginal against the marginal of the rows.

    Attributes:
        label: the marginal in words.
        pool: the pool that pays.
        cells: of the marginal.
        expected: l1 error over n, on average.
        l1: l1 error over n that is kept but for beta.
        tv: total variation, half of it.
    """

    label: str
    pool: str
    cells: int
    expected: Bound
    l1: Bound
    tv: Bound


@dataclass(frozen=True, kw_only=True)
class ErmBound:
    """The excess-risk bound of whoever trains on the synthetic rows, in its three terms.

    Attributes:
        terms: 2 Delta_S, 4 Rademacher, and the deviation of the synthetic sample.
        total: their sum; without a number where the theorem does not apply.
        iid: whether the plan samples as the theorem assumes.
    """

    terms: tuple[Bound, Bound, Bound]
    total: Bound
    iid: bool

    @property
    def text(self) -> str:
        """The figure in words."""
        parts = "; ".join(f"{term.name}: {term.text}" for term in self.terms)
        return f"{parts}. Together: {self.total.text}."


@dataclass(frozen=True, kw_only=True)
class PlanBounds:
    """All bounds of a plan.

    Attributes:
        beta: chance that one bound fails.
        p_min: smallest share of a level that occurs, as the curator declares it.
        marginals: every marginal known now, in the plan's order.
        sampling: how far the rows' (S, Y) is from the population's, as total variation.
        delta_s: how far the model's (S, Y) is from the population's.
        erm: excess risk of training on synthetic rows.
    """

    beta: float
    p_min: float | None
    marginals: tuple[MarginalBounds, ...]
    sampling: Bound
    delta_s: Bound
    erm: ErmBound

    @property
    def task(self) -> tuple[MarginalBounds, ...]:
        """Marginals that the task pool pays for: with the target, or of two features of S."""
        return tuple(line for line in self.marginals if line.pool == "task")


def bounds(
    plan: Plan,
    *,
    beta: float = 0.05,
    p_min: float | None = None,
    residual: float | None = None,
    target: str | None = None,
) -> PlanBounds:
    """Everything the theory says about a plan. Reads no row, spends nothing.

    Args:
        plan: the plan.
        beta: chance that one bound may fail.
        p_min: smallest share that any level of S or Y which occurs has in the population; a
            declaration from public knowledge. Without it pairs alone give no bound on (S, Y).
        residual: after a run, l1 distance over n between the fitted and the noisy joint (S, Y).
        target: of several, the one that S, Y and the risk are of; the first when None.

    Raises:
        BudgetError: for an unusable beta, p_min or residual.
        TaskError: when `target` is no target.
    """
    _check(beta, p_min, residual)
    if plan.several or target is not None:
        plan = plan.for_target(plan.task.target if target is None else target)
    delta_s = _delta_s(plan, beta, p_min, residual)
    return PlanBounds(
        beta=beta,
        p_min=p_min,
        delta_s=delta_s,
        erm=_erm(plan, beta, delta_s),
        marginals=tuple(_marginal(query, plan.mass, beta) for query in plan.queries),
        sampling=_sampling(plan, beta),
    )


def noise_l1(cells: int, sigma: float, n: int, beta: float) -> float:
    """l1 error over n of one noisy marginal that is kept with probability 1 - beta; rounded up.

    |Omega| (sigma / n) sqrt(2 ln(c |Omega| / beta)), a union over the cells; c = 1, as in the
    paper, for sigma >= 1 and c = 2 below.

    Proof for the integer noise that is drawn, X with P(X = x) = exp(-x^2 / (2 sigma^2)) / Z. For a
    whole m >= 1, P(|X| >= m) = exp(-m^2 / (2 sigma^2)) sum_k 2 exp(-(2 m k + k^2) / (2 sigma^2))
    / Z over k >= 0. The sum is largest for m = 1, where it is e^x (Z - 1) with x = 1 / (2 sigma^2).
    So P(|X| >= m) <= exp(-m^2 / (2 sigma^2)) if e^x (1 - 1/Z) <= 1, that is Z (1 - e^-x) <= 1. By
    Poisson summation Z <= sigma sqrt(2 pi) (1 + 6e-9) for sigma >= 1, and sigma (1 - e^-x) falls
    from there on (its derivative is 1 - e^-x (1 + 2 x) < 0 for x <= 1/2): at sigma = 1 the product
    is 0.987. For smaller sigma each tail is at most exp(-m^2 / (2 sigma^2)), hence 2 of them.
    The bound holds for the marginal after it was projected onto distributions, too: that does
    not lengthen the Euclidean distance, and l1 is at most sqrt(|Omega|) times it.
    """
    tails = 1.0 if sigma >= 1.0 else 2.0
    return cells * (sigma / n) * math.sqrt(2.0 * math.log(tails * cells / beta)) * _UP


def sampling_l1(cells: int, n: int, beta: float) -> float:
    """l1 distance between n independent rows and their population, kept with 1 - beta; rounded up.

    sqrt(|Omega| / n) + sqrt(2 ln(1/beta) / n): the mean by Cauchy-Schwarz (the variance of a cell's
    share is at most p / n), the deviation by McDiarmid (one row moves the distance by 2 / n).
    """
    return (math.sqrt(cells / n) + math.sqrt(2.0 * math.log(1.0 / beta) / n)) * _UP


def rademacher(features: int, rows: int) -> float:
    """Rademacher complexity of `HYPOTHESES` on so many independent rows; rounded up.

    A one-hot row of S with a constant has length sqrt(|S| + 1). Linear functions of weights at most
    1 long then have complexity at most sqrt((|S| + 1) / rows) (Kakade, Sridharan, Tewari 2008),
    and a loss of slope 1 does not raise it (Ledoux and Talagrand). Standard definition, under
    which twice the complexity enters a deviation of risks; hence 4 in the theorem, where the
    paper writes 2.
    """
    return math.sqrt((features + 1.0) / rows) * _UP


def _check(beta: object, p_min: object, residual: object) -> None:
    # The chained comparison is false for NaN, so that it is refused, too.
    if not _number(beta) or not 0.0 < beta < 1.0:
        raise BudgetError("beta must lie strictly between 0 and 1, for example 0.05.", field="beta")
    # Of two levels or more that occur, the rarest has half of the population at most.
    if p_min is not None and (not _number(p_min) or not 0.0 < p_min <= 0.5):
        raise BudgetError(
            "p_min must lie above 0 and at 0.5 at most: the smallest share of a level that occurs.",
            field="p_min",
        )
    if residual is not None and (not _number(residual) or not 0.0 <= residual <= 2.0):
        raise BudgetError("residual must lie between 0 and 2.", field="residual")


def _number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _marginal(query: Query, n: int, beta: float) -> MarginalBounds:
    l1 = _noise_l1(query, n, beta)
    sure = f"But for a chance of {percent(beta)}, the noise of this marginal stays below it."
    return MarginalBounds(
        label=query.label,
        pool=query.pool,
        cells=query.cells,
        expected=Bound(
            name="expected l1 error",
            raw=query.relative_error,
            kind="expectation",
            theorem=MEAN,
            sentence="What the noise of this marginal comes to on average; it can be more.",
        ),
        l1=Bound(
            name="l1 error",
            raw=l1,
            kind="guarantee",
            theorem=HISTOGRAM,
            failing=beta,
            sentence=sure,
        ),
        tv=Bound(
            name="total variation",
            raw=l1 / 2.0 if query.linear is None else None,
            kind="guarantee",
            theorem=HISTOGRAM,
            failing=beta,
            sentence=f"{sure} Half of the l1 error."
            if query.linear is None
            else "Moments and sums of cells are no distribution over the cells.",
        ),
    )


def _noise_l1(query: Query, n: int, beta: float) -> float:
    """As `noise_l1`; a linear query's noise is drawn in units of 1 / grid."""
    if query.linear is None:
        return noise_l1(query.cells, query.sigma, n, beta)
    return noise_l1(query.cells, query.sigma, n, beta) / query.linear.grid * _UP


def _sampling(plan: Plan, beta: float) -> Bound:
    cells = plan.domain.cells((*plan.s, plan.task.target))
    return Bound(
        name="sampling error of (S, Y)",
        raw=sampling_l1(cells, plan.n, beta) / 2.0 if _independent(plan) else None,
        kind="assumption",
        theorem=SAMPLING,
        failing=beta,
        sentence="How far the real rows themselves may be from the population they were drawn "
        "from, as total variation. It holds if they are an independent sample of it; no noise is "
        "in it.",
    )


def _independent(plan: Plan) -> bool:
    """Whether what one person adds is one share of the table, as `sampling_l1` takes it.

    The share of a cell is then a mean over persons of numbers in [0, 1], as with one row each.
    """
    return plan.contribution.single or plan.contribution.shared


def _delta_s(plan: Plan, beta: float, p_min: float | None, residual: float | None) -> Bound:
    """How far the model is off on (S, Y): by the joint where it is measured, else by the tree."""
    if not _independent(plan):
        return _unknown(
            "People have several rows that count one each, and the rows of one person are no "
            "independent sample, so the distance to the population is not bounded. Let every "
            "person weigh one for a bound.",
            "guarantee",
        )
    whole = {*plan.s, plan.task.target}
    joint = next(
        (query for query in plan.queries if set(query.clique) == whole and query.linear is None),
        None,
    )
    if joint is not None:
        return _by_joint(joint, plan, beta, residual)
    if any(query.linear is not None for query in plan.queries):
        return _unknown(
            "Moments and counts between thresholds do not say where between them the values are, "
            "so the distance is not bounded. Measure numeric columns in full for a bound.",
            "guarantee",
        )
    if p_min is None:
        return _unknown(
            "Counts of single features with the target do not say how the features act together. "
            "Declare the smallest share p_min of a level to bound it under the tree assumption, "
            "or let the joint of S and the target be measured (fewer features or levels in S).",
            "guarantee",
        )
    if may_move_pairs(plan):
        return _unknown(
            "The noisy marginals are drawn together for the fit. That takes noise off them on "
            "average; the proposition is about pairs as they were measured. Choose As measured "
            "for the noisy marginals for a bound.",
            "guarantee",
        )
    return _by_tree(plan, beta, p_min)


def _unknown(sentence: str, kind: BoundKind) -> Bound:
    return Bound(name="distance on (S, Y)", raw=None, kind=kind, theorem=TREE, sentence=sentence)


def _by_joint(joint: Query, plan: Plan, beta: float, residual: float | None) -> Bound:
    """Half of noise, sampling and residual, by the triangle inequality."""
    # Half of beta each, so that noise and sampling hold together but for beta.
    noise = noise_l1(joint.cells, joint.sigma, plan.mass, beta / 2.0)
    sampled = sampling_l1(joint.cells, plan.n, beta / 2.0)
    fit = (
        "and the fitted model reproduces the noisy joint; what the fit leaves over comes on top "
        "and is known after the run."
        if residual is None
        else "what the fit left over is in it."
    )
    return Bound(
        name="distance on (S, Y)",
        raw=(noise + sampled + (residual or 0.0)) / 2.0 * _UP,
        kind="assumption",
        theorem=HISTOGRAM,
        failing=beta,
        sentence="Total variation between the model and the population on S and the target: "
        "noise of the joint and sampling error. It holds if the rows are an independent sample; "
        f"{fit}",
    )


def _by_tree(plan: Plan, beta: float, p_min: float) -> Bound:
    """|S| alpha / p_min, where population and model factor along the star of Y over S.

    The proposition leaves a term of order (alpha / p_min)^2 open. It is not needed: replace the
    conditionals P(x_j | y) by the model's one after the other. Each step costs at most
    sum_y P(y) TV(P(. | y), M(. | y)) <= TV(P_jy, M_jy) + TV(P_y, M_y) <= 2 alpha, and the margin of
    Y alpha, so the distance is at most (2 |S| + 1) alpha whatever p_min is. The larger of both is
    returned; they cross at p_min = |S| / (2 |S| + 1).

    alpha: the worst pair's noise and sampling error, all pairs at once but for beta.
    """
    target = plan.task.target
    # Of several targets only this one's: the plan still lists the others' pairs.
    pairs = [query for query in plan.queries if query.kind == "pair" and target in query.clique]
    # A union over noise and sampling of every pair, so that all hold together.
    part = beta / (2.0 * max(1, len(pairs)))
    alpha = (
        max(
            (
                noise_l1(pair.cells, pair.sigma, plan.mass, part)
                + sampling_l1(pair.cells, plan.n, part)
                for pair in pairs
            ),
            default=math.inf,
        )
        / 2.0
        * _UP
    )
    if not alpha < p_min / 2.0:
        return _unknown(
            f"The worst pair may be off by {up(alpha) if alpha < math.inf else 'anything'}, and "
            f"the proposition needs less than half of p_min, {p_min / 2.0:.3g}.",
            "assumption",
        )
    size = len(plan.s)
    return Bound(
        name="distance on (S, Y)",
        raw=max(size * alpha / p_min, (2 * size + 1) * alpha) * _UP,
        kind="assumption",
        theorem=TREE,
        failing=beta,
        sentence=f"Total variation between the model and the population on S and the target. It "
        f"holds if, given {target}, the features of S are independent of each other, in the "
        "population and in the model (a 3-way marginal, another target or a background pair within "
        "S breaks this); if p_min is declared truly; if the rows are an independent sample; and if "
        "the fitted model reproduces the noisy pairs.",
    )


def _erm(plan: Plan, beta: float, delta_s: Bound) -> ErmBound:
    rows = plan.rows
    distance = Bound(
        name="2 Δ_S, noise and sampling",
        kind=delta_s.kind,
        theorem=ERM,
        failing=delta_s.failing,
        raw=None if delta_s.raw is None else 2.0 * delta_s.raw,
        sentence="Twice the distance between the model and the population on S and the target.",
    )
    complexity = Bound(
        name="4 Rademacher, size of the class",
        # Of the synthetic rows: they are what a learner trains on.
        raw=4.0 * rademacher(len(plan.s), rows),
        kind="assumption",
        theorem=ERM,
        sentence=f"How well the hypotheses fit chance in {rows:,} synthetic rows: {HYPOTHESES}.",
    )
    iid = plan.synthesis.sampling == "iid"
    deviation = Bound(
        name="deviation of the synthetic sample",
        theorem=ERM,
        failing=beta,
        kind="guarantee" if iid else "assumption",
        raw=2.0 * math.sqrt(math.log(2.0 / beta) / (2.0 * rows)) * _UP,
        sentence="Synthetic rows are a sample of the model, drawn independently; more of them make "
        "this term smaller."
        if iid
        else "What it would be if the rows were drawn independently; this plan rounds instead.",
    )
    terms = (distance, complexity, deviation)
    known = [term.raw for term in terms if term.raw is not None]
    # A sum without one of its terms would be too small to be a bound.
    whole = math.fsum(known) * _UP if iid and len(known) == len(terms) else None
    total = Bound(
        name="excess risk",
        kind="assumption",
        theorem=ERM,
        failing=delta_s.failing + beta,
        raw=whole,
        sentence=_risk_sentence(whole, delta_s.failing + beta, iid=iid),
    )
    return ErmBound(terms=terms, total=total, iid=iid)


def _risk_sentence(whole: float | None, failing: float, *, iid: bool) -> str:
    if not iid:
        return (
            "The theorem holds for independent draws, and this plan rounds when it samples. "
            "Choose the sampling iid for it to apply."
        )
    if whole is None:
        return "The distance on S and the target is not bounded, so neither is the sum."
    return (
        f"But for a chance of {percent(failing)}, whoever trains by minimising the risk on the "
        "synthetic rows loses at most this much against the best of the same hypotheses, in the "
        "population."
    )
