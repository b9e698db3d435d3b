"""Every reader of the product, on texts and bytes that nobody wrote."""
