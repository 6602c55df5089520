"""Reads .env, and stops a program that lacks what it requires."""

import importlib
import json
import os
import re
import sys

from dotenv import dotenv_values, load_dotenv


def load() -> None:
    """Read .env into the environment, which it overrides. A blank value counts as not set."""
    load_dotenv(override=True)
    for name in [name for name, value in os.environ.items() if not value.strip()]:
        del os.environ[name]


def require(needs: list[str], serves: str = "", google: bool = False) -> None:
    """Stop the program if .env has no value for something, or a key that cannot be sent.

    A need is A, "A or B", "A xor B" (one alone), "A if B" (set), "A and B for T" (-t, or served).
    """
    load()  # again: the runner has read the blank values
    key = ("_API_KEY", "_ACCESS_KEY", "_SECRET", "_TOKEN")  # errors would show those, even the page
    odd = [n for n, v in dotenv_values().items() if n.endswith(key) and re.search("[^!-~]", str(v))]
    problems = [f"Copy {n} to .env again: no spaces, line breaks or curly quotes." for n in odd]
    if google:
        name = "GOOGLE_CREDENTIALS_JSON"
        try:
            account = importlib.import_module("google.oauth2.service_account").Credentials
            if text := os.getenv(name):
                account.from_service_account_info(json.loads(text))
            elif path := os.getenv(name := "GOOGLE_APPLICATION_CREDENTIALS"):
                account.from_service_account_file(path)
            else:
                importlib.import_module("google.auth").default()  # this machine's login
        except Exception as e:
            problems.append(f"Set {name} in .env, as .env.example says: {e}")
    served, missing = ("", *serves.split(), *sys.argv), dict[str, str]()
    parted = (need.partition(" for ") for need in needs)
    for need in [rule for text, _, of in parted if of in served for rule in text.split(" and ")]:
        name, word, *others = [*need.split(), ""]
        found = any(other in os.environ for other in others)
        if name not in os.environ and found is (word == "if"):
            missing[name] = need
        elif word == "xor" and name in os.environ and found:
            problems.append(f"Set {name} or {others[0]} in .env, not both.")
    if missing:
        problems.append(f"Set {', '.join(missing)} in .env; .env.example says where to get them.")
    if problems:
        sys.exit("\n".join(problems))
