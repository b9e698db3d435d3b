"""Twenty questions to the holdout of `readmission`: what is told, and how far from the truth.

    python tests/benchmarks/reusable_holdout.py [--epsilon 1 2 4] [--tolerance .04 .02] [--seeds 3]

The rows are public (generated), the noise is known: a rehearsal. Beside the session stands what
the same zCDP would buy if every one of the twenty answers came from the rows with noise.
"""

from __future__ import annotations

import argparse
import itertools
import math
import tempfile
from pathlib import Path

import numpy as np

from prism_core.evaluation.inside_epsilon import holdout
from prism_core.evaluation.inside_epsilon.holdout import ask_holdout, open_holdout
from prism_core.evaluation.inside_epsilon.holdout_plan import UNITS, design_holdout
from prism_core.evaluation.inside_epsilon.holdout_question import question, scores
from prism_core.evaluation.tstr.learners import fit
from prism_core.privacy.noise import SeededNoise
from prism_core.runs.inputs import configured_rows, encode_holdout, gather, plan_for
from prism_core.samples.catalogue import write
from prism_core.synthesis.release import release

CAUSES = ("age", "prior_admissions_12m", "charlson_index", "heart_failure", "creatinine")


def tables(folder: Path, seed: int):
    """A release of the sample, rehearsed, and its holdout."""
    from prism_core.planning.wishes import config as configs
    from prism_core.runs.inputs import ready

    write("readmission", folder)
    config = configs.load(folder / "config.toml")
    inputs, rng = gather(config), np.random.default_rng(seed)
    table = ready(inputs.schema, inputs.raw, public=True, rng=rng)
    plan = plan_for(config, inputs)
    made = release(plan, table, ledger=None, noise=SeededNoise(rng), rng=rng)
    held = encode_holdout(
        inputs.schema,
        configured_rows(config, config.table.holdout, columns=inputs.schema.header),
        rng=rng,
        public=True,
    )
    from prism_core.data.tables.raw_table import from_frame
    from prism_core.runs.finished_run import encode_synthetic

    return encode_synthetic(inputs.schema, from_frame(made.table)), held, config.task.target


def questions(schema, target):
    """Ten models, each by accuracy and by log loss: all columns, causes, and effects."""
    others = [name for name in schema.names if name != target]
    causes = [name for name in CAUSES if name in others]
    rest = [name for name in others if name not in causes]
    asked = [
        (learner, features)
        for learner in ("logistic_onehot", "gradient_boosting")
        for features in (others, causes, causes[:2], rest, rest[-6:])
    ]
    return [
        question(schema, target, metric=metric, learner=learner, features=features)
        for learner, features in asked
        for metric in ("accuracy", "log_loss")
    ]


def share(question, made, held, target):
    """The true value on the held-out rows, as a share of the metric's range."""
    fitted = fit(question.learner, made, target=target, features=question.features)
    return float(scores(fitted, question.metric, held, target).mean()) / UNITS


def remember_fits() -> None:
    """Every session trains the same models; here each is trained once."""
    known = {}

    def once(learner, table, *, target, features=None):
        key = learner, tuple(features)
        if key not in known:
            known[key] = fit(learner, table, target=target, features=features)
        return known[key]

    holdout.fit = once


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 2.0, 4.0])
    parser.add_argument("--tolerance", type=float, nargs="+", default=[0.04, 0.02])
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    remember_fits()
    with tempfile.TemporaryDirectory() as name:
        made, held, target = tables(Path(name) / "sample", 1)
        asked = questions(made.schema, target)
        true = [share(one, made, held, target) for one in asked]
        print(f"{held.n:,} rows kept aside, {made.n:,} synthetic rows, {len(asked)} questions")
        print(
            "tolerance  epsilon  seed  from holdout  left  mean error  worst  | of holdout"
            " answers | of synthetic values | all twenty with noise (mean error)"
        )
        for tolerance, epsilon in itertools.product(options.tolerance, options.epsilon):
            plan = design_holdout(
                held.schema, target, held.n, epsilon, answers=10, tolerance=tolerance
            )
            for seed in range(options.seeds):
                print(one_session(Path(name), plan, made, held, asked, true, seed), flush=True)


def one_session(folder, plan, made, held, asked, true, seed) -> str:
    """A line on one session; errors are shares of a metric's range."""
    session = open_holdout(plan, made, held, workspace=folder, ledger=None, seed=seed)
    errors, noisy, gaps = [], [], []
    for one, truth in zip(asked, true, strict=True):
        if not session.open:
            break
        found = ask_holdout(session.place, one, made, held)
        session = found.session
        error = abs(found.entry.value / one.range - truth)
        errors.append(error)
        gaps.append(abs(found.entry.synthetic / one.range - truth))
        if found.entry.source == "holdout":
            noisy.append(error)
    told = float(np.mean(noisy)) if noisy else math.nan
    gaussian = 1.0 / (held.n * math.sqrt(2.0 * plan.spent.rho / len(asked)))
    return (
        f"{plan.tolerance:9g} {plan.epsilon:8g} {seed:5} {len(noisy):8} of {len(errors)} "
        f"{session.left:4} {np.mean(errors):10.4f} {max(errors):7.4f}  | {told:8.4f}"
        f" | {np.mean(gaps):8.4f} (worst {max(gaps):.4f}) | {gaussian * math.sqrt(2 / math.pi):.4f}"
    )


if __name__ == "__main__":
    main()
