"""Where the app answers: address, port and path, and the address that opens it on this machine."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from prism_core.errors import ConfigError

LOOPBACK = "127.0.0.1"
_PREFIX = re.compile(r"(/[A-Za-z0-9][A-Za-z0-9._~-]*)*")


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where the app answers.

    Attributes:
        port: of the address.
        host: address that it is bound to; this machine only unless another one is named.
        prefix: path in front of every page where a proxy serves more than the app, "" for none.

    Raises:
        ConfigError: naming the part.
    """

    port: int = 8501
    host: str = LOOPBACK
    prefix: str = ""

    def __post_init__(self) -> None:
        # Not 0: the system would choose the port, and no address could be shown.
        if not 0 < self.port < 65536:
            raise ConfigError("--port must be a number from 1 to 65535.", field="port")
        try:
            ipaddress.ip_address(self.host)
        except ValueError:
            raise ConfigError(
                "--address must be an IP address of this machine, such as 127.0.0.1; 0.0.0.0 "
                "stands for all of them.",
                field="address",
            ) from None
        if not _PREFIX.fullmatch(self.prefix):
            raise ConfigError(
                "--prefix must begin with a slash and not end with one, such as /prism. Each part "
                "begins with a letter or digit and may hold . _ ~ -.",
                field="prefix",
            )

    @property
    def this_machine_only(self) -> bool:
        """Whether nobody on another machine can reach it."""
        return ipaddress.ip_address(self.host).is_loopback

    @property
    def every_address(self) -> bool:
        """Whether it is bound to all addresses of the machine."""
        return ipaddress.ip_address(self.host).is_unspecified

    @property
    def url(self) -> str:
        """The address that opens it on this machine, with a slash at its end.

        A number for the host, and not `localhost`: where that name stands for ::1, too, another
        user may listen there, and would be handed the key.
        """
        host = LOOPBACK if self.every_address else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}{self.prefix}/"
