"""Figures: valid JSON, the expected traces, and names that cannot become markup."""

import json
import math
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import prism_core.figures as figures_room
from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.evaluation import ColumnShape, MetricRow, evaluate
from prism_core.explain.error_bounds import Bound, ErmBound, MarginalBounds
from prism_core.explain.meaning import Gain, Guess
from prism_core.figures import (
    BudgetRow,
    bounds_figure,
    budget_figure,
    column_figure,
    curves_figure,
    erm_figure,
    error_curve_figure,
    error_figure,
    learners_figure,
    odds_figure,
    pool_style,
    safe,
    theme,
    trade_off_figure,
)
from prism_core.figures import fidelity_panels as columns_module
from prism_core.figures.theme import html_page

EVIL = '<a href="javascript:x">a</a> & $x$'


def make(target_size=2, *, constant=False, n=200):
    rng = np.random.default_rng(3)

    def cat(name, size):
        return Column(
            name=name, kind="categorical", levels=tuple(f"<{name[:2]}{i}>" for i in range(size))
        )

    schema = Schema(columns=(cat(EVIL, 3), cat("b", 2), cat("y", target_size)))

    def rows():
        codes = np.stack([rng.integers(0, c.size, n) for c in schema.columns], axis=1)
        codes[:, 2] = (codes[:, 0] + codes[:, 2]) % target_size
        return codes

    made = rows()
    if constant:
        made[:, 2] = 0
    tables = [EncodedTable(schema=schema, codes=codes) for codes in (made, rows(), rows())]
    return evaluate(tables[0], tables[1], target="y", train=tables[2])


@pytest.fixture(scope="module")
def found():
    return make()


@pytest.fixture(scope="module")
def broken():
    return make(constant=True)


LINES = [
    BudgetRow(label=f"{EVIL} × y", pool="task", share=0.4, sigma=3.25, relative_error=0.01),
    BudgetRow(label="b × y", pool="task", share=0.3, sigma=4.0, relative_error=2.0, cells=1234),
    BudgetRow(
        label="a × b", pool="background", share=0.2, sigma=5.0, relative_error=math.inf, cells=6
    ),
    BudgetRow(label="b", pool="<i>odd</i>", share=0.1, sigma=6.0, relative_error=None),
]


def as_json(figure):
    """The figure as plotly would send it; NaN and markup from names must not get through."""
    text = figure.to_json()
    assert "NaN" not in text
    assert "Infinity" not in text
    # Plotly writes < as \\u003c in JSON; look at the decoded strings.
    for string in strings(json.loads(text)):
        assert "<a" not in string
        assert "<i" not in string
        assert "$" not in string
    return json.loads(text)


def strings(node):
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict):
        for value in node.values():
            yield from strings(value)
    elif isinstance(node, list):
        for value in node:
            yield from strings(value)


def names(figure):
    return [trace.name for trace in figure.data if trace.name]


@pytest.mark.parametrize("text", [EVIL, "a\nb\tc", "x" * 50, "", "<", "&amp;"])
@pytest.mark.parametrize("limit", [None, 1, 2, 5, 20])
def test_safe(text, limit):
    import html

    shown = html.unescape(safe(text, limit))
    assert not set("<>$") & set(safe(text, limit))
    assert limit is None or len(shown) <= limit
    if limit is None or len(text) <= limit:
        assert shown == text.replace("\n", " ").replace("\t", " ")


@settings(deadline=None)
@given(st.text(max_size=40), st.integers(1, 30))
def test_safe_never_lets_markup_through(text, limit):
    assert not set("<>$\n") & set(safe(text, limit))


def test_safe_keeps_both_ends():
    assert safe("number_of_visits_12", 11) == "numbe…ts_12"


def roc(evaluation, learner=None):
    chosen = learner or evaluation.default_learner
    curves = [curve for curve in evaluation.roc if curve.learner == chosen]
    return curves_figure(curves, evaluation.find("auc", chosen)[0].note)


def test_roc_shows_tstr_trtr_and_the_floor(found):
    figure = roc(found)
    as_json(figure)
    assert len(figure.data) == 3
    assert list(figure.data[0].x) == [0, 1]
    assert f"AUC {found.tstr_auc:.3f}" in figure.data[1].name
    assert f"AUC {found.trtr_auc:.3f}" in figure.data[2].name
    assert figure.data[1].line.dash != figure.data[2].line.dash
    assert figure.layout.xaxis.title.text == "False positive rate"


