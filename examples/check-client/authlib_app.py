"""An app with Authlib's client for Flask and its defaults, and PKCE."""

import os
from urllib.parse import urlsplit

from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, session

app = Flask(__name__)
app.secret_key = "a long secret of the application's own"
oauth = OAuth(app)
idp = oauth.register(
    "idp",
    client_id=os.environ["OIDC_CLIENT_ID"],
    client_secret=os.environ["OIDC_CLIENT_SECRET"],
    server_metadata_url=f"{os.environ['OIDC_ISSUER']}/.well-known/openid-configuration",
    client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
)
redirect_uri = os.environ["OIDC_REDIRECT_URI"]


@app.get("/login")
def login():
    return idp.authorize_redirect(redirect_uri)


@app.get(urlsplit(redirect_uri).path)
def callback():
    token = idp.authorize_access_token()
    session["user"] = token["userinfo"]
    return redirect("/me")


@app.get("/me")
def me():
    return session.get("user") or ("", 401)


app.run(host="localhost", port=int(os.environ["PORT"]))
