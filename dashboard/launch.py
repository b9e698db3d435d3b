"""The command `prism-dashboard`: the app on this machine, reachable from this machine only.

It makes the key of this start (see `machine_key`), shows the address that holds it, and opens it in
the browser. The key goes to the app and to the helper that opens the browser by the environment:
other users can read the command line of every process.

With a hosting file there is no key: people log in, and open the address that the file names.
"""

from __future__ import annotations

import argparse
import os
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from dashboard.common.steps import DEMO
from dashboard.key import machine_key, open_browser
from prism_core.child_processes import python
from prism_core.errors import ConfigError
from prism_core.hosting import configuration
from prism_core.synthesis.engine.cache import warm

if TYPE_CHECKING:
    from collections.abc import Sequence

_HERE = Path(__file__).parent
_SETTINGS = ("config.toml", "secrets.toml")


def options(port: int) -> list[str]:
    """Streamlit's options: loopback only, nothing sent out, no tracebacks on screen."""
    chosen = {
        "server.port": port,
        "server.headless": "true",  # the browser is opened here: its address holds the key
        "server.showEmailPrompt": "false",  # asked on the first start, and waited for
        "server.fileWatcherType": "none",
        "logger.hideWelcomeMessage": "true",  # it names an address without the key
        "theme.base": str(_HERE / "assets" / "theme.toml"),
    }
    protecting = tomllib.loads((_HERE / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    flags = [f"--{name}={value}" for name, value in chosen.items()]
    for section, entries in protecting.items():
        for name, value in entries.items():
            several = value if isinstance(value, list) else [value]
            flags += [f"--{section}.{name}={_flag(one)}" for one in several]
    return flags


def hosted_options(path: Path) -> list[str]:
    """Streamlit's further options in the hosted form: the login's secrets, and the app's own name.

    Args:
        path: of the hosting file.

    Raises:
        ConfigError: when it is not usable.
    """
    name = urlsplit(configuration.load(path).address).hostname or ""
    return [
        f"--secrets.files={path.resolve()}",
        f"--server.allowedHosts={name}",
        f"--browser.serverAddress={name}",
    ]


def refuse_settings_of(folder: Path) -> None:
    """End where Streamlit would take settings, or variables of the environment, from a folder.

    It reads `.streamlit` of the folder one stands in. One's own, in the home folder, it reads
    wherever one stands.
    """
    if folder.resolve() in (Path.home().resolve(), _HERE.resolve()):
        return
    found = [name for name in _SETTINGS if (folder / ".streamlit" / name).exists()]
    if found:
        sys.exit(
            f"prism-dashboard: this folder holds .streamlit/{found[0]}, which would change how the "
            "app is served. Start from another folder."
        )


def _flag(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def main(argv: Sequence[str] | None = None) -> None:
    """Start the app; never returns."""
    parser = argparse.ArgumentParser(
        prog="prism-dashboard", description="Open PRISM Studio in the browser (this machine only)."
    )
    parser.add_argument("--port", type=int, default=8501, help="port on 127.0.0.1 (default 8501)")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser window")
    parser.add_argument(
        "--hosting",
        type=Path,
        metavar="FILE",
        default=os.environ.get(configuration.VARIABLE) or None,
        help="hosting file: people log in, see docs/hosting.md "
        f"(default: ${configuration.VARIABLE})",
    )
    parser.add_argument(DEMO, action="store_true", help="open the gallery: four stories, no data")
    arguments = parser.parse_args(argv)
    refuse_settings_of(Path.cwd())
    warm()  # in the background: the first fit must not wait for a compiler
    command = python("-m", "streamlit", "run", _HERE / "app.py")
    command += options(arguments.port)
    hosting: Path | None = arguments.hosting
    if hosting is not None:
        try:
            command += hosted_options(hosting)
        except ConfigError as error:
            sys.exit(f"prism-dashboard: {error}")
        os.environ[configuration.VARIABLE] = str(hosting.resolve())
    command += ["--", DEMO] if arguments.demo else []
    if hosting is None:
        os.environ[machine_key.VARIABLE] = machine_key.fresh()
        machine_key.show(arguments.port)
    if hosting is None and not arguments.no_browser:
        open_browser.begin(arguments.port)
    # In place of this process: signals reach the app, and its exit status is the command's.
    os.execv(sys.executable, command)


if __name__ == "__main__":
    main()
