"""What a test does with its issuer, by the control API."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import ProxyHandler, Request, build_opener

from .signed_in import SignedIn, sign_in_at

#: The server is on this machine, whatever proxy the environment names.
_open = build_opener(ProxyHandler({})).open

Record = Dict[str, Any]
Records = List[Record]


class IdpError(Exception):
    """A refusal of the server, with its hint, or a server that does not start."""


@dataclass(frozen=True)
class Client:
    """A client as the fixtures have it. ``client_secret`` is None for a public client."""

    client_id: str
    client_secret: Optional[str]
    redirect_uris: List[str]
    #: Every field, by its name in RFC 7591.
    metadata: Mapping[str, Any]

    @property
    def redirect_uri(self) -> str:
        return self.redirect_uris[0]


class _Part:
    def __init__(self, idp: "Idp") -> None:
        self._call = idp.call


class Users(_Part):
    def list(self) -> Records:
        return self._call("GET", "users")

    def show(self, username: str) -> Record:
        return self._call("GET", f"users/{quote(username, safe='')}")

    def add(self, username: str, **fields: Any) -> Record:
        """:param fields: as in a fixture file: ``email="erin@example.com"``"""
        return self._call("POST", "users", {"username": username, **fields})

    def edit(self, username: str, **fields: Any) -> Record:
        return self._call("PATCH", f"users/{quote(username, safe='')}", fields)

    def remove(self, username: str) -> None:
        self._call("DELETE", f"users/{quote(username, safe='')}")

    def suspend(self, username: str) -> None:
        """The user cannot sign in, and tokens get 403, until ``restore``."""
        self._call("POST", f"users/{quote(username, safe='')}/suspend")

    def ban(self, username: str) -> None:
        """Ends the user's sessions and revokes their grants permanently."""
        self._call("POST", f"users/{quote(username, safe='')}/ban")

    def restore(self, username: str) -> None:
        self._call("POST", f"users/{quote(username, safe='')}/restore")


class Clock(_Part):
    """The clock of this issuer. The clock of your app is another one."""

    def show(self) -> Record:
        return self._call("GET", "clock")

    def advance(self, by: int | str) -> Record:
        """:param by: seconds, or a text like ``31m``"""
        return self._call("POST", "clock/advance", {"by": by})

    def set(self, to: str) -> Record:
        """:param to: ISO 8601"""
        return self._call("POST", "clock/set", {"to": to})

    def freeze(self) -> Record:
        return self._call("POST", "clock/freeze")

    def reset(self) -> Record:
        return self._call("POST", "clock/reset")


class Faults(_Part):
    """Responses that are wrong on purpose."""

    def add(self, endpoint: str, **fault: Any) -> Record:
        """:param fault: what goes wrong, and for which requests: ``status=503, times=2``"""
        return self._call("POST", "faults", {"endpoint": endpoint, **fault})

    def list(self) -> Records:
        return self._call("GET", "faults")

    def remove(self, fault_id: str) -> None:
        self._call("DELETE", f"faults/{quote(fault_id, safe='')}")

    def clear(self) -> None:
        self._call("DELETE", "faults")


