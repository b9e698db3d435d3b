"""The synthesis room; see the modules."""
