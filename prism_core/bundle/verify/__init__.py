"""The check of a bundle by whoever receives it."""
