"""A causal-graph editor drawn with vis-network, for use inside a Streamlit page.

Protocol. Python sends nodes, roles, edges, places, the ways of edges and ``rev``. The browser owns
the edges and places of that ``rev`` and sends each change back as one state update ``graph = {rev,
edges, positions, ...}``. Python takes an update only if it carries the current ``rev`` and bumps
``rev`` whenever it changes the graph itself (upload, undo, reset): a change made in Python can then
never be undone by a late message from the browser. As long as ``rev`` and the column names stay, a
rerun recolours the drawing in place and moves nothing. Undo and redo belong to Python: their keys
arrive as a second state ``steps = {mount, total}``, all the steps asked for since the editor was
drawn. A state, because Streamlit loses a trigger that comes while it runs the page for a state; a
total, because a key may be faster than the answer to the one before.

Layout and ways are Python's (``prism_core.structure``), as those of the report are. The browser
measures nothing: sizes of boxes and lines of names come with the data. While a column is dragged,
and until Python has answered, the edges at it are straight lines; a way counts as long as both of
its ends stand where it was found.

Columns may be hidden. Their edges stay part of the graph; a column that was shown once stays until
``focus`` changes, so that nothing vanishes under the user's hand.

Column names come from files nobody has vetted. They travel only through the component's ``data``;
the browser side writes them with ``textContent`` and onto a canvas, never as markup.
"""

from dashboard.components.dag_editor._editor import dag_editor
from dashboard.components.dag_editor._layout import ShownGraph, shown_graph
from dashboard.components.dag_editor._messages import ROLES, Edit, NodeView, Reply

__all__ = ["ROLES", "Edit", "NodeView", "Reply", "ShownGraph", "dag_editor", "shown_graph"]
