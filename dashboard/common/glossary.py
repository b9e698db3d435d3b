"""Glossary: the words of the field, for people who meet them here first."""

from __future__ import annotations

import streamlit as st

WORDS: dict[str, str] = {
    "Domain": "What a column may hold, from the codebook: its levels, or its bounds and bins.",
    "Level": "One allowed value of a categorical or ordinal column. Ordinal levels have an order.",
    "Bin": "One interval of a numeric column or date. Numbers are measured by bin.",
    "Provenance": "Where the declaration of the columns comes from; every report says it.",
    "Learn": "To count a column once, with noise, for its bounds, bins or names of levels, where "
    "the codebook does not say them. It spends a part of the budget.",
    "Target, Y": "The column that is to be predicted from the synthetic table.",
    "Parents, Pa(Y)": "The columns with an arrow into Y: its direct causes.",
    "Markov blanket, MB(Y)": "Parents, children, and the children's other parents. Given these, no "
    "other column helps to predict Y while the world stays as it is.",
    "Unmeasured": "In the graph, not in the table. It is never in S, and says which changes of the "
    "world S does not cover.",
    "Co-parent": "Another cause of something that Y causes.",
    "Independent": "Two columns are independent, given others, when knowing one says nothing more "
    "about the other once the others are known.",
    "S": "The protected features: their relation with Y gets most of the budget.",
    "Regime": "How S is found: causal (parents), graphical (blanket), or predictive (chosen "
    "privately).",
    "Marginal": "A table of counts over one or a few columns, such as age by readmission.",
    "Epsilon": "The privacy loss that is allowed. Smaller protects more and adds more noise.",
    "Delta": "The probability with which the epsilon bound may fail; far below one in n.",
    "Sigma, σ": "The standard deviation of the noise added to each count.",
    "Pool": "A part of the budget: for choosing features, for marginals with Y (task), or for all "
    "else (background).",
    "Design": "All that is set here: regime, budget, shares, model. A is the plan, which is what a "
    "release runs; B, C, ... are others to compare it with.",
    "Expected error": "By how much the noise changes a marginal on average: the sum over its "
    "cells, in rows or relative to n. Not a guarantee.",
    "Lock": "To hold one marginal's share of the budget; the others of its pool share the rest.",
    "Weight": "How much a feature counts in the closed form. Public knowledge, never taken from "
    "the rows.",
    "Joint": "One marginal of all features in S and the target at once.",
    "Closed form": "The formula that splits a pool so that the total expected error is least.",
    "zCDP": "The way privacy losses are added up here; tighter than adding epsilons.",
    "3-way marginal": "Counts of the target with two features at once.",
    "CMI": "Conditional mutual information: what two features have to do with each other once the "
    "target is known.",
    "Accountant": "The rule by which privacy losses are added up.",
    "PLD": "Privacy loss distributions: a sharper sum for plans whose noise is fixed beforehand.",
    "Clique": "Columns the model handles together; its size decides the memory needed.",
    "Ledger": "The record of what was spent on whose data. It is charged before any measurement.",
    "Lifetime epsilon": "What may ever be spent on one data asset, over all releases.",
    "Rehearsal": "A run on public rows with known noise: for trying out, never a release.",
    "Stand-in rows": "Public rows in place of yours: drawn from the graph and the declared domain, "
    "a packaged sample, or a public file.",
    "Shift": "A change of the world between the table and its use: consequences that no longer "
    "follow the target, or causes that have become more frequent.",
    "Ceiling": "What the same learner reaches without noise.",
    "95% interval": "Where the mean over ever more runs would lie, in 95 of 100 such rehearsals.",
    "Allocation": "How a pool is shared out over its marginals: equally, by the closed form, or "
    "in between.",
    "TSTR": "Train on synthetic rows, test on real rows kept aside.",
    "TRTR": "Train on real rows, test on the same real rows kept aside: what TSTR is held "
    "against. No ceiling where those rows differ from the training rows.",
    "AUC": "How well a model ranks: 0.5 is guessing, 1 is perfect.",
    "R²": "Part of a number's variation that a model explains: 0 is always giving the mean, 1 is "
    "perfect, below 0 is worse than the mean.",
    "RMSE": "How far predictions of a number are off, as a root mean square in its own unit.",
    "Calibration": "Whether of the rows given a probability of 30% about 30% turn out so.",
    "Discriminator": "A classifier that says which rows are synthetic; 0.5 means it cannot tell.",
    "Cramér's V": "How strongly two columns go together: 0 no more than chance, 1 one gives the "
    "other. What few rows and many levels add to it is taken off.",
    "By chance": "How far two samples of these sizes from the same population are apart, or how "
    "large V of two unrelated columns becomes: less than that says nothing.",
    "Reusable holdout": "Rows kept aside that answer many questions within one charge: they speak "
    "up, with noise, only where they contradict the synthetic rows.",
    "l1 error": "The sum, over all cells of a marginal, of how far the noisy count is from the "
    "true one. Half of it is how many rows would seem to be in a wrong cell.",
    "Background pairs": "Pairs of columns without Y that are measured too, so that the rest of the "
    "table looks like the original. They get the small part of the budget.",
    "Opt, Unif, Auto": "How a method shares its budget out: by the closed form, in equal parts, or "
    "by whichever of them did better in rehearsals on generated rows.",
    "PRISM-Causal, -Graphical, -Predictive": "This product in its three regimes. All Features "
    "protects every column alike; Independence Only none together.",
    "MST, AIM": "Two well-known general synthesizers, which know of no target; run here on the "
    "same engine at the same epsilon.",
    "l1 distance": "Sum of the differences of shares, 0 (equal) to 2.",
    "TV distance": "Total variation: half the l1 distance, 0 (equal) to 1.",
}

