"""Learning of a blanket with a part of the budget."""
