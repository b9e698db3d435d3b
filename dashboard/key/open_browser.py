"""Browser opened with the key, and without the key on a command line.

Other users can read the command line of every process, and a browser is started with the address
on its own. So it is given a file that only this user can read, and the file leads on to the
address. It stands in the home folder, because browsers in a sandbox may read no hidden folder and
have a temporary folder of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import webbrowser
from contextlib import suppress
from pathlib import Path

from dashboard.key import machine_key
from dashboard.key.place import Place
from prism_core.child_processes import python

_STARTS = 60.0  # seconds that the app may take to answer
_READS = 20.0  # seconds after which a browser has read the file

_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # this machine is no proxy's

_PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>PRISM Studio</title>
<p><a href="{address}">Open PRISM Studio</a></p>
"""


def begin(place: Place) -> subprocess.Popen[bytes]:
    """Start a helper that waits for the app and then opens the browser.

    It outlives the launcher, which becomes the app, and ends by itself.
    """
    return subprocess.Popen(
        python("-m", "dashboard.key.open_browser", place.port, place.host, place.prefix),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def main(place: Place) -> None:
    """Open the address of the app that starts there; nothing where none does."""
    # The launcher becomes the app under the same number; with another parent it has ended.
    app = os.getppid()
    end = time.monotonic() + _STARTS
    while not _answers(place):
        if time.monotonic() > end or os.getppid() != app:
            return
        time.sleep(0.1)
    path = page(place)
    os.environ.pop(machine_key.VARIABLE, None)  # the browser and what it starts need none
    try:
        webbrowser.open(path.as_uri())
        time.sleep(_READS)
    finally:
        path.unlink(missing_ok=True)


def page(place: Place) -> Path:
    """A file of mode 0600 that leads on to the address with the key."""
    content = _PAGE.format(address=machine_key.address(place))
    # A home folder may not be writable; None is the system's temporary folder.
    for folder in (str(Path.home()), None):
        with suppress(OSError):
            handle, name = tempfile.mkstemp(prefix="prism-studio-", suffix=".html", dir=folder)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(content)
            return Path(name)
    raise OSError("There is no folder to write to.")


def _answers(place: Place) -> bool:
    try:
        with _DIRECT.open(f"{place.url}_stcore/health", timeout=2) as found:
            return found.status == 200
    except (urllib.error.URLError, OSError):
        return False


if __name__ == "__main__":
    main(Place(port=int(sys.argv[1]), host=sys.argv[2], prefix=sys.argv[3]))
