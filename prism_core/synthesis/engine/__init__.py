"""Exact inference and convex fitting on a flat junction tree; see the modules."""
