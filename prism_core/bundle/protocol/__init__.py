"""The protocol that a committee reads before a release, and its approval."""
