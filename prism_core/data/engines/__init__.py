"""Engines: tables that are not read into memory."""
