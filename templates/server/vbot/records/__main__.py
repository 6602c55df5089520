"""Shows the records of sessions, and deletes them.

uv run -m vbot.records                           the sessions of today (UTC)
uv run -m vbot.records 2026-11-28                those of a day
uv run -m vbot.records 2026-11-01 2026-11-30     the days of a range
uv run -m vbot.records show ID                   one session with its turns
uv run -m vbot.records delete ID                 delete its record and its recording
uv run -m vbot.records prices                    write prices.toml, for you to fill in
"""

import argparse
import contextlib
import csv
import io
import json
import os
import sys
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from loguru import logger

from vbot import records
from vbot.log import shown
from vbot.records.folder import Fields, Folder, now
from vbot.records.prices import PriceList
from vbot.records.session import SERVER

COLUMNS = (
    "id",
    "started_at",
    "duration_seconds",
    "transport",
    "direction",
    "from",
    "to",
    "ended_by",
    "transferred_to",
    "turns",
    "median_latency_seconds",
    "worst_latency_seconds",
    "problems",
    "tools",
    "tokens_in",
    "tokens_out",
    "characters",
    "seconds_heard",
    "cost",
    "recording",
    "language",
    "bot_version",
)
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how cells begin that a spreadsheet calculates


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="uv run -m vbot.records",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", nargs="*", help=argparse.SUPPRESS)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print records as JSON, for programs")
    form.add_argument("--csv", action="store_true", help="print a line for each, for spreadsheets")
    given = parser.parse_args()
    for value in given.what if given.what[:1] not in (["show"], ["delete"], ["prices"]) else []:
        with contextlib.suppress(ValueError):
            date.fromisoformat(value)
            continue
        parser.error(f"{value!r} is not a day such as 2026-11-28")
    most = {"show": 2, "delete": 2, "prices": 1}.get(next(iter(given.what), ""), 2)
    least = most if given.what[:1] in (["show"], ["delete"]) else 0
    if not least <= len(given.what) <= most:
        parser.error("give one ID" if least else "give one day, or the first and the last one")
    return given


def main() -> None:
    given = arguments()
    logger.remove()
    logger.add(sys.stderr, format="{message}")
    if "RECORDS" not in os.environ:
        sys.exit("Set RECORDS in .env to a folder: then the bot records what happens.")
    folder = Folder(records.folder_path())
    prices = PriceList(SERVER / "prices.toml")
    match given.what:
        case ["show", id]:
            show(found(folder, id), prices, given.json)
        case ["delete", id]:
            delete(folder, id)
        case ["prices"]:
            write_prices(folder, prices)
        case days:
            today = f"{now().date()}"
            first, last = (date.fromisoformat(day) for day in ([*days, *days] or [today] * 2)[:2])
            list_days(folder, first, last, prices, given)


def found(folder: Folder, id: str) -> Fields:
    return folder.find(id) or sys.exit(not_found(folder, id))


def not_found(folder: Folder, id: str) -> str:
    if (folder.running / f"{id}.json").exists():
        return f"Session {shown(id)} has not ended: its record is written when it ends."
    return f"There is no record of session {shown(id)} in {folder.path}."


def list_days(
    folder: Folder, first: date, last: date, prices: PriceList, given: argparse.Namespace
) -> None:
    """Print the records of days, as a table for people or for programs."""
    listed = folder.read(first, last)
    if given.json:
        print(json.dumps([with_cost(one, prices) for one in listed], indent=2, ensure_ascii=False))
    elif given.csv:
        print(as_csv(listed, prices), end="")
    elif not listed:
        print(f"No session from {first} to {last}." if first != last else f"No session on {first}.")
    elif first == last:
        print(table(of_sessions(listed, prices)))
        print("\n" + "\n".join(totals(listed, prices)))
    else:
        print(table(of_days(listed, prices)))
        print("\n" + "\n".join(totals(listed, prices)))


def with_cost(record: Fields, prices: PriceList) -> Fields:
    cost = prices.cost([record])
    if not cost:
        return record
    return record | {
        "cost": {"currency": cost.currency, "amount": round(cost.amount, 6)}
        | {"without": cost.unknown}
    }


