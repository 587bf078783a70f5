"""An app with python3-saml in strict mode. It has only what the standard library serves."""

import json
import os
import secrets
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from onelogin.saml2.auth import OneLogin_Saml2_Auth
from onelogin.saml2.logout_request import OneLogin_Saml2_Logout_Request

ACS = urlsplit(os.environ["SAML_ACS_URL"])
SETTINGS = {
    "strict": True,
    "sp": {
        "entityId": os.environ["SAML_SP_ENTITY_ID"],
        "assertionConsumerService": {"url": os.environ["SAML_ACS_URL"]},
        "singleLogoutService": {"url": f"{ACS.scheme}://{ACS.netloc}/slo"},
    },
    "idp": {
        "entityId": os.environ["SAML_IDP_ENTITY_ID"],
        "singleSignOnService": {"url": os.environ["SAML_IDP_SSO_URL"]},
        "singleLogoutService": {"url": os.environ["SAML_IDP_SSO_URL"].replace("/sso", "/slo")},
        "x509cert": os.environ["SAML_IDP_CERT"],
    },
    "security": {
        "wantAssertionsSigned": True,
        "rejectDeprecatedAlgorithm": True,
        "requestedAuthnContext": False,
    },
}
# Of a LogoutRequest the library verifies a signature only if messages have to be signed.
LOGOUT = {**SETTINGS, "security": {"wantMessagesSigned": True}}
sessions = {}


class App(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer({})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        self.answer({name: values[0] for name, values in parse_qs(body).items()})

    def session(self):
        cookie = SimpleCookie(self.headers.get("cookie", "")).get("app")
        key = cookie.value if cookie is not None and cookie.value in sessions else secrets.token_hex(16)
        return key, sessions.setdefault(key, {})

    def answer(self, form):
        try:
            self.route(form)
        except Exception as error:
            self.send(403, "", None, str(error))

    def route(self, form):
        url = urlsplit(self.path)
        key, session = self.session()
        auth = OneLogin_Saml2_Auth(
            {
                "https": "off",
                "http_host": self.headers.get("host", ""),
                "script_name": url.path,
                "get_data": {name: values[0] for name, values in parse_qs(url.query).items()},
                "post_data": form,
                "query_string": url.query,
                "validate_signature_from_qs": True,
            },
            LOGOUT if url.path == "/slo" else SETTINGS,
        )
        if url.path == "/login":
            to = auth.login(return_to="/me")
            session["request"] = auth.get_last_request_id()
            return self.send(302, key, to)
        if url.path == "/acs" and self.command == "POST":
            auth.process_response(request_id=session.pop("request", "none"))
            if auth.get_errors():
                return self.send(403, key, None, auth.get_last_error_reason() or "refused")
            session["user"] = {"name": auth.get_nameid(), "email": auth.get_attributes().get("email", [None])[0]}
            return self.send(302, key, "/me")
        if url.path == "/slo" and self.command == "GET":
            auth.process_slo(keep_local_session=True)
            named = None if auth.get_errors() else OneLogin_Saml2_Logout_Request.get_nameid(auth.get_last_request_xml())
            if named is None or named != session.get("user", {}).get("name"):
                return self.send(403, key)
            del session["user"]
            return self.send(200, key)
        if url.path == "/me" and "user" in session:
            return self.send(200, key, None, json.dumps(session["user"]))
        return self.send(401 if url.path == "/me" else 404, key)

    def send(self, status, key, location=None, text=""):
        self.send_response(status)
        self.send_header("set-cookie", f"app={key}; Path=/; HttpOnly; SameSite=Lax")
        if location is not None:
            self.send_header("location", location)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("localhost", int(os.environ["PORT"])), App).serve_forever()
