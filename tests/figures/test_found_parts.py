"""The picture of bins that were found: one bar a cell, a cut between parts, names made safe."""

from __future__ import annotations

from dataclasses import replace

from prism_core.figures import parts_figure, parts_words
from prism_core.synthesis.fine_counts import FoundParts

FOUND = FoundParts(
    name="<i>dose</i>",
    level="$yes$",
    cells=tuple(f"<b>{cell}</b>" for cell in range(6)),
    counts=(40, -3, 55, 60, 7, 8),
    parts=(0, 0, 1, 1, 1, 2),
    share=(0.1, 0.4, None),
    deviation=(0.02, 0.03, None),
)


def test_every_cell_has_a_bar_and_every_cut_a_line():
    figure = parts_figure(FOUND)
    bars, dots = figure.data
    assert tuple(bars.y) == FOUND.counts
    assert [line.x0 for line in figure.layout.shapes] == [1.5, 4.5]
    assert list(dots.y) == [0.1, 0.4]
    assert list(dots.x) == [0.5, 3.0]
    assert list(dots.error_y.array) == [1.96 * 0.02, 1.96 * 0.03]


def test_names_are_no_markup():
    text = parts_figure(FOUND).to_json().replace("\\u003c", "<")
    assert "<b>" not in text
    assert "<i>" not in text
    assert "$yes" not in text


def test_the_words_say_how_many_and_how_far_apart():
    words = parts_words(FOUND)
    assert "6 fine cells became 3 parts" in words
    assert "from 10% to 40%" in words
    alone = replace(FOUND, parts=(0,) * 6, share=(None,), deviation=(None,))
    assert "became 1 part." in parts_words(alone)
    assert "from" not in parts_words(alone)
    assert len(parts_figure(alone).data[1].y or ()) == 0
