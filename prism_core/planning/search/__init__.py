"""Search for a plan: least epsilon, largest k, and comparisons."""
