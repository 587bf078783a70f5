"""A user who is signed in at the app, by the command ``sign-in``."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional
from urllib.parse import urlsplit


@dataclass(frozen=True)
class SignedIn:
    """What a browser holds of the app after a sign-in."""

    #: As Playwright has them: ``name``, ``value``, ``domain``, ``path``, ``expires``, ``httpOnly``, ``secure``, ``sameSite``.
    cookies: List[Dict[str, Any]]

    @property
    def storage_state(self) -> Dict[str, Any]:
        """For Playwright: ``browser.new_context(storage_state=...)``."""
        return {"cookies": self.cookies, "origins": []}

    def header(self, url: str) -> str:
        """The value of the header ``Cookie`` that a browser sends to an address; empty without cookies."""
        return "; ".join(f"{one['name']}={one['value']}" for one in self.cookies if _is_sent(one, url))


def _is_sent(cookie: Dict[str, Any], url: str) -> bool:
    address = urlsplit(url)
    host, path = address.hostname or "", address.path or "/"
    domain, below = cookie["domain"], cookie["path"]
    is_here = host == domain.lstrip(".") or (domain.startswith(".") and host.endswith(domain))
    is_below = path == below or path.startswith(below if below.endswith("/") else below + "/")
    is_safe = address.scheme == "https" or host in ("localhost", "127.0.0.1", "::1")
    return is_here and is_below and (is_safe or not cookie["secure"])


def sign_in_at(issuer: str, admin_token: str, start: str, user: Optional[str], signed_in: Optional[str]) -> SignedIn:
    from .idp import IdpError
    from .server import find_command

    words = [*find_command(Path.cwd()), "sign-in", "--json", f"--url={issuer}", f"--start={start}"]
    words += [f"--user={user}"] if user is not None else []
    words += [f"--signed-in={signed_in}"] if signed_in is not None else []
    env = {name: value for name, value in os.environ.items() if name not in ("IDP_STORE", "IDP_DATA")}
    run = subprocess.run(
        words, env={**env, "IDP_ADMIN_TOKEN": admin_token}, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8"
    )
    if run.returncode == 0:
        return SignedIn(json.loads(run.stdout)["cookies"])
    try:
        error = json.loads(run.stderr)["error"]
    except (ValueError, KeyError, TypeError):
        raise IdpError(run.stderr.strip() or f"sign-in ended with {run.returncode}") from None
    raise IdpError("\n".join(text for text in (error["message"], error.get("hint")) if text))
