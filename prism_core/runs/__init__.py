"""The charged steps from their inputs to what they leave: what pages and commands call."""
