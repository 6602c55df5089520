"""The values that variables of .env have in tests.

Each required variable has one by itself: what is set where pytest runs, and is not blank, or else
what `Needs(..., in_tests="VALUE")` says, or a text that says which variable it is.
"""

import os
from collections.abc import Iterable, Mapping

from vbot.settings import FORMS, Needs, Requirement
from vbot.testing.stand_in import Role

GIVE = (
    'Tests have no value for {}. Write os.environ["NAME"] = "VALUE" at the top of '
    "tests/conftest.py, for each name."
)


def value_of(name: str, in_tests: str = "") -> str:
    """Return the value of a variable."""
    if given := os.getenv(name, "").strip():
        return given
    if name == "TIME_ZONE":
        return "UTC"
    _, example = FORMS.get(name, ("", ""))
    return in_tests or example or f"test-{name.lower().replace('_', '-')}"


def of(required: Iterable[Requirement]) -> dict[str, str]:
    """Return a value for each variable that is required."""
    found: dict[str, str] = {}
    needs = [Needs(need) if isinstance(need, str) else need for need in required]
    for need in needs:
        if not isinstance(need, Needs):
            continue
        is_needed = not need.if_set or need.if_set in found or need.if_set in os.environ
        if is_needed and not found.keys() & {*need.names}:
            given = [name for name in need.names if os.getenv(name, "").strip()]
            name = given[0] if given else need.names[0]
            found[name] = value_of(name, need.in_tests)
    return found


def keys_of(roles: Mapping[str, Role]) -> dict[str, str]:
    """Return the keys of services."""
    return {role.key: value_of(role.key) for role in roles.values() if role.key}


class AnyValue(dict[str, str]):
    """The value of each variable, whether it is required or not."""

    def __missing__(self, name: str) -> str:
        return value_of(name)
