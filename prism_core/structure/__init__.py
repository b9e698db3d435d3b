"""The structure room; see the modules."""
