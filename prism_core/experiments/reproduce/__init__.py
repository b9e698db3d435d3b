"""The paper's tables and figures made anew, and the same methods as this product runs them."""
