"""What the editor needs in the browser.

Two directories are served from this machine, nothing from another host:

* ``frontend/`` of this package, as ``prism-dashboard.dag_editor``.
* the directory of the installed pyvis that holds ``vis-network.min.js``, as
  ``prism-dashboard.vis_network``. ``frontend/index.js`` imports it by relative address. So no copy
  of that 469 KB file lives in this repository, its licence notice stays with its distributor, and
  an edit costs a few KB instead of the whole library (which inline ``js`` would re-send).
"""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from streamlit.components.v2 import component

from dashboard.components._serve import PROJECT, serve

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

_HERE: Final = Path(__file__).parent


def renderer() -> ComponentRenderer:
    """Return the callable that mounts the editor, with its assets known to the active runtime."""
    serve("dag_editor", package_root=_HERE, asset_dir="frontend")
    package_root, asset_dir = _vis_network_dir()
    serve("vis_network", package_root=package_root, asset_dir=asset_dir)
    return _component()


@cache
def _component() -> ComponentRenderer:
    return component(
        f"{PROJECT}.dag_editor", js="index.js", css="dag_editor.css", isolate_styles=True
    )


@cache
def _vis_network_dir() -> tuple[Path, str]:
    # find_spec, not import: importing pyvis pulls in IPython, for which the editor has no use.
    spec = importlib.util.find_spec("pyvis")
    root = Path(spec.origin).parent if spec is not None and spec.origin is not None else None
    # Versions sort as text here; pyvis 0.3.2 ships 9.0.4 and 9.1.2.
    found = sorted(root.glob("lib/vis-*/vis-network.min.js")) if root is not None else []
    if root is None or not found:
        raise RuntimeError("The graph editor needs pyvis with lib/vis-*/vis-network.min.js in it.")
    return root, found[-1].parent.relative_to(root).as_posix()
