"""Fidelity: how near the synthetic marginals are to those of the rows."""
