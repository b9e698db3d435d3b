"""Samples that come along: generated tables with their true graphs."""
