"""Signs a user in with Authlib, and reads the ID token with PyJWT.

Arguments: issuer, client_id, client_secret, redirect_uri. Prints the address to open, reads the address that the browser came back to,
and prints what it learned as JSON.
"""

import json
import sys

import jwt
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session

issuer, client_id, client_secret, redirect_uri = sys.argv[1:]
session = OAuth2Session(
    client_id,
    client_secret,
    scope="openid profile email",
    redirect_uri=redirect_uri,
    code_challenge_method="S256",
)
metadata = session.get(f"{issuer}/.well-known/openid-configuration", withhold_token=True).json()
verifier, nonce = generate_token(48), generate_token(20)
url, state = session.create_authorization_url(metadata["authorization_endpoint"], code_verifier=verifier, nonce=nonce)
print(url, flush=True)

token = session.fetch_token(
    metadata["token_endpoint"],
    authorization_response=sys.stdin.readline().strip(),
    state=state,
    code_verifier=verifier,
)
key = jwt.PyJWKClient(metadata["jwks_uri"]).get_signing_key_from_jwt(token["id_token"])
claims = jwt.decode(
    token["id_token"],
    key,
    algorithms=metadata["id_token_signing_alg_values_supported"],
    audience=client_id,
    issuer=issuer,
    options={"require": ["exp", "iat", "sub"]},
)
userinfo = session.get(metadata["userinfo_endpoint"]).json()
refreshed = session.refresh_token(metadata["token_endpoint"])
print(
    json.dumps(
        {
            "claims": claims,
            "sub": userinfo["sub"],
            "nonce": nonce,
            "access_tokens": [token["access_token"], refreshed["access_token"]],
        }
    )
)
