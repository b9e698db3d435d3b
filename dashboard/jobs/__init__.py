"""Long work in processes of their own."""