def test_roc_of_another_learner(found):
    area = found.find("auc", "gradient_boosting")[0].value
    assert f"AUC {area:.3f}" in roc(found, "gradient_boosting").data[1].name


def test_roc_of_many_classes():
    figure = roc(make(4))
    as_json(figure)
    assert len(figure.data) == 1 + 2 * 4


def test_roc_without_curves_is_a_sentence():
    lonely = make(1)
    figure = roc(lonely)
    as_json(figure)
    assert not figure.data
    assert "nothing can be" in figure.layout.annotations[0].text


@pytest.mark.parametrize("name", ["auc", "accuracy", "log_loss", "brier"])
def test_metric_dots(found, name):
    figure = learners_figure(found.find(name), name)
    as_json(figure)
    dots = {trace.name: trace for trace in figure.data if trace.name}
    assert list(dots["Trained on synthetic rows"].x) == [r.value for r in found.find(name)]
    assert list(dots["Trained on real rows"].x) == [r.ceiling for r in found.find(name)]
    assert len({trace.marker.symbol for trace in dots.values()}) == 3


def test_next_to_nothing_below_zero_is_no_negative_zero():
    """R² of always giving the mean is a hair below 0 on other rows than those it is taken from."""
    row = MetricRow(name="r2", learner="ridge", subject="y", value=0.2, floor=-2e-4, ceiling=-0.0)
    texts = [text for trace in learners_figure([row], "r2").data for text in trace.text or ()]
    assert sorted(texts) == ["0.000", "0.000", "0.200"]


def test_metric_without_a_value_says_why(broken):
    figure = learners_figure(broken.find("auc"))
    as_json(figure)
    assert len(figure.layout.annotations) == 3
    assert "All synthetic rows" in figure.layout.annotations[0].text
    assert not learners_figure(broken.find("nonsense"), "nonsense").data


def test_column_bars(found):
    figure = column_figure(found.columns[0])
    as_json(figure)
    assert names(figure) == ["Real rows", "Synthetic rows"]
    assert list(figure.data[0].y) == list(found.columns[0].real)
    assert figure.data[0].marker.pattern.shape != figure.data[1].marker.pattern.shape
    assert list(figure.layout.xaxis.ticktext) == [
        "&lt;&lt;a0&gt;",
        "&lt;&lt;a1&gt;",
        "&lt;&lt;a2&gt;",
    ]


def test_a_column_with_thousands_of_levels_keeps_the_frequent_ones():
    size = 5000
    rng = np.random.default_rng(0)
    real, made = rng.dirichlet(np.ones(size)), rng.dirichlet(np.ones(size))
    labels = tuple(f"code {i}" for i in range(size))
    shape = ColumnShape(name="x", labels=labels, real=tuple(real), synthetic=tuple(made), l1=0.5)
    figure = column_figure(shape)
    assert len(figure.data[0].x) == columns_module.MAX_BARS
    assert sum(figure.data[0].y) == pytest.approx(1)
    assert sum(figure.data[1].y) == pytest.approx(1)
    assert len(figure.layout.xaxis.tickvals) <= columns_module.MAX_TICKS
    assert figure.data[0].customdata[-1] == "4,881 others"


def test_distances_without_rows_are_sentences(found):
    empty = EncodedTable(
        schema=Schema(columns=(Column(name="a", kind="boolean"), Column(name="y", kind="boolean"))),
        codes=np.zeros((0, 2), dtype=int),
    )
    nothing = evaluate(empty, empty, target="y")
    figure = roc(nothing)
    assert not figure.data
    assert figure.layout.annotations
    as_json(learners_figure(nothing.find("auc")))
    as_json(column_figure(nothing.columns[0]))


def test_budget_bars():
    figure = budget_figure(LINES)
    as_json(figure)
    assert names(figure) == ["task", "background", "&lt;i&gt;odd&lt;/i&gt;"]
    assert sum(len(trace.x) for trace in figure.data) == len(LINES)
    looks = {(trace.marker.color, trace.marker.pattern.shape) for trace in figure.data}
    assert len({colour for colour, _ in looks}) == len({shape for _, shape in looks}) == 3
    assert "cells: 1,234" in figure.data[0].customdata[1]
    assert "sigma): 3.25 rows" in figure.data[0].customdata[0]
    assert "no forecast" in figure.data[1].customdata[0]


