"""Committee: what waits for a decision, and what was decided?"""