PAGES: dict[str, tuple[str, ...]] = {
    "Start": ("Target, Y", "Epsilon", "Lifetime epsilon", "Ledger", "Rehearsal"),
    "Data": (
        "Domain",
        "Level",
        "Bin",
        "Provenance",
        "Learn",
        "Epsilon",
        "Delta",
        "Ledger",
        "Lifetime epsilon",
    ),
    "Structure": (
        "Target, Y",
        "Parents, Pa(Y)",
        "Co-parent",
        "Unmeasured",
        "Markov blanket, MB(Y)",
        "S",
        "Regime",
        "Independent",
        "Marginal",
        "Pool",
    ),
    "Budget": (
        "Epsilon",
        "Delta",
        "Marginal",
        "Sigma, σ",
        "Pool",
        "Expected error",
        "Closed form",
        "Lock",
        "Weight",
        "Joint",
        "Design",
        "3-way marginal",
        "CMI",
        "Accountant",
        "zCDP",
        "PLD",
        "Clique",
        "S",
        "Parents, Pa(Y)",
        "Markov blanket, MB(Y)",
        "l1 error",
        "Background pairs",
    ),
    "Gallery": ("AUC", "Ceiling", "Epsilon", "95% interval", "MST, AIM"),
    "Rehearse": (
        "Rehearsal",
        "Stand-in rows",
        "Regime",
        "Allocation",
        "AUC",
        "Ceiling",
        "Shift",
        "95% interval",
    ),
    "Release": ("Epsilon", "Delta", "Marginal", "Ledger", "Lifetime epsilon", "Rehearsal"),
    "Committee": ("Epsilon", "Delta", "Expected error", "Lifetime epsilon", "Ledger"),
    "Inspect": (
        "TSTR",
        "TRTR",
        "AUC",
        "R²",
        "RMSE",
        "Calibration",
        "l1 distance",
        "TV distance",
        "Cramér's V",
        "By chance",
        "Discriminator",
        "Reusable holdout",
        "S",
        "Epsilon",
        "Ledger",
    ),
    "Report": ("Epsilon", "Delta", "Marginal", "S", "Sigma, σ", "Ledger", "Rehearsal"),
}


def terms_popover(page: str) -> None:
    """A small window with the words of a page."""
    with st.popover("Words used here", icon=":material/menu_book:"):
        st.markdown("\n\n".join(f"**{word}** — {WORDS[word]}" for word in PAGES[page]))


K_HELP = (
    "Left empty, the plan takes all features where the budget carries them, and eight otherwise. "
    "It decides by the declared columns, the number of rows and epsilon; nothing is spent on it."
)
