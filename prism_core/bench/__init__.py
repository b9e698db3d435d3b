"""Speed and memory, each measurement in a process of its own; see the modules."""
