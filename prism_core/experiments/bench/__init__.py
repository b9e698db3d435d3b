"""Measurements of speed and memory: `prism bench`."""
