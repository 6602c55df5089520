"""Who may connect calls: whoever knows the bot's address, with its token, and the password."""

import base64
import hmac
import os
import sys

from fastapi import HTTPException
from starlette.requests import HTTPConnection

from vbot.settings import is_loopback

USER = "asterisk"  # the username in websocket_client.conf


def check(connection: HTTPConnection) -> None:
    """Raise HTTPException unless the request has ASTERISK_PASSWORD, if that is set.

    Asterisk sends it as Basic authentication. A browser is refused: any page could connect it.
    """
    if "origin" in connection.headers:
        raise HTTPException(403, "calls come from Asterisk, not from pages")
    password = os.getenv("ASTERISK_PASSWORD")
    wanted = "Basic " + base64.b64encode(f"{USER}:{password}".encode()).decode()
    given = connection.headers.get("authorization", "")
    if password and not hmac.compare_digest(given.encode(), wanted.encode()):
        raise HTTPException(401, f"the user is {USER}, with ASTERISK_PASSWORD")


def check_token(token: str) -> None:
    """Raise HTTPException 403 unless the address has a token of PHONE_TOKEN, if that is set.

    For bot.py: self_host.py also counts wrong ones (carriers.py).
    """
    known = os.getenv("PHONE_TOKEN")
    given = token.encode(errors="replace")
    if known and not any(hmac.compare_digest(given, one.encode()) for one in known.split(",")):
        raise HTTPException(403, "the address has another token")


def check_address(host: str) -> None:
    """Stop the program if other machines may connect at this address, and nothing keeps them out.

    Args:
        host: Where the program listens: a name or an address.
    """
    if is_loopback(host):
        return
    missing = [name for name in ("PHONE_TOKEN", "ASTERISK_PASSWORD") if name not in os.environ]
    if missing:
        named = " and ".join(missing)
        sys.exit(f"Set {named} in .env: at {host}, other machines can connect calls to the bot.")
