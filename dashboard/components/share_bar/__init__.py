"""A stacked bar of shares with handles between them, for use inside a Streamlit page.

Shares are whole tenths of a percent and always add up to 1000, so that no rounding can lose or
gain any. A handle gives to one neighbour what it takes from the other, and stops where a part has
reached its least.

Protocol, as in the graph editor. Python sends parts, tenths and ``rev``. The browser owns the
tenths of that ``rev`` and sends each change back as one state update ``shares = {rev, tenths}``.
Python takes an update only if it carries the current ``rev``, and bumps ``rev`` whenever it
changes the shares itself: a change made in Python can then never be undone by a late message.

Labels travel only through the component's ``data``; the browser side writes them with
``textContent``, never as markup.
"""

from dashboard.components.share_bar._bar import PATTERNS, WHOLE, Pattern, SharePart, share_bar

__all__ = ["PATTERNS", "WHOLE", "Pattern", "SharePart", "share_bar"]