def test_a_pool_keeps_its_look_whatever_the_order():
    first = budget_figure(LINES).data[0].marker.color
    assert budget_figure(LINES[2:] + LINES[:2]).data[-1].marker.color == first


def test_another_allocation_is_marked_on_every_bar_and_the_numbers_stand_clear_of_it():
    beside = [0.3, 0.4, 0.25, 0.05]
    figure = budget_figure(LINES, beside=beside, beside_name="if <i>uniform")
    as_json(figure)
    mark, numbers = figure.data[-2:]
    assert list(mark.x) == beside
    assert mark.name == "if &lt;i&gt;uniform"
    assert list(numbers.x) == [0.4, 0.4, 0.25, 0.1]
    assert [text.strip() for text in numbers.text] == ["40.00%", "30.00%", "20.00%", "10.00%"]
    assert figure.layout.xaxis.range[1] > 0.4


def test_the_four_pools_look_different_in_colour_and_in_grey():
    styles = [pool_style(pool) for pool in ("selection", "choice", "task", "background")]
    assert len({style.colour for style in styles}) == 4
    assert len({style.pattern for style in styles}) == 4
    assert budget_figure(LINES).data[0].marker.color == pool_style("task").colour


@dataclass
class Point:
    epsilon: float
    mean: float
    largest: float


CURVE = [Point(0.1, 0.2, 0.4), Point(1.0, 0.02, 0.04), Point(10.0, 0.002, 0.004)]


def test_error_curves_mark_the_epsilon_that_is_set():
    higher = [Point(p.epsilon, 2 * p.mean, 2 * p.largest) for p in CURVE]
    figure = error_curve_figure({EVIL: CURVE, "B": higher}, {EVIL: CURVE[1], "B": higher[2]})
    as_json(figure)
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert [list(line.y) for line in lines] == [
        [0.2, 0.02, 0.002],
        [0.4, 0.04, 0.004],
        [0.4, 0.04, 0.004],
    ]
    assert len({(line.line.color, line.line.dash) for line in lines}) == 3
    marks = [trace for trace in figure.data if trace.mode == "markers+text"]
    assert [list(mark.x) for mark in marks] == [[1.0], [10.0]]
    assert marks[0].text == ("ε = 1: 2%",)
    assert figure.layout.shapes[0].x0 == 1.0
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"


def test_what_cannot_stand_on_a_logarithmic_scale_is_left_out():
    odd = [Point(0.1, math.inf, math.inf), *CURVE, Point(20.0, math.nan, 1.0), Point(0.0, 1.0, 1.0)]
    figure = error_curve_figure({"A": odd}, {"A": odd[0]})
    as_json(figure)
    assert list(figure.data[0].x) == [0.1, 1.0, 10.0]
    assert not figure.layout.shapes
    assert "no error forecast" in error_curve_figure({"A": odd[:1]}, {}).layout.annotations[0].text


def test_budget_takes_any_object_with_the_attributes():
    @dataclass
    class Line:
        label: str = "a × y"
        pool: str = "task"
        share: float = 1.0
        sigma: float = 2.0
        relative_error: float = 0.5

    assert "cells" not in budget_figure([Line()]).data[0].customdata[0]
    assert not budget_figure([]).data
    assert not error_figure([]).data


def test_error_dots():
    figure = error_figure(LINES)
    as_json(figure)
    assert figure.layout.xaxis.type == "log"
    assert list(figure.data[0].x) == [0.01, 2.0]
    assert [note.text for note in figure.layout.annotations] == ["no forecast"] * 2
    assert [note.y for note in figure.layout.annotations] == [2, 3]
    assert not error_figure(LINES[2:]).data


@pytest.mark.parametrize("draw", [roc, lambda found: learners_figure(found.find("auc"))])
def test_backgrounds_are_transparent(found, draw):
    layout = draw(found).layout
    assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0, 0, 0, 0)"
    assert layout.title.text is None


def test_streamlit_placeholder_colours_do_not_leak(found):
    """Importing streamlit makes its template the default; figures bring their own."""
    import plotly.io as pio

    before = pio.templates.default
    try:
        pio.templates.default = "plotly_dark"
        assert "colorscale" not in roc(found).to_plotly_json()["layout"]["template"]["layout"]
    finally:
        pio.templates.default = before


