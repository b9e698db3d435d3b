"""What both models rely on, one against the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism_core.figures import theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from prism_core.evaluation.agreement import Agreement


def agreement_figure(found: Agreement) -> go.Figure:
    """A point a term; on the diagonal both models agree. Outside epsilon."""
    if not found.weights:
        return theme.sentence_figure(found.note or "There is nothing to compare.")
    made = [weight.synthetic for weight in found.weights]
    real = [weight.real for weight in found.weights]
    low, high = min(*made, *real, 0.0), max(*made, *real, 0.0)
    pad = 0.05 * (high - low or 1.0)
    ends = [low - pad, high + pad]
    what = found.kind.capitalize()
    figure = theme.new_figure(
        height=440,
        xaxis={"title": {"text": f"{what}, trained on real rows"}, "range": ends,
               "zeroline": True},
        yaxis={"title": {"text": f"{what}, trained on synthetic rows"}, "range": ends,
               "zeroline": True},
        margin={"l": 16, "r": 16, "t": 32, "b": 16},
    )  # fmt: skip
    figure.add_scatter(
        x=ends, y=ends, mode="lines", hoverinfo="skip", name="Both models agree",
        line={"color": theme.FLOOR, "width": 1.5, "dash": "dot"},
    )  # fmt: skip
    one = "level" if found.weights[0].term else "column"
    figure.add_scatter(
        x=real, y=made, mode="markers", name=f"One {one}",
        marker={"color": theme.SYNTHETIC, "size": 9, "opacity": 0.75, "line": {"width": 1}},
        customdata=[theme.safe(weight.label) for weight in found.weights],
        hovertemplate="%{customdata}<br>real %{x:.3f}<br>synthetic %{y:.3f}<extra></extra>",
    )  # fmt: skip
    return figure
