"""Planted bugs: each an expression or statement of one function, and the tests that must notice it.

The first thirteen are those of the privacy notes, each of which happened somewhere. A bug is found
by syntax: by the name of its function and by what it changes there, wherever the function's file
lies and however it is formatted. What is found nowhere or twice is an error, so the list cannot
rot.
"""

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Span = tuple[int, int]
PACKAGES = ("prism_core", "dashboard")


@dataclass(frozen=True, kw_only=True)
class Edit:
    """One change in one function.

    Attributes:
        where: the function with its class, as in `Ledger.charge`; "" for what stands outside any.
        old: source of an expression or of statements that stand there exactly once.
        new: what replaces it.
    """

    where: str
    old: str
    new: str

    def planted(self, root: Path) -> tuple[Path, bytes]:
        """The file of a tree that changes, and its text with the change.

        Raises:
            ValueError: when `old` stands there nowhere or more than once, or when what comes of it
                is no Python.
        """
        places = list(_places(root, self))
        if len(places) != 1:
            raise ValueError(
                f"The bug no longer applies: {self.old!r} stands {len(places)} times in "
                f"{self.where or 'no function'}."
            )
        path, text, (begin, end) = places[0]
        changed = text[:begin] + self.new_at(text, begin) + text[end:]
        try:
            ast.parse(changed)
        except SyntaxError as error:
            raise ValueError(f"{self.new!r} in {self.where} is no Python.") from error
        return path, changed

    def new_at(self, text: bytes, begin: int) -> bytes:
        """`new` as it stands in the place of `old`: its further lines are indented as the first."""
        column = begin - (text.rfind(b"\n", 0, begin) + 1)
        return textwrap.dedent(self.new).replace("\n", "\n" + " " * column).encode()


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """A planted bug.

    Attributes:
        name: in words.
        edits: what changes.
        killers: tests (files or node ids below `tests`) of which one has to fail.
    """

    name: str
    edits: tuple[Edit, ...]
    killers: tuple[str, ...]

    def apply(self, root: Path) -> None:
        """Plant the bug in a copy of the tree."""
        for edit in self.edits:
            path, text = edit.planted(root)
            path.write_bytes(text)


def _places(root: Path, edit: Edit) -> Iterator[tuple[Path, bytes, Span]]:
    leaf = edit.where.rpartition(".")[2].encode()
    for path in sorted(p for name in PACKAGES for p in (root / name).rglob("*.py")):
        text = path.read_bytes()
        if leaf in text:
            for span in _spans(text, edit):
                yield path, text, span