def of_sessions(listed: list[Fields], prices: PriceList) -> list[list[str]]:
    """Return the rows of a table of sessions."""
    rows = [
        ["START", "LENGTH", "FROM", "ENDED BY", "TURNS", "MEDIAN WAIT", "PROBLEMS", "COST", "ID"]
    ]
    for one in listed:
        rows.append(
            [
                str(one["started_at"])[11:19],
                length(one["duration_seconds"]),
                one["from"] or one["transport"] or "",
                one["ended_by"],
                str(len(one["turns"])),
                seconds((one["latency_seconds"] or {}).get("median")),
                str(len(one["problems"]) or ""),
                str(prices.cost([one]) or ""),
                one["id"],
            ]
        )
    return rows


def of_days(listed: list[Fields], prices: PriceList) -> list[list[str]]:
    """Return the rows of a table of days."""
    rows = [["DAY", "SESSIONS", "LENGTH", "ENDED BY", "MEDIAN WAIT", "PROBLEMS", "COST"]]
    for day in sorted({str(one["started_at"])[:10] for one in listed}):
        of_day = [one for one in listed if str(one["started_at"])[:10] == day]
        rows.append(
            [
                day,
                str(len(of_day)),
                length(sum(one["duration_seconds"] or 0 for one in of_day)),
                counted(one["ended_by"] for one in of_day),
                seconds(median_wait(of_day)),
                str(sum(len(one["problems"]) for one in of_day) or ""),
                str(prices.cost(of_day) or ""),
            ]
        )
    return rows


def totals(listed: list[Fields], prices: PriceList) -> list[str]:
    """Return lines that sum sessions up."""
    lasted = sum(one["duration_seconds"] or 0 for one in listed)
    lines = [
        f"{len(listed)} session{'s' * (len(listed) > 1)}, {length(lasted)}; ended by "
        f"{counted(one['ended_by'] for one in listed)}; median wait "
        f"{seconds(median_wait(listed)) or 'unknown'}"
    ]
    for (service, model), sums in usage(listed).items():
        lines.append(f"{service}{f' {model}' if model else ''}: {sums or 'reports no usage'}")
    for problem, times in counts(one for record in listed for one in record["problems"]).items():
        lines.append(f"Problem, {'once' if times == 1 else f'{times} times'}: {problem}")
    if cost := prices.cost(listed):
        lines.append(f"Cost: {cost}")
        lines += [f"No price in prices.toml: {name}" for name in cost.unknown]
    else:
        lines.append("Cost: no prices. `uv run -m vbot.records prices` writes a file for them.")
    return [shown(line) for line in lines]


def usage(listed: list[Fields]) -> dict[tuple[str, str | None], str]:
    """Return what each service and model has used, as text."""
    sums: dict[tuple[str, str | None], dict[str, float]] = {}
    for used in (used for record in listed for used in record["usage"]):
        of_one = sums.setdefault((used["service"], used["model"]), {})
        for name, amount in used.items():
            if isinstance(amount, int | float):
                of_one[name] = of_one.get(name, 0) + amount
    return {
        key: ", ".join(f"{amount:,.0f} {name.replace('_', ' ')}" for name, amount in one.items())
        for key, one in sums.items()
    }


def show(record: Fields, prices: PriceList, as_json: bool) -> None:
    """Print one session with its turns."""
    if as_json:
        print(json.dumps(with_cost(record, prices), indent=2, ensure_ascii=False))
        return
    for name, value in record.items():
        if name not in ("turns", "tools", "usage", "problems") and value is not None:
            print(f"{name}: {shown(value if isinstance(value, str) else json.dumps(value))}")
    for problem in record["problems"]:
        print(f"problem: {shown(problem)}")
    events = [(one["at"], turn_line(one)) for one in record["turns"]]
    events += [(one["at"], tool_line(one)) for one in record["tools"]]
    if events:
        print()
    for at, line in sorted(events):
        print(f"{at[11:23]}  {shown(line)}")
    print("\n" + "\n".join(totals([record], prices)[1:]))