def test_the_room_lists_what_it_offers_and_plotly_waits():
    assert all(hasattr(figures_room, name) for name in figures_room.__all__)
    code = (
        "import sys, prism_core.figures; "
        "bad = {'plotly', 'sklearn', 'streamlit'} & set(sys.modules); "
        "sys.exit(repr(bad) if bad else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_figures_share_is_not_changed_through_one_of_them():
    figure = budget_figure(LINES)
    figure.layout.template.layout.xaxis.gridcolor = "red"
    figure.layout.template.layout.font.size = 99
    shared = error_figure(LINES).layout.template.layout
    assert (shared.xaxis.gridcolor, shared.font.size) == (theme.GRID, 13)


# --- bounds and what epsilon means -------------------------------------------------------------


def bound(name, raw, kind="guarantee"):
    return Bound(name=name, raw=raw, kind=kind, theorem="theorem", sentence=f"{EVIL} sentence.")


def bound_line(expected, l1, label=f"{EVIL} × y"):
    return MarginalBounds(
        label=label,
        pool="task",
        cells=4,
        expected=bound("expected l1 error", expected),
        l1=bound("l1 error", l1),
        tv=bound("total variation", l1 / 2),
    )


@pytest.mark.parametrize("distance", [0.2, 7.0, None])
def test_the_terms_of_the_excess_risk_stand_end_to_end(distance):
    terms = tuple(bound(EVIL, raw) for raw in (distance, 0.1, 0.05))
    erm = ErmBound(terms=terms, total=bound("excess risk", None), iid=True)
    figure = erm_figure(erm)
    as_json(figure)
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert [bar.x[0] for bar in bars] == [distance or 0.0, 0.1, 0.05]
    assert figure.layout.barmode == "stack"
    assert figure.layout.xaxis.range[1] < 1.2
    shown = "0.2" if distance == 0.2 else "no guarantee"
    assert bars[0].name.endswith(f": {shown}")
    assert len({bar.marker.pattern.shape for bar in bars}) == 3


def test_expected_and_guaranteed_are_told_apart():
    figure = bounds_figure([bound_line(0.01, 0.05), bound_line(0.5, 30.0)])
    as_json(figure)
    expected, guaranteed = (trace for trace in figure.data if trace.mode == "markers")
    assert expected.marker.symbol != guaranteed.marker.symbol
    assert guaranteed.x[0] == 0.05
    assert 1.0 < guaranteed.x[1] < 1.2  # a bound above 1 stands beyond the line, not at its number
    assert "no guarantee" in guaranteed.customdata[1]
    assert not bounds_figure([]).data
    assert len(bounds_figure([bound_line(0.01, 0.05)] * 200).data[1].x) == 30


@pytest.mark.parametrize("log", [False, True])
def test_a_trade_off_has_its_line_of_no_information(log):
    gains = [Gain(rate=rate, power=min(1.0, 2 * rate)) for rate in (0.0, 0.001, 0.05, 1.0)]
    figure = trade_off_figure(gains, gains[1:3], log=log)
    as_json(figure)
    diagonal, curve, marked = figure.data
    assert list(diagonal.x) == list(diagonal.y)
    assert len(curve.x) == (3 if log else 4)
    assert list(marked.y) == [0.002, 0.1]
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == ("log" if log else "linear")


@pytest.mark.parametrize(
    ("one_in", "after", "people", "right"), [(20, 0.141, 100, 15), (500, 0.0031, 1_000, 4)]
)
def test_guesses_are_people(one_in, after, people, right):
    figure = odds_figure(Guess(one_in=one_in, after=after))
    as_json(figure)
    good, bad = figure.data
    assert len(good.x) == people // one_in + right
    assert len(good.x) + len(bad.x) == 2 * people
    assert f"<b>{right}</b> of {people:,} after" in figure.layout.annotations[1].text
    assert good.marker.symbol != bad.marker.symbol


# --- a figure as a file ----------------------------------------------------------------------


def test_a_saved_figure_loads_nothing_and_lets_no_markup_through():
    import plotly.graph_objects as go

    figure = go.Figure(go.Bar(x=["</script><img src=x>"], y=[1.0]))
    html = html_page(figure, '<img src="y"> & words').decode()
    assert "<img" not in html
    assert "&lt;img src=&#34;y&#34;&gt; &amp; words</p>" in html
    assert "<script src" not in html
    assert "Plotly.newPlot" in html
