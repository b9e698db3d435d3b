"""What several rooms say in the same words."""
