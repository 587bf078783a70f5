"""The server of a test process: finds the command, starts it, and ends it with the process."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

from .idp import Idp, IdpError

START = ["start", "--memory", "--port", "0", "--json", "--until-stdin-closes"]
#: How long the server may take to start and to stop, in seconds.
PATIENCE = 60


def find_command(folder: Path) -> list[str]:
    """The words of the command: ``DEV_IDP``, else dev-idp on PATH, or in node_modules/.bin of this folder or one above it."""
    named = os.environ.get("DEV_IDP", "").strip()
    if named:
        # A path may contain spaces.
        words = [named] if shutil.which(named) else shlex.split(named)
        program = shutil.which(words[0])
        if program is None:
            raise IdpError(f'DEV_IDP is "{named}", but there is no command "{words[0]}". Set it to the path of dev-idp.')
        return [program, *words[1:]]
    installed = [str(parent / "node_modules" / ".bin") for parent in [folder, *folder.parents]]
    program = shutil.which("dev-idp") or shutil.which("dev-idp", path=os.pathsep.join(installed))
    if program is None:
        raise IdpError(
            f"dev-idp was not found on PATH, or in node_modules/.bin of {folder} and the folders above it. "
            "Install it with Node.js 20.19 or newer: npm install --save-dev dev-idp. "
            "Or set DEV_IDP to the path of its command."
        )
    return [program]


class Server:
    """A running server, in memory and on a free port. It ends when this process ends, however that happens."""

    def __init__(self, folder: Path) -> None:
        command = find_command(folder)
        self.admin_token = secrets.token_hex(16)
        self._made = 0
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [*command, *START],
            cwd=folder,
            env={**os.environ, "IDP_ADMIN_TOKEN": self.admin_token},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        assert self._process.stdin and self._process.stdout
        self._stdin = self._process.stdin
        late = threading.Timer(PATIENCE, self._process.kill)
        late.start()
        line = self._process.stdout.readline()
        late.cancel()
        try:
            self.issuer: str = json.loads(line)["issuer"]
        except (ValueError, TypeError, KeyError):
            raise self._not_ready(" ".join(command)) from None
        # The log of requests. A pipe that nobody reads would stop the server.
        threading.Thread(target=self._process.stdout.read, daemon=True).start()

    def _not_ready(self, command: str) -> IdpError:
        self._process.kill()
        self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip()
        return IdpError(f"{command} {' '.join(START)} did not start a server. It wrote: {said or 'nothing'}")

    def new_issuer(self, fixtures: Any = None, folder: Path | None = None) -> Idp:
        """Makes an issuer with its own users, clients, keys, clock and faults.

        :param fixtures: a dict, the path of a fixture file, or None for the fixtures of the server
        :param folder: relative paths begin here
        """
        self._made += 1
        name = f"t{self._made}"
        body: dict[str, Any] = {"name": name}
        if isinstance(fixtures, (str, os.PathLike)):
            path = (folder or Path.cwd()) / fixtures
            body["sources"] = [{"name": str(path), "text": path.read_text(encoding="utf-8")}]
        elif fixtures is not None:
            body["fixtures"] = fixtures
        made = self._first.call("POST", "issuers", body)
        return Idp(made["issuer"], self.admin_token)

    def remove_issuer(self, idp: Idp) -> None:
        self._first.call("DELETE", f"issuers/{idp.issuer.rsplit('/', 1)[-1]}")

    @property
    def _first(self) -> Idp:
        return Idp(self.issuer, self.admin_token)

    def close(self) -> None:
        """Stops the server and waits for it to end."""
        self._stdin.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()
