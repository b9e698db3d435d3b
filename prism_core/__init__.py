"""PRISM: differentially private synthetic tables made for one prediction task."""
