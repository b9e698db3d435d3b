"""Learning of a domain with a part of the budget."""