class Idp:
    """The issuer of one test."""

    def __init__(self, issuer: str, admin_token: str) -> None:
        #: The issuer, for discovery: ``http://localhost:41234/i/t1``
        self.issuer = issuer
        #: Opens the control API.
        self.admin_token = admin_token
        self.users = Users(self)
        self.clock = Clock(self)
        self.faults = Faults(self)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Calls the control API: ``idp.call("POST", "snapshots/before")``.

        :param path: below ``/_idp/api/``
        :returns: the JSON of the response; None if it has none
        :raises IdpError: with the words of the refusal and its hint
        """
        headers = {"Authorization": f"Bearer {self.admin_token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        try:
            with _open(Request(f"{self.issuer}/_idp/api/{path}", data, headers, method=method)) as response:
                text = response.read()
                return json.loads(text) if text else None
        except HTTPError as error:
            raise IdpError(_refusal(error)) from None
        except URLError as error:
            raise IdpError(f"nothing answers at {self.issuer}: {error.reason}") from None

    @property
    def clients(self) -> List[Client]:
        shown = self.call("GET", "clients?secrets=true")
        return [Client(c["client_id"], c.get("client_secret"), c.get("redirect_uris", []), c) for c in shown]

    @property
    def client(self) -> Client:
        """The client of the app: the first one with a redirect URI, else the first. None that registered itself counts."""
        strangers = ("self_registered", "metadata_document")
        clients = [client for client in self.clients if not any(client.metadata.get(name) for name in strangers)]
        if not clients:
            raise IdpError("this issuer has no client: add one to its fixtures")
        return next((client for client in clients if client.redirect_uris), clients[0])

    def sign_in(self, client: str | Client, user: str, **more: str) -> str:
        """Signs a user in at a client without a browser.

        :param more: ``scope``, ``state``, ``nonce``, ``redirect_uri``, ``code_challenge``, as the app asked for them
        :returns: the address at which the browser returns to the app: the redirect URI with code, state and iss
        """
        return self.call("POST", "issue/code", {"client": _id(client), "user": user, **more})["url"]

    def sign_in_at(self, start: str, user: str | None = None, signed_in: str | None = None) -> SignedIn:
        """Signs a user in at your app, as a person would in a browser, with the command ``sign-in``.

        :param start: the address behind the app's sign-in button
        :param user: the username; by default the first active user
        :param signed_in: an address that only users may see; without it, the app's callback has to set or change a cookie
        :raises IdpError: with the rule and the fix, if the user is not signed in at the end
        """
        return sign_in_at(self.issuer, self.admin_token, start, user, signed_in)

    def issue_tokens(self, client: str | Client, user: str, **more: str) -> Record:
        """The token response of a sign-in. :param more: ``scope``, ``nonce``"""
        return self.call("POST", "issue/tokens", {"client": _id(client), "user": user, **more})

    def revoke(self, client: str | Client | None = None, user: str | None = None) -> Records:
        """Revokes the grants of a user, of a client, or of both, as the user can on the account page."""
        selected = {"client": client and _id(client), "user": user}
        return self.call("POST", "revoke", {k: v for k, v in selected.items() if v is not None})["revoked"]

    def expect(self, endpoint: str, **expectation: Any) -> Record:
        """Checks that the app made the right requests: ``idp.expect("token", grant_type="refresh_token", times=1)``.

        :raises AssertionError: with the nearest misses, if it did not
        """
        __tracebackhide__ = True
        result = self.call("POST", "expect", {"endpoint": endpoint, **expectation})
        if not result["met"]:
            lines = [f"not met: {result['expected']}. The issuer got {result['count']}."]
            for near in result["nearest"]:
                lines += [_line(near["request"]), *(f"      {differs}" for differs in near["differs"])]
            raise AssertionError("\n".join(lines))
        return result

    def requests(self) -> Records:
        """What the app asked, the oldest first, without its secrets."""
        return self.call("GET", "requests")

    def ledger(self) -> str:
        """The requests as text."""
        lines = []
        for record in self.requests():
            lines.append(_line(record))
            notes = {"": record["error"], "rule: ": record["rule"], "fix: ": record["fix"], "fault: ": record["fault"]}
            lines += [f"      {name}{text}" for name, text in notes.items() if text is not None]
        return "\n".join(lines) if lines else f"  The issuer {self.issuer} got no requests."


def _id(client: str | Client) -> str:
    return client.client_id if isinstance(client, Client) else client


def _line(record: Mapping[str, Any]) -> str:
    words = [record["id"], record["method"], record["endpoint"], record["status"]]
    words += [record["grant_type"], record["client"], record["user"]]
    return "  " + "  ".join(str(word) for word in words if word is not None)


def _refusal(error: HTTPError) -> str:
    try:
        body = json.loads(error.read())
    except ValueError:
        body = {}
    problems = [f"{problem['path']}: {problem['message']}" for problem in body.get("problems", [])]
    said = [body.get("error_description", f"status {error.code}"), *problems, body.get("hint")]
    return "\n".join(text for text in said if text)
