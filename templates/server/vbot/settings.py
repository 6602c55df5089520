"""Reads .env, and stops the program if a required variable is missing."""

import argparse
import ipaddress
import os
import re
import sys
import zoneinfo
from collections.abc import Callable, Iterable
from pathlib import Path

from dotenv import dotenv_values

# What a program says when variables are missing; the tests have a text of their own.
TO_SET = "Set {} in .env; see .env.example."

# The file with keys and settings, in server/. A .env in a parent directory is not read.
ENV_FILE = Path(__file__).parents[1] / ".env"

# Editors on Windows begin a file with a byte order mark, which would be part of the first name.
ENCODING = "utf-8-sig"

# How names of keys end. Keys are sent in headers.
KEYS = ("_API_KEY", "_ACCESS_KEY", "_SECRET", "_TOKEN")

# Formats of optional variables, each with an example.
FORMS = {
    "COLLEAGUE": (r"\+[1-9][0-9]{6,14}|sips?:\S+", "+15551234567"),
    "DRAIN_SECONDS": (r"\d+(\.\d+)?", "3540"),
    "FALLBACK_NUMBER": (r"\+[1-9][0-9]{6,14}", "+15551234567"),
    "FILES": (r"on|off", "on"),
    "MAX_CONTEXT_CHARS": (r"[1-9]\d*", "100000"),
    "MAX_FILES": (r"\d+", "10"),
    "MAX_FILE_BYTES": (r"\d+", "5000000"),
    "MAX_MESSAGES_PER_MINUTE": (r"\d+", "30"),
    "MAX_MESSAGE_CHARS": (r"\d+", "4000"),
    "MAX_MODEL_REQUESTS": (r"\d+", "1000"),
    "MAX_SESSIONS": (r"\d+", "4"),
    "MAX_SESSIONS_PER_ADDRESS": (r"[1-9]\d*", "2"),
    "MAX_SESSION_SECONDS": (r"\d+", "3600"),
    "READ_AHEAD": (r"on|off", "on"),
    "RECORDS_KEPT_DAYS": (r"[1-9]\d*", "30"),
    "RECORDS_NUMBERS": (r"full|last4", "last4"),
    "RECORDS_TEXT": (r"true|false", "true"),
    "SILENCE_SECONDS": (r"\d+(\.\d+)?", "10"),
    "STARTS_PER_MINUTE": (r"\d+", "6"),
}

# The folder that bots of an Asterisk have. It connects callers to extensions, too.
ASTERISK = Path(__file__).parent / "asterisk"
EXTENSION = (r"\+?[0-9]{2,15}", "200 or +15551234567")
EXTENSIONS = {"COLLEAGUE": EXTENSION, "FALLBACK_NUMBER": EXTENSION}

# Transports over which telephones reach a bot, whose numbers a page does not need.
TELEPHONES = {"asterisk", "exotel", "plivo", "telnyx", "twilio"}


class Needs:
    """A variable that has to be set for the program to start.

    Args:
        names: The variable, or several variables, one of which has to be set.
        only_one: Whether only one of them may be set.
        if_set: Another variable. This one is needed only if that one is set.
        transport: A transport, or "telephone" for any of a carrier or Asterisk. This variable is
            needed only if the bot is started with it.
        in_tests: The value that tests give the variable, if not any text will do.
    """

    def __init__(
        self,
        *names: str,
        only_one: bool = False,
        if_set: str = "",
        transport: str = "",
        in_tests: str = "",
    ):
        self.names, self.only_one, self.if_set = names, only_one, if_set
        self.transport, self.in_tests = transport, in_tests

    def applies(self, transports: Iterable[str | None]) -> bool:
        if self.transport and self.transport not in transports:
            return False
        return not self.if_set or self.if_set in os.environ

    def found(self) -> list[str]:
        return [name for name in self.names if name in os.environ]


# What has to be right for the program to start: the name of a variable that is always needed, a
# Needs, or a function that returns what is wrong.
Requirement = str | Needs | Callable[[], list[str]]


