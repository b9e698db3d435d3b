"""The bundle room; see the modules."""
