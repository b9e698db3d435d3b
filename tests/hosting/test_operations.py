"""A server: where the app may answer, examples that are accepted, figures, and what doctor says."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import re
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

import pytest

from dashboard import launch
from dashboard.key import machine_key
from dashboard.key.place import Place
from prism_core.errors import ConfigError
from prism_core.hosting import server_checks
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.ledger import ledger as ledgers
from prism_core.privacy.ledger.rules import HOSTING_VARIABLE
from tests.support import proxies
from tests.support.hosting import hosting_file
from tests.support.ledgers import charge, filled
from tests.support.postgres import needing

# --- where the app answers --------------------------------------------------------------------


def asked(**options) -> argparse.Namespace:
    usual = {"port": 8501, "address": "127.0.0.1", "prefix": None, "hosting": None}
    return argparse.Namespace(**(usual | {"without_login": False} | options))


def test_the_usual_place_is_this_machine_without_a_prefix():
    place = launch.place_of(asked())
    assert (place.host, place.prefix, place.url) == ("127.0.0.1", "", "http://127.0.0.1:8501/")
    assert not any(flag.endswith("baseUrlPath=/") for flag in launch.options(place))


@pytest.mark.privacy
@pytest.mark.parametrize("address", ["0.0.0.0", "192.0.2.7", "::", "2001:db8::7"])
def test_other_machines_are_answered_only_where_people_log_in_or_somebody_says_so(
    address, tmp_path, monkeypatch
):
    with pytest.raises(ConfigError, match="nobody logs in here") as caught:
        launch.place_of(asked(address=address))
    assert caught.value.field == "address"
    monkeypatch.setattr(launch, "warm", lambda: None)
    monkeypatch.setattr(launch.os, "execv", lambda *_: pytest.fail("started"))
    with pytest.raises(SystemExit, match="nobody logs in here"):
        launch.main(["--no-browser", "--address", address])
    path = hosting_file(tmp_path / "h.toml", "https://studio.example", "https://login.example")
    assert launch.place_of(asked(address=address, hosting=path)).host == address
    if Place(host=address).every_address:
        with pytest.raises(ConfigError, match="one address"):
            launch.place_of(asked(address=address, without_login=True))
    else:
        flags = launch.options(launch.place_of(asked(address=address, without_login=True)))
        assert f"--server.address={address}" in flags
        assert f"--server.allowedHosts={address}" in flags
        assert "--server.address=127.0.0.1" not in flags


def test_the_prefix_is_that_of_the_hosting_file(tmp_path, monkeypatch):
    path = hosting_file(
        tmp_path / "h.toml", "https://studio.example/prism", "https://login.example"
    )
    place = launch.place_of(asked(hosting=path))
    assert place.prefix == "/prism"
    assert "--server.baseUrlPath=prism" in launch.options(place)
    with pytest.raises(ConfigError, match="must be the same"):
        launch.place_of(asked(hosting=path, prefix="/other"))
    monkeypatch.setenv(machine_key.VARIABLE, "k")
    there = launch.place_of(asked(prefix="/a/b"))
    assert machine_key.address(there) == "http://127.0.0.1:8501/a/b/?key=k"


@pytest.mark.parametrize(
    "wrong",
    [
        {"prefix": "prism"},
        {"prefix": "/prism/"},
        {"prefix": "/../x"},
        {"prefix": "/a b"},
        {"address": "localhost"},
        {"port": 0},
    ],
)
def test_a_place_that_is_none_is_refused(wrong):
    with pytest.raises(ConfigError, match=r"must be|must begin"):
        launch.place_of(asked(**wrong))


# --- the examples -----------------------------------------------------------------------------


@pytest.mark.skipif(proxies.NGINX is None, reason="needs nginx")
def test_nginx_accepts_the_example(tmp_path):
    config = proxies.configured(tmp_path, 18443, 18080, 18501)
    done = subprocess.run(
        [str(proxies.NGINX), "-t", "-c", str(config), "-e", str(tmp_path / "log")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "warn" not in done.stderr


def test_the_example_of_nginx_leaves_room_for_an_upload_and_hides_the_servers_figures():
    text = (proxies.EXAMPLES / "nginx.conf").read_text()
    room = int(re.search(r"client_max_body_size (\d+)m;", text)[1])
    (most,) = [f for f in launch.options(Place()) if f.startswith("--server.maxUploadSize=")]
    assert room >= int(most.split("=")[1])
    assert "location = /prism/_stcore/metrics" in text
    assert re.search(r"proxy_pass http://127\.0\.0\.1:8501;", text)


UNITS = ("prism-studio.service", "prism-daily.service", "prism-daily.timer")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_accepts_the_units(tmp_path):
    for name in UNITS:
        text = (proxies.EXAMPLES / name).read_text()
        text = re.sub(r"/opt/prism/bin/prism(-dashboard)?", "/bin/true", text)
        (tmp_path / name).write_text(text.replace("User=prism", "User=nobody"))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *(str(tmp_path / name) for name in UNITS)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"SYSTEMD_LOG_LEVEL": "warning"},
    )
    ours = [line for line in done.stderr.splitlines() if "prism-" in line and "Unknown" in line]
    assert ours == []
    assert done.returncode == 0 or "prism-" not in done.stderr, done.stderr


@pytest.mark.parametrize("name", UNITS[:2])
def test_a_unit_runs_as_a_user_of_its_own_and_names_commands_that_there_are(name):
    text = (proxies.EXAMPLES / name).read_text()
    assert "User=prism" in text
    assert "ProtectSystem=strict" in text
    assert "NoNewPrivileges=yes" in text
    for words in re.findall(r"/opt/prism/bin/prism ([^'\"\n]*)", text):
        _parsed(words.split())


def _parsed(words: list[str]) -> None:
    from prism_core.cli import main

    values = ["x" if word.startswith("$") else word for word in words]
    if values[-1] == "--out":
        values.append("x")
    assert main._parser().parse_args(values).run


def test_the_container_is_not_root_and_starts_the_app():
    text = (proxies.EXAMPLES / "Containerfile").read_text()
    joined = text.replace("\\\n", " ")
    steps = [line.split(None, 1) for line in joined.splitlines() if line and line[0].isupper()]
    last = dict(steps)
    assert last["USER"] == "10001"
    assert "--read-only" in text
    assert "--cap-drop=ALL" in text
    entry = json.loads(last["ENTRYPOINT"])
    assert entry[0] == "prism-dashboard"
    assert entry[entry.index("--address") + 1] == "0.0.0.0"
    assert "--hosting" in entry  # else this address would be refused
    assert json.loads(last["HEALTHCHECK"].split("CMD", 1)[1])[0] == "python"


# --- figures ----------------------------------------------------------------------------------


@pytest.mark.privacy
def test_metrics_are_counts_and_hold_no_name(tmp_path, prism):
    from prometheus_client.parser import text_string_to_metric_families

    ledger = filled(tmp_path / "work")
    ledger.register("canary ward", epsilon=1.5, delta=1e-6)
    out = tmp_path / "prism.prom"
    assert prism("metrics", "--workspace", ledger.folder, "--out", out).status == 0
    text = out.read_text()
    found = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert found["prism_ledger_whole",] == found["prism_ledger_readable",] == 1
    assert found["prism_ledger_entries",] == ledger.verify().rows
    assert found["prism_ledger_assets",] == 2
    assert found["prism_ledger_charges", "void"] == 1
    assert found["prism_checks", "ok"] > 5
    assert found["prism_runs", "under way"] == 0
    for private in ("canary", "ward", "Team", "1.5", "root", str(tmp_path)):
        assert private not in text
    ledger.path.write_bytes(b"no ledger" * 500)
    text = prism("metrics", "--workspace", ledger.folder).out
    assert "prism_ledger_readable 0.0" in text


def test_metrics_of_no_workspace_make_none(tmp_path, prism):
    assert "prism_ledger_whole 1.0" in prism("metrics", "--workspace", tmp_path / "none").out
    assert not (tmp_path / "none").exists()


# --- what doctor says of a server -------------------------------------------------------------


def of(workspace, name):
    return server_checks.server_checks(workspace)[name]()


def test_a_clock_that_is_behind_the_ledger_is_a_problem(tmp_path, monkeypatch):
    ledger = filled(tmp_path / "work")
    assert of(ledger.folder, "clock").state in ("ok", "warning")
    late = (dt.datetime.now() + dt.timedelta(hours=2)).timestamp()
    os.utime(ledger.folder / "ledger.head", (late, late))
    found = of(ledger.folder, "clock")
    assert found.state == "problem"
    assert "Set the clock" in found.advice
    monkeypatch.setattr(server_checks, "_kept_right", lambda: False)
    assert of(tmp_path / "none", "clock").state == "warning"


def test_a_network_drive_is_a_problem(tmp_path, monkeypatch):
    monkeypatch.setattr(server_checks.network_drive, "kind", lambda folder: "nfs4")
    found = of(tmp_path, "ledger's place")
    assert found.state == "problem"
    assert "PostgreSQL" in found.advice


@needing
@pytest.mark.parametrize("login", ["writer", "owner", "gone"])
def test_a_database_is_told_with_what_the_login_may_do(
    ledger_database, postgres_server, tmp_path, monkeypatch, prism, login
):
    ledger = Ledger(tmp_path / "work")
    ledger.register("ward", epsilon=9.0, delta=1e-6)
    charge(ledger)
    if login == "owner":
        monkeypatch.setenv("PRISM_LEDGER", postgres_server)
    if login == "gone":
        monkeypatch.setenv("PRISM_LEDGER", ledger_database.replace("@127.0.0.1:", "@127.0.0.1:1"))
    done = prism("doctor", "--workspace", ledger.folder, "--json")
    assert "canary" not in done.both
    checks = {one["name"]: one for one in json.loads(done.out)["checks"]}
    states = {"writer": "ok", "owner": "warning", "gone": "problem"}
    assert checks["ledger's place"]["state"] == states[login]
    assert checks["ledger"]["state"] == ("problem" if login == "gone" else "warning")
    if login == "writer":
        monkeypatch.setattr(ledgers, "_now", lambda: "2999-01-01T00:00:00+00:00")
        charge(ledger)
        assert of(ledger.folder, "clock").state == "problem"


class _Provider(BaseHTTPRequestHandler):
    told: ClassVar[dict[str, str]] = {}

    def do_GET(self) -> None:
        content = json.dumps(self.told).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args) -> None:
        """Not on the screen."""


def test_the_provider_is_asked_and_what_is_wrong_is_said(tmp_path, monkeypatch):
    monkeypatch.delenv(HOSTING_VARIABLE, raising=False)
    assert of(tmp_path, "provider").state == "ok"
    server = HTTPServer(("127.0.0.1", 0), _Provider)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        issuer = f"http://127.0.0.1:{server.server_port}"
        path = hosting_file(tmp_path / "h.toml", "https://studio.example", issuer)
        monkeypatch.setenv(HOSTING_VARIABLE, str(path))
        assert "something else" in of(tmp_path, "provider").found
        names = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
        monkeypatch.setattr(_Provider, "told", dict.fromkeys(names, issuer))
        assert of(tmp_path, "provider").state == "ok"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    found = of(tmp_path, "provider")
    assert found.state == "problem"
    assert "does not answer" in found.found
    path.chmod(0o644)
    assert "chmod" in of(tmp_path, "provider").found
