"""An app with Authlib that is signed in, and does what its standard input says: "userinfo" or "refresh".

Arguments: issuer, client_id, client_secret, token response. Prints what came of each line as JSON.
"""

import json
import sys

from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from requests import Timeout

issuer, client_id, client_secret, token = sys.argv[1:]
session = OAuth2Session(client_id, client_secret, token=json.loads(token))
metadata = session.get(f"{issuer}/.well-known/openid-configuration", withhold_token=True).json()


def refresh():
    try:
        session.refresh_token(metadata["token_endpoint"], timeout=1)
        return "refreshed"
    except OAuthError as error:
        return error.error
    except Timeout:
        return "timed out"


def userinfo():
    """Refreshes once when its access token is refused."""
    status = session.get(metadata["userinfo_endpoint"]).status_code
    if status != 401:
        return [status]
    return [status, refresh(), session.get(metadata["userinfo_endpoint"]).status_code]


for line in sys.stdin:
    print(json.dumps({"userinfo": userinfo, "refresh": refresh}[line.strip()]()), flush=True)
