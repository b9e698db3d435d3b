"""Accountants: what a list of events spends."""
