"""The hosted form: who is logged in, whose a project is, what a committee decides, and sources."""
