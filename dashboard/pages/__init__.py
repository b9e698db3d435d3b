"""Pages; one file a page."""
