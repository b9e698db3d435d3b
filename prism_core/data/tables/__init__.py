"""Tables of raw text: where they stand and how they are cut."""
