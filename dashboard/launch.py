"""The command `prism-dashboard`: the app on this machine, reachable from this machine only.

Another address is taken where people log in, or where whoever starts the app says that the key is
enough.

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
from dashboard.key.place import LOOPBACK, Place
from prism_core.child_processes import python
from prism_core.errors import ConfigError
from prism_core.hosting import configuration
from prism_core.privacy.ledger.rules import HOSTING_VARIABLE
from prism_core.synthesis.engine.cache import warm

if TYPE_CHECKING:
    from collections.abc import Sequence

_HERE = Path(__file__).parent
_SETTINGS = ("config.toml", "secrets.toml")


def options(place: Place) -> list[str]:
    """Streamlit's options: where it answers, nothing sent out, no tracebacks on screen."""
    chosen = {
        "server.port": place.port,
        "server.baseUrlPath": place.prefix.strip("/"),
        "server.headless": "true",  # the browser is opened here: its address holds the key
        "server.showEmailPrompt": "false",  # asked on the first start, and waited for
        "server.fileWatcherType": "none",
        "logger.hideWelcomeMessage": "true",  # it names an address without the key
        "theme.base": str(_HERE / "assets" / "theme.toml"),
    }
    # Handed over as flags, which no other file and no variable of the environment overrides.
    protecting = tomllib.loads((_HERE / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    protecting["server"]["address"] = place.host
    if not (place.this_machine_only or place.every_address):
        protecting["server"]["allowedHosts"].append(place.host)
        protecting["browser"]["serverAddress"] = place.host
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
    found = configuration.load(path)
    name = urlsplit(found.address).hostname or ""
    return [
        f"--server.maxUploadSize={found.runs.upload_mb}",
        f"--secrets.files={path.resolve()}",
        f"--server.allowedHosts={name}",
        f"--browser.serverAddress={name}",
    ]


def place_of(arguments: argparse.Namespace) -> Place:
    """Where the app answers, by the options and the hosting file.

    Raises:
        ConfigError: when an option or the hosting file is not usable, or strangers could reach the
            app without a login.
    """
    prefix = arguments.prefix
    if arguments.hosting is not None:
        told = urlsplit(configuration.load(arguments.hosting).address).path.rstrip("/")
        if prefix not in (None, told):
            raise ConfigError(
                f"--prefix is {prefix!r}, and redirect_uri of the hosting file has {told!r}. They "
                "must be the same; without --prefix the hosting file decides.",
                field="prefix",
            )
        prefix = told
    place = Place(port=arguments.port, host=arguments.address, prefix=prefix or "")
    if place.this_machine_only or arguments.hosting is not None:
        return place
    if not arguments.without_login:
        raise ConfigError(
            f"--address {place.host} can be reached from other machines, and nobody logs in here. "
            "Name a hosting file with --hosting (docs/hosting.md). If the key alone is enough, say "
            "--without-login: whoever has it works with your rights, and without TLS it can be "
            "read on the way.",
            field="address",
        )
    if place.every_address:
        raise ConfigError(
            "--without-login needs one address of this machine, not all of them.", field="address"
        )
    return place


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
    parser.add_argument("--port", type=int, default=8501, help="port (default 8501)")
    parser.add_argument(
        "--address",
        default=LOOPBACK,
        metavar="IP",
        help="address to answer at (default 127.0.0.1, this machine only)",
    )
    parser.add_argument(
        "--prefix", metavar="/PATH", help="path in front of every page, as a proxy passes it on"
    )
    parser.add_argument(
        "--without-login",
        action="store_true",
        help="answer other machines without a hosting file: the key is all that is asked for",
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser window")
    parser.add_argument(
        "--hosting",
        type=Path,
        metavar="FILE",
        default=os.environ.get(HOSTING_VARIABLE) or None,
        help=f"hosting file: people log in, see docs/hosting.md (default: ${HOSTING_VARIABLE})",
    )
    parser.add_argument(DEMO, action="store_true", help="open the gallery: five stories, no data")
    arguments = parser.parse_args(argv)
    refuse_settings_of(Path.cwd())
    warm()  # in the background: the first fit must not wait for a compiler
    command = python("-m", "streamlit", "run", _HERE / "app.py")
    hosting: Path | None = arguments.hosting
    try:
        place = place_of(arguments)
        command += options(place)
        command += [] if hosting is None else hosted_options(hosting)
    except ConfigError as error:
        sys.exit(f"prism-dashboard: {error}")
    if hosting is not None:
        os.environ[HOSTING_VARIABLE] = str(hosting.resolve())
    command += ["--", DEMO] if arguments.demo else []
    if hosting is None:
        os.environ[machine_key.VARIABLE] = machine_key.fresh()
        machine_key.show(place)
    # People open a server's address on machines of their own.
    if hosting is None and not arguments.no_browser:
        open_browser.begin(place)
    # In place of this process: signals reach the app, and its exit status is the command's.
    os.execv(sys.executable, command)


if __name__ == "__main__":
    main()