def _spans(text: bytes, edit: Edit) -> Iterator[Span]:
    """Where `old` stands in the function, in bytes; what is nested in another function is not it."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    wanted = ast.parse(textwrap.dedent(edit.old)).body
    for function in _functions(_parsed(text), edit.where):
        for nodes in _alike(function, wanted, outside=not edit.where):
            first, last = nodes[0], nodes[-1]
            assert last.end_lineno is not None
            assert last.end_col_offset is not None
            yield (
                starts[first.lineno - 1] + first.col_offset,
                starts[last.end_lineno - 1] + last.end_col_offset,
            )


@lru_cache(maxsize=1_000)
def _parsed(text: bytes) -> ast.AST:
    return ast.parse(text)


def _functions(tree: ast.AST, where: str) -> Iterator[ast.AST]:
    """The functions and classes of that name; what stands outside any for no name."""
    if not where:
        yield tree
        return
    name, _, rest = where.partition(".")
    for node in ast.walk(tree):
        if isinstance(node, _NAMED) and node.name == name and node is not tree:
            yield from _functions(node, rest) if rest else iter((node,))


def _alike(tree: ast.AST, wanted: list[ast.stmt], *, outside: bool) -> Iterator[list[ast.AST]]:
    """The expressions or runs of statements below a node that are as wanted."""
    only = wanted[0].value if len(wanted) == 1 and isinstance(wanted[0], ast.Expr) else None
    dumps = [ast.dump(one) for one in wanted]
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if only is not None and ast.dump(node) == ast.dump(only):
            yield [node]
        for _, value in ast.iter_fields(node) if only is None else ():
            if isinstance(value, list):
                runs = (value[i : i + len(wanted)] for i in range(len(value)))
                yield from (r for r in runs if [ast.dump(s) for s in r if s] == dumps)
        children = ast.iter_child_nodes(node)
        todo += [n for n in children if not (outside and isinstance(n, _NAMED))]


_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _one(name: str, where: str, old: str, new: str, *killers: str) -> Mutation:
    return Mutation(name=name, edits=(Edit(where=where, old=old, new=new),), killers=killers)


RECORD = "synthesis/test_record.py"
DESIGN = "planning/test_design_properties.py::test_spend_stays_within_the_declaration_from_the_first_plan_to_the_last"
MECHANISMS = "privacy/test_mechanisms.py"
PIPELINE = "synthesis/test_pipeline.py"
CHARGING = "privacy/test_charging.py"
RECEIPTS = "privacy/test_charging_receipts.py"
DATABASE = "privacy/test_ledger_database.py"
HEAD = "privacy/test_ledger_head.py"
LEDGER = "privacy/test_ledger.py"
ACCOUNTANTS = "privacy/test_accountants.py"
PLD = "privacy/test_pld.py"
TARGETS = "planning/test_targets.py"
WARNED = "runs/test_warnings.py"
LEARNED = "learning/test_learned_graph.py"
BLANKET = "learning/test_blanket_search.py"
VERIFY = "bundle/test_verify.py"
SEALS = "bundle/test_seals.py"
TAMPERING = "bundle/test_tampering.py"
DRAWN = "synthesis/test_marginal_shrinkage.py"
PRIVATE = "evaluation/test_private_evaluation.py"
SQUARES = "evaluation/test_private_numeric.py"
COMPARATORS = "comparators/test_comparators.py"
ADAPTIVE = "synthesis/test_adaptive.py"
CHOICE = "synthesis/test_adaptive_choice.py"
TIES = "planning/test_ties.py"
TIED = "synthesis/test_ties.py"
HOLDOUT = "evaluation/test_holdout.py"
SESSION = "evaluation/test_holdout_session.py"
ROWS = "data/test_row_locality.py::test_one_row_changes_no_other_code"
HOSTILE = "data/test_out_of_core_hostile.py"
SPARSE = "privacy/test_sparse_vector_law.py"
ROUNDS = f"{RECORD}::test_the_adaptive_rounds_replay"

GRADIENT = "privacy/test_noisy_gradient.py"
PERSONS = "privacy/test_persons.py"
PERSONS_AUDIT = "privacy/test_audit_persons.py"
PERSONS_RECORD = "synthesis/test_record_persons.py"
DOMAIN_ENGINES = "learning/test_domain_engines.py"
DRAWN = "data/test_drawn_rows.py"
ROWS_ASKED = "learning/test_rows_request.py"
LINEAR = "data/test_linear_queries.py"
LOOKS = "data/test_looks.py"
STRANGERS = "dashboard/session/test_strangers.py"
COVERAGE = "data/test_coverage.py"
FORM = "data/test_form_and_draft.py"
DRAW = "data/test_person_draw.py"

CATALOGUE = (
    _one(
        "a schema file that forgets what opened the rows",
        "to_dict",
        "if schema.looks:\n    document['looks'] = looks.to_list(schema.looks)",
        "if not schema.looks:\n    document['looks'] = looks.to_list(schema.looks)",
        f"{LOOKS}::test_schema_and_outline_carry_it_through_their_files",
    ),
    _one(
        "a change after a look keeps its provenance without a source",
        "check_looks",
        "taken and provenance != 'private rows'",
        "not taken and (not provenance)",
        f"{LOOKS}::test_a_change_without_a_source_is_private_whatever_the_schema_says",
    ),
    _one(
        "a change after a look is not recorded where a source is stated",
        "redeclared",
        "not changed",
        "not changed or source",
        f"{LOOKS}::test_a_change_is_recorded_only_after_a_look_and_only_where_something_changed",
    ),
    _one(
        "an upload in the place of a schema takes its looks away",
        "merged",
        "[*_not_before(looks), *_not_before(tuple(added))]",
        "[*(_not_before(tuple(added)) or _not_before(looks))]",
        f"{LOOKS}::test_putting_records_together_loses_nothing_and_repeats_nothing",
    ),
    _one(
        "the folder of a private file goes with the record",
        "file_name",
        "text.replace('\\\\', '/').rstrip('/').rpartition('/')[2]",
        "text",
        f"{LOOKS}::test_the_name_of_a_file_is_no_place",
    ),
    _one(
        "sensitivity of a linear query for one class only",
        "LinearQuery.sensitivity",
        "2 * int((columns ** 2).sum(axis=0).max())",
        "int((columns ** 2).sum(axis=0).max())",
        f"{LINEAR}::test_the_sensitivity_is_that_of_the_whole_matrix",
    ),
    _one(
        "a linear query measured with the noise of counts",
        "noisy_query",
        "noise.add_discrete_gaussian(exact, sigma)",
        "noise.add_discrete_gaussian(exact, sigma / query.grid)",
        f"{LINEAR}::test_the_noise_is_added_to_the_exact_answer",
    ),
    _one("sensitivity 1 for sqrt 2", "", "math.sqrt(2.0)", "1.0", RECORD),
    _one(
        "noise for probabilities on counts",
        "noisy_marginal",
        "noise.add_discrete_gaussian(table.counts([clique])[0], sigma)",
        "noise.add_discrete_gaussian(table.counts([clique])[0], sigma / table.people)",
        RECORD,
    ),
    _one(
        "budget not split over the queries",
        "Frame.queries",
        "self.accountant.gaussian(part, delta, ' × '.join(clique))",
        "self.accountant.gaussian(amount, delta, ' × '.join(clique))",
        DESIGN,
    ),
    Mutation(
        name="locked shares on top of the pool",
        edits=(
            Edit(where="allocate", old="amount - math.fsum(held.values())", new="amount"),
            Edit(where="_excess", old="max(math.fsum(parts), total) - amount", new="-amount"),
        ),
        killers=("planning/test_locks.py", "planning/test_allocation.py"),
    ),
    _one(
        "seed fixed",
        "SecureNoise.add_discrete_gaussian",
        "noisy = _discrete_gaussian(sigma)([int(count) for count in counts.ravel()])",
        "known = SeededNoise(np.random.default_rng(0))\n"
        "return known.add_discrete_gaussian(counts, sigma)\n"
        "noisy = _discrete_gaussian(sigma)([int(count) for count in counts.ravel()])",
        f"{PIPELINE}::test_two_default_runs_differ",
        "privacy/test_noise_law.py::test_two_default_runs_differ",
    ),
    _one(
        "domain from the rows",
        "marginal_counts",
        "return table.counts([clique])[0]",
        "found = table.counts([clique])[0]\n"
        "return found[tuple((slice(int(a.max()) + 1) for a in np.nonzero(found)))]",
        "data/test_counts.py",
        f"{MECHANISMS}::test_counts_are_integers_over_the_declared_domain",
    ),
    _one(
        "NaN sigma accepted", "positive", "not 0.0 < number < math.inf", "number <= 0.0", MECHANISMS
    ),
    _one(
        "selection budget not charged",
        "Plan.events",
        "events.extend((event for choice in self.selections for event in choice.events))",
        "pass",
        RECORD,
    ),
    _one(
        "selection of further targets not charged",
        "Plan.events",
        "self.selections",
        "self.selections[:1]",
        f"{RECORD}::test_several_targets_replay",
    ),
    _one(
        "every target gets the whole selection pool",
        "selection_parts",
        "tuple((weight / whole * (1.0 - 1e-12) for weight in weights))",
        "(1.0,) * len(weights)",
        f"{TARGETS}::test_the_selection_pool_is_split_by_weight_and_the_whole_is_epsilon",
    ),
    _one(
        "strangers heard through another target",
        "leaks",
        "open_names += sorted(fresh & targets)",
        "pass",
        f"{TARGETS}::test_a_cause_of_another_target_is_refused_where_it_would_hear_from_strangers",
    ),
    _one(
        "sensitivity of R halved",
        "association_sensitivity",
        "3.0 / n",
        "1.5 / n",
        "privacy/test_scores.py",
    ),
    Mutation(
        name="charged after the step",
        edits=(
            Edit(
                where="charging",
                old="number = ledger.charge(asset, step=step, spent=price.spent, events=price.events, plan=price.plan, accountant=price.accountant, why=why, approval=approval, declared=price.declared, above_limit=price.above_limit, receipts=(receipt, *(() if earlier is None else earlier.receipts)))",
                new="late = OpenCharge(stamp=kind.charged, receipt=receipt)\n"
                "yield late\n"
                "number = late.number = ledger.charge(asset, step=step, spent=price.spent, events=price.events, plan=price.plan, accountant=price.accountant, why=why, approval=approval, declared=price.declared, above_limit=price.above_limit, receipts=(receipt, *(() if earlier is None else earlier.receipts)))",
            ),
            Edit(
                where="charging",
                old="charge = OpenCharge(stamp=kind.charged, number=number, workspace=ledger.folder, receipt=receipt, entry=ledger.own_entry(number))",
                new="charge = late\ncharge.entry = ledger.own_entry(number)",
            ),
            Edit(
                where="charging",
                old="yield charge",
                new="pass",
            ),
        ),
        killers=(
            f"{PIPELINE}::test_the_charge_is_on_disk_before_the_first_mechanism",
            f"{LEARNED}::test_the_charge_stands_before_the_first_mechanism_and_lists_the_step",
        ),
    ),
    _one(
        "background edge to the target",
        "forest_candidates",
        "[name for name in schema.names if name not in targets]",
        "list(schema.names)",
        "planning/test_regimes.py::test_regime_guard_on_the_measurement_graph",
    ),
    _one(
        "raw scores used as weights",
        "_ReleaseRun.measure_all",
        "self.plan = with_features(self.plan, chosen, further)",
        "from dataclasses import replace\n"
        "from prism_core.data.counts import marginal_counts as _counts\n"
        "from prism_core.privacy.scores import association as _r\n"
        "y = self.plan.task.target\n"
        "raw = {c: 1.0 + _r(_counts(self.table, (c, y))) for c in chosen}\n"
        "task = replace(self.plan.task, weights=raw)\n"
        "changed = replace(self.plan, task=task)\n"
        "self.plan = with_features(changed, chosen, further)",
        RECORD,
    ),
    _one(
        "noise added twice to a copy and the other released",
        "noisy_marginal",
        "return noise.add_discrete_gaussian(table.counts([clique])[0], sigma)",
        "counts = table.counts([clique])[0]\n"
        "noise.add_discrete_gaussian(noise.add_discrete_gaussian(counts, sigma), sigma)\n"
        "return counts",
        f"{MECHANISMS}::test_a_marginal_gets_fresh_noise_of_the_asked_scale",
        "privacy/test_audit.py::test_the_mechanism_is_not_flagged",
    ),
    _one(
        "classic Gaussian at every epsilon",
        "gaussian_sigma",
        "enough(classic)",
        "classic",
        "privacy/test_conversions.py::test_gaussian_sigma_keeps_its_promise",
    ),
    _one(
        "raw counts returned",
        "noisy_marginal",
        "noise.add_discrete_gaussian(table.counts([clique])[0], sigma)",
        "table.counts([clique])[0]",
        RECORD,
    ),
    _one(
        "known noise let through",
        "check_noise_of_table",
        "not table.public and (not noise.secure)",
        "noise is None",
        MECHANISMS,
    ),
    _one(
        "seeded noise says it is secure",
        "SeededNoise",
        "secure = False",
        "secure = True",
        MECHANISMS,
    ),
    _one(
        "charge void after a failure",
        "charging",
        "'failed' if charge.touched else 'void'",
        "'void'",
        f"{PIPELINE}::test_cancelled_after_the_first_mechanism_stays_charged",
        f"{PIPELINE}::test_a_run_that_breaks_in_a_mechanism_stays_charged",
    ),
    _one(
        "overspending plan not stopped",
        "_check_spend",
        "not whole.epsilon <= plan.budget.epsilon or not whole.delta <= plan.delta",
        "whole is None",
        f"{PIPELINE}::test_a_plan_that_spends_more_than_it_declares",
    ),
    _one(
        "delta not split in basic composition",
        "_Choices.of",
        "(frame.delta * (1.0 - 1e-12) - frame.taken) / parts",
        "frame.delta * (1.0 - 1e-12) - frame.taken",
        DESIGN,
    ),
    _one(
        "selection pool not deducted",
        "Frame.pools",
        "(-part for part in found.values())",
        "(-found[pool] for pool in ('choice', 'background'))",
        DESIGN,
    ),
    _one(
        "rho of a choice halved",
        "ExponentialEvent.rho",
        "self.count * self.epsilon ** 2 / 8.0",
        "self.count * self.epsilon ** 2 / 16.0",
        RECORD,
    ),
    _one(
        "exponential mechanism without its 2",
        "SeededNoise.exponential_choice",
        "2.0 * sensitivity",
        "sensitivity",
        "privacy/test_exponential_law.py::test_the_choice_follows_the_exponential_mechanism",
    ),
    Mutation(
        name="secure noise too small, own check gone",
        edits=(
            Edit(
                where="_discrete_gaussian",
                old="dp.m.make_gaussian(*space, scale=sigma)",
                new="dp.m.make_gaussian(*space, scale=0.7 * sigma)",
            ),
            Edit(where="_confirm", old="not loss <= declared * (1.0 + 1e-09)", new="loss is None"),
        ),
        killers=("privacy/test_noise_law.py::test_the_noise_has_the_declared_scale",),
    ),
    _one(
        "count of an event ignored",
        "Basic.spent",
        "leaf.count if isinstance(leaf, ExponentialEvent) else 1",
        "1",
        f"{ACCOUNTANTS}::test_count_is_that_many_singles",
    ),
    _one(
        "delta of a step not subtracted",
        "_left",
        "math.nextafter(delta - lost, 0.0)",
        "delta",
        f"{ACCOUNTANTS}::test_the_delta_of_a_step_is_subtracted_first",
    ),
    _one(
        "noise without shares free in basic composition",
        "Basic.spent",
        "not (leaf.epsilon > 0.0 and lost > 0.0)",
        "leaf.epsilon < 0.0",
        f"{ACCOUNTANTS}::test_basic_refuses_noise_it_was_not_asked_for",
    ),
    _one(
        "earlier charges forgotten",
        "Ledger.charge",
        "counted(db, key)",
        "[]",
        f"{LEDGER}::test_overspending_is_refused_with_nothing_written",
    ),
    _one(
        "failed charges count as nothing",
        "",
        "_COUNTS = \"COALESCE((SELECT state FROM states s WHERE s.charge = c.id ORDER BY s.id DESC LIMIT 1), '') <> 'void'\"",
        "_COUNTS = \"(SELECT state FROM states s WHERE s.charge = c.id ORDER BY s.id DESC LIMIT 1) IN ('done', 'reserved')\"",
        f"{LEDGER}::test_a_charge_counts_in_every_state_but_void",
    ),
    _one(
        "one moved cell in the loss distribution",
        "_composed",
        "2 * times",
        "times",
        f"{PLD}::test_one_marginal_against_the_exact_sum_over_two_cells",
    ),
    _one(
        "loss distribution for noise chosen at run time",
        "calibrated",
        "plan.selection is not None or plan.three_way is not None or plan.tree is not None",
        "plan is None",
        f"{PLD}::test_plans_that_choose_at_run_time_are_refused",
    ),
    _one(
        "optimistic factor returned",
        "common_factor",
        "return high",
        "return 0.999 * high",
        f"{PLD}::test_a_pld_plan_has_less_noise_by_one_common_factor",
    ),
    _one(
        "basic composition charged to an asset",
        "Ledger.charge",
        "accountant not in CHARGEABLE",
        "not accountant",
        f"{PIPELINE}::test_basic_composition_is_refused_for_a_charged_asset",
    ),
    _one(
        "threshold of a histogram one too low",
        "release_threshold",
        "high + least - 1",
        "high + least - 2",
        "privacy/test_threshold.py::test_the_threshold_is_the_smallest_that_delta_covers",
    ),
    _one(
        "a name comes out at the threshold",
        "stable_histogram",
        "count > event.threshold",
        "count >= event.threshold",
        "learning/test_domain_privacy.py::test_a_lone_category_comes_out_as_rarely_as_the_formula_says",
    ),
    _one(
        "event of a histogram takes any threshold",
        "StableHistogramEvent.__post_init__",
        "not gaussian_tail(self.sigma, self.threshold - self.least + 1) <= self.delta",
        "self.sigma < 0.0",
        "privacy/test_threshold.py::test_a_threshold_too_low_for_its_delta_is_refused",
    ),
    _one(
        "cost of the domain not deducted",
        "amount_left",
        "spender.amount(epsilon, rest) - prior.rho",
        "spender.amount(epsilon, rest)",
        "learning/test_domain.py::test_domain_and_release_together_stay_below_the_declaration",
    ),
    _one(
        "delta of the histograms not subtracted",
        "amount_left",
        "delta - prior.failing",
        "delta",
        "learning/test_domain.py::test_domain_and_release_together_stay_below_the_declaration",
    ),
    _one(
        "delta of a histogram forgotten by the ledger",
        "_cost",
        "Cost(rho=ratio ** 2 / 2.0, delta=positive(event['delta'], 'delta'))",
        "Cost(rho=ratio ** 2 / 2.0)",
        "privacy/test_ledger_composition.py::test_the_cost_of_every_event",
        "learning/test_domain.py::test_the_ledger_subtracts_the_delta_of_histograms_before_and_after",
    ),
    _one(
        "bounds from the true counts",
        "_with_bins",
        "return learned_column(request, noisy, event.sigma, n)",
        "return learned_column(request, counts, event.sigma, n)",
        "learning/test_domain_privacy.py::test_bounds_come_from_the_noisy_counts_alone",
    ),
    _one(
        "sensitivity of a conditional R that of R",
        "conditional_association_sensitivity",
        "4.0 / n",
        "3.0 / n",
        f"{BLANKET}::test_the_constant_cannot_be_three",
        RECORD,
    ),
    _one(
        "cost of the graph not deducted",
        "Frame.total",
        "combined_charge(schema.prior, None if self.dag is None else self.dag.prior)",
        "schema.prior",
        f"{LEARNED}::test_graph_domain_and_release_together_stay_below_the_declaration",
    ),
    _one(
        "the rule asks at the command line alone",
        "Ledger.charge",
        "rules.check_rules(step, self.folder, approved=approval is not None)",
        "pass",
        f"{CHARGING}::test_the_rule_stands_at_every_door",
    ),
    _one(
        "a comparator needs no approval",
        "check_rules",
        "kind.refusal and (not approved) and approval_required(workspace)",
        "kind.approvable and (not approved) and approval_required(workspace)",
        f"{CHARGING}::test_the_rule_stands_at_every_door",
    ),
    _one(
        "a server with a committee releases without it",
        "approval_required",
        'bool(os.environ.get(HOSTING_VARIABLE, "").strip())',
        "False",
        "bundle/test_approval.py::"
        "test_where_a_committee_decides_an_approval_is_asked_for_by_itself",
    ),
    _one(
        "learning is known by its events, not by its charge",
        "Ledger.lacking",
        "paid.get(receipt, []) if receipt else []",
        "[e for each in paid.values() for e in each]",
        f"{RECEIPTS}::test_a_domain_learned_twice_is_charged_twice",
        f"{RECEIPTS}::test_what_this_ledger_does_not_hold_is_owed",
    ),
    _one(
        "a misspelled rule of the workspace is passed over",
        "_check_settings",
        "name not in _ENTRIES[section]",
        "name in ()",
        "bundle/test_approval.py::test_a_rule_that_nobody_reads_is_refused",
    ),
    _one(
        "rules behind a link that leads nowhere are none",
        "_settings",
        "_stands(workspace)",
        "False",
        "bundle/test_approval.py::test_rules_that_are_meant_to_be_there_are_not_taken_for_none",
    ),
    _one(
        "an unseen mark makes another asset",
        "canonical",
        "mark.isprintable() or mark.isspace()",
        "mark",
        "privacy/test_ledger_composition.py::test_spellings_of_one_name_are_one_asset",
    ),
    _one(
        "what was kept is recovered under whatever charge has its number",
        "contents",
        "Ledger(workspace).entry(charge) != entry",
        "not Ledger(workspace).entry(charge)",
        "runs/test_recovery.py::test_nothing_is_recovered_that_the_ledger_does_not_hold",
    ),
    _one(
        "an unquoted CR ends a row",
        "_cut",
        "pd.read_csv(text, sep=separator, lineterminator=text.end, dtype=str, keep_default_na=False, na_filter=False, header=None, on_bad_lines='error', skip_blank_lines=True, engine='c', low_memory=False, chunksize=CHUNK)",
        "pd.read_csv(text, sep=separator, dtype=str, keep_default_na=False, na_filter=False, header=None, on_bad_lines='error', skip_blank_lines=True, engine='c', low_memory=False, chunksize=CHUNK)",
        "data/test_tables.py::test_no_cell_makes_two_rows_or_none_of_a_person",
    ),
    _one(
        "a hostile file is opened beside the passwords",
        "_Child.__init__",
        "child_processes.environment()",
        "__import__('os').environ",
        "text/test_untrusted.py::test_no_program_that_opens_a_foreign_file_is_handed_a_secret",
    ),
    _one(
        "a void charge pays for learning",
        "receipted",
        "f'SELECT r.receipt, c.events FROM receipts r JOIN charges c ON c.id = r.charge WHERE c.asset = ? AND {_COUNTS} ORDER BY r.id'",
        "'SELECT r.receipt, c.events FROM receipts r JOIN charges c ON c.id = r.charge WHERE c.asset = ? ORDER BY r.id'",
        f"{RECEIPTS}::test_what_this_ledger_does_not_hold_is_owed",
    ),
    _one(
        "an approval told apart by the spelling of its asset",
        "Approval.marks",
        "self.to_dict() | {'asset': canonical(self.asset)}",
        "self.to_dict()",
        f"{RECEIPTS}::test_an_approval_opens_the_gate_once_for_its_plan_and_asset",
    ),
    _one(
        "an approval for any asset",
        "check_approval",
        "not approval.asset.strip()",
        "approval.asset is None",
        f"{RECEIPTS}::test_an_approval_that_names_no_asset_is_refused_where_one_is_charged",
    ),
    _one(
        "score of an adaptive round with half its sensitivity",
        "AdaptiveChooser.pick",
        "model_error_sensitivity(self._table.contribution) * max(weights)",
        "max(weights)",
        ROUNDS,
    ),
    _one(
        "rounds not needed cost nothing",
        "with_adaptive",
        "(event,) * idle",
        "()",
        f"{ADAPTIVE}::test_the_same_is_spent_whatever_the_rounds_measure",
    ),
    _one(
        "the look that finds no tie costs nothing",
        "_left_by_ties",
        "three.rounds - idle + 1",
        "max(1, three.rounds - idle)",
        f"{TIES}::test_what_ties_leave_measures_the_pairs_again",
    ),
    _one(
        "what ties leave given back more than it was",
        "_left_by_ties",
        "three.event.rho - made.rho",
        "three.event.rho",
        f"{TIES}::test_what_ties_leave_measures_the_pairs_again",
    ),
    _one(
        "rounds of ties go on after one that found nothing",
        "AdaptiveChooser.pick",
        "self._bar is not None",
        "self._bar is not None and not self.picks",
        f"{TIED}::test_the_first_nothing_ends_the_ties",
    ),
    _one(
        "one adaptive choice paid for all",
        "star_and_rounds",
        "frame.accountant.exponential(frame.total * choosing, adaptive.parts, 'choosing adaptive marginals')",
        "frame.accountant.exponential(frame.total * choosing, 1, 'choosing adaptive marginals')",
        ROUNDS,
    ),
    _one(
        "the target measured with columns outside S",
        "Candidates.of",
        "sizes = tuple(map(schema.size, s))",
        "s = [name for name in schema.names if name != target]\nsizes = tuple(map(schema.size, s))",
        f"{CHOICE}::test_whatever_is_picked_keeps_the_target_apart_and_within_the_forecast",
    ),
    _one(
        "a wide round's choice paid as its square root",
        "AdaptiveChooser.pick",
        "self._choice.event.epsilon * math.sqrt(width)",
        "self._choice.event.epsilon * width",
        f"{CHOICE}::test_a_round_takes_twice_the_parts_once_nothing_was_found",
    ),
    _one(
        "rounds that found nothing take no part",
        "AdaptiveChooser.pick",
        "self.left -= width\n"
        "if index == len(cliques):\n"
        "    if self._bar is not None:\n"
        "        self.left = 0\n"
        "    self._before = None\n"
        "    self._width = 2 * width\n"
        "    return None",
        "if index < len(cliques):\n"
        "    self.left -= width\n"
        "if index == len(cliques) and self.left > 1:\n"
        "    self._before = None\n"
        "    self._width = 2 * width\n"
        "    return None",
        f"{CHOICE}::test_a_round_takes_twice_the_parts_once_nothing_was_found",
    ),
    _one(
        "more parts than planned accepted",
        "check_picks",
        "parts",
        "10 * parts",
        f"{ADAPTIVE}::test_more_parts_than_planned_are_refused",
    ),
    _one(
        "score of AIM with half its sensitivity",
        "weighted_sensitivity",
        "model_error_sensitivity(contribution)",
        "1.0",
        f"{COMPARATORS}::test_scores_move_by_their_sensitivity_at_most",
    ),
    _one(
        "persons: noise of a marginal for the root of several rows",
        "Contribution.l2",
        "math.nextafter(self.most * L2_SENSITIVITY, math.inf)",
        "math.nextafter(math.sqrt(self.most) * L2_SENSITIVITY, math.inf)",
        f"{PERSONS}::test_counts_move_by_their_sensitivity_and_reach_it",
        f"{PERSONS_AUDIT}::test_five_rows_of_a_person_stay_below_the_claim",
    ),
    _one(
        "persons: l1 of one row for several",
        "Contribution.l1",
        "self.most * L1_SENSITIVITY",
        "L1_SENSITIVITY",
        f"{PERSONS}::test_counts_move_by_their_sensitivity_and_reach_it",
    ),
    _one(
        "persons: zCDP that forgets how many rows people have",
        "SeveralRows.gaussian",
        "self.contribution.l2",
        "L2_SENSITIVITY",
        f"{PERSONS}::test_the_same_rho_buys_the_noise_of_one_row_times_what_a_person_adds",
    ),
    _one(
        "persons: basic composition that forgets it",
        "BasicOfSeveral.gaussian",
        "self.contribution.l2",
        "L2_SENSITIVITY",
        f"{PERSONS}::test_basic_composition_gives_what_the_moves_of_a_person_cost",
    ),
    _one(
        "persons: basic composition by the classic formula",
        "BasicOfSeveral.gaussian",
        "epsilon_to_rho(amount, delta)",
        "amount ** 2 / (4.0 * math.log(1.0 / delta))",
        f"{PERSONS}::test_basic_composition_gives_what_the_moves_of_a_person_cost",
    ),
    _one(
        "persons: loss distributions of one row for several",
        "accountant",
        "name == 'pld'",
        "name == 'none'",
        f"{PERSONS}::test_loss_distributions_are_refused",
    ),
    _one(
        "persons: a marginal takes the noise of one row",
        "noisy_marginal",
        "table.contribution.l2",
        "L2_SENSITIVITY",
        f"{PERSONS}::test_the_noise_of_one_row_is_refused_for_people_with_several",
    ),
    _one(
        "persons: a linear query takes the noise of one row",
        "noisy_query",
        "query.moved(table.contribution)",
        "query.sensitivity",
        f"{PERSONS}::test_no_mechanism_takes_the_noise_of_one_row_for_several",
    ),
    _one(
        "persons: a regression takes the noise of one row",
        "coefficients",
        "regression.moved(table.contribution)",
        "regression.sensitivity",
        f"{PERSONS}::test_no_mechanism_takes_the_noise_of_one_row_for_several",
    ),
    _one(
        "persons: moments of different classes for the root of several rows",
        "LinearQuery.moved",
        "2 * most ** 2 * int((columns ** 2).sum(axis=0).max())",
        "2 * most * int((columns ** 2).sum(axis=0).max())",
        f"{PERSONS}::test_linear_queries_move_by_their_sensitivity_and_reach_it",
    ),
    _one(
        "persons: thresholds as if everybody had as many rows",
        "LinearQuery.moved",
        "max(most ** 2 * _widest(columns), _widest(columns, most))",
        "most ** 2 * _widest(columns)",
        f"{PERSONS}::test_a_query_that_tells_the_number_of_rows_alone_moves_by_its_sensitivity",
    ),
    _one(
        "persons: moments of weighted rows for one row",
        "LinearQuery.moved",
        "math.nextafter(contribution.most * self.sensitivity, math.inf)",
        "self.sensitivity",
        f"{PERSONS}::test_linear_queries_move_by_their_sensitivity_and_reach_it",
    ),
    _one(
        "persons: regression for the root of several rows",
        "Regression.moved",
        "math.nextafter(contribution.max_rows * self.sensitivity, math.inf)",
        "math.nextafter(math.sqrt(contribution.max_rows) * self.sensitivity, math.inf)",
        f"{PERSONS}::test_a_gradient_moves_by_its_sensitivity_and_nearly_reaches_it",
    ),
    _one(
        "persons: association as a score of one row",
        "association_sensitivity",
        "contribution.most / contribution.least",
        "1.0",
        f"{PERSONS}::test_association_moves_by_its_sensitivity_at_most",
    ),
    _one(
        "persons: association over the private number of rows",
        "scaled_association",
        "association(counts) * (int(counts.sum()) / contribution.totals(n)[0])",
        "association(counts)",
        f"{PERSONS}::test_association_moves_by_its_sensitivity_at_most",
        f"{PERSONS_RECORD}::test_every_way_of_choosing_features_replays",
    ),
    _one(
        "persons: model error as a score of one row",
        "model_error_sensitivity",
        "contribution.l1",
        "2.0",
        f"{PERSONS}::test_model_error_moves_by_its_sensitivity_and_reaches_it",
    ),
    _one(
        "persons: interaction as a score of one row",
        "interaction_sensitivity",
        "2.0 * contribution.most",
        "2.0",
        f"{PERSONS}::test_an_interaction_moves_by_its_sensitivity_and_reaches_it",
    ),
    _one(
        "persons: features chosen as if people had one row",
        "_score_sensitivity",
        "association_sensitivity(frame.n, frame.contribution)",
        "association_sensitivity(frame.n)",
        f"{PERSONS_RECORD}::test_every_way_of_choosing_features_replays",
    ),
    _one(
        "persons: steps of a regression planned for one row",
        "_selection",
        "regression.moved(frame.contribution)",
        "regression.sensitivity",
        f"{PERSONS_RECORD}::test_every_way_of_choosing_features_replays",
    ),
    _one(
        "persons: background pairs chosen as if people had one row",
        "choose_forest",
        "model_error_sensitivity(table.contribution)",
        "model_error_sensitivity()",
        f"{PERSONS_RECORD}::test_a_release_replays",
    ),
    _one(
        "persons: adaptive marginals chosen as if people had one row",
        "AdaptiveChooser.pick",
        "model_error_sensitivity(self._table.contribution)",
        "model_error_sensitivity()",
        f"{PERSONS_RECORD}::test_choosing_three_way_marginals_replays",
    ),
    _one(
        "persons: three-way marginals chosen as if people had one row",
        "_three_way",
        "model_error_sensitivity(frame.contribution)",
        "model_error_sensitivity()",
        f"{PERSONS_RECORD}::test_choosing_three_way_marginals_replays",
    ),
    _one(
        "persons: mutual information as a score of several rows",
        "_check_single",
        "not frame.contribution.single",
        "False",
        f"{PERSONS}::test_scores_without_a_proof_are_refused",
    ),
    _one(
        "persons: a row weighs as much however many its person has",
        "Contribution.weight",
        "self.most // kept if self.shared else 1",
        "1",
        f"{PERSONS}::test_counts_move_by_their_sensitivity_and_reach_it",
    ),
    _one(
        "persons: rows are weighed where every row counts",
        "Contribution.shared",
        "self.weighting == 'persons' and (not self.single)",
        "not self.single",
        f"{PERSONS}::test_a_row_counts_one_or_a_share_of_its_person",
    ),
    _one(
        "persons: weights of another unit than the sensitivity",
        "Contribution.most",
        "math.lcm(*range(1, self.max_rows + 1)) if self.shared else self.max_rows",
        "self.max_rows",
        f"{PERSONS}::test_counts_move_by_their_sensitivity_and_reach_it",
    ),
    _one(
        "persons: a table of people with too many rows",
        "EncodedTable._check_person",
        "kept.min() >= 1 and kept.max() <= self.schema.max_rows",
        "kept.min() >= 1",
        f"{PERSONS}::test_a_person_with_too_many_rows_makes_no_table",
    ),
    _one(
        "persons: one row more is kept than sensitivities allow",
        "rows_per_person",
        "shuffled.groupby(person_id, sort=False, dropna=False).cumcount() < most",
        "shuffled.groupby(person_id, sort=False, dropna=False).cumcount() <= most",
        f"{PERSONS}::test_up_to_so_many_rows_of_each_person_are_kept",
    ),
    _one(
        "persons: learning and private numbers take all rows",
        "check_one_row",
        "not schema.contribution.single",
        "False",
        f"{PERSONS}::test_a_step_that_is_proven_for_one_row_refuses_several",
    ),
    _one(
        "persons: a person cut in two by the holdout",
        "set_aside",
        "np.isin(table.person, order[:rows])",
        "np.isin(np.arange(table.n), order[:rows])",
        f"{PERSONS}::test_nobody_is_cut_in_two_by_the_rows_that_are_set_aside",
    ),
    _one(
        "persons: rows counted where persons are to be",
        "MemoryCounts.rows_had",
        "np.bincount(held - 1, minlength=request.most)",
        "np.bincount(held - 1, held, minlength=request.most)",
        f"{ROWS_ASKED}::test_every_small_table_of_people_and_every_replaced_person",
    ),
    _one(
        "persons: rows per person from the true counts",
        "_most_used",
        "chosen_bound(noisy, plan.n, [column.size for column in columns], plan.left_rho)",
        "chosen_bound(had, plan.n, [column.size for column in columns], plan.left_rho)",
        f"{ROWS_ASKED}::test_what_is_chosen_follows_the_noisy_counts_alone",
    ),
    _one(
        "persons: rows per person over the rows that there are",
        "MemoryCounts.rows_had",
        "np.minimum(had.to_numpy(dtype=np.int64), request.most)",
        "had.to_numpy(dtype=np.int64)",
        f"{ROWS_ASKED}::test_every_small_table_of_people_and_every_replaced_person",
    ),
    _one(
        "learned domain: cells that a database hands over are not counted",
        "_Counted._add",
        "encode_column(self._numbers[name].grid, arrow_texts(tally.cells))",
        "np.zeros(len(rows), dtype=np.int64)",
        f"{DOMAIN_ENGINES}::test_rows_that_come_home_are_counted_as_by_a_worker",
    ),
    _one(
        "learned domain: a second pass over other rows goes unnoticed",
        "FrequentNames.same_rows",
        "(self.rows, self.mark) == (other.rows, other.mark)",
        "self.rows == other.rows",
        "learning/test_frequent_names.py::test_other_rows_in_the_second_pass_are_noticed",
    ),
    _one(
        "drawn rows: equal rows have one place",
        "sampled",
        'rows.place.cast("string")',
        'ibis.literal("0")',
        f"{DRAWN}::test_the_draw_is_the_least_keyed_hashes_once_more_in_memory",
    ),
    _one(
        "drawn rows: a person who is drawn in part stays",
        "BigTable.draw",
        "person < (len(person) if few is None else few)",
        "person < len(person)",
        f"{DRAWN}::test_whole_people_are_drawn_and_no_more_rows_than_wanted",
    ),
    _one(
        "purse of a comparator without a bottom",
        "RhoFilter.pay",
        "math.fsum([*(known.rho for known in self.events), event.rho]) <= self.total",
        "math.fsum([*(known.rho for known in self.events), event.rho]) < math.inf",
        f"{COMPARATORS}::test_a_purse_is_never_overdrawn",
    ),
    _one(
        "comparator on private rows not charged",
        "run_comparator",
        "charging('comparator', plan.price, ledger, asset, public=table.public, noise=source, why=why)",
        "charging('comparator', plan.price, None, asset, public=table.public, noise=source, why=why)",
        f"{COMPARATORS}::test_the_whole_amount_is_charged_before_the_first_mechanism",
    ),
    _one(
        "learned graph taken for a causal one",
        "features_of_interest",
        "graph.learned",
        "graph is None",
        f"{LEARNED}::test_a_learned_graph_is_refused_where_it_does_not_fit",
    ),
    _one(
        "cost of a graph lost in its file",
        "learning_entries",
        "found['learned'] = dag.prior.to_dict()",
        "pass",
        f"{LEARNED}::test_the_cost_survives_files_editing_and_matching",
    ),
    _one(
        "the best score chosen without noise",
        "choose_members",
        "if index == len(left):\n    break",
        "index = max(range(len(left)), key=scores.of(table, left, members).__getitem__)\n"
        "if index == len(left):\n"
        "    break",
        RECORD,
    ),
    _one(
        "a test's gain from half of what was spent",
        "trade_off",
        "math.fsum((event.rho for event in listed)) * _UP",
        "math.fsum((event.rho for event in listed)) / 2.0",
        "privacy/test_trade_off.py::test_no_test_does_better",
    ),
    _one(
        "learning forgotten in what epsilon means",
        "meaning",
        "plan.events if prior is None else (*prior.events, *plan.events)",
        "plan.events",
        "explain/test_meaning.py::test_what_learning_cost_is_in_it",
    ),
    _one(
        "a background edge to the target passes the check of a bundle",
        "structure_findings",
        "name != target and name not in s",
        "len(m.clique) > 3",
        f"{TAMPERING}::test_a_tampered_bundle_fails_even_when_it_was_sealed_again[background edge to the target]",
    ),
    _one(
        "learning forgotten by the certificate",
        "certificate",
        "_learned(plan.schema.prior)",
        "None",
        f"{TAMPERING}::test_a_tampered_bundle_fails_even_when_it_was_sealed_again[cost of learning dropped]",
    ),
    _one(
        "the second accountant forgets rounds of a choice",
        "_loss",
        "_count(event) * _number(event, 'epsilon') ** 2",
        "_number(event, 'epsilon') ** 2",
        "bundle/test_recount.py::test_it_agrees_with_zcdp_and_with_the_library[choices-1e-05]",
    ),
    _one(
        "where the private file stands is handed over",
        "public_names",
        "(*NEEDED, *OPTIONAL, MANIFEST, SIGNATURE)",
        "(*NEEDED, *OPTIONAL, MANIFEST, SIGNATURE, LOCAL)",
        "bundle/test_bundle.py::test_the_zip_holds_what_may_be_handed_over_and_no_time",
    ),
    _one(
        "any key passes for the one that was asked for",
        "_VerifyRun._signature",
        "len(self.key) >= 16 and self.signer.startswith(self.key)",
        "self.signer",
        f"{SEALS}::test_another_key_fails_where_the_right_one_is_known",
    ),
    _one(
        "a folder that anybody signed is authenticated",
        "_VerifyRun._compared",
        "self.signer is not None and (asked or self._passed('ledger'))",
        "self.signer is not None",
        f"{VERIFY}::test_a_folder_that_anybody_signed_has_an_exit_status_of_its_own",
    ),
    _one(
        "bins of scores from the holdout",
        "_class_step",
        "cell_codes(plan, fitted, holdout, edges)",
        "cell_codes(plan, fitted, holdout, score_edges(plan, fitted, holdout))",
        f"{PRIVATE}::test_the_whole_step_on_every_small_holdout",
    ),
    _one(
        "model of a private evaluation trained on private rows",
        "check_released_tables",
        "not synthetic.public",
        "synthetic is None",
        f"{PRIVATE}::test_what_does_not_fit_is_refused_before_anything_is_read",
    ),
    _one(
        "private numbers from the true counts",
        "evaluate_private",
        "noisy",
        "[np.bincount(q.args[0], minlength=q.args[1]) for q in queries]",
        f"{PRIVATE}::test_the_numbers_come_from_the_noisy_counts_alone",
    ),
    _one(
        "private evaluation not charged",
        "evaluate_private",
        "ledger",
        "None",
        f"{PRIVATE}::test_the_charge_stands_before_the_first_count_and_holds_the_plan_s_events",
    ),
    _one(
        "charge of a private evaluation void after its count",
        "evaluate_private",
        "charge.touch()",
        "charge.touched = False",
        f"{PRIVATE}::test_a_charge_that_is_too_large_reads_nothing_and_a_failure_stands",
    ),
    _one(
        "budget of a private evaluation not split over classes",
        "_class_events",
        "total * (1.0 - share) / len(classes)",
        "total * (1.0 - share)",
        f"{PRIVATE}::test_the_plan_never_spends_more_than_it_says",
    ),
    _one(
        "a row counted in two cells",
        "cell_codes",
        "cells.astype(np.int64)",
        "np.repeat(cells.astype(np.int64), 2)",
        f"{PRIVATE}::test_every_small_holdout_and_every_replaced_row",
    ),
    _one(
        "noise of a sum as of a count",
        "_numeric_events",
        "one.sigma * STEPS / one.sensitivity",
        "one.sigma",
        f"{SQUARES}::test_the_plan_never_spends_more_than_it_says",
    ),
    _one(
        "a sum's values not clipped",
        "noisy_sum",
        "np.clip(values.astype(np.int64), 0, most)",
        "values.astype(np.int64)",
        f"{SQUARES}::test_a_sum_clips_and_refuses_a_sensitivity_that_is_too_small",
    ),
    _one(
        "a sum's declared sensitivity not checked",
        "noisy_sum",
        "not event.sensitivity >= most",
        "event.sensitivity < 0",
        f"{SQUARES}::test_a_sum_clips_and_refuses_a_sensitivity_that_is_too_small",
    ),
    _one(
        "squared errors in steps of the largest one seen",
        "row_steps",
        "largest",
        "(error ** 2).max()",
        f"{SQUARES}::test_every_small_holdout_and_every_replaced_row",
        f"{SQUARES}::test_no_row_moves_another_row_s_step",
    ),
    _one(
        "threshold kept after an answer above it",
        "over",
        "SparseVectorState(left=left, threshold=_laplace(0, scales.threshold_scale, noise))",
        "replace(now, left=left)",
        f"{SPARSE}::test_transcripts_have_the_law_of_the_proof_with_a_new_threshold_a_round",
    ),
    _one(
        "half the noise in a comparison",
        "asked",
        "scales.question_scale",
        "scales.question_scale / 2.0",
        f"{SPARSE}::test_transcripts_have_the_law_of_the_proof_with_a_new_threshold_a_round",
    ),
    _one(
        "no noise in a comparison",
        "asked",
        "_laplace(abs(expected - found), scales.question_scale, noise)",
        "abs(expected - found)",
        f"{HOLDOUT}::test_what_is_handed_over_moves_with_one_row_and_nothing_else_does",
    ),
    _one(
        "the true total told",
        "asked",
        "_laplace(found, scales.answer_scale, noise)",
        "found",
        f"{HOLDOUT}::test_what_is_handed_over_moves_with_one_row_and_nothing_else_does",
    ),
    _one(
        "answers without an end",
        "over",
        "now.left - 1",
        "now.left",
        f"{SESSION}::test_when_the_answers_are_used_up_nothing_is_compared",
    ),
    _one(
        "one round of a session paid for all",
        "SparseVector.event",
        "self.answers",
        "1",
        f"{HOLDOUT}::test_the_plan_never_spends_more_than_it_says",
    ),
    _one(
        "a comparison costs the ledger half",
        "_above_threshold_epsilon",
        "2.0 * sensitivity",
        "sensitivity",
        f"{HOLDOUT}::test_the_ledger_counts_the_event_by_its_own_formula",
    ),
    _one(
        "a total moves by one unit",
        "_scales",
        "SparseVector(sensitivity=UNITS, threshold_scale=UNITS / threshold, question_scale=2.0 * UNITS / (comparing - threshold), answer_scale=UNITS / math.sqrt(2.0 * rho * (1.0 - COMPARING)), answers=answers, label='questions to the holdout')",
        "SparseVector(sensitivity=1, threshold_scale=UNITS / threshold, question_scale=2.0 * UNITS / (comparing - threshold), answer_scale=UNITS / math.sqrt(2.0 * rho * (1.0 - COMPARING)), answers=answers, label='questions to the holdout')",
        f"{HOLDOUT}::test_the_plan_never_spends_more_than_it_says",
    ),
    _one(
        "session not charged",
        "open_holdout",
        "charging('holdout', plan.price, ledger, asset, public=holdout.public, noise=source, why=why or 'reusable holdout')",
        "charging('holdout', plan.price, None, asset, public=holdout.public, noise=source, why=why or 'reusable holdout')",
        f"{HOLDOUT}::test_the_charge_stands_before_the_first_noise_and_holds_the_whole_session",
    ),
    _one(
        "a question not on disk before it is compared",
        "ask_holdout",
        "state.write(session)",
        "pass",
        f"{SESSION}::test_a_question_is_on_disk_before_it_is_compared_and_its_answer_before_it_is_told",
    ),
    _one(
        "a crash gives the question back",
        "_recovered",
        "session.pending is None",
        "session is not None",
        f"{SESSION}::test_a_crash_counts_as_an_answer_and_the_threshold_is_drawn_anew",
    ),
    _one(
        "the same question compared again",
        "Session.find",
        "entry.question.key == asked.key and entry.source != LOST",
        "entry is None",
        f"{SESSION}::test_the_same_question_gets_the_stored_answer_and_no_noise",
    ),
    _one(
        "a class stands at some places more often than at others",
        "_evenly",
        "rng.integers(0, np.maximum(members, 1))",
        "0 * rng.integers(0, np.maximum(members, 1))",
        "synthesis/test_sample_law.py::test_a_class_stands_at_every_place_equally_often",
    ),
    _one(
        "classes are spread over rows that should be independent draws",
        "sample_tree",
        "spread if rule == 'rounded' else ()",
        "spread",
        "synthesis/test_sample.py::test_independent_draws_stay_independent",
    ),
    _one(
        "a bound for pairs that were not fitted as measured",
        "_delta_s",
        "may_move_pairs(plan)",
        "False",
        "synthesis/test_pair_shrinkage.py::test_no_bound_is_claimed_for_pairs_that_were_drawn_together",
    ),
    _one(
        "a pair is drawn to what its own noise says",
        "_rest",
        "[*others[:place], totals, *others[place + 1:]]",
        "[*others, totals]",
        f"{DRAWN}::test_what_is_expected_of_a_pair_knows_no_more_of_it_than_the_totals",
    ),
    _one(
        "a marginal that holds the pair tells what is expected of it",
        "_rest",
        "(some, [m for m in relations if not set(pair.clique).issubset(m.clique)])",
        "([*some, pair], [*relations])",
        f"{DRAWN}::test_what_is_expected_of_a_pair_knows_no_more_of_it_than_the_totals",
    ),
    _one(
        "the prior has no weight",
        "FitState.proximal",
        "tau / self._precision",
        "0.0 / self._precision",
        "synthesis/test_near_prior.py::test_the_optimum_is_that_of_a_solver_over_the_joint",
    ),
    _one(
        "a fit begins at potentials that are no nearest move",
        "FitState._first",
        "self._agree(even)",
        "pass",
        "synthesis/test_near_prior.py::test_where_a_fit_begins_does_not_matter",
    ),
    _one(
        "a fit that its start leads astray ends there",
        "solve",
        "start is None or sure or left < _FEW",
        "True",
        "synthesis/test_linear_engine.py::test_a_fit_that_is_led_astray_begins_anew",
    ),
    _one(
        "columns are said to meet higher up than they do",
        "TreePaths.meetings",
        "max",
        "min",
        "synthesis/test_marginals.py::test_many_marginals_are_those_of_the_joint",
    ),
    _one(
        "what lies further on is weighted twice",
        "TreePaths._chained",
        "self._conditional(index, fresh, shared)",
        "self._summed(index, (*fresh, *shared))",
        "synthesis/test_marginals.py::test_many_marginals_are_those_of_the_joint",
    ),
    _one(
        "a column is carried for nothing on its way up",
        "_carried",
        "factors[column, at, at] = size",
        "factors[column, at, at] = 1.0",
        "planning/test_junction_tree.py::test_it_is_the_size_of_a_junction_tree_that_holds_the_clique",
    ),
    _one(
        "how often is drawn from private candidates depends on the rows",
        "private_choice",
        "_PUT_ASIDE if table.public else 0",
        "_PUT_ASIDE",
        f"{MECHANISMS}::test_of_private_rows_all_are_asked_before_the_one_draw",
    ),
    _one(
        "blocks of many marginals are kept for one",
        "marginals_of",
        "block[cut].copy() if sparse else block[cut]",
        "block[cut]",
        "synthesis/test_marginals.py::test_what_is_kept_is_little_more_than_what_was_asked_for",
    ),
    _one(
        "products of smaller columns are not foreseen",
        "_of_any_s",
        "len(at_once) > 1",
        "False",
        "planning/test_size.py::test_nor_where_smaller_columns_bring_products",
    ),
    _one(
        "features are foreseen where they overlap most",
        "_of_any_s",
        "max(known.cells, cells)",
        "known.cells",
        "planning/test_size.py::test_no_s_needs_more_than_was_forecast",
    ),
    _one(
        "a numeric target is rehearsed from all features, not from what is protected",
        "SharedRows._learned",
        "fit_numeric(named, known, target=target, features=features)",
        "fit_numeric(named, known, target=target)",
        "rehearsal/test_rehearsal.py::test_a_numeric_target_is_scored_by_how_well_its_numbers_are_predicted",
    ),
    _one(
        "the ledger's file is made by SQLite, with the mode of the umask",
        "SqliteStore.__init__",
        "files.database(path)",
        "pass",
        "test_files.py::test_the_ledger_and_what_sqlite_puts_beside_it",
    ),
    _one(
        "private files are made with the mode of the umask",
        "",
        "(384, 448)",
        "(438, 448)",
        "test_files.py::test_every_part_of_a_workspace",
    ),
    _one(
        "what was charged as private passes for public",
        "check_public",
        "fingerprint.assets_of(folder, found, charges)",
        "()",
        "data/test_public_rows.py::test_what_was_charged_is_not_public_and_no_cell_is_said",
    ),
    _one(
        "a table is known again by its file alone",
        "marks",
        "frozenset([f'file {raw.sha256}'] if raw.sha256 else []) | {_rows(raw)}",
        "frozenset([f'file {raw.sha256}'])",
        "data/test_public_rows.py::test_the_same_rows_have_a_mark_in_common_whatever_file_they_stand_in",
    ),
    _one(
        "a learned domain's rows are not remembered",
        "run_learn_domain",
        "account.remember(remember, plan.hash)",
        "pass",
        "data/test_public_rows.py::test_nor_does_that_of_learning_a_domain",
    ),
    _one(
        "rows count as charged when the charge was refused",
        "_charged",
        "run is None or charges is None or run.charged(asset, charges)",
        "True",
        "privacy/test_remembered_rows.py::test_a_refused_release_leaves_no_notice",
    ),
    _one(
        "an earlier charge of the plan stands for a refused run",
        "FingerprintedRun.charged",
        "charge.counts and charge.plan == self.plan and (charge.id > self.after) and (canonical(charge.asset) == canonical(asset))",
        "charge.counts and charge.plan == self.plan and (canonical(charge.asset) == canonical(asset))",
        "privacy/test_remembered_rows.py::test_an_earlier_charge_of_the_same_plan_is_not_this_run",
    ),
    _one(
        "YAML may have aliases",
        "_check_events",
        "isinstance(event, yaml.AliasEvent) or getattr(event, 'anchor', None) is not None",
        "False",
        "text/test_untrusted.py::test_aliases_are_refused_before_they_stand_for_anything",
    ),
    _one(
        "a Parquet file may unpack to any size",
        "main",
        "((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0))",
        "((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0))",
        "text/test_untrusted.py::test_a_parquet_file_is_unpacked_where_memory_has_an_end",
    ),
    _one(
        "what is taken off an association depends on the rows",
        "net_association",
        "chance_association(counts.shape, n)",
        "chance_association((int(np.count_nonzero(counts.sum(axis=1))), counts.shape[1]), 4)",
        "privacy/test_scores.py::test_association_moves_by_at_most_its_sensitivity",
    ),
    _one(
        "levels do not count against a feature",
        "net_association",
        "scaled_association(counts, n, contribution) - CHANCE * chance",
        "scaled_association(counts, n, contribution)",
        "synthesis/test_select.py::test_levels_count_against_a_feature",
    ),
    _one(
        "the noise of a gradient from which a row only leaves",
        "Regression.sensitivity",
        "(len(self.cells) + 1) * 4 * _squared_bound(self.parts)",
        "(len(self.cells) + 1) * _squared_bound(self.parts)",
        f"{GRADIENT}::test_no_replaced_row_moves_a_gradient_by_more_than_is_declared",
    ),
    _one(
        "the intercept is left out of a gradient's sensitivity",
        "Regression.sensitivity",
        "len(self.cells) + 1",
        "len(self.cells)",
        f"{GRADIENT}::test_no_replaced_row_moves_a_gradient_by_more_than_is_declared",
    ),
    _one(
        "residuals of two levels are not clipped",
        "_residuals",
        "np.clip(found[:, 1:], -(GRID // 2), GRID // 2)",
        "found[:, 1:]",
        f"{GRADIENT}::test_no_replaced_row_moves_a_gradient_by_more_than_is_declared",
    ),
    _one(
        "residuals of many levels are not clipped",
        "_residuals",
        "found * shrink",
        "found",
        f"{GRADIENT}::test_a_residual_is_never_longer_than_its_bound",
    ),
    _one(
        "a gradient with half its noise",
        "coefficients",
        "noise.add_discrete_gaussian(_gradient(table, regression, theta), event.sigma)",
        "noise.add_discrete_gaussian(_gradient(table, regression, theta), event.sigma / 2.0)",
        "privacy/test_audit_gradient.py",
    ),
    _one(
        "one step of a regression charged for all",
        "SelectionChoice.events",
        "STEPS if self.rule == 'logistic' else 1",
        "1",
        f"{GRADIENT}::test_the_steps_take_their_pool_and_no_more",
    ),
    _one(
        "what is tied by an unmeasured cause is left out of the blanket",
        "Dag.markov_blanket",
        "reached(self, earlier, {name}, columns) & columns",
        "{*self.measured_parents(name), *self.measured_children(name), *self.co_parents(name)}",
        "structure/test_unmeasured_properties.py::test_the_blanket_is_the_smallest_set_of_columns_that_separates",
    ),
    _one(
        "an unmeasured cause is in S",
        "given_by",
        "dag.measured_parents",
        "dag.parents",
        "structure/test_unmeasured.py::test_s_never_holds_an_unmeasured_node",
    ),
    _one(
        "a column tied to the target is said to be covered",
        "changes_not_covered",
        "not near.isdisjoint((node, *dag.graph.predecessors(node)))",
        "node in near",
        "structure/test_unmeasured_properties.py::test_what_a_linear_world_predicts_stays_where_a_change_is_covered",
    ),
    _one(
        "the sentence on S claims more than S covers",
        "_causal",
        "', except for what is not in the table, see below.' if open_ways else '.'",
        "'.'",
        "structure/test_unmeasured.py::test_the_sentence_on_s_names_what_it_does_not_cover",
    ),
    _one(
        "the mark of an unmeasured node is lost where its format cannot hold it",
        "write",
        "format in _UNMARKED and drawing.dag.unmeasured",
        "False",
        "structure/test_unmeasured_properties.py::test_a_mark_reads_back_or_is_refused",
    ),
    _one(
        "names in the report are markup",
        "_environment",
        "Environment(loader=FileSystemLoader(TEMPLATES), autoescape=_is_html, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)",
        "Environment(loader=FileSystemLoader(TEMPLATES), autoescape=False, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)",
        "bundle/test_report.py::test_hostile_names_are_text",
    ),
    _one(
        "unmarked numbers come into the report",
        "_check_outside",
        "document.get('outside_epsilon') is True",
        "True",
        "bundle/test_report_extras.py::test_an_evaluation_without_its_marks_is_refused",
    ),
    _one(
        "an emptied ledger is charged",
        "SqliteStore.transaction",
        "check_head(db, chain_head.noted(self.folder))",
        "pass",
        f"{HEAD}::test_a_file_that_is_not_the_last_one_is_not_charged",
    ),
    _one(
        "an emptied database is charged",
        "PostgresStore.transaction",
        "check_head(db, chain_head.noted(self.folder))",
        "pass",
        f"{DATABASE}::test_an_older_state_of_the_database_is_not_charged",
    ),
    _one(
        "two may charge one asset of a database at once",
        "PostgresStore.transaction",
        "write and asset",
        "False",
        f"{DATABASE}::test_assets_have_locks_of_their_own",
    ),
    _one(
        "a ledger that was carried away is charged",
        "check_version",
        "version == SEALED and write",
        "False",
        f"{DATABASE}::test_there_and_back_again",
    ),
    _one(
        "a database that was carried away meanwhile is charged",
        "PostgresConnection.take_turn",
        "_check_version(self, write=True)",
        "pass",
        f"{DATABASE}::test_what_began_before_a_migration_and_writes_after_it_is_refused",
    ),
    _one(
        "the integrity check is for the command alone",
        "Ledger.charge",
        "turn = self._store.transaction(write=True, asset=canonical(asset), check=check_whole)",
        "turn = self._store.transaction(write=True, asset=canonical(asset))",
        f"{HEAD}::test_an_edited_file_is_not_charged",
    ),
    _one(
        "the head is noted before the commit",
        "note",
        "if before is not None and before.rows >= head.rows:\n    return",
        "head = Head(rows=head.rows + 1, digest=head.digest)\nif before is None:\n    return",
        f"{HEAD}::test_a_note_that_lags_is_no_alarm_and_one_that_is_broken_is",
    ),
    _one(
        "rows: the optimizer is left on",
        "_connect",
        "run_redacted(lambda: _row_by_row(connection), 'DuckDB')",
        "pass",
        "data/test_row_locality.py::test_one_row_changes_no_other_code[with_wrong_statistics]",
    ),
    _one(
        "rows: only the optimizers known today are switched off",
        "_row_by_row",
        "known - OPTIMIZERS",
        "{'statistics_propagation', 'row_group_pruner'}",
        f"{HOSTILE}::test_all_but_two_optimizers_are_off_wherever_duckdb_reads",
    ),
    _one(
        "rows: what is said to be off is not looked at",
        "_row_by_row",
        "'statistics_propagation' not in off or set(told.replace(' ', '').split(',')) != off",
        "'statistics_propagation' not in off",
        f"{HOSTILE}::test_a_duckdb_that_keeps_its_optimizer_reads_no_row",
    ),
    _one(
        "rows: NaN is compared as a number",
        "without_nan",
        "ibis.ifelse(number.isnan(), ibis.null('float64'), number)",
        "number",
        "data/test_row_locality.py::test_one_row_changes_no_other_code[by_pyarrow]",
    ),
    _one(
        "rows: a cast raises",
        "nearest_whole",
        "(near, near.try_cast('int64'))",
        "(number, number.cast('int64'))",
        "data/test_row_locality.py::test_one_row_changes_no_other_code[by_pyarrow]",
    ),
    _one(
        "rows: a far day comes home as it is",
        "calendar_day",
        "ibis.ifelse((day >= first) & (day <= last), day, ibis.null('date'))",
        "day",
        f"{HOSTILE}::test_no_value_of_a_type_stops_a_file_of_it",
    ),
    _one(
        "rows: a missing cell ends the reading of an Arrow column",
        "_texts",
        "isinstance(kept.dtype, pd.ArrowDtype)",
        "False",
        "data/test_row_locality.py::test_one_row_changes_no_other_code[in_a_frame]",
    ),
    _one(
        "rows: one cell that is no text changes how others are written",
        "as_texts",
        "_unicode(str(value))",
        "_text(value)",
        "data/test_tables.py::test_a_cell_that_is_no_unicode_changes_no_other_cell",
    ),
    _one(
        "a session needs no key",
        "granted",
        "st.session_state.get(_GIVEN) is True",
        "True",
        f"{STRANGERS}::test_no_page_tells_of_the_workspace",
    ),
    _one(
        "an upload tells a stranger whose rows were charged",
        "check",
        "if not access.granted():\n    return marks(raw)",
        "pass",
        f"{STRANGERS}::test_an_upload_tells_no_stranger_whether_these_rows_were_charged",
    ),
    _one(
        "a login that has ended counts",
        "identified",
        "not -_EARLY <= since <= hosting.login_hours * 3600.0",
        "False",
        "hosting/test_identity.py::test_a_login_that_has_ended_or_has_no_time_is_refused",
    ),
    _one(
        "a project of another is opened",
        "ProjectStore.opened",
        "found is not None and found.role_of(self._person.subject) is None",
        "False",
        "hosting/test_project_store.py",
    ),
    _one(
        "a vote counts without its signature",
        "check_votes",
        "not vote.is_signed(workspace)",
        "False",
        "hosting/test_committee.py::test_a_vote_that_was_changed_does_not_count",
    ),
    _one(
        "people approve their own",
        "check_votes",
        "subjects & set(apart)",
        "False",
        "hosting/test_committee.py::test_who_voted_does_not_run_it",
    ),
    _one(
        "the process of a run takes an approval that was typed",
        "_approval",
        "hosting is not None and found is not None and asset",
        "False",
        "dashboard/committee/test_committee.py"
        "::test_the_gate_of_a_run_refuses_what_the_room_did_not_give",
    ),
    _one(
        "a source is chosen by whoever asks",
        "Source.offered_to",
        "self.curators is None or person.subject in self.curators",
        "True",
        "hosting/test_sources.py::test_only_whom_it_is_offered_to_chooses_it",
    ),
    _one(
        "a page asks for no key",
        "enter",
        "key_entry.admit(title, *roles)",
        "pass",
        f"{STRANGERS}::test_no_page_tells_of_the_workspace",
    ),
    _one(
        "a charged run is started for whoever asks",
        "_describe",
        "access.require()",
        "pass",
        f"{STRANGERS}::test_what_a_page_could_call_asks_for_the_key_itself",
    ),
    _one(
        "the ledger is handed to whoever asks",
        "ledger",
        "require(*roles)",
        "pass",
        f"{STRANGERS}::test_what_a_page_could_call_asks_for_the_key_itself",
    ),
    _one(
        "a project opens by its address alone",
        "project",
        "not access.granted()",
        "False",
        f"{STRANGERS}::test_no_page_tells_of_the_workspace_beside_an_open_sample",
    ),
    _one(
        "the beginning of the key is enough",
        "matches",
        "hmac.compare_digest(given.strip().encode(errors='replace'), current().encode())",
        "current().startswith(given.strip())",
        f"{STRANGERS}::test_only_the_key_is_the_key",
    ),
    _one(
        "the browser is started with the key on its command line",
        "main",
        "path.as_uri()",
        "machine_key.address(place)",
        "dashboard/data/test_stored_table.py::test_the_browser_is_started_with_a_private_file_and_not_with_the_key",
    ),
    _one(
        "the variance of an area without that of the negatives",
        "delong",
        "beaten.var(ddof=1) / m + beating.var(ddof=1) / n",
        "beaten.var(ddof=1) / m",
        "evaluation/test_intervals.py::test_delong_gives_the_published_interval_of_ct_ratings",
    ),
    _one(
        "perfect order is certainty",
        "area_interval",
        "TAILS[0] ** (1.0 / fewer)",
        "1.0",
        "evaluation/test_intervals.py::test_rows_in_perfect_order_are_no_certainty",
    ),
    _one(
        "ties of a resample won whole",
        "_auc.statistic",
        "0.5 * np.einsum('ij,ij->i', cells[:, tied], cells[:, tied - 1])",
        "0.0 * np.einsum('ij,ij->i', cells[:, tied], cells[:, tied - 1])",
        "evaluation/test_intervals.py::test_every_statistic_is_the_score_of_the_rows_as_often_as_they_were_drawn",
    ),
    _one(
        "each side has resamples of its own",
        "Resamples.blocks",
        "np.random.default_rng(self.seed)",
        "np.random.default_rng()",
        "evaluation/test_intervals.py::test_resamples_are_the_same_each_time_and_follow_the_generator",
    ),
    _one(
        "nine cases are scored",
        "rare_classes",
        "FEWEST",
        "2",
        "evaluation/test_intervals.py::test_ten_rows_of_each_class_are_needed",
    ),
    _one(
        "the curves learn from other columns than the headline",
        "Subject.features",
        "self.s_alone",
        "self.s_alone and (not self.measured)",
        "evaluation/test_inspection.py::test_the_causal_headline_is_about_s_and_gives_the_other_ceiling_with_its_reason",
    ),
    _one(
        "a text that is a number is met by its text alone",
        "_met",
        "found = found.where(found.notna() | ~plain, values.map(written))",
        "pass",
        "data/test_encoding.py::test_texts_that_are_a_number_meet_it_by_value",
    ),
    _one(
        "a postcode is met by the number that is left of it",
        "level_value",
        "len(text) > _DIGITS + 2 or not _NUMBER.fullmatch(text) or text == '-0'",
        "len(text) > _DIGITS + 2 or not text.isdecimal()",
        "data/test_encoding.py::test_a_text_that_only_looks_like_a_number_is_itself_alone",
    ),
    _one(
        "a special value is clipped as the number it looks like",
        "_encode_bins",
        "np.where(np.isnan(special), codes, special)",
        "np.where(np.isnan(special) | ~missing, codes, special)",
        "data/test_special_encoding.py::test_a_special_value_is_never_clipped",
    ),
    _one(
        "a special value is counted into a mean",
        "_values",
        "codes < column.level_count",
        "codes < column.level_count + len(column.special)",
        "evaluation/test_special_targets.py::"
        "test_a_regression_knows_numbers_from_special_values_among_the_features",
    ),
    _one(
        "a special value has a place among the bins in moments",
        "basis",
        "Basis(kind=kind, size=column.size, valueless=len(column.valueless_codes))",
        "Basis(kind=kind, size=column.size, valueless=int(column.nullable))",
        "data/test_linear_queries.py::"
        "test_special_values_are_in_no_moment_and_in_no_group_of_thresholds",
    ),
    _one(
        "a row with a special target is taken for a class",
        "labelled",
        "table.column(target) < column.level_count",
        "table.column(target) != column.missing_code",
        "evaluation/test_special_targets.py::test_classes_are_learned_from_rows_that_have_one",
    ),
    _one(
        "a number that is made is a special value",
        "_decode_bins",
        "grid += (bins == spot) & (grid >= number)",
        "pass",
        "data/test_special_encoding.py::"
        "test_no_number_that_is_made_is_special_and_every_other_one_can_be",
    ),
    _one(
        "a database clips a special value in a column of floats",
        "_floats",
        "[*null, missing, *_special_floats(rule, number), *cases]",
        "[*null, missing, *cases]",
        "data/test_row_locality.py::test_one_row_changes_no_other_code[by_duckdb]",
    ),
    _one(
        "a database takes 1.0 for a word that is no level",
        "_unknown",
        "level_value(level) is not None",
        "isinstance(level, (int, float))",
        "data/test_row_locality.py::test_one_row_changes_no_other_code[by_duckdb]",
    ),
    _one(
        "whether a private run goes on depends on its rows",
        "ready",
        "if public:\n    check_covered(schema, some_rows(raw))",
        "if True:\n    check_covered(schema, some_rows(raw))",
        f"{COVERAGE}::test_nothing_of_a_private_run_depends_on_what_fits",
    ),
    _one(
        "public rows that do not fit are taken",
        "check_covered",
        "found.refused",
        "False",
        f"{COVERAGE}::test_public_rows_that_do_not_fit_are_refused",
    ),
    _one(
        "a check that is on no record",
        "_check",
        "look_file.record(config.table.schema, look)",
        "del look",
        f"{COVERAGE}::test_the_check_is_recorded_before_it_counts_and_then_nobody_is_reminded",
    ),
    _one(
        "the form takes digits for numbers",
        "_plain_level",
        "whole if str(whole) == text else text",
        "whole",
        f"{FORM}::test_levels_keep_their_types_in_the_form",
    ),
    _one(
        "the form writes a text of digits as it stands",
        "write_level",
        "plain and _plain_level(level) == level",
        "plain",
        f"{FORM}::test_the_form_gives_back_every_schema",
        f"{FORM}::test_levels_keep_their_types_in_the_form",
    ),
    _one(
        "a draft makes numbers of postcodes",
        "_guess",
        "np.isfinite(values).all() and (not _codes(present, values))",
        "np.isfinite(values).all()",
        f"{FORM}::test_codes_that_look_like_numbers_are_drafted_as_texts",
    ),
    _one(
        "children load code from the current folder",
        "python",
        "[sys.executable, '-P', *map(str, arguments)]",
        "[sys.executable, *map(str, arguments)]",
        "test_child_processes.py::test_a_run_of_the_dashboard_runs_no_module_of_the_folder",
    ),
    _one(
        "processes of a pool load code from the current folder",
        "spawning",
        "os.environ[SAFE_PATH] = '1'",
        "pass",
        "test_child_processes.py::test_prism_and_the_processes_of_a_rehearsal_run_no_module_of_the_folder",
    ),
    _one(
        "plan and protocol look at no header",
        "configured_rows",
        "open_rows(place, workspace, columns=columns, separator=config.table.separator, encoding=config.table.encoding)",
        "open_rows(place, workspace, separator=config.table.separator, encoding=config.table.encoding)",
        "data/test_header.py::test_a_table_without_its_header_is_refused_and_its_first_line_is_not_shown[plan-False]",
    ),
    _one(
        "one value of the first line makes a header",
        "check_columns",
        "2 * sum((folded(column) in alike for column in wanted)) < len(wanted)",
        "not any((folded(column) in alike for column in wanted))",
        "data/test_header.py::test_a_value_that_is_the_name_of_a_column_is_not_shown",
    ),
    _one(
        "repeated names are shown",
        "check_header",
        "str(place)",
        "cell",
        "data/test_header.py::test_names_that_meet_are_told_by_their_places",
    ),
    _one(
        "the first line becomes a form whatever it holds",
        "_from_header",
        "check_names(header, raw.name)",
        "pass",
        "dashboard/data/test_header_page.py::test_its_first_line_does_not_become_a_form",
    ),
    _one(
        "content may name a file",
        "parse",
        "return (reader or FORMATS[detect(text)]).read(text)",
        "text = text_of(Path(text).read_bytes()) if Path(text).is_file() else text\n"
        "return (reader or FORMATS[detect(text)]).read(text)",
        "text/test_file_or_text.py::test_content_is_never_a_path",
    ),
    _one(
        "Cramér's V with the bias of few rows",
        "associations",
        "freedom / max(1, n - 1)",
        "0.0 * freedom",
        "evaluation/test_association.py::test_independent_columns_of_twenty_levels_do_not_go_together",
    ),
    _one(
        "correlations are diluted by pairs with nothing to say",
        "correlation_rows",
        "np.abs(real) > limit",
        "np.abs(real) > -limit",
        "evaluation/test_association.py::test_a_lost_correlation_is_not_diluted_by_pairs_with_nothing_to_say",
    ),
    _one(
        "the pair with most cells is called the farthest",
        "lost_pairs",
        "chance - values",
        "-values",
        "evaluation/test_association.py::test_the_pair_that_is_named_is_not_the_one_with_most_cells",
    ),
    _one(
        "rows of a closed tab stay in memory",
        "let_go",
        "data.raw = None",
        "pass",
        "dashboard/session/test_memory.py::test_rows_are_let_go_once_nobody_has_the_project_open_and_come_back_with_the_file",
    ),
    _one(
        "another file is taken for the one that was let go",
        "take_back",
        "gone is None or raw.sha256 != gone.sha256 or public != state.data.public",
        "gone is None or public != state.data.public",
        "dashboard/session/test_memory.py::test_the_rows_kept_aside_are_the_same_ones_again",
    ),
    _one(
        "the bytes of a loaded file stay in the session",
        "let_go",
        "memory.forget_uploads(memory.session_id(), file.file_id)",
        "pass",
        "dashboard/session/test_memory.py::test_the_bytes_of_a_file_are_let_go_once_it_is_loaded",
    ),
    _one(
        "the seconds of a run do not know how clear the counts are",
        "parts",
        "plan.mass / three.sigma",
        "_USUAL",
        "planning/test_seconds.py",
    ),
    _one(
        "the fits that say what pairs are expected to be are not counted",
        "parts",
        "1 + _expected(plan, cells)",
        "1",
        "planning/test_seconds.py",
    ),
    _one(
        "the range of seconds knows no large picks",
        "",
        "Found(share=1.0, large=1.0, factor=1.5)",
        "Found()",
        "planning/test_seconds.py",
    ),
    _one(
        "private numbers are bought though nobody looked if the cells fit",
        "_private",
        "say_unchecked(looks_of(folder, config), public=public)",
        "pass",
        "cli/test_unchecked.py",
    ),
    _one(
        "the release keeps its plan's warnings to itself",
        "_release",
        "say_warnings(plan.warnings)",
        "pass",
        f"{WARNED}::test_every_door_warns_and_asks_for_the_limit",
    ),
    _one(
        "the committee's paper does not hold the warnings",
        "Protocol.to_html",
        "plan, said = self.plan, self.statement",
        "plan, said = __import__('dataclasses').replace(self.plan, warnings=()), self.statement",
        f"{WARNED}::test_every_paper_of_a_release_holds_them",
    ),
    _one(
        "background pairs are nothing",
        "_instead",
        "0 if plan.tree is None else plan.tree.rounds",
        "0",
        f"{WARNED}::test_background_pairs_are_not_called_nothing",
    ),
    _one(
        "the gate knows no maximum",
        "Ledger.charge",
        "rules.above_limit(most, self.folder, said=above_limit)",
        "above_limit",
        f"{WARNED}::test_the_gate_holds_the_maximum_for_whoever_comes_by_another_way",
    ),
    _one(
        "what is said of one maximum holds for every other",
        "above_limit",
        "said == most",
        "said is not None",
        f"{WARNED}::test_what_was_said_of_another_maximum_is_said_anew",
    ),
    _one(
        "an unknown rule of a workspace is passed over",
        "_check_settings",
        "name not in _ENTRIES[section]",
        "False",
        f"{WARNED}::test_rules_that_cannot_be_read_are_not_passed_over",
    ),
    _one(
        "an epsilon beyond floats is usable",
        "epsilon_value",
        "not least <= number <= MOST_EPSILON",
        "False",
        "planning/test_numbers.py::test_every_epsilon_and_delta_is_planned_or_refused_by_name",
    ),
    _one(
        "numpy's numbers are none",
        "plain",
        "value.item() if isinstance(value, np.generic) else value",
        "value",
        "planning/test_numbers.py::test_numbers_of_numpy_are_numbers",
    ),
    _one(
        "a lock on an unknown column is taken",
        "design",
        "_check_names(schema, budget)",
        "pass",
        "cli/test_misspelt_names.py::test_a_lock_on_an_unknown_name_is_refused_and_an_idle_one_is_not",
    ),
    _one(
        "nothing is suggested for a misspelt name",
        "suggestion",
        "meant(found) if found else ''",
        "''",
        "cli/test_misspelt_names.py::test_a_configuration",
    ),
    _one(
        "interactions score what the model does not know as nothing",
        "interaction",
        "counts - counts.sum(axis=-1, keepdims=True) * shares",
        "2 * (counts - counts.sum(axis=-1, keepdims=True) * shares)",
        "privacy/test_interaction.py",
    ),
    _one(
        "a contrast goes beyond one",
        "contrasts",
        "np.where(2 * codes >= levels, 1.0, -1.0)",
        "np.where(2 * codes >= levels, 2.0, -1.0)",
        "privacy/test_interaction.py::test_contrasts_are_between_minus_one_and_one",
    ),
    _one(
        "missing values count in a contrast",
        "contrasts",
        "found[:, levels:] = 0.0",
        "pass",
        "privacy/test_interaction.py::test_contrasts_are_between_minus_one_and_one",
    ),
    _one(
        "the look finds something where nothing acts together",
        "choose_interaction",
        "choice.bar",
        "0.0",
        "synthesis/test_interactions.py::test_where_nothing_acts_together_nothing_is_found",
    ),
    _one(
        "what is kept back is spent on every pair",
        "_again",
        "allocate(amount, [query.event.rho for query in pairs], 'closed_form', 1.0)",
        "[amount] * len(pairs)",
        "planning/test_interactions.py::test_where_nothing_is_found_the_pairs_get_all_of_it",
    ),
    _one(
        "a joint is measured whatever its noise",
        "_beside",
        "cells > task.max_joint_cells or not its <= JOINT_LIMIT",
        "cells > task.max_joint_cells",
        "planning/test_joint.py::test_whatever_is_measured_is_tolerable_and_paid_for",
    ),
    _one(
        "two measurements count as one of the first noise",
        "_mean",
        "whole**-0.5",
        "repeated[0].sigma",
        "synthesis/test_interactions.py::test_what_was_measured_twice_counts_as_one_measurement",
    ),
    _one(
        "fine counts cost nothing",
        "Plan.with_fine",
        "() if self.coarsening is None else self.coarsening.queries",
        "()",
        "planning/test_coarsening.py::test_it_takes_its_share_and_the_plan_spends_what_it_spent_without",
    ),
    _one(
        "every fine marginal has the whole share",
        "coarsening_of",
        "SHARE / len(names)",
        "SHARE",
        "planning/test_coarsening.py::test_it_takes_its_share_and_the_plan_spends_what_it_spent_without",
    ),
    _one(
        "a row stands in two cells of the fine grid",
        "MappedRows.counts",
        "count_chunks(self.schema, cliques, self.batches, self.people)",
        "[2 * one for one in count_chunks(self.schema, cliques, self.batches, self.people)]",
        "privacy/test_fine_counts.py::test_replayed_on_a_neighbour_only_true_vectors_move",
    ),
    _one(
        "features outside S are counted with Y in the model",
        "known_marginals",
        "[m for m in measurements if not m.fine]",
        "measurements",
        "privacy/test_fine_counts.py::test_whatever_is_chosen_no_count_of_a_feature_outside_s_with_y_is_in_the_model",
    ),
    _one(
        "verify takes any parts",
        "parts_findings",
        "plan.parts is None",
        "True",
        "bundle/test_coarsened_bundle.py::test_parts_of_ones_own_choice_are_found_out",
    ),
    _one(
        "a database keeps a row too many of a person",
        "drawn",
        "rows.filter(rows[TURN] < most)",
        "rows.filter(rows[TURN] <= most)",
        f"{DRAW}::test_no_two_people_move_the_counts_by_more_than_the_bound",
    ),
    _one(
        "each of a person's rows weighs as all of them",
        "_weight_sql",
        "contribution.weight(kept)",
        "contribution.most",
        f"{DRAW}::test_no_two_people_move_the_counts_by_more_than_the_bound",
    ),
    _one(
        "which rows of a person are kept depends on who else there is",
        "drawn",
        "ibis.row_number().over(group_by=PERSON, order_by=wanted)",
        "ibis.row_number().over(order_by=wanted)",
        f"{DRAW}::test_a_person_moves_her_own_rows_alone",
    ),
    _one(
        "a holdout in files is cut by row",
        "StoredTable._drawn",
        "now[np.cumsum(first)]",
        "now[np.minimum(np.arange(len(first)) + 1, len(now) - 1)]",
        f"{DRAW}::test_parts_are_cut_by_person",
    ),
    _one(
        "a person whose rows are apart is taken for several",
        "_Heads.of",
        "(heads | (turns == before + 1)).all()",
        "True",
        f"{DRAW}::test_people_who_do_not_stand_together_are_noticed",
    ),
    _one(
        "suggested bounds pass for the codebook's own",
        "Codebook.with_suggested",
        "{*self.source.by_hand, *wanted}",
        "self.source.by_hand",
        "data/codebooks/test_usual_bounds.py::test_what_is_taken_counts_as_done_by_hand",
    ),
    _one(
        "a table of SAS that is cut is a shorter one",
        "is_cut",
        "length < _sas_length(file.read(512))",
        "False",
        "data/test_statistical_file.py::test_a_table_of_sas_that_announces_more_pages_than_it_has_is_cut",
    ),
)
