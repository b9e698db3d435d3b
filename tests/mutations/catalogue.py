"""Planted bugs: each an exact replacement in one file, and the tests that have to notice it.

The first thirteen are those of the privacy notes, each of which happened somewhere. An edit that
no longer matches exactly once is an error, so the list cannot rot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """A planted bug.

    Attributes:
        name: in words.
        file: below the package.
        edits: pairs of text found exactly once, and what replaces it.
        killers: tests (files or node ids below `tests`) of which one has to fail.
    """

    name: str
    file: str
    edits: tuple[tuple[str, str], ...]
    killers: tuple[str, ...]

    def apply(self, package: Path) -> None:
        """Plant the bug in a copy of the package."""
        path = package / self.file
        text = path.read_text(encoding="utf-8")
        for old, new in self.edits:
            if text.count(old) != 1:
                raise ValueError(
                    f"The mutation {self.name!r} no longer applies: {old!r} stands "
                    f"{text.count(old)} times in {self.file}."
                )
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")


def _one(name: str, file: str, old: str, new: str, *killers: str) -> Mutation:
    return Mutation(name=name, file=file, edits=((old, new),), killers=killers)


RECORD = "statistical/test_record.py"
DESIGN = "property/test_design.py::test_spend_stays_within_the_declaration_from_the_first_plan_to_the_last"  # noqa: E501  # fmt: skip
MECHANISMS = "unit/test_mechanisms.py"
PIPELINE = "unit/test_pipeline.py"
CHARGING = "unit/test_charging.py"
HEAD = "unit/test_ledger_head.py"
LEDGER = "unit/test_ledger.py"
ACCOUNTANTS = "unit/test_accountants.py"
PLD = "unit/test_pld.py"
TARGETS = "unit/test_targets.py"
WARNED = "unit/test_warned.py"
LEARNED = "unit/test_learned_graph.py"
VERIFY = "unit/test_verify.py"
DRAWN = "unit/test_drawn.py"
PRIVATE = "unit/test_private_evaluation.py"
SQUARES = "unit/test_private_numeric.py"
COMPARATORS = "unit/test_comparators.py"
ADAPTIVE = "unit/test_adaptive.py"
HOLDOUT = "unit/test_holdout.py"
ROWS = "property/test_row_locality.py::test_one_row_changes_no_other_code"
HOSTILE = "unit/test_big_hostile.py"
SPARSE = "statistical/test_sparse_vector_law.py"
ROUNDS = f"{RECORD}::test_the_adaptive_rounds_replay"

AUDIT = "statistical/test_audit_regression.py"
LINEAR = "unit/test_linear.py"
LOOKS = "unit/test_looks.py"
STRANGERS = "app/test_strangers.py"
COVERAGE = "unit/test_coverage.py"
FORM = "unit/test_form_and_draft.py"

CATALOGUE = (
    _one(
        "a schema file that forgets what opened the rows", "data/schema_io.py",
        "    if schema.looks:\n", "    if not schema.looks:\n",
        f"{LOOKS}::test_schema_and_outline_carry_it_through_their_files",
    ),
    _one(
        "a change after a look keeps its provenance without a source", "data/looks.py",
        'if taken and provenance != "private rows":', "if not taken and not provenance:",
        f"{LOOKS}::test_a_change_without_a_source_is_private_whatever_the_schema_says",
    ),
    _one(
        "a change after a look is not recorded where a source is stated", "data/looks.py",
        "    if not changed:\n        return known\n",
        "    if not changed or source:\n        return known\n",
        f"{LOOKS}::test_a_change_is_recorded_only_after_a_look_and_only_where_something_changed",
    ),
    _one(
        "an upload in the place of a schema takes its looks away", "data/looks.py",
        "    timed = [*_not_before(looks), *_not_before(tuple(added))]\n",
        "    timed = [*(_not_before(tuple(added)) or _not_before(looks))]\n",
        f"{LOOKS}::test_putting_records_together_loses_nothing_and_repeats_nothing",
    ),
    _one(
        "the folder of a private file goes with the record", "data/looks.py",
        'name = text.replace("\\\\", "/").rstrip("/").rpartition("/")[2]', "name = text",
        f"{LOOKS}::test_the_name_of_a_file_is_no_place",
    ),
    _one(
        "sensitivity of a linear query for one class only", "data/linear.py",
        "largest = max(largest, 2 * int(", "largest = max(largest, int(",
        f"{LINEAR}::test_the_sensitivity_is_that_of_the_whole_matrix",
    ),
    _one(
        "a linear query measured with the noise of counts", "privacy/mechanisms.py",
        "return noise.add_discrete_gaussian(exact, sigma)",
        "return noise.add_discrete_gaussian(exact, sigma / query.grid)",
        f"{LINEAR}::test_the_noise_is_added_to_the_exact_answer",
    ),
    _one(
        "sensitivity 1 for sqrt 2", "privacy/events.py",
        "L2_SENSITIVITY = math.sqrt(2.0)", "L2_SENSITIVITY = 1.0", RECORD,
    ),
    _one(
        "noise for probabilities on counts", "privacy/mechanisms.py",
        "return noise.add_discrete_gaussian(marginal_counts(table, clique), sigma)",
        "return noise.add_discrete_gaussian(marginal_counts(table, clique), sigma / table.n)",
        RECORD,
    ),
    _one(
        "budget not split over the queries", "planning/frame.py",
        'event = self.accountant.gaussian(part, delta, " × ".join(clique))',
        'event = self.accountant.gaussian(amount, delta, " × ".join(clique))', DESIGN,
    ),
    Mutation(
        name="locked shares on top of the pool", file="planning/allocation.py",
        edits=(
            ("    rest = amount - math.fsum(held.values())\n", "    rest = amount\n"),
            ("    return max(math.fsum(parts), total) - amount\n", "    return -amount\n"),
        ),
        killers=("unit/test_locks.py", "unit/test_allocation.py"),
    ),
    _one(
        "seed fixed", "privacy/noise.py",
        "        noisy = _discrete_gaussian(sigma)(",
        "        known = SeededNoise(np.random.default_rng(0))\n"
        "        return known.add_discrete_gaussian(counts, sigma)\n"
        "        noisy = _discrete_gaussian(sigma)(",
        f"{PIPELINE}::test_two_default_runs_differ",
        "statistical/test_noise_law.py::test_two_default_runs_differ",
    ),
    Mutation(
        name="domain from the rows", file="data/counts.py",
        edits=(
            ("    return table.counts([clique])[0]",
             "    found = table.counts([clique])[0]\n"
             "    return found[tuple(slice(int(a.max()) + 1) for a in np.nonzero(found))]"),
        ),
        killers=("unit/test_counts.py", f"{MECHANISMS}::test_counts_are_integers_over_the_declared_domain"),  # noqa: E501
    ),
    _one(
        "NaN sigma accepted", "privacy/checks.py",
        "    if not 0.0 < number < math.inf:\n        raise PrivacyError(",
        "    if number <= 0.0:\n        raise PrivacyError(", MECHANISMS,
    ),
    _one(
        "selection budget not charged", "planning/plan.py",
        "        events.extend(choice.event for choice in self.selections)\n", "", RECORD,
    ),
    _one(
        "selection of further targets not charged", "planning/plan.py",
        "        events.extend(choice.event for choice in self.selections)\n",
        "        events.extend(choice.event for choice in self.selections[:1])\n",
        f"{RECORD}::test_several_targets_replay",
    ),
    _one(
        "every target gets the whole selection pool", "planning/targets.py",
        "tuple(weight / whole * (1.0 - 1e-12) for weight in weights)", "(1.0,) * len(weights)",
        f"{TARGETS}::test_the_selection_pool_is_split_by_weight_and_the_whole_is_epsilon",
    ),
    _one(
        "strangers heard through another target", "planning/targets.py",
        "            open_names += sorted(fresh & targets)\n", "",
        f"{TARGETS}::test_a_cause_of_another_target_is_refused_where_it_would_hear_from_strangers",
    ),
    _one(
        "sensitivity of R halved", "privacy/scores.py",
        "return 3.0 / n", "return 1.5 / n", "unit/test_scores.py",
    ),
    Mutation(
        name="charged after the step", file="privacy/ledger/charging.py",
        edits=(
            ("    number = ledger.charge(\n",
             "    late = OpenCharge(stamp=kind.charged, receipt=receipt)\n    yield late\n"
             "    number = late.number = ledger.charge(\n"),
            ("        charge.entry = ledger.entry(number)\n        yield charge\n",
             "        late.entry = ledger.entry(number)\n"),
        ),
        killers=(
            f"{PIPELINE}::test_the_charge_is_on_disk_before_the_first_mechanism",
            f"{LEARNED}::test_the_charge_stands_before_the_first_mechanism_and_lists_the_step",
        ),
    ),
    _one(
        "background edge to the target", "planning/workload.py",
        "    features = [name for name in schema.names if name not in targets]\n    rounds",
        "    features = list(schema.names)\n    rounds",
        "unit/test_regimes.py::test_regime_guard_on_the_measurement_graph",
    ),
    Mutation(
        name="raw scores used as weights", file="pipeline.py",
        edits=(
            ("            self.plan = with_features(self.plan, chosen, further)\n",
             "            from prism_core.data.counts import marginal_counts as _counts\n"
             "            from prism_core.privacy.scores import association as _r\n"
             "            y = self.plan.task.target\n"
             "            raw = {c: 1.0 + _r(_counts(self.table, (c, y))) for c in chosen}\n"
             "            task = replace(self.plan.task, weights=raw)\n"
             "            changed = replace(self.plan, task=task)\n"
             "            self.plan = with_features(changed, chosen, further)\n"),
        ),
        killers=(RECORD,),
    ),
    _one(
        "noise added twice to a copy and the other released", "privacy/mechanisms.py",
        "    return noise.add_discrete_gaussian(marginal_counts(table, clique), sigma)",
        "    counts = marginal_counts(table, clique)\n"
        "    noise.add_discrete_gaussian(noise.add_discrete_gaussian(counts, sigma), sigma)\n"
        "    return counts",
        f"{MECHANISMS}::test_a_marginal_gets_fresh_noise_of_the_asked_scale",
        "statistical/test_audit.py::test_the_mechanism_is_not_flagged",
    ),
    _one(
        "classic Gaussian at every epsilon", "privacy/conversions.py",
        "    if enough(classic):", "    if classic:",
        "unit/test_conversions.py::test_gaussian_sigma_keeps_its_promise",
    ),
    # --- beyond the notes ---
    _one(
        "raw counts returned", "privacy/mechanisms.py",
        "    return noise.add_discrete_gaussian(marginal_counts(table, clique), sigma)",
        "    return marginal_counts(table, clique)", RECORD,
    ),
    _one(
        "known noise let through", "privacy/mechanisms.py",
        "    if not table.public and not noise.secure:", "    if noise is None:", MECHANISMS,
    ),
    _one(
        "seeded noise says it is secure", "privacy/noise.py",
        "    secure = False", "    secure = True", MECHANISMS,
    ),
    _one(
        "charge void after a failure", "privacy/ledger/charging.py",
        '"failed" if charge.touched else "void"', '"void"',
        f"{PIPELINE}::test_cancelled_after_the_first_mechanism_stays_charged",
        f"{PIPELINE}::test_a_run_that_breaks_in_a_mechanism_stays_charged",
    ),
    _one(
        "overspending plan not stopped", "pipeline.py",
        "    if not whole.epsilon <= plan.budget.epsilon or not whole.delta <= plan.delta:",
        "    if whole is None:",
        f"{PIPELINE}::test_a_plan_that_spends_more_than_it_declares",
    ),
    _one(
        "delta not split in basic composition", "planning/design.py",
        "- frame.taken) / parts", "- frame.taken)", DESIGN,
    ),
    _one(
        "selection pool not deducted", "planning/frame.py",
        "*(-part for part in found.values())",
        "*(-found[pool] for pool in ('choice', 'background'))",
        DESIGN,
    ),
    _one(
        "rho of a choice halved", "privacy/events.py",
        "return self.count * self.epsilon**2 / 8.0", "return self.count * self.epsilon**2 / 16.0",
        RECORD,
    ),
    _one(
        "exponential mechanism without its 2", "privacy/noise.py",
        "logits = epsilon * scores / (2.0 * sensitivity)",
        "logits = epsilon * scores / sensitivity",
        "statistical/test_exponential_law.py::test_the_choice_follows_the_exponential_mechanism",
    ),
    Mutation(
        name="secure noise too small, own check gone", file="privacy/noise.py",
        edits=(
            (
                "make_gaussian(*space, scale=sigma)\n    _confirm(mechanism.map(L2",
                "make_gaussian(*space, scale=0.7 * sigma)\n    _confirm(mechanism.map(L2",
            ),
            ("    if not loss <= declared * (1.0 + 1e-9):", "    if loss is None:"),
        ),
        killers=("statistical/test_noise_law.py::test_the_noise_has_the_declared_scale",),
    ),
    _one(
        "count of an event ignored", "privacy/accountants.py",
        "rounds = leaf.count if isinstance(leaf, ExponentialEvent) else 1", "rounds = 1",
        f"{ACCOUNTANTS}::test_count_is_that_many_singles",
    ),
    _one(
        "delta of a step not subtracted", "privacy/accountants.py",
        "left = math.nextafter(delta - lost, 0.0)", "left = delta",
        f"{ACCOUNTANTS}::test_the_delta_of_a_step_is_subtracted_first",
    ),
    _one(
        "noise without shares free in basic composition", "privacy/accountants.py",
        "not (leaf.epsilon > 0.0 and lost > 0.0)", "leaf.epsilon < 0.0",
        f"{ACCOUNTANTS}::test_basic_refuses_noise_it_was_not_asked_for",
    ),
    _one(
        "earlier charges forgotten", "privacy/ledger/book.py",
        "_check_budget(known, counted(db, key), item)", "_check_budget(known, [], item)",
        f"{LEDGER}::test_overspending_is_refused_with_nothing_written",
    ),
    _one(
        "failed charges count as nothing", "privacy/ledger/queries.py",
        "LIMIT 1) IS NOT 'void'", "LIMIT 1) IN ('done', 'reserved')",
        f"{LEDGER}::test_a_charge_counts_in_every_state_but_void",
    ),
    _one(
        "one moved cell in the loss distribution", "privacy/loss_distribution.py",
        "count = 2 * times if", "count = times if",
        f"{PLD}::test_one_marginal_against_the_exact_sum_over_two_cells",
    ),
    _one(
        "loss distribution for noise chosen at run time", "planning/calibration.py",
        "    if plan.selection is not None or plan.three_way is not None or plan.tree is not None:",
        "    if plan is None:",
        f"{PLD}::test_plans_that_choose_at_run_time_are_refused",
    ),
    _one(
        "optimistic factor returned", "privacy/loss_distribution.py",
        "    return high\n\n\ndef scaled", "    return 0.999 * high\n\n\ndef scaled",
        f"{PLD}::test_a_pld_plan_has_less_noise_by_one_common_factor",
    ),
    _one(
        "basic composition charged to an asset", "privacy/ledger/book.py",
        "        if accountant not in CHARGEABLE:", "        if not accountant:",
        f"{PIPELINE}::test_basic_composition_is_refused_for_a_charged_asset",
    ),
    # --- learning a domain ---
    _one(
        "threshold of a histogram one too low", "privacy/threshold.py",
        "return high + least - 1", "return high + least - 2",
        "unit/test_threshold.py::test_the_threshold_is_the_smallest_that_delta_covers",
    ),
    _one(
        "a name comes out at the threshold", "privacy/histograms.py",
        "if count > event.threshold", "if count >= event.threshold",
        "statistical/test_domain_privacy.py::test_a_lone_category_comes_out_as_rarely_as_the_formula_says",
    ),
    _one(
        "event of a histogram takes any threshold", "privacy/events.py",
        "if not gaussian_tail(self.sigma, self.threshold - self.least + 1) <= self.delta:",
        "if self.sigma < 0.0:",
        "unit/test_threshold.py::test_a_threshold_too_low_for_its_delta_is_refused",
    ),
    _one(
        "cost of the domain not deducted", "privacy/prior.py",
        "spender.amount(epsilon, rest) - prior.rho)", "spender.amount(epsilon, rest))",
        "unit/test_domain.py::test_domain_and_release_together_stay_below_the_declaration",
    ),
    _one(
        "delta of the histograms not subtracted", "privacy/prior.py",
        "    rest = delta - prior.failing\n", "    rest = delta\n",
        "unit/test_domain.py::test_domain_and_release_together_stay_below_the_declaration",
    ),
    _one(
        "delta of a histogram forgotten by the ledger", "privacy/ledger/composition.py",
        """case "stable histogram":
                ratio = positive(event["sensitivity"], "s") / positive(event["sigma"], "sigma")
                found = Cost(rho=ratio**2 / 2.0, delta=positive(event["delta"], "delta"))""",
        """case "stable histogram":
                ratio = positive(event["sensitivity"], "s") / positive(event["sigma"], "sigma")
                found = Cost(rho=ratio**2 / 2.0)""",
        "unit/test_ledger_composition.py::test_the_cost_of_every_event",
        "unit/test_domain.py::test_the_ledger_subtracts_the_delta_of_histograms_before_and_after",
    ),
    _one(
        "bounds from the true counts", "learning/learn.py",
        "return learned_column(request, noisy, event.sigma, len(codes))",
        "import numpy\n"
        "        true = numpy.bincount(codes, minlength=request.grid.size)\n"
        "        return learned_column(request, true, event.sigma, len(codes))",
        "statistical/test_domain_privacy.py::test_bounds_come_from_the_noisy_counts_alone",
    ),
    # --- learning a graph ---
    _one(
        "sensitivity of a conditional R that of R", "privacy/scores.py",
        "return 4.0 / n", "return 3.0 / n",
        f"{LEARNED}::test_the_constant_cannot_be_three", RECORD,
    ),
    _one(
        "cost of the graph not deducted", "planning/frame.py",
        "        prior = together(self.schema.prior, None if self.dag is None else self.dag.prior)\n"  # noqa: E501
        "        return amount_left",
        "        prior = self.schema.prior\n        return amount_left",
        f"{LEARNED}::test_graph_domain_and_release_together_stay_below_the_declaration",
    ),
    # --- the gate ---
    _one(
        "the rule asks at the command line alone", "privacy/ledger/book.py",
        "        rules.check(step, self.path.parent, approved=approval is not None)\n", "",
        f"{CHARGING}::test_the_rule_stands_at_every_door",
    ),
    _one(
        "a comparator needs no approval", "privacy/ledger/rules.py",
        "    if kind.refusal and not approved", "    if kind.approvable and not approved",
        f"{CHARGING}::test_the_rule_stands_at_every_door",
    ),
    _one(
        "learning is known by its events, not by its charge", "privacy/ledger/book.py",
        "held, wanted = paid.get(receipt, []) if receipt else [], event_dict(event)",
        "held, wanted = [e for each in paid.values() for e in each], event_dict(event)",
        f"{CHARGING}::test_a_domain_learned_twice_is_charged_twice",
        f"{CHARGING}::test_what_this_ledger_does_not_hold_is_owed",
    ),
    _one(
        "a misspelled rule of the workspace is passed over", "privacy/ledger/rules.py",
        "            if name not in _ENTRIES[section]:\n", "            if name in ():\n",
        "unit/test_protocol.py::test_a_rule_that_nobody_reads_is_refused",
    ),
    _one(
        "rules behind a link that leads nowhere are none", "privacy/ledger/rules.py",
        "        if _stands(workspace):", "        if False:",
        "unit/test_protocol.py::test_rules_that_are_meant_to_be_there_are_not_taken_for_none",
    ),
    _one(
        "an unseen mark makes another asset", "privacy/ledger/records.py",
        "if mark.isprintable() or mark.isspace()", "if mark",
        "unit/test_ledger_composition.py::test_spellings_of_one_name_are_one_asset",
    ),
    _one(
        "what was kept is recovered under whatever charge has its number", "runs/paid.py",
        "if Ledger(workspace).entry(charge) != entry:", "if not Ledger(workspace).entry(charge):",
        "unit/test_paid.py::test_nothing_is_recovered_that_the_ledger_does_not_hold",
    ),
    _one(
        "an unquoted CR ends a row", "data/delimited.py",
        "                    lineterminator=text.end,\n", "",
        "unit/test_tables.py::test_no_cell_makes_two_rows_or_none_of_a_person",
    ),
    _one(
        "a hostile file is opened beside the passwords", "data/parquet.py",
        "**foreign.environment()", "**__import__('os').environ",
        "unit/test_foreign.py::test_no_program_that_opens_a_foreign_file_is_handed_a_secret",
    ),
    _one(
        "a void charge pays for learning", "privacy/ledger/queries.py",
        'f"WHERE c.asset = ? AND {_COUNTS} ORDER BY r.id",', '"WHERE c.asset = ? ORDER BY r.id",',
        f"{CHARGING}::test_what_this_ledger_does_not_hold_is_owed",
    ),
    _one(
        "an approval told apart by the spelling of its asset", "planning/approval.py",
        "(self.to_dict() | {\"asset\": canonical(self.asset)}, self.to_dict())",
        "(self.to_dict(), self.to_dict())",
        f"{CHARGING}::test_an_approval_opens_the_gate_once_for_its_plan_and_asset",
    ),
    _one(
        "an approval for any asset", "privacy/ledger/book.py",
        "    if not approval.asset.strip():", "    if approval.asset is None:",
        f"{CHARGING}::test_an_approval_that_names_no_asset_is_refused_where_one_is_charged",
    ),
    # --- adaptive marginals ---
    _one(
        "score of an adaptive round with half its sensitivity", "synthesis/select/adaptive.py",
        "sensitivity=MODEL_ERROR_SENSITIVITY * max(weights),", "sensitivity=max(weights),", ROUNDS,
    ),
    _one(
        "rounds not needed cost nothing", "planning/choices.py",
        "unused=(event,) * idle,", "unused=(),",
        f"{ADAPTIVE}::test_the_same_is_spent_whatever_the_rounds_measure",
    ),
    _one(
        "one adaptive choice paid for all", "planning/task_pool.py",
        'frame.total * choosing, adaptive.parts, "choosing adaptive marginals"',
        'frame.total * choosing, 1, "choosing adaptive marginals"', ROUNDS,
    ),
    _one(
        "the target measured with columns outside S", "planning/adaptive.py",
        "        sizes = tuple(map(schema.size, s))\n",
        "        s = [name for name in schema.names if name != target]\n"
        "        sizes = tuple(map(schema.size, s))\n",
        f"{ADAPTIVE}::test_whatever_is_picked_keeps_the_target_apart_and_within_the_forecast",
    ),
    _one(
        "a wide round's choice paid as its square root", "synthesis/select/adaptive.py",
        "epsilon=self._choice.event.epsilon * math.sqrt(width) * _SAFE,",
        "epsilon=self._choice.event.epsilon * width * _SAFE,",
        f"{ADAPTIVE}::test_a_round_takes_twice_the_parts_once_nothing_was_found",
    ),
    _one(
        "rounds that found nothing take no part", "synthesis/select/adaptive.py",
        "        self.left -= width\n        if index == len(cliques):\n",
        "        if index < len(cliques):\n            self.left -= width\n"
        "        if index == len(cliques) and self.left > 1:\n",
        f"{ADAPTIVE}::test_a_round_takes_twice_the_parts_once_nothing_was_found",
    ),
    _one(
        "more parts than planned accepted", "planning/adaptive.py",
        "or sum(taken) > parts:", "or sum(taken) > 10 * parts:",
        f"{ADAPTIVE}::test_more_parts_than_planned_are_refused",
    ),
    # --- comparators ---
    _one(
        "score of AIM with half its sensitivity", "experiments/comparators/state.py",
        "return MODEL_ERROR_SENSITIVITY * max(", "return 1.0 * max(",
        f"{COMPARATORS}::test_scores_move_by_their_sensitivity_at_most",
    ),
    _one(
        "purse of a comparator without a bottom", "experiments/comparators/purse.py",
        "event.rho]) <= self.total:", "event.rho]) < math.inf:",
        f"{COMPARATORS}::test_a_purse_is_never_overdrawn",
    ),
    _one(
        "comparator on private rows not charged", "experiments/comparators/run.py",
        '"comparator", price, ledger,', '"comparator", price, None,',
        f"{COMPARATORS}::test_the_whole_amount_is_charged_before_the_first_mechanism",
    ),
    _one(
        "learned graph taken for a causal one", "planning/regimes.py",
        "        if graph.learned:", "        if graph is None:",
        f"{LEARNED}::test_a_learned_graph_is_refused_where_it_does_not_fit",
    ),
    _one(
        "cost of a graph lost in its file", "structure/formats/_learned.py",
        'found["learned"] = dag.prior.to_dict()', "pass",
        f"{LEARNED}::test_the_cost_survives_files_editing_and_matching",
    ),
    _one(
        "the best score chosen without noise", "learning/blanket.py",
        "        if index == len(left):",
        "        index = max(range(len(left)), key=scores.of(table, left, members).__getitem__)\n"
        "        if index == len(left):",
        RECORD,
    ),
    _one(
        "a test's gain from half of what was spent", "privacy/trade_off.py",
        "rho = math.fsum(event.rho for event in listed) * _UP",
        "rho = math.fsum(event.rho for event in listed) / 2.0",
        "unit/test_trade_off.py::test_no_test_does_better",
    ),
    _one(
        "learning forgotten in what epsilon means", "planning/meaning.py",
        "events = plan.events if prior is None else (*prior.events, *plan.events)",
        "events = plan.events",
        "unit/test_meaning.py::test_what_learning_cost_is_in_it",
    ),
    _one(
        "delta of a regression forgotten by the charge", "pipeline.py",
        "    delta = plan.delta - failure(plan.events)\n", "    delta = plan.delta\n",
        "unit/test_regression.py::test_a_charge_holds_the_step_s_delta_and_the_whole_amount_at_what_is_left_of_it",
    ),
    _one(
        "a background edge to the target passes the check of a bundle",
        "bundle/measured_check.py",
        "outside = [name for name in m.clique if name != target and name not in s]",
        "outside = [name for name in m.clique if len(m.clique) > 3]",
        f"{VERIFY}::test_a_tampered_bundle_fails_even_when_it_was_sealed_again"
        "[background edge to the target]",
    ),
    _one(
        "learning forgotten by the certificate", "bundle/certificate.py",
        '"domain": _learned(plan.schema.prior),', '"domain": None,',
        f"{VERIFY}::test_a_tampered_bundle_fails_even_when_it_was_sealed_again"
        "[cost of learning dropped]",
    ),
    _one(
        "the second accountant forgets rounds of a choice", "bundle/recount.py",
        'return Loss(slope=_count(event) * _number(event, "epsilon") ** 2 / 8.0)',
        'return Loss(slope=_number(event, "epsilon") ** 2 / 8.0)',
        "unit/test_recount.py::test_it_agrees_with_zcdp_and_with_the_library[choices-1e-05]",
    ),
    _one(
        "where the private file stands is handed over", "bundle/manifest.py",
        "names = (*NEEDED, *OPTIONAL, MANIFEST, SIGNATURE)",
        "names = (*NEEDED, *OPTIONAL, MANIFEST, SIGNATURE, LOCAL)",
        "unit/test_bundle.py::test_the_zip_holds_what_may_be_handed_over_and_no_time",
    ),
    _one(
        "any key passes for the one that was asked for", "bundle/verify.py",
        "if self.key and not (len(self.key) >= 16 and self.signer.startswith(self.key)):",
        "if self.key and not self.signer:",
        f"{VERIFY}::test_another_key_fails_where_the_right_one_is_known",
    ),
    _one(
        "a folder that anybody signed is authenticated", "bundle/verify.py",
        "return self.signer is not None and (asked or self._passed(\"ledger\"))",
        "return self.signer is not None",
        f"{VERIFY}::test_a_folder_that_anybody_signed_has_an_exit_status_of_its_own",
    ),
    # --- private evaluation ---
    _one(
        "bins of scores from the holdout", "evaluation/private.py",
        "in cell_codes(plan, fitted, holdout, edges)",
        "in cell_codes(plan, fitted, holdout, score_edges(plan, fitted, holdout))",
        f"{PRIVATE}::test_the_whole_step_on_every_small_holdout",
    ),
    _one(
        "model of a private evaluation trained on private rows", "evaluation/private_tables.py",
        "    if not synthetic.public:", "    if synthetic is None:",
        f"{PRIVATE}::test_what_does_not_fit_is_refused_before_anything_is_read",
    ),
    _one(
        "private numbers from the true counts", "evaluation/private.py",
        "numbers=step.numbers(noisy), binning",
        "numbers=step.numbers([np.bincount(q.args[0], minlength=q.args[1]) for q in queries]), "
        "binning",
        f"{PRIVATE}::test_the_numbers_come_from_the_noisy_counts_alone",
    ),
    _one(
        "private evaluation not charged", "evaluation/private.py",
        '"evaluation", price, ledger,', '"evaluation", price, None,',
        f"{PRIVATE}::test_the_charge_stands_before_the_first_count_and_holds_the_plan_s_events",
    ),
    _one(
        "charge of a private evaluation void after its count", "evaluation/private.py",
        "charge.touch()", "charge.touched = False",
        f"{PRIVATE}::test_a_charge_that_is_too_large_reads_nothing_and_a_failure_stands",
    ),
    _one(
        "budget of a private evaluation not split over classes", "evaluation/private_plan.py",
        "total * (1.0 - share) / len(classes)", "total * (1.0 - share)",
        f"{PRIVATE}::test_the_plan_never_spends_more_than_it_says",
    ),
    _one(
        "a row counted in two cells", "evaluation/private.py",
        "        found.append((cells.astype(np.int64), 2 * BINS + 1))",
        "        found.append((np.repeat(cells.astype(np.int64), 2), 2 * BINS + 1))",
        f"{PRIVATE}::test_every_small_holdout_and_every_replaced_row",
    ),
    _one(
        "noise of a sum as of a count", "evaluation/private_plan.py",
        "sigma = one.sigma * STEPS / one.sensitivity", "sigma = one.sigma",
        f"{SQUARES}::test_the_plan_never_spends_more_than_it_says",
    ),
    _one(
        "a sum's values not clipped", "privacy/sums.py",
        "np.clip(values.astype(np.int64), 0, most)", "values.astype(np.int64)",
        f"{SQUARES}::test_a_sum_clips_and_refuses_a_sensitivity_that_is_too_small",
    ),
    _one(
        "a sum's declared sensitivity not checked", "privacy/sums.py",
        "if not event.sensitivity >= most:", "if event.sensitivity < 0:",
        f"{SQUARES}::test_a_sum_clips_and_refuses_a_sensitivity_that_is_too_small",
    ),
    _one(
        "squared errors in steps of the largest one seen", "evaluation/private_numeric.py",
        "error**2 / largest * STEPS", "error**2 / (error**2).max() * STEPS",
        f"{SQUARES}::test_every_small_holdout_and_every_replaced_row",
        f"{SQUARES}::test_no_row_moves_another_row_s_step",
    ),
    # --- the reusable holdout ---
    _one(
        "threshold kept after an answer above it", "privacy/sparse_vector.py",
        "return Standing(left=left, threshold=_laplace(0, scales.threshold_scale, noise))",
        "return replace(now, left=left)",
        f"{SPARSE}::test_transcripts_have_the_law_of_the_proof_with_a_new_threshold_a_round",
    ),
    _one(
        "half the noise in a comparison", "privacy/sparse_vector.py",
        "gap = _laplace(abs(expected - found), scales.question_scale, noise)",
        "gap = _laplace(abs(expected - found), scales.question_scale / 2.0, noise)",
        f"{SPARSE}::test_transcripts_have_the_law_of_the_proof_with_a_new_threshold_a_round",
    ),
    _one(
        "no noise in a comparison", "privacy/sparse_vector.py",
        "gap = _laplace(abs(expected - found), scales.question_scale, noise)",
        "gap = abs(expected - found)",
        f"{HOLDOUT}::test_what_is_handed_over_moves_with_one_row_and_nothing_else_does",
    ),
    _one(
        "the true total told", "privacy/sparse_vector.py",
        "told = _laplace(found, scales.answer_scale, noise)", "told = found",
        f"{HOLDOUT}::test_what_is_handed_over_moves_with_one_row_and_nothing_else_does",
    ),
    _one(
        "answers without an end", "privacy/sparse_vector.py",
        "    left = now.left - 1\n", "    left = now.left\n",
        f"{HOLDOUT}::test_when_the_answers_are_used_up_nothing_is_compared",
    ),
    _one(
        "one round of a session paid for all", "privacy/sparse_vector.py",
        "count=self.answers, label=self.label", "count=1, label=self.label",
        f"{HOLDOUT}::test_the_plan_never_spends_more_than_it_says",
    ),
    _one(
        "a comparison costs the ledger half", "privacy/ledger/composition.py",
        "return sensitivity / threshold + 2.0 * sensitivity / question",
        "return sensitivity / threshold + sensitivity / question",
        f"{HOLDOUT}::test_the_ledger_counts_the_event_by_its_own_formula",
    ),
    _one(
        "a total moves by one unit", "evaluation/holdout_plan.py",
        "sensitivity=UNITS,", "sensitivity=1,",
        f"{HOLDOUT}::test_the_plan_never_spends_more_than_it_says",
    ),
    _one(
        "session not charged", "evaluation/holdout.py",
        '"holdout", price, ledger,', '"holdout", price, None,',
        f"{HOLDOUT}::test_the_charge_stands_before_the_first_noise_and_holds_the_whole_session",
    ),
    _one(
        "a question not on disk before it is compared", "evaluation/holdout.py",
        "            session = replace(session, pending=question)\n            state.write(session)\n",  # noqa: E501
        "            session = replace(session, pending=question)\n",
        f"{HOLDOUT}::test_a_question_is_on_disk_before_it_is_compared_and_its_answer_before_it_is_told",
    ),
    _one(
        "a crash gives the question back", "evaluation/holdout.py",
        "    if session.pending is None:\n", "    if session is not None:\n",
        f"{HOLDOUT}::test_a_crash_counts_as_an_answer_and_the_threshold_is_drawn_anew",
    ),
    _one(
        "the same question compared again", "evaluation/holdout_state.py",
        "if entry.question.key == asked.key and entry.source != LOST:", "if entry is None:",
        f"{HOLDOUT}::test_the_same_question_gets_the_stored_answer_and_no_noise",
    ),
    # --- what is claimed of the rows that are drawn ---
    _one(
        "a class stands at some places more often than at others", "synthesis/sample.py",
        "turn = rng.integers(0, np.maximum(members, 1))",
        "turn = 0 * rng.integers(0, np.maximum(members, 1))",
        "statistical/test_sample_law.py::test_a_class_stands_at_every_place_equally_often",
    ),
    _one(
        "classes are spread over rows that should be independent draws", "synthesis/sample.py",
        'late = spread if rule == "rounded" else ()', "late = spread",
        "unit/test_sample.py::test_independent_draws_stay_independent",
    ),
    _one(
        "a bound for pairs that were not fitted as measured", "planning/bounds.py",
        "    if draws_together(plan):\n", "    if False:\n",
        "unit/test_shrink.py::test_no_bound_is_claimed_for_pairs_that_were_drawn_together",
    ),
    # --- marginals drawn to what the others say ---
    _one(
        "a pair is drawn to what its own noise says", "synthesis/drawn.py",
        "    some = [*others[:place], totals, *others[place + 1 :]]\n",
        "    some = [*others, totals]\n",
        f"{DRAWN}::test_what_is_expected_of_a_pair_knows_no_more_of_it_than_the_totals",
    ),
    _one(
        "a marginal that holds the pair tells what is expected of it", "synthesis/drawn.py",
        "    return some, [m for m in relations if not set(pair.clique).issubset(m.clique)]\n",
        "    return [*some, pair], [*relations]\n",
        f"{DRAWN}::test_what_is_expected_of_a_pair_knows_no_more_of_it_than_the_totals",
    ),
    _one(
        "the prior has no weight", "synthesis/engine/solver.py",
        "        ridge = tau / self._precision\n", "        ridge = 0.0 / self._precision\n",
        "property/test_near_prior.py::test_the_optimum_is_that_of_a_solver_over_the_joint",
    ),
    _one(
        "a fit begins at potentials that are no nearest move", "synthesis/engine/solver.py",
        "            self._agree(even)\n            move = even / ridge\n",
        "            move = even / ridge\n",
        "property/test_near_prior.py::test_where_a_fit_begins_does_not_matter",
    ),
    _one(
        "a fit that its start leads astray ends there", "synthesis/engine/solver.py",
        "    if start is None or sure or left < _FEW:", "    if True:",
        "property/test_linear_engine.py::test_a_fit_that_is_led_astray_begins_anew",
    ),
    # --- many marginals, and trees that are widened ---
    _one(
        "columns are said to meet higher up than they do", "synthesis/ways.py",
        "found.append(max((", "found.append(min((",
        "property/test_marginals.py::test_many_marginals_are_those_of_the_joint",
    ),
    _one(
        "what lies further on is weighted twice", "synthesis/ways.py",
        "way = self._conditional(index, fresh, shared)",
        "way = self._summed(index, (*fresh, *shared))",
        "property/test_marginals.py::test_many_marginals_are_those_of_the_joint",
    ),
    _one(
        "a column is carried for nothing on its way up", "planning/widened.py",
        "            factors[column, at, at] = size\n",
        "            factors[column, at, at] = 1.0\n",
        "property/test_widened.py::test_it_is_the_size_of_a_junction_tree_that_holds_the_clique",
    ),
    _one(
        "how often is drawn from private candidates depends on the rows", "privacy/mechanisms.py",
        "range(_PUT_ASIDE if table.public else 0)", "range(_PUT_ASIDE)",
        f"{MECHANISMS}::test_of_private_rows_all_are_asked_before_the_one_draw",
    ),
    _one(
        "blocks of many marginals are kept for one", "synthesis/marginals.py",
        "block[cut].copy() if sparse else block[cut]", "block[cut]",
        "property/test_marginals.py::test_what_is_kept_is_little_more_than_what_was_asked_for",
    ),
    _one(
        "products of smaller columns are not foreseen", "planning/size.py",
        "    if len(at_once) > 1:\n", "    if False:\n",
        "unit/test_size.py::test_nor_where_smaller_columns_bring_products",
    ),
    _one(
        "features are foreseen where they overlap most", "planning/size.py",
        "cells=max(known.cells, cells),", "cells=known.cells,",
        "unit/test_size.py::test_no_s_needs_more_than_was_forecast",
    ),
    _one(
        "a numeric target is rehearsed from all features, not from what is protected",
        "rehearsal/stage.py",
        "fit_numeric(named, known, target=target, features=features)",
        "fit_numeric(named, known, target=target)",
        "unit/test_rehearsal.py::test_a_numeric_target_is_scored_by_how_well_its_numbers_are_predicted",
    ),
    # --- files of a workspace ---
    _one(
        "the ledger's file is made by SQLite, with the mode of the umask",
        "privacy/ledger/store.py", "        files.database(path)\n", "",
        "unit/test_files.py::test_the_ledger_and_what_sqlite_puts_beside_it",
    ),
    _one(
        "private files are made with the mode of the umask", "files.py",
        "FILE, FOLDER = 0o600, 0o700", "FILE, FOLDER = 0o666, 0o700",
        "unit/test_files.py::test_every_part_of_a_workspace",
    ),
    # --- rows that are called public ---
    _one(
        "what was charged as private passes for public", "public_rows.py",
        "        assets = fingerprint.assets_of(folder, found, charges)\n",
        "        assets = ()\n",
        "unit/test_public_rows.py::test_what_was_charged_is_not_public_and_no_cell_is_said",
    ),
    _one(
        "a table is known again by its file alone", "data/marks.py",
        'return frozenset([f"file {raw.sha256}"] if raw.sha256 else []) | {_rows(raw)}',
        'return frozenset([f"file {raw.sha256}"])',
        "unit/test_public_rows.py::"
        "test_the_same_rows_have_a_mark_in_common_whatever_file_they_stand_in",
    ),
    _one(
        "a learned domain's rows are not remembered", "cli.py",
        "        remember_private(ledger, asset, raw, plan.hash)\n", "        pass\n",
        "unit/test_public_rows.py::test_nor_does_that_of_learning_a_domain",
    ),
    _one(
        "rows count as charged when the charge was refused", "privacy/ledger/fingerprint.py",
        "if run is None or charges is None or run.charged(asset, charges):", "if True:",
        "unit/test_remembered_rows.py::test_a_refused_release_leaves_no_notice",
    ),
    _one(
        "an earlier charge of the plan stands for a refused run", "privacy/ledger/fingerprint.py",
        "charge.plan == self.plan and charge.id > self.after", "charge.plan == self.plan",
        "unit/test_remembered_rows.py::test_an_earlier_charge_of_the_same_plan_is_not_this_run",
    ),
    # --- files that others made ---
    _one(
        "YAML may have aliases", "foreign.py",
        'if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:',
        "if False:",
        "unit/test_foreign.py::test_aliases_are_refused_before_they_stand_for_anything",
    ),
    _one(
        "a Parquet file may unpack to any size", "data/parquet_child.py",
        "(resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds)",
        "(resource.RLIMIT_CPU, seconds)",
        "unit/test_foreign.py::test_a_parquet_file_is_unpacked_where_memory_has_an_end",
    ),
    _one(
        "objective perturbation for a gradient that moves by one", "privacy/regression.py",
        "sigma=GRADIENT_SENSITIVITY / c * (1.0 + 1e-9),", "sigma=1.0 / c * (1.0 + 1e-9),",
        f"{AUDIT}::test_the_noise_is_not_flagged",
    ),
    _one(
        "objective perturbation with a third of its noise", "privacy/regression.py",
        "linear=noise.gaussian(size, calibration.sigma),",
        "linear=noise.gaussian(size, calibration.sigma / 3.0),",
        f"{AUDIT}::test_the_noise_is_not_flagged",
    ),
    _one(
        "objective perturbation without its regularisation", "privacy/regression.py",
        "rows=rows, labels=labels, ridge=calibration.ridge,",
        "rows=rows, labels=labels, ridge=1e-3,",
        f"{AUDIT}::test_the_regularisation_is_not_flagged",
    ),
    # --- what nobody measured ---
    _one(
        "what is tied by an unmeasured cause is left out of the blanket", "structure/dag.py",
        "return self._ordered(reached(self, earlier, {name}, columns) & columns)",
        "return self._ordered({*self.measured_parents(name), *self.measured_children(name), "
        "*self.co_parents(name)})",
        "property/test_unmeasured.py::test_the_blanket_is_the_smallest_set_of_columns_that_separates",
    ),
    _one(
        "an unmeasured cause is in S", "planning/regimes.py",
        'return dag.measured_parents(target) if regime == "causal"',
        'return dag.parents(target) if regime == "causal"',
        "unit/test_unmeasured.py::test_s_never_holds_an_unmeasured_node",
    ),
    _one(
        "a column tied to the target is said to be covered", "structure/independence.py",
        "and not near.isdisjoint((node, *dag.graph.predecessors(node)))", "and node in near",
        "property/test_unmeasured.py::test_what_a_linear_world_predicts_stays_where_a_change_is_covered",
    ),
    _one(
        "the sentence on S claims more than S covers", "planning/statement.py",
        'text += ", except for what is not in the table, see below." if open_ways else "."',
        'text += "."',
        "unit/test_unmeasured.py::test_the_sentence_on_s_names_what_it_does_not_cover",
    ),
    _one(
        "the mark of an unmeasured node is lost where its format cannot hold it",
        "structure/formats/__init__.py",
        "if format in _UNMARKED and drawing.dag.unmeasured:", "if False:",
        "property/test_unmeasured.py::test_a_mark_reads_back_or_is_refused",
    ),
    # --- the report ---
    _one(
        "names in the report are markup", "bundle/report.py",
        "loader=FileSystemLoader(_HERE), autoescape=True,",
        "loader=FileSystemLoader(_HERE), autoescape=False,",
        "unit/test_report.py::test_hostile_names_are_text",
    ),
    _one(
        "unmarked numbers come into the report", "bundle/report_extras.py",
        'document.get("outside_epsilon") is True', "True",
        "unit/test_report.py::test_an_evaluation_without_its_marks_is_refused",
    ),
    # --- the ledger's file ---
    _one(
        "an emptied ledger is charged", "privacy/ledger/store.py",
        "                        self.check_head(db, head.noted(self.path.parent))\n", "                        pass\n",  # noqa: E501
        f"{HEAD}::test_a_file_that_is_not_the_last_one_is_not_charged",
    ),
    _one(
        "the integrity check is for the command alone", "privacy/ledger/book.py",
        "            _check_whole(db)\n", "",
        f"{HEAD}::test_an_edited_file_is_not_charged",
    ),
    _one(
        "the head is noted before the commit", "privacy/ledger/head.py",
        "    if before is not None and before.rows >= head.rows:",
        "    head = Head(rows=head.rows + 1, digest=head.digest)\n    if before is None:",
        f"{HEAD}::test_a_note_that_lags_is_no_alarm_and_one_that_is_broken_is",
    ),
    # --- rows: a cell's code depends on the cell and the schema alone ---
    _one(
        "rows: the optimizer is left on", "data/engines.py",
        '    guarded(lambda: _row_by_row(connection), "DuckDB")\n', "",
        f"{ROWS}[with_wrong_statistics]",
    ),
    _one(
        "rows: only the optimizers known today are switched off", "data/engines.py",
        "off = known - OPTIMIZERS", 'off = {"statistics_propagation", "row_group_pruner"}',
        f"{HOSTILE}::test_all_but_two_optimizers_are_off_wherever_duckdb_reads",
    ),
    _one(
        "rows: what is said to be off is not looked at", "data/engines.py",
        ' or set(told.replace(" ", "").split(",")) != off:', ":",
        f"{HOSTILE}::test_a_duckdb_that_keeps_its_optimizer_reads_no_row",
    ),
    _one(
        "rows: NaN is compared as a number", "data/pushdown.py",
        'return ibis.ifelse(number.isnan(), ibis.null("float64"), number)', "return number",
        f"{ROWS}[by_pyarrow]",
    ),
    _one(
        "rows: a cast raises", "data/pushdown.py",
        'return near, near.try_cast("int64")', 'return number, number.cast("int64")',
        f"{ROWS}[by_pyarrow]",
    ),
    _one(
        "rows: a far day comes home as it is", "data/pushdown.py",
        "ibis.ifelse((day >= first) & (day <= last), day, ibis.null(\"date\"))", "day",
        "unit/test_big_hostile.py::test_no_value_of_a_type_stops_a_file_of_it",
    ),
    _one(
        "rows: a missing cell ends the reading of an Arrow column", "data/tables.py",
        "    if isinstance(kept.dtype, pd.ArrowDtype):\n", "    if False:\n",
        f"{ROWS}[in_a_frame]",
    ),
    _one(
        "rows: one cell that is no text changes how others are written", "data/tables.py",
        """texts = [_unicode(str(value)) for value in cells.where(cells.notna(), "")]""",
        """texts = [_text(value) for value in cells.where(cells.notna(), "")]""",
        "unit/test_tables.py::test_a_cell_that_is_no_unicode_changes_no_other_cell",
    ),
    # --- the key of the dashboard ---
    _one(
        "a session needs no key", "../dashboard/access.py",
        "return st.session_state.get(_GIVEN) is True", "return True",
        f"{STRANGERS}::test_no_page_tells_of_the_workspace",
    ),
    _one(
        "an upload tells a stranger whose rows were charged", "../dashboard/parts/public_claim.py",
        "    if not access.granted():\n        return marks(raw)\n", "",
        "app/test_strangers.py::test_an_upload_tells_no_stranger_whether_these_rows_were_charged",
    ),
    _one(
        "a page asks for no key", "../dashboard/widgets.py",
        "    key_entry.admit(title)\n", "",
        f"{STRANGERS}::test_no_page_tells_of_the_workspace",
    ),
    _one(
        "a charged run is started for whoever asks", "../dashboard/worker.py",
        "access.require()  # it will be charged, and signed",
        "pass  # it will be charged, and signed",
        f"{STRANGERS}::test_what_a_page_could_call_asks_for_the_key_itself",
    ),
    _one(
        "the ledger is handed to whoever asks", "../dashboard/access.py",
        "    require()\n    return Ledger()\n", "    return Ledger()\n",
        f"{STRANGERS}::test_what_a_page_could_call_asks_for_the_key_itself",
    ),
    _one(
        "a project opens by its address alone", "../dashboard/state.py",
        "    if not access.granted():\n        return st.session_state.setdefault",
        "    if False:\n        return st.session_state.setdefault",
        f"{STRANGERS}::test_no_page_tells_of_the_workspace_beside_an_open_sample",
    ),
    _one(
        "the beginning of the key is enough", "../dashboard/machine_key.py",
        'return hmac.compare_digest(given.strip().encode(errors="replace"), current().encode())',
        "return current().startswith(given.strip())",
        f"{STRANGERS}::test_only_the_key_is_the_key",
    ),
    _one(
        "the browser is started with the key on its command line", "../dashboard/show_browser.py",
        "webbrowser.open(path.as_uri())", "webbrowser.open(machine_key.address(port))",
        "app/test_place.py::test_the_browser_is_started_with_a_private_file_and_not_with_the_key",
    ),
    # --- intervals of scores ---
    _one(
        "the variance of an area without that of the negatives", "evaluation/intervals.py",
        "beaten.var(ddof=1) / m + beating.var(ddof=1) / n", "beaten.var(ddof=1) / m",
        "unit/test_intervals.py::test_delong_gives_the_published_interval_of_ct_ratings",
    ),
    _one(
        "perfect order is certainty", "evaluation/intervals.py",
        "bound = TAILS[0] ** (1.0 / fewer)", "bound = 1.0",
        "unit/test_intervals.py::test_rows_in_perfect_order_are_no_certainty",
    ),
    _one(
        "ties of a resample won whole", "evaluation/bootstrap.py",
        "won -= 0.5 * np.einsum", "won -= 0.0 * np.einsum",
        "unit/test_intervals.py::test_every_statistic_is_the_score_of_the_rows_as_often_as_they_were_drawn",
    ),
    _one(
        "each side has resamples of its own", "evaluation/bootstrap.py",
        "rng = np.random.default_rng(self.seed)", "rng = np.random.default_rng()",
        "unit/test_intervals.py::test_resamples_are_the_same_each_time_and_follow_the_generator",
    ),
    _one(
        "nine cases are scored", "evaluation/intervals.py",
        "few = counts < FEWEST", "few = counts < 2",
        "unit/test_intervals.py::test_ten_rows_of_each_class_are_needed",
    ),
    _one(
        "the curves learn from other columns than the headline", "evaluation/subject.py",
        "        if self.s_alone:\n", "        if self.s_alone and not self.measured:\n",
        "unit/test_inspection.py::test_the_causal_headline_is_about_s_and_gives_the_other_ceiling_with_its_reason",
    ),
    # --- what fits a declaration, and what comes back from a form ---
    _one(
        "a text that is a number is met by its text alone", "data/encoding.py",
        "found = found.where(found.notna() | ~plain, values.map(written))", "pass",
        "unit/test_encoding.py::test_texts_that_are_a_number_meet_it_by_value",
    ),
    _one(
        "a postcode is met by the number that is left of it", "data/column.py",
        'not _NUMBER.fullmatch(text) or text == "-0"', "not text.isdecimal()",
        "unit/test_encoding.py::test_a_text_that_only_looks_like_a_number_is_itself_alone",
    ),
    _one(
        "a database takes 1.0 for a word that is no level", "data/pushdown.py",
        "level_value(level) is not None for level", "isinstance(level, (int, float)) for level",
        f"{ROWS}[by_duckdb]",
    ),
    _one(
        "whether a private run goes on depends on its rows", "workspace.py",
        "large table the first ones are looked at. Of private rows nothing is looked at.\n    "
        '"""\n    if public:',
        "large table the first ones are looked at. Of private rows nothing is looked at.\n    "
        '"""\n    if True:',
        f"{COVERAGE}::test_nothing_of_a_private_run_depends_on_what_fits",
    ),
    _one(
        "public rows that do not fit are taken", "data/coverage.py",
        "        if found.misfit:\n            raise", "        if False:\n            raise",
        f"{COVERAGE}::test_public_rows_that_do_not_fit_are_refused",
    ),
    _one(
        "a check that is on no record", "check_cli.py",
        "        look_file.record(config.table.schema, look)\n", "        del look\n",
        f"{COVERAGE}::test_the_check_is_recorded_before_it_counts_and_then_nobody_is_reminded",
    ),
    _one(
        "the form takes digits for numbers", "data/level_line.py",
        "        return whole if str(whole) == text else text\n", "        return whole\n",
        f"{FORM}::test_levels_keep_their_types_in_the_form",
    ),
    _one(
        "the form writes a text of digits as it stands", "data/level_line.py",
        " and _plain(level) == level:", ":",
        f"{FORM}::test_the_form_gives_back_every_schema",
        f"{FORM}::test_levels_keep_their_types_in_the_form",
    ),
    _one(
        "a draft makes numbers of postcodes", "data/draft.py",
        " and not _codes(present, values):", ":",
        f"{FORM}::test_codes_that_look_like_numbers_are_drafted_as_texts",
    ),
    # --- the folder one stands in ---
    _one(
        "children load code from the current folder", "children.py",
        'return [sys.executable, "-P", *map(str, arguments)]',
        "return [sys.executable, *map(str, arguments)]",
        "unit/test_children.py::test_a_run_of_the_dashboard_runs_no_module_of_the_folder",
    ),
    _one(
        "processes of a pool load code from the current folder", "children.py",
        '    os.environ[SAFE_PATH] = "1"\n', "",
        "unit/test_children.py::test_prism_and_the_processes_of_a_rehearsal_run_no_module_of_the_folder",
    ),
    # --- sources and headers ---
    _one(
        "plan and protocol look at no header", "workspace.py",
        "config.table.train, workspace, columns=schema.header, separator",
        "config.table.train, workspace, separator",
        "unit/test_header.py::test_a_table_without_its_header_is_refused_and_its_first_line_is_not_shown[plan-False]",
    ),
    _one(
        "one value of the first line makes a header", "data/header.py",
        "    if 2 * sum(folded(column) in alike for column in wanted) < len(wanted):\n",
        "    if not any(folded(column) in alike for column in wanted):\n",
        "unit/test_header.py::test_a_value_that_is_the_name_of_a_column_is_not_shown",
    ),
    _one(
        "repeated names are shown", "data/header.py",
        """places.setdefault(cell, []).append(str(place))""",
        """places.setdefault(cell, []).append(cell)""",
        "unit/test_header.py::test_names_that_meet_are_told_by_their_places",
    ),
    _one(
        "the first line becomes a form whatever it holds", "../dashboard/parts/columns_form.py",
        "                check_names(raw.header, raw.name)\n", "",
        "app/test_header_page.py::test_its_first_line_does_not_become_a_form",
    ),
    _one(
        "content may name a file", "structure/formats/__init__.py",
        "    text = text_of(content)\n",
        "    text = text_of(content)\n"
        "    text = text_of(Path(text).read_bytes()) if Path(text).is_file() else text\n",
        "unit/test_sources.py::test_content_is_never_a_path",
    ),
    # --- pages ---
    _one(
        "Cramér's V with the bias of few rows", "evaluation/association.py",
        "bias = freedom / max(1, n - 1)", "bias = 0.0 * freedom",
        "unit/test_association.py::test_independent_columns_of_twenty_levels_do_not_go_together",
    ),
    _one(
        "correlations are diluted by pairs with nothing to say", "evaluation/fidelity.py",
        "said = np.abs(real) > limit", "said = np.abs(real) > -limit",
        "unit/test_association.py::test_a_lost_correlation_is_not_diluted_by_pairs_with_nothing_to_say",
    ),
    _one(
        "the pair with most cells is called the farthest", "evaluation/preserved.py",
        'np.argsort(chance - values, kind="stable")', 'np.argsort(-values, kind="stable")',
        "unit/test_association.py::test_the_pair_that_is_named_is_not_the_one_with_most_cells",
    ),
    _one(
        "rows of a closed tab stay in memory", "../dashboard/project_rows.py",
        "        state.raw = None\n", "",
        "app/test_memory.py::test_rows_are_let_go_once_nobody_has_the_project_open_and_come_back_with_the_file",
    ),
    _one(
        "another file is taken for the one that was let go", "../dashboard/project_rows.py",
        "gone is None or raw.sha256 != gone.sha256 or", "gone is None or",
        "app/test_memory.py::test_the_rows_kept_aside_are_the_same_ones_again",
    ),
    _one(
        "the bytes of a loaded file stay in the session", "../dashboard/uploads.py",
        "    held.forget_uploads(held.session_id(), file.file_id)\n", "",
        "app/test_memory.py::test_the_bytes_of_a_file_are_let_go_once_it_is_loaded",
    ),
    _one(
        "the seconds of a run do not know how clear the counts are", "planning/seconds.py",
        "clear = plan.n / three.sigma\n", "clear = _USUAL\n",
        "unit/test_seconds.py",
    ),
    _one(
        "the fits that say what pairs are expected to be are not counted", "planning/seconds.py",
        "fits = 1 + _expected(plan, cells)", "fits = 1",
        "unit/test_seconds.py",
    ),
    # --- warnings, limits and names at every door ---
    _one(
        "the release keeps its plan's warnings to itself", "cli.py",
        "    plan = plan_for(config, inputs)\n    say_warnings(plan.warnings)\n",
        "    plan = plan_for(config, inputs)\n",
        f"{WARNED}::test_every_door_warns_and_asks_for_the_limit",
    ),
    _one(
        "the committee's paper does not hold the warnings", "bundle/protocol.py",
        "*self._warned(), *self._opened()", "*self._opened()",
        f"{WARNED}::test_every_paper_of_a_release_holds_them",
    ),
    _one(
        "background pairs are nothing", "planning/cautions.py",
        "    pairs = 0 if plan.tree is None else plan.tree.rounds\n", "    pairs = 0\n",
        f"{WARNED}::test_background_pairs_are_not_called_nothing",
    ),
    _one(
        "the gate knows no maximum", "privacy/ledger/book.py",
        "            exceeded = rules.above_limit(most, self.path.parent, said=above_limit)\n",
        "            exceeded = above_limit\n",
        f"{WARNED}::test_the_gate_holds_the_maximum_for_whoever_comes_by_another_way",
    ),
    _one(
        "what is said of one maximum holds for every other", "privacy/ledger/rules.py",
        "if allowed or said == most:", "if allowed or said is not None:",
        f"{WARNED}::test_what_was_said_of_another_maximum_is_said_anew",
    ),
    _one(
        "an unknown rule of a workspace is passed over", "privacy/ledger/rules.py",
        "            if name not in _ENTRIES[section]:\n", "            if False:\n",
        f"{WARNED}::test_rules_that_cannot_be_read_are_not_passed_over",
    ),
    _one(
        "an epsilon beyond floats is usable", "privacy/checks.py",
        "    if not least <= number <= MOST_EPSILON:\n", "    if False:\n",
        "unit/test_numbers.py::test_every_epsilon_and_delta_is_planned_or_refused_by_name",
    ),
    _one(
        "numpy's numbers are none", "scalars.py",
        "return value.item() if isinstance(value, np.generic) else value", "return value",
        "unit/test_numbers.py::test_numbers_of_numpy_are_numbers",
    ),
    _one(
        "a lock on an unknown column is taken", "planning/design.py",
        "    _check_names(schema, budget)\n", "",
        "unit/test_misspelt.py::"
        "test_a_lock_on_an_unknown_name_is_refused_and_an_idle_one_is_not",
    ),
    _one(
        "nothing is suggested for a misspelt name", "text/suggest.py",
        "    return meant(found) if found else \"\"\n", "    return \"\"\n",
        "unit/test_misspelt.py::test_a_configuration",
    ),
)  # fmt: skip
