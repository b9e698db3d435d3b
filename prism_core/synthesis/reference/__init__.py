"""The reference engine: Private-PGM by mbi."""
