"""Inspect: can I trust it?"""
