"""The report of a release, for a committee to read."""
