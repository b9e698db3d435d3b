"""The data room; see the modules."""
