"""An OpenID Connect provider for each test: ``def test_sign_in(idp): ...``"""

from .idp import Client, Idp, IdpError
from .server import Server
from .signed_in import SignedIn

__all__ = ["Client", "Idp", "IdpError", "Server", "SignedIn"]
