"""The learning room: a public domain learned with a part of the budget; see the modules."""
