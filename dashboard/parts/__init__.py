"""Sections of pages; one file a section."""
