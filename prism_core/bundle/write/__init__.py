"""Writing a bundle."""
