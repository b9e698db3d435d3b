"""Wishes of a curator: task, budget, synthesis, locks and scenarios."""
