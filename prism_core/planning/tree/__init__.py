"""Junction trees: elimination, cliques and size."""
