"""nginx with the example of docs/hosting, on free ports and with a certificate of its own."""

from __future__ import annotations

import datetime as dt
import ipaddress
import re
import shutil
import socket
import subprocess
import time
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = Path(__file__).parents[2] / "docs" / "hosting"
NGINX = shutil.which("nginx") or ("/usr/sbin/nginx" if Path("/usr/sbin/nginx").exists() else None)

_AROUND = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{server}
}}
"""


def certificate(folder: Path) -> None:
    """A key and a certificate for localhost, where the example looks for them."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.PrivateFormat.PKCS8
    (folder / "studio.crt").write_bytes(made.public_bytes(pem))
    (folder / "studio.key").write_bytes(key.private_bytes(pem, plain, serialization.NoEncryption()))


def configured(folder: Path, port: int, plain_port: int, app: int) -> Path:
    """The example with this test's files, names and ports; nothing else of it is changed."""
    certificate(folder)
    text = (EXAMPLES / "nginx.conf").read_text(encoding="utf-8")
    text = text.replace("/etc/prism/tls/", f"{folder}/").replace("studio.example.org", "localhost")
    text = text.replace("127.0.0.1:8501", f"127.0.0.1:{app}")
    text = re.sub(r"listen \[::\]:\d+[^;]*;", "", text)  # not every machine has IPv6
    text = text.replace("listen 443", f"listen 127.0.0.1:{port}")
    text = text.replace("listen 80", f"listen 127.0.0.1:{plain_port}")
    path = folder / "nginx.conf"
    path.write_text(_AROUND.format(folder=folder, server=text), encoding="utf-8")
    return path


@contextmanager
def nginx(config: Path, port: int) -> Iterator[None]:
    """nginx with a configuration, once it answers at the port."""
    assert NGINX is not None
    process = subprocess.Popen([NGINX, "-c", str(config), "-e", str(config.parent / "error.log")])
    try:
        ends = time.monotonic() + 20.0
        while not _answers(port):
            assert process.poll() is None
            assert time.monotonic() < ends
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(timeout=20)


def _answers(port: int) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
