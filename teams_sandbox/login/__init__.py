"""The source of tokens: Entra's token endpoint for the bot, and Bot Framework's keys for the requests that
Teams sends.

How the SDK's TokenManager reaches Entra: it makes msal's ConfidentialClientApplication with
`authority=f"{cloud.login_endpoint}/{tenant}"` and nothing else. msal accepts only an https authority
(`validate_authority=False` and `instance_discovery=False` do not change that), and takes the address for
tokens from the discovery document, which must be https too. So `login_endpoint="http://127.0.0.1:…"` raises
ValueError. What works: leave Microsoft's authority as it is, and give msal an `http_client` (a
requests.Session with an adapter for https://login.microsoftonline.com/) that sends the requests to
`Sandbox.login_url`. The SDK takes such an msal application by `TokenCredentials(client_id=…, token=…)`;
tests/teams_sandbox/test_login.py does this. The discovery document here is therefore Entra's own, with
https://login.microsoftonline.com addresses.

The check of inbound tokens has no such limit: `dataclasses.replace(PUBLIC,
openid_metadata_url=sandbox.openid_metadata_url)`.
"""

from .login import CONNECTOR, GRAPH, Login
from .tokens import BOT_FRAMEWORK_KEY, ENTRA_KEY, STRANGE_KEY, SigningKey, mint

__all__ = [
    "BOT_FRAMEWORK_KEY",
    "CONNECTOR",
    "ENTRA_KEY",
    "GRAPH",
    "STRANGE_KEY",
    "Login",
    "SigningKey",
    "mint",
]
