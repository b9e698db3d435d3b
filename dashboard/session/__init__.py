"""What a session remembers, and what survives a reload."""
