"""The key of whoever started the app, and who may do what."""