def turn_line(turn: Fields) -> str:
    waited = turn["answered_after_seconds"]
    notes = [f"after {waited:.2f} s"] if waited is not None else []
    notes += ["interrupted"] if turn["interrupted"] else []
    said = turn["text"] if turn["text"] is not None else "(no text)"
    noted = f" ({', '.join(notes)})" if notes else ""
    return f"{turn['who']:6}  {said}{noted}"


def tool_line(tool: Fields) -> str:
    outcome = "" if tool["succeeded"] else ", failed"
    words = f" {json.dumps(tool['arguments'])} -> {json.dumps(tool['result'])}"
    has_words = tool["arguments"] is not None or tool["result"] is not None
    return f"tool    {tool['name']} ({tool['seconds']:.2f} s{outcome}){words if has_words else ''}"


def delete(folder: Folder, id: str) -> None:
    """Delete what is stored of one session, and say what that was."""
    files: list[Path] = folder.delete(id)
    for path in records.recordings(id):
        path.unlink()
        files.append(path)
    if not files:
        sys.exit(not_found(folder, id))
    for path in files:
        print(f"Deleted: session {shown(id)} in {path}")
    print("Lines of the log have the session's ID, and stay as long as the log does.")


def write_prices(folder: Folder, prices: PriceList) -> None:
    listed = folder.read(date.min, date.max)
    if not listed:
        sys.exit("No session is recorded yet, so it is not known which services the bot uses.")
    try:
        prices.write(listed)
    except FileExistsError:
        sys.exit(f"{prices.path} exists, and is left as it is.")
    print(f"{prices.path} names the services and units. Write your prices into it.")


def as_csv(listed: list[Fields], prices: PriceList) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in listed:
        cells = csv_cells(one, prices)
        writer.writerow([safe_cell(cells[name]) for name in COLUMNS])
    return text.getvalue()


def csv_cells(one: Fields, prices: PriceList) -> Fields:
    def total(name: str) -> float | None:
        amounts = [used[name] for used in one["usage"] if used[name] is not None]
        return sum(amounts) if amounts else None

    latency, cost = one["latency_seconds"] or {}, prices.cost([one])
    return one | {
        "turns": len(one["turns"]),
        "median_latency_seconds": latency.get("median"),
        "worst_latency_seconds": latency.get("worst"),
        "problems": " ".join(one["problems"]),
        "tools": " ".join(tool["name"] for tool in one["tools"]),
        "tokens_in": total("tokens_in"),
        "tokens_out": total("tokens_out"),
        "characters": total("characters"),
        "seconds_heard": total("seconds"),
        "cost": round(cost.amount, 6) if cost and not cost.unknown else None,
    }


def safe_cell(value: Any) -> Any:
    """Return a cell that a spreadsheet takes for text, whatever a stranger has sent."""
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return value


def table(rows: list[list[str]]) -> str:
    safe = [[shown(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in safe) for i in range(len(safe[0]))]
    used = [i for i, width in enumerate(widths) if any(row[i] for row in safe[1:])]
    lines = ("  ".join(row[i].ljust(widths[i]) for i in used).rstrip() for row in safe)
    return "\n".join(lines)


def length(lasted: float | None) -> str:
    if lasted is None:
        return ""
    minutes, rest = divmod(round(lasted), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def seconds(waited: float | None) -> str:
    return "" if waited is None else f"{waited:.2f} s"


def median_wait(listed: Iterable[Fields]) -> float | None:
    turns = (turn for record in listed for turn in record["turns"])
    waits = [turn["answered_after_seconds"] for turn in turns]
    known = [wait for wait in waits if wait is not None]
    return median(known) if known else None


def counts(words: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for word in words:
        found[word] = found.get(word, 0) + 1
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def counted(words: Iterable[str]) -> str:
    return ", ".join(f"{word} ({times})" for word, times in counts(words).items())


if __name__ == "__main__":
    main()
