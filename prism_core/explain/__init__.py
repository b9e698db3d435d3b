"""What a plan means, in words and figures."""
