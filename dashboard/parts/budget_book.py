"""Designs kept by name."""

from __future__ import annotations


def section() -> None:
    """TO BE DONE."""
