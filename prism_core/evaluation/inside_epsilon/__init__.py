"""Evaluation inside epsilon: private numbers and the reusable holdout."""