def load() -> None:
    """Read .env into the environment. A value in .env overrides one that the shell has exported.

    A blank value counts as not set, so it overrides nothing. Stops the program if .env cannot be
    read, or if a variable does not have its format. With PYTHON_DOTENV_DISABLED, as in tests, .env
    is not read.
    """
    disabled = os.getenv("PYTHON_DOTENV_DISABLED")
    try:
        values = {} if disabled else dotenv_values(ENV_FILE, encoding=ENCODING)
    except PermissionError as e:
        sys.exit(unreadable(str(e.filename)))
    except ValueError:  # for example UTF-16, which `>` writes in PowerShell
        sys.exit(".env is not UTF-8 text. Save it as UTF-8.")
    os.environ.update({name: value for name, value in values.items() if value and value.strip()})
    for name in [name for name, value in os.environ.items() if not value.strip()]:
        del os.environ[name]
    # Otherwise the framework's runner would read .env again, with blank values, or a .env in a
    # parent directory.
    os.environ["PYTHON_DOTENV_DISABLED"] = "1"
    forms = FORMS | EXTENSIONS if ASTERISK.exists() else FORMS
    wrong = [
        f"{name} in .env must be like {example}."
        for name, (form, example) in forms.items()
        if name in os.environ and not re.fullmatch(form, os.environ[name], re.ASCII)
    ]
    if wrong:
        sys.exit("\n".join(wrong))


def note_readers() -> None:
    """Say so if .env has keys, and every user of the machine can read it."""
    if sys.platform == "win32" or not ENV_FILE.is_file():
        return
    mode = ENV_FILE.stat().st_mode
    # All files are executable where modes mean nothing, such as on Windows' drives in WSL.
    if not mode & 0o004 or mode & 0o111:
        return
    values = dotenv_values(ENV_FILE, encoding=ENCODING)
    if any(value and name.endswith(KEYS) for name, value in values.items()):
        print(f"Any user of this machine can read the keys: chmod 600 {ENV_FILE}", file=sys.stderr)


def unreadable(path: str) -> str:
    """Return a message about a file without read permission, with the command that grants it."""
    if sys.platform == "win32":
        return f"{path} cannot be read."
    # The owner, who starts the container with this file, can still read it.
    helps = f"sudo chgrp {os.getgid()} server/.env && sudo chmod 640 server/.env"
    return f"{path} cannot be read by user {os.getuid()}. In the project's directory: {helps}"


def require(required: Iterable[Requirement], transports: Iterable[str] = ()) -> None:
    """Stop the program if .env is incomplete, or has a value that cannot be right.

    Args:
        required: What has to be right.
        transports: Keys of TRANSPORTS that the program serves, in addition to the one of -t.
    """
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("-t", "--transport")
    served = {parser.parse_known_args()[0].transport, *transports}
    if "dialin" in served:
        served.add("daily")  # whose rooms these calls are in
    if served & TELEPHONES:
        served.add("telephone")
    required = list(required)
    problems = [wrong for check in required if callable(check) for wrong in check()]
    problems += mistakes()
    needs = [Needs(need) if isinstance(need, str) else need for need in required]
    problems += missing([need for need in needs if isinstance(need, Needs)], served)
    if problems:
        sys.exit("\n".join(problems))
    note_readers()


def mistakes() -> list[str]:
    """Return what is wrong with values that any bot may have in .env."""
    problems = []
    for name, value in dotenv_values(ENV_FILE, encoding=ENCODING).items():
        if name.endswith(KEYS) and re.search("[^!-~]", str(value)):
            # Otherwise an error of the service would show the key, even on the page.
            problems.append(f"Copy {name} to .env again: no spaces, line breaks or curly quotes.")
    zone = os.getenv("TIME_ZONE")
    if zone and zone not in zoneinfo.available_timezones():
        problems.append(f"TIME_ZONE in .env is {zone!r}; it must be like Europe/Berlin.")
    return problems


def missing(needs: Iterable[Needs], transports: Iterable[str | None]) -> list[str]:
    """Return which variables are not set, or are set in place of each other."""
    problems, names = [], []
    for need in needs:
        if not need.applies(transports):
            continue
        if not (found := need.found()):
            names.append(need.names[0])
        elif need.only_one and len(found) > 1:
            problems.append(f"Set {' or '.join(found)} in .env, not both.")
    if names:
        listed = ", ".join(dict.fromkeys(names))  # each once
        problems.append(TO_SET.format(listed))
    return problems


def is_loopback(host: str) -> bool:
    """Whether a host is this machine. Names other than localhost may lead anywhere."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
