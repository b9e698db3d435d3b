"""Schema: the public domain, its files and its form."""
