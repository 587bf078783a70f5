import { baseOf } from "../../../../core/base/endpoints.ts";
import { cookieSecret, methodBesideBasic, q, signOutParts, type Form, type Parts } from "./form.ts";

/** Libraries of Python. */

/** https://mozilla-django-oidc.readthedocs.io/en/stable/settings.html; by default it sends the secret in the body. */
export const django: Form = {
  returnsTo: /\/oidc\/callback\/$/,
  usual: "/oidc/callback/",
  origin: "http://localhost:8000",
  mention: "mozilla-django-oidc",
  clients: "confidential",
  tests: ["python", "manage.py", "test"],
  signsInAt: "/oidc/authenticate/",
  noSignOut:
    "This configuration signs out of the app alone (POST /oidc/logout/). To end the session at the provider too, set OIDC_OP_LOGOUT_URL_METHOD and OIDC_STORE_ID_TOKEN.",
  lines: ({ endpoints, clientId, secret, authMethod, idTokenAlg, scopes }) => {
    return [
      '# mozilla-django-oidc: settings.py; in urls.py: path("oidc/", include("mozilla_django_oidc.urls"))',
      'AUTHENTICATION_BACKENDS = ["mozilla_django_oidc.auth.OIDCAuthenticationBackend"]',
      `OIDC_RP_CLIENT_ID = ${q(clientId)}`,
      `OIDC_RP_CLIENT_SECRET = ${q(secret ?? "")}`,
      `OIDC_RP_SIGN_ALGO = ${q(idTokenAlg)}`,
      `OIDC_RP_SCOPES = ${q(scopes.join(" "))}`,
      `OIDC_OP_AUTHORIZATION_ENDPOINT = ${q(endpoints.authorize)}`,
      `OIDC_OP_TOKEN_ENDPOINT = ${q(endpoints.token)}`,
      `OIDC_OP_USER_ENDPOINT = ${q(endpoints.userinfo)}`,
      `OIDC_OP_JWKS_ENDPOINT = ${q(endpoints.jwks)}`,
      ...(authMethod === "client_secret_basic" ? ["OIDC_TOKEN_USE_BASIC_AUTH = True"] : []),
      "OIDC_USE_PKCE = True",
      'LOGIN_REDIRECT_URL = "/"',
      'LOGOUT_REDIRECT_URL = "/"',
    ];
  },
};

const flaskImports = [
  "from urllib.parse import urlencode",
  "",
  "from authlib.integrations.flask_client import OAuth",
  "from flask import redirect, session",
];

function flaskRoutes(parts: Parts): readonly string[] {
  const { logout, clientId, front, callback } = signOutParts(parts);
  return [
    "",
    `app.secret_key = ${q(cookieSecret())}`,
    "",
    "",
    '@app.route("/login")',
    "def login():",
    "    return oauth.idp.authorize_redirect(REDIRECT_URI)",
    "",
    "",
    `@app.route(${q(callback)})`,
    "def signed_in():",
    "    token = oauth.idp.authorize_access_token()",
    '    session["user"], session["id_token"] = token["userinfo"], token["id_token"]',
    '    return redirect("/")',
    "",
    "",
    '@app.route("/logout")',
    "def logout():",
    `    query = {"client_id": ${q(clientId)}, "post_logout_redirect_uri": ${q(front)}}`,
    '    if "id_token" in session:',
    '        query["id_token_hint"] = session["id_token"]',
    "    session.clear()",
    `    return redirect(${q(`${logout}?`)} + urlencode(query))`,
  ];
}

/** https://docs.authlib.org/en/latest/client/frameworks.html */
export const authlib: Form = {
  returnsTo: /./,
  usual: "/callback",
  origin: "http://localhost:5000",
  mention: "authlib",
  clients: "any",
  tests: ["pytest"],
  signsInAt: "/login",
  signsOutAt: () => "/logout",
  pieces: (parts) => [
    {
      where: "into your app, after app = Flask(__name__)",
      lines: [...flaskImports, ...authlib.lines(parts).slice(2), ...flaskRoutes(parts)],
    },
  ],
  lines: (parts) => {
    const { issuer, clientId, secret, redirectUri, scopes } = parts;
    const method = methodBesideBasic(parts);
    return [
      "# Authlib with Flask; authlib.integrations has starlette_client and django_client too",
      "from authlib.integrations.flask_client import OAuth",
      "",
      "oauth = OAuth(app)",
      "oauth.register(",
      '    name="idp",',
      `    client_id=${q(clientId)},`,
      ...(secret === null ? [] : [`    client_secret=${q(secret)},`]),
      `    server_metadata_url=${q(`${baseOf(issuer)}/.well-known/openid-configuration`)},`,
      "    client_kwargs={",
      `        "scope": ${q(scopes.join(" "))},`,
      '        "code_challenge_method": "S256",',
      ...(method === null ? [] : [`        "token_endpoint_auth_method": ${q(method)},`]),
      "    },",
      ")",
      `REDIRECT_URI = ${q(redirectUri)}  # oauth.idp.authorize_redirect(REDIRECT_URI)`,
    ];
  },
};
