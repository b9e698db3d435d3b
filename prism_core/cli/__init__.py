"""The command `prism`; one file a command."""
