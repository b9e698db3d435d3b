"""The entry of a deployment registry, as far as a plan fills it.

Field names follow the public registry of deployments of differential privacy of the OpenDP
community (registry.opendp.org), whose schema goes back to Dwork, Kohli and Mulligan 2019 and is
described by Nanayakkara, Ghazi and Vadhan 2025 (arXiv 2509.13509). What no file knows is None: the
curator fills it in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prism_core.bundle.certificate import NAME, NEIGHBOURS, REHEARSAL, Facts
from prism_core.data.schema.looks import sentences
from prism_core.explain.meaning import rows_learned_text
from prism_core.planning.wishes.curator_statement import CuratorStatement
from prism_core.text.numbers import delta_text, eps_text, rho_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prism_core.planning.plan import Plan

_COMPOSITION = {
    "zcdp": "zero-concentrated differential privacy of all steps, added up and converted tightly",
    "pld": "privacy loss distributions of all steps, composed numerically",
    "basic": "basic composition: epsilons and deltas of all steps added up",
}


def registry(
    plan: Plan, facts: Facts, date: str = "", said: CuratorStatement | None = None
) -> dict[str, Any]:
    """The entry as plain values; None where the curator has to say it. Reads no row.

    Args:
        plan: with every private choice filled in.
        facts: what the certificate says beyond it.
        date: of publication, "" where it is not known.
        said: what the curator fills in.
    """
    said = said or CuratorStatement()
    return {
        "deployment": {
            "basic": _basic(plan, facts, date, said),
            "dp_variant": {
                "variant_name": "Approximate DP",
                "data_domain": f"{len(plan.schema.columns)} columns, {plan.schema.provenance_text}",
                "unprotected_quantities": "the number of people, the declared columns with their "
                "levels and bounds, the graph, the target, epsilon and delta",
            },
            "privacy_loss": {
                "privacy_unit": "Person",
                "privacy_unit_details": f"{_unit(plan)} Neighbours: {NEIGHBOURS}.",
                "privacy_parameters": {
                    # Rounded up: a published loss must not be below the true one.
                    "epsilon": eps_text(plan.guarantee.epsilon),
                    "delta": delta_text(plan.delta),
                    "rho": rho_text(plan.guarantee.rho),
                },
                "privacy_parameters_details": "with what learning the domain or the graph cost"
                if plan.prior is not None
                else "of the whole run",
            },
            "deployment_model": {
                "model_name": "Central",
                "release_type": "One release",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "composition": _COMPOSITION[plan.budget.accountant],
                "post_processing": "fitting the model and drawing the rows use the noisy counts "
                "only, and spend nothing",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": _before(plan),
                "mechanisms": _mechanisms(plan),
                "software": f"{NAME} {facts.versions.get(NAME, 'unknown')}",
                "justification": said.justification or None,
            },
        }
    }


def _basic(plan: Plan, facts: Facts, date: str, said: CuratorStatement) -> dict[str, Any]:
    target = plan.task.target_text
    use = f"training and comparing models that predict {target}"
    asset = f" ({said.asset})" if said.asset else ""
    return {
        "name": f"Synthetic rows for predicting {target}, plan {facts.number}",
        "status": "rehearsal: no deployment" if facts.stamp == REHEARSAL else facts.stamp,
        "data_curators": said.curators,
        "description": f"{plan.rows:,} synthetic rows made from noisy counts of {plan.n:,} "
        f"people's rows{asset}",
        "intended_use": f"{said.purpose} ({use})" if said.purpose else use,
        "data_subjects": said.subjects or None,
        "data_product_type": "Synthetic data",
        "data_product_region": said.region or None,
        "data_product_sector": said.sector or None,
        "publication_date": date or None,
    }


def _unit(plan: Plan) -> str:
    return f"{_kept_rows(plan)}{rows_learned_text(plan.schema)}"


def _kept_rows(plan: Plan) -> str:
    if not plan.contribution.single:
        most = plan.contribution.max_rows
        return f"A person with all rows, of which up to {most} uniformly chosen ones are used."
    if plan.schema.person_id is not None:
        return "One uniformly chosen row per person ID."
    return "One row per person, as declared."


def _before(plan: Plan) -> str:
    parts = {"domain": plan.schema.prior, "graph": None if plan.dag is None else plan.dag.prior}
    learned = [
        f"the {what} was learned with epsilon {eps_text(prior.spent.epsilon)}"
        for what, prior in parts.items()
        if prior is not None
    ]
    if plan.schema.provenance == "private rows":
        learned.append("the description of the columns was taken from the private rows")
    found = "; ".join(learned)
    opened = " ".join(sentences(plan.schema.looks))
    if opened:
        return f"{found}. {opened}" if found else opened
    return found or "none that read a row under this plan"


def _mechanisms(plan: Plan) -> str:
    linear = sum(query.linear is not None for query in plan.with_fine)
    found = [f"discrete Gaussian noise on the counts of {len(plan.with_fine) - linear} marginals"]
    if linear:
        found.append(f"discrete Gaussian noise on {linear} sets of moments or sums of counts")
    chosen = (
        plan.selection is not None,
        plan.interactions_event,
        plan.three_way_event,
        plan.tree_event,
    )
    if any(chosen):
        rule = plan.selection.rule if plan.selection is not None else ""
        found.append(
            "private logistic regression (noisy gradient descent) for the choice of features"
            if rule == "logistic"
            else "exponential mechanism for private choices"
        )
    return "; ".join(found)


def fields(entry: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str | None]]:
    """Every field with its value as text, None where the curator has to say it."""
    for key, value in entry.items():
        where = f"{path}.{key}" if path else key
        if isinstance(value, dict):
            yield from fields(value, where)
        else:
            yield where.removeprefix("deployment."), value
