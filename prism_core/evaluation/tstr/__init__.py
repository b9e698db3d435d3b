"""TSTR: models trained on synthetic rows and tested on real ones."""
