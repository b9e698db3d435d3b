"""Make the browser side of a component known to Streamlit, from wheel and editable install alike.

From a wheel Streamlit's own scanner finds a component through a ``pyproject.toml`` among the
package's files. It reads one such file of a distribution, and an editable install lists no files;
so every component registers the same manifest by hand where the scanner has not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

if TYPE_CHECKING:
    from pathlib import Path

# [project].name in the pyproject.toml of every component.
PROJECT: Final = "prism-dashboard"


def serve(name: str, *, package_root: Path, asset_dir: str) -> None:
    """Serve a directory of this machine as ``PROJECT.name``; nothing when it is served already.

    Every AppTest brings its own runtime, so this is asked at each mount; it costs a look-up.

    Args:
        name: of the component, or of files that a component imports.
        package_root: directory of the package.
        asset_dir: what of it is served, relative to ``package_root``.
    """
    manager = get_bidi_component_manager()
    if manager.get_component_asset_root(f"{PROJECT}.{name}") is not None:
        return
    entry = ComponentConfig(name=name, asset_dir=asset_dir)
    manifest = ComponentManifest(name=PROJECT, version="0", components=[entry])
    manager.register_from_manifest(manifest, package_root)
