"""Who may ask for calls: calls cost money, so the request has SERVER_API_KEY."""

import hmac
import os
from typing import Annotated

from fastapi import Depends, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

bearer = HTTPBearer(auto_error=False)


def authorize(
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
) -> None:
    """Raise HTTPException 401 for a request without SERVER_API_KEY as its bearer token.

    And 501 if that is not set, so that nobody may ask.
    """
    if not (key := os.getenv("SERVER_API_KEY")):
        raise HTTPException(501, "set SERVER_API_KEY in .env: calls are made only for who has it")
    if not credentials or not hmac.compare_digest(credentials.credentials.encode(), key.encode()):
        raise HTTPException(
            401, "send SERVER_API_KEY as a bearer token", {"WWW-Authenticate": "Bearer"}
        )
