"""Report: what do I hand over?"""
