"""Checks Google's key, so that a wrong one stops the program before anybody talks to the bot."""

import json
import os

import google.auth
from google.oauth2.service_account import Credentials


def problems() -> list[str]:
    """Return what is wrong with Google's key, if anything is."""
    name = "GOOGLE_CREDENTIALS_JSON"
    try:
        if text := os.getenv(name):
            Credentials.from_service_account_info(json.loads(text))
        elif path := os.getenv(name := "GOOGLE_APPLICATION_CREDENTIALS"):
            Credentials.from_service_account_file(path)
        else:
            google.auth.default()  # this machine's login
    except Exception as e:
        return [f"Set {name} in .env, as .env.example says: {e}"]
    return []
