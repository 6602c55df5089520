"""What an owner sees of records: a table, one session, a spreadsheet, and what it cost."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from vbot import records
from vbot.records import __main__ as command
from vbot.records.folder import Fields, Folder, now
from vbot.records.prices import PriceList

USED = dict.fromkeys(
    (
        "tokens_in",
        "tokens_cached",
        "tokens_out",
        "audio_tokens_in",
        "audio_tokens_cached",
        "audio_tokens_out",
        "characters",
        "seconds",
    )
)
MODEL = USED | {
    "service": "OpenAI",
    "model": "gpt",
    "tokens_in": 3000,
    "tokens_cached": 1000,
    "tokens_out": 500,
}
VOICE = USED | {"service": "Cartesia", "model": None, "characters": 1200}
EARS = USED | {"service": "Deepgram", "model": "nova", "seconds": 90.0}


def a_record(id: str, day: str = "2026-11-28", **more: Any) -> Fields:
    return {
        "id": id,
        "started_at": f"{day}T09:00:00.000Z",
        "ended_at": f"{day}T09:01:05.000Z",
        "duration_seconds": 65.0,
        "transport": "twilio",
        "direction": "inbound",
        "from": "+15551230001",
        "to": "+15559990000",
        "data": None,
        "ended_by": "person",
        "transferred_to": None,
        "problems": [],
        "turns": [
            {
                "at": f"{day}T09:00:10.000Z",
                "who": "bot",
                "text": "Booked.",
                "answered_after_seconds": 0.8,
                "interrupted": True,
            }
        ],
        "latency_seconds": {"median": 0.8, "p95": 0.8, "worst": 0.8},
        "tools": [
            {
                "at": f"{day}T09:00:09.000Z",
                "name": "book",
                "seconds": 0.25,
                "succeeded": True,
                "arguments": {"seats": 2},
                "result": None,
            }
        ],
        "usage": [MODEL, VOICE, EARS],
        "recording": None,
        "language": "en-US",
        "bot_version": None,
    } | more


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    monkeypatch.setenv("RECORDS", "calls")
    for module in (records, command):
        monkeypatch.setattr(module, "SERVER", tmp_path)
    folder = Folder(tmp_path / "calls")
    folder.make()
    folder.end(a_record("a"), None)
    problem = "OpenAI does not work.\x1b[2J"
    folder.end(a_record("b", ended_by="failure", problems=[problem], latency_seconds=None), None)
    folder.end(a_record("c", "2026-11-27", ended_at=None, duration_seconds=None), None)
    return folder


@pytest.fixture
def said(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Any:
    """Runs the command, and returns what it prints."""

    def run(*words: str) -> str:
        monkeypatch.setattr("sys.argv", ["records", *words])
        command.main()
        return capsys.readouterr().out

    return run


def test_a_day(said: Any) -> None:
    lines = said("2026-11-28").splitlines()
    assert lines[0].split() == [
        *("START", "LENGTH", "FROM", "ENDED", "BY", "TURNS", "MEDIAN", "WAIT", "PROBLEMS", "ID")
    ]
    assert lines[1].split() == ["09:00:00", "1:05", "+15551230001", "person", "1", "0.80", "s", "a"]
    assert lines[2].split()[-2:] == ["1", "b"]
    assert lines[4] == ("2 sessions, 2:10; ended by failure (1), person (1); median wait 0.80 s")
    assert lines[5:8] == [
        "OpenAI gpt: 6,000 tokens in, 2,000 tokens cached, 1,000 tokens out",
        "Cartesia: 2,400 characters",
        "Deepgram nova: 180 seconds",
    ]
    assert lines[8] == "Problem, once: OpenAI does not work.\\x1b[2J"
    assert lines[9].startswith("Cost: no prices.")


def test_a_range_and_today(said: Any, folder: Folder) -> None:
    lines = said("2026-11-01", "2026-11-30").splitlines()
    assert [line.split()[:2] for line in lines[1:3]] == [["2026-11-27", "1"], ["2026-11-28", "2"]]
    assert said("2026-11-01") == "No session on 2026-11-01.\n"
    assert said() == f"No session on {now().date()}.\n"


def test_for_programs_and_spreadsheets(said: Any, folder: Folder) -> None:
    assert json.loads(said("2026-11-28", "--json")) == folder.read(
        *[command.date(2026, 11, 28)] * 2
    )
    [head, first, second] = csv.reader(io.StringIO(said("2026-11-28", "--csv")))
    cells = dict(zip(head, first, strict=True))
    assert cells["from"] == "'+15551230001"  # else a spreadsheet would calculate it
    assert (cells["tokens_in"], cells["characters"]) == ("3000", "1200")
    assert (cells["cost"], cells["tools"]) == ("", "book")
    assert second[head.index("median_latency_seconds")] == ""


def test_one_session(said: Any) -> None:
    text = said("show", "a")
    assert "ended_by: person" in text and "from: +15551230001" in text
    tool = text.index('09:00:09.000  tool    book (0.25 s) {"seats": 2} -> null')
    assert tool < text.index("09:00:10.000  bot     Booked. (after 0.80 s, interrupted)")
    assert json.loads(said("show", "b", "--json"))["id"] == "b"


def test_what_is_not_there(said: Any, folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    for words in (("show", "x"), ("delete", "x")):
        with pytest.raises(SystemExit, match="There is no record of session x in"):
            said(*words)
    folder.begin(a_record("runs"))
    with pytest.raises(SystemExit, match="Session runs has not ended"):
        said("show", "runs")
    for words in (("yesterday",), ("2026-11-28", "2026-11-29", "2026-11-30"), ("show",)):
        with pytest.raises(SystemExit) as e:
            said(*words)
        assert e.value.code == 2
    monkeypatch.delenv("RECORDS")
    with pytest.raises(SystemExit, match="Set RECORDS in .env"):
        said()


def test_a_session_is_deleted_with_its_recording(said: Any, folder: Folder) -> None:
    recordings = folder.path.parent / "recordings"
    recordings.mkdir()
    for id in ("a", "b"):
        (recordings / f"20261128-090000-000000-{id}.wav").write_bytes(b"")
    text = said("delete", "a")
    assert "2026-11-28.jsonl" in text and "000000-a.wav" in text and "log" in text
    assert [path.name[-5] for path in recordings.iterdir()] == ["b"]
    assert [record["id"] for record in folder.read(*[command.date(2026, 11, 28)] * 2)] == ["b"]


def test_what_it_costs(said: Any, folder: Folder) -> None:
    said("prices")
    path = folder.path.parent / "prices.toml"
    text = path.read_text()
    assert text.count('= ""') == 7 and text.count("[[price]]") == 3
    assert "no prices" in said("2026-11-28")  # none is made up
    with pytest.raises(SystemExit, match="is left as it is"):
        said("prices")
    prices = {"tokens_in": "2.0", "tokens_cached": "0.5", "tokens_out": "8", "characters": "50"}
    for unit, price in prices.items():
        text = text.replace(f'per_million_{unit} = ""', f"per_million_{unit} = {price}")
    path.write_text(text.replace('currency = ""', 'currency = "EUR"'))
    # 2000 tokens at 2.0, 1000 at 0.5 and 500 at 8, and 1200 characters at 50 for a million
    each = (2000 * 2.0 + 1000 * 0.5 + 500 * 8 + 1200 * 50) / 1_000_000
    assert PriceList(path).cost([a_record("a")]) == command.PriceList(path).cost([a_record("b")])
    day = said("2026-11-28")
    assert f"Cost: at least {2 * each:.4f} EUR" in day
    assert "No price in prices.toml: per_minute of Deepgram nova" in day
    path.write_text(path.read_text().replace('per_minute = ""', "per_minute = 0.01"))
    each += 90 / 60 * 0.01
    assert f"Cost: {2 * each:.4f} EUR" in said("2026-11-28")
    [first, _] = json.loads(said("2026-11-28", "--json"))
    assert first["cost"] == {"currency": "EUR", "amount": round(each, 6), "without": []}


def test_tokens_of_sound_have_their_own_price(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(
        '[[price]]\nservice = "OpenAI"\nmodel = "rt"\n'
        "per_million_tokens_in = 4\nper_million_tokens_cached = 0.4\nper_million_tokens_out = 16\n"
        "per_million_audio_tokens_in = 32\nper_million_audio_tokens_cached = 0.5\n"
        "per_million_audio_tokens_out = 64\n"
    )
    used = USED | {
        "service": "OpenAI",
        "model": "rt",
        "tokens_in": 1000,
        "tokens_cached": 400,
        "tokens_out": 300,
        "audio_tokens_in": 700,
        "audio_tokens_cached": 300,
        "audio_tokens_out": 200,
    }
    cost = PriceList(path).cost([a_record("a", usage=[used])])
    # of 1000: 200 text, 100 cached text, 400 sound, 300 cached sound
    expected = 200 * 4 + 100 * 0.4 + 100 * 16 + 400 * 32 + 300 * 0.5 + 200 * 64
    assert cost and abs(cost.amount - expected / 1_000_000) < 1e-9 and not cost.unknown


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("currency = ", "cannot be read"),
        ('[[price]]\nservice = "x"\nper_hour = 1', "has 'per_hour'"),
        ('[[price]]\nservice = "x"\nper_minute = "1"', "must be a number"),
    ],
)
def test_prices_that_cannot_be_read(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(text)
    with pytest.raises(SystemExit, match=said):
        PriceList(tmp_path / "prices.toml")
