"""The notebook of a bundle: its cells run in order, and the rows come out to the byte."""

from __future__ import annotations

import json

import pytest

from prism_core.bundle.notebook import notebook
from tests.support.bundles import rehearsed, written

nbformat = pytest.importorskip("nbformat")


def test_the_cells_make_the_rows_again(small, tmp_path, monkeypatch, capsys):
    folder = written(rehearsed(*small), tmp_path / "out")
    text = notebook(folder)
    assert text == notebook(folder)
    nbformat.validate(nbformat.reads(text, as_version=4))
    assert str(tmp_path) not in text
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)  # as a notebook does
    assert "The same rows as in synthetic.csv: True" in capsys.readouterr().out
    assert (folder / "other-rows.csv").exists()
