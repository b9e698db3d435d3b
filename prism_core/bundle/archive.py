"""A bundle as one ZIP file."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from prism_core.bundle import manifest

_FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # the earliest a ZIP file knows; no time of this machine


def zip_bytes(folder: str | Path) -> bytes:
    """The files that may be handed over; local.json stays. The same folder gives the same bytes."""
    source = Path(folder)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in manifest.public_names(source):
            entry = zipfile.ZipInfo(name, _FIRST_DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, (source / name).read_bytes())
    return buffer.getvalue()
