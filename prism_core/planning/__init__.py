"""The planning room; see the modules."""
