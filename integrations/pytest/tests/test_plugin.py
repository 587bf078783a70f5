"""The plugin in projects of its own, as its users have it. DEV_IDP names the command."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

README = Path(__file__).parent.parent.joinpath("README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S)


def test_examples_of_the_readme(pytester):
    for number, example in enumerate(EXAMPLES):
        pytester.makepyfile(**{f"test_{number}": example})
    pytester.runpytest_subprocess().assert_outcomes(passed=2)


def test_each_test_has_an_issuer_of_its_own(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("time", range(4))
        def test_add(idp, time):
            idp.users.add("erin", email="erin@example.com")
            idp.clock.advance("31m")
            idp.faults.add("token", status=503)
            assert idp.requests() == []
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=4)
    pytester.runpytest_subprocess("-n", "2").assert_outcomes(passed=4)


APP = """
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import urlencode, urlsplit


def serve(idp):
    class App(BaseHTTPRequestHandler):
        def do_GET(self):
            path = urlsplit(self.path).path
            signed_in = "sid=1" in self.headers.get("cookie", "")
            self.send_response(200 if path == "/me" and signed_in else 302)
            asked = {"client_id": "app", "redirect_uri": f"{url}/callback", "response_type": "code", "scope": "openid"}
            asked.update(code_challenge="a" * 43, code_challenge_method="S256")
            here = f"{idp.issuer}/api/v2/oauth/authorize?{urlencode(asked)}"
            self.send_header("location", "/me" if path == "/callback" else here)
            if path == "/callback":
                self.send_header("set-cookie", "sid=1; HttpOnly")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("localhost", 0), App)
    url = f"http://localhost:{server.server_port}"
    idp.call("POST", "clients", {"client_id": "app", "redirect_uris": [f"{url}/callback"]})
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return url
"""


def test_sign_in_at_an_app(pytester):
    pytester.makepyfile(
        app=APP,
        test_app="""
        from urllib.request import Request, urlopen

        import pytest
        from app import serve
        from pytest_dev_idp import IdpError

        def test_app(idp):
            url = serve(idp)
            signed_in = idp.sign_in_at(f"{url}/login", user="alice", signed_in=f"{url}/me")
            assert signed_in.header(f"{url}/me") == "sid=1"
            assert signed_in.header("http://example.test/") == ""
            assert signed_in.storage_state["cookies"] == signed_in.cookies
            with urlopen(Request(f"{url}/me", headers={"cookie": signed_in.header(url)})) as response:
                assert response.status == 200
            with pytest.raises(IdpError, match="nobody"):
                idp.sign_in_at(f"{url}/login", user="nobody")
        """,
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_members(pytester):
    pytester.makefile(".yaml", users="users: [{ username: erin }]\nclients: [{ client_id: shop, redirect_uris: ['http://localhost/cb'] }]")
    pytester.makepyfile(
        """
        import pytest
        from pytest_dev_idp import IdpError

        @pytest.fixture
        def idp_fixtures():
            return "users.yaml"

        def test_all(idp):
            assert (idp.client.client_id, idp.client.client_secret) == ("shop", None)
            url = idp.sign_in("shop", "erin", code_challenge="a" * 43, nonce="n", redirect_uri=idp.client.redirect_uri)
            assert url.startswith("http://localhost/cb?code=")
            idp.users.suspend("erin")
            with pytest.raises(IdpError, match="erin.*suspended"):
                idp.issue_tokens("shop", "erin")
            idp.users.restore("erin")
            idp.users.edit("erin", displayName="Erin")
            assert [user["displayName"] for user in idp.users.list()] == ["Erin"]
            idp.users.ban("erin")
            idp.users.remove("erin")
            fault = idp.faults.add("token", flaw="nonce-wrong")
            assert idp.faults.list() == [fault]
            idp.faults.remove(fault["id"])
            idp.faults.clear()
            assert idp.clock.set("2030-01-01T00:00:00Z")["now"].startswith("2030")
            assert idp.clock.freeze()["frozen"] is True
            idp.clock.reset()
            assert idp.clock.show()["offset"] == 0
            with pytest.raises(IdpError, match="no user .nobody."):
                idp.revoke("shop", "nobody")
            with pytest.raises(AssertionError, match="at least 1 token request"):
                idp.expect("token")
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_the_client_of_the_app_did_not_register_itself(pytester):
    worker = "{ client_id: worker, client_secret: s, grant_types: [client_credentials] }"
    pytester.makefile(".yaml", worker=f"settings: {{ mcp: true }}\nclients: [{worker}]")
    pytester.makepyfile(
        """
        import json
        import pytest
        from urllib.request import Request, urlopen

        @pytest.fixture
        def idp_fixtures():
            return "worker.yaml"

        def test_client(idp):
            body = json.dumps({"redirect_uris": ["https://evil.test/cb"]}).encode()
            urlopen(Request(f"{idp.issuer}/api/v2/oauth/register", body, {"content-type": "application/json"}))
            assert len(idp.clients) == 2
            assert idp.client.client_id == "worker"
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_failed_test_shows_its_requests(pytester, workers):
    pytester.makepyfile(
        """
        from urllib.request import urlopen

        def test_fails(idp):
            urlopen(f"{idp.issuer}/api/v2/oauth/userinfo")

        def test_asks_nothing(idp):
            assert False
        """
    )
    result = pytester.runpytest_subprocess(*workers)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines_random(["*Requests to idp*", "*r1  GET  userinfo  401*", "*missing_token: *", "*got no requests*"])


@pytest.mark.parametrize(
    "command, said",
    [
        ("no-such-command", 'DEV_IDP is "no-such-command", but there is no command "no-such-command"'),
        (f'"{sys.executable}" -c "import sys; sys.exit(sys.argv[2])"', "did not start a server. It wrote: --memory"),
        (None, "npm install --save-dev dev-idp"),
    ],
)
def test_no_server_says_what_to_do(pytester, monkeypatch, command, said):
    if command is None:
        monkeypatch.delenv("DEV_IDP")
        # Only what Python needs.
        monkeypatch.setenv("PATH", str(Path(sys.executable).parent) if shutil.which("dev-idp") is None else "")
    else:
        monkeypatch.setenv("DEV_IDP", command)
    pytester.makepyfile("def test_a(idp): pass")
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*{said}*"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_command_in_node_modules(pytester, monkeypatch):
    commands = pytester.mkdir("node_modules") / ".bin"
    commands.mkdir()
    script = commands / "dev-idp"
    script.write_text(f'#!/bin/sh\nexec {os.environ["DEV_IDP"]} "$@"\n')
    script.chmod(0o755)
    monkeypatch.delenv("DEV_IDP")
    pytester.makepyfile("def test_a(idp): assert idp.client.client_id == 'demo-app'")
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_no_server_outlives_a_killed_test_process(pytester):
    pytester.makepyfile(
        """
        import os, signal, pathlib

        def test_killed(idp):
            pathlib.Path("issuer").write_text(idp.issuer)
            os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    # The server writes to a pipe of the test process, and errors to a file of its own.
    ended = subprocess.run([sys.executable, "-m", "pytest"], cwd=pytester.path, capture_output=True)
    assert ended.returncode == -signal.SIGKILL
    address = urlsplit((pytester.path / "issuer").read_text())
    until = time.monotonic() + 20
    with pytest.raises(ConnectionRefusedError):
        while time.monotonic() < until:
            socket.create_connection((address.hostname, address.port)).close()
