"""The privacy room; see the modules."""
