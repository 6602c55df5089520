"""What sessions cost: their usage times the prices that the owner has written into prices.toml."""

import json
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vbot.records.folder import Fields

# The prices of a service, with what is divided by. Tokens of audio have prices of their own, if
# there are any, and cached ones are not counted twice.
UNITS = {
    "per_million_tokens_in": 1_000_000,
    "per_million_tokens_cached": 1_000_000,
    "per_million_tokens_out": 1_000_000,
    "per_million_audio_tokens_in": 1_000_000,
    "per_million_audio_tokens_cached": 1_000_000,
    "per_million_audio_tokens_out": 1_000_000,
    "per_million_characters": 1_000_000,
    "per_minute": 60,
}
HEAD = """\
# What your services cost, by your contracts. `uv run -m vbot.records` multiplies usage by these.
# Write numbers in place of "". A price that is "" is not known, and nor are costs that need it.
currency = ""
"""


@dataclass
class Cost:
    """What sessions cost, as far as prices are known."""

    currency: str
    amount: float
    unknown: list[str]  # names of prices that are missing

    def __str__(self) -> str:
        text = f"{self.amount:.4f} {self.currency}".strip()
        return f"at least {text}" if self.unknown else text


Prices = dict[tuple[str, str | None], dict[str, Any]]


def amounts(used: Fields) -> dict[str, float]:
    """Return how much of each unit a service has used."""

    def number(name: str) -> float:
        return used[name] or 0

    cached, audio_cached = number("tokens_cached"), number("audio_tokens_cached")
    audio_in, audio_out = number("audio_tokens_in"), number("audio_tokens_out")
    return {
        "per_million_tokens_in": number("tokens_in") - audio_in - (cached - audio_cached),
        "per_million_tokens_cached": cached - audio_cached,
        "per_million_tokens_out": number("tokens_out") - audio_out,
        "per_million_audio_tokens_in": audio_in - audio_cached,
        "per_million_audio_tokens_cached": audio_cached,
        "per_million_audio_tokens_out": audio_out,
        "per_million_characters": number("characters"),
        "per_minute": number("seconds"),
    }


class PriceList:
    """The prices of prices.toml.

    Args:
        path: Of the file.
    """

    def __init__(self, path: Path):
        self.path = path
        self.currency, self._prices = "", Prices()
        try:
            written = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return
        except (OSError, ValueError) as e:
            sys.exit(f"{path} cannot be read: {e}")
        self.currency = str(written.get("currency", ""))
        for entry in written.get("price", []):
            key = (str(entry.get("service")), entry.get("model") or None)
            self._prices[key] = self._checked(entry)

    def _checked(self, entry: dict[str, Any]) -> dict[str, Any]:
        for name, price in entry.items():
            if name in ("service", "model"):
                continue
            if name not in UNITS:
                sys.exit(f"{self.path} has {name!r}; prices are {', '.join(UNITS)}.")
            is_number = isinstance(price, int | float) and not isinstance(price, bool)
            if price != "" and not is_number:
                sys.exit(f"{self.path}: {name} must be a number, without quotes.")
        return entry

    def cost(self, records: Iterable[Fields]) -> Cost | None:
        """Return what sessions cost; None without any price."""
        cost = Cost(self.currency, 0.0, [])
        for used in (used for record in records for used in record["usage"]):
            prices = self._prices.get((used["service"], used["model"]), {})
            for unit, amount in amounts(used).items():
                price = prices.get(unit, "")
                if not amount:
                    continue
                if price == "":
                    cost.unknown.append(
                        f"{unit} of {used['service']} {used['model'] or ''}".strip()
                    )
                else:
                    cost.amount += amount / UNITS[unit] * price
        cost.unknown = list(dict.fromkeys(cost.unknown))
        has_prices = any(
            price != ""
            for entry in self._prices.values()
            for unit, price in entry.items()
            if unit in UNITS
        )
        return cost if has_prices else None

    def write(self, records: Iterable[Fields]) -> None:
        """Write the file: the services of these sessions and their units, without prices."""
        found: dict[tuple[str, str | None], set[str]] = {}
        for used in (used for record in records for used in record["usage"]):
            units = {unit for unit, amount in amounts(used).items() if amount}
            found.setdefault((used["service"], used["model"]), set()).update(units)
        text = HEAD
        for (service, model), units in sorted(found.items(), key=str):
            text += (
                f"\n[[price]]\nservice = {json.dumps(service)}\nmodel = {json.dumps(model or '')}\n"
            )
            text += "".join(f'{unit} = ""\n' for unit in UNITS if unit in units)
        with self.path.open("x", encoding="utf-8") as file:
            file.write(text)
