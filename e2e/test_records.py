"""What a record says of calls and visits, against what the callers and the stand-ins noted.

templates/unit has the disk, the webhook and the command: test_records_*.py.
"""

import asyncio
import json
import re
import signal
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import bots
import network
import socket_clients
import speech
import webrtc_client
from caller import EAR, until
from conversation import ANSWER, GREETING, KEYS, QUESTION
from editing import silence_ends_after
from faults import BusyTwilio, Faulty, FaultyOpenAI
from phones import TwilioAPI, TwilioCaller
from realtime import RealtimeOpenAI
from services import Call, Cartesia, Deepgram, OpenAI
from standins import Service, StandIns
from test_bots import CASCADE, REALTIME, TWILIO
from test_voicemail import HELLO, MACHINE
from test_voicemail import call as call_out

TWENTY_MS = EAR // 50 * 2  # bytes
BOOK, BYE, PERSON = "Please book a table.", "Thank you and goodbye.", "I want a person."
BOOKED = "Your table is booked."
COLLEAGUE, FALLBACK = "+15557650001", "+15557650000"
HOSTED = {"PHONE_TOKEN": "f00d" * 16}
TOOLS = '''
from pipecat.frames.frames import FunctionCallResultProperties, TTSSpeakFrame
from pipecat.services.llm_service import FunctionCallParams

from vbot import TransferFrame


async def book(params: FunctionCallParams, seats: int):
    """Book a table."""
    await params.result_callback({"table": 7})


async def put_through(params: FunctionCallParams, goodbye: str):
    """Put the caller through to a colleague."""
    silent = FunctionCallResultProperties(run_llm=False)
    await params.result_callback("done", properties=silent)
    await params.llm.push_frame(TTSSpeakFrame(goodbye))
    await params.llm.push_frame(TransferFrame("+15557650001"))


TOOLS = [book, put_through]
'''


@pytest.fixture(scope="module")
def made(vbot: Path) -> bots.Project:
    both = ("-t", "twilio", "-t", "smallwebrtc", *CASCADE, "--self-host")
    project = bots.installed(vbot, "records", *both)
    give_tools(project)
    return project


def give_tools(project: bots.Project) -> None:
    agent = project.server / "agent.py"
    text, found = re.subn(r"(?ms)^TOOLS = \[.*?^\]\n", TOOLS, agent.read_text())
    assert found == 1
    agent.write_text(text)


def prepared(
    project: bots.Project, env: dict[str, str] | None = None, keys: dict[str, str] | None = None
) -> None:
    """A project without records. `keys` are those of its services: by default those of `made`."""
    for path in sorted((project.server / "records").rglob("*"), reverse=True):
        if path.is_file():
            path.unlink()
    keys = keys or (KEYS | TWILIO)
    project.write_env(**keys, RECORDS="records", RECORDS_TEXT="true", **(env or {}))


def records(project: bots.Project) -> list[dict[str, Any]]:
    schema = json.loads((project.server / "vbot/records/schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    found = []
    for path in sorted((project.server / "records").glob("*.jsonl")):
        found += [json.loads(line) for line in path.read_bytes().splitlines()]
    for record in found:
        validator.validate(record)
    return sorted(found, key=lambda record: record["started_at"])


async def recorded(project: bots.Project, number: int = 1) -> dict[str, Any]:
    """The last of so many records, once it is written."""
    await until(lambda: len(records(project)) >= number, 20)
    found = records(project)
    assert len(found) == number, found
    return found[-1]


class Counting(Deepgram):
    """Counts what it hears, in seconds."""

    heard_bytes = 0

    async def received(self, ws: Any, session: Any, message: Any) -> None:
        if isinstance(message, bytes):
            self.heard_bytes += len(message)
        await super().received(ws, session, message)

    def seconds(self) -> float:
        return self.heard_bytes / 2 / int(self.requests[-1]["sample_rate"])


class Clocked(TwilioCaller):
    """Keeps what the microphone took in, which is as long as what was heard."""

    def __init__(self, ws: Any) -> None:
        super().__init__(ws)
        self.mouth = bytearray()

    def breath(self) -> bytes:
        chunk = super().breath()
        self.mouth += speech.resample(chunk, self.rate, EAR)
        return chunk

    def waits(self) -> list[float]:
        """Seconds from the last sound of each sentence to the first of the answer."""
        mouth, ear = (loud(side) for side in (self.mouth, self.heard))
        found, spoke = [], None
        for number in range(min(len(mouth), len(ear))):
            if mouth[number]:
                spoke = number
            elif ear[number] and spoke is not None:
                found.append((number - spoke - 1) / 50)
                spoke = None
        return found


def loud(pcm: bytes | bytearray) -> list[bool]:
    """Whether there is sound in each 20 ms."""
    samples = np.frombuffer(bytes(pcm[: len(pcm) // TWENTY_MS * TWENTY_MS]), np.int16)
    return list(np.abs(samples.reshape(-1, TWENTY_MS // 2).astype(int)).max(axis=1) > 300)


def services(*more: Service, kind: type[OpenAI] = OpenAI) -> tuple[Counting, StandIns]:
    answers: dict[str, str | Call] = {
        QUESTION: ANSWER,
        BOOK: Call("book", {"seats": 2}, BOOKED),
        BYE: Call("hang_up", {"goodbye": "Goodbye."}),
        PERSON: Call("put_through", {"goodbye": ANSWER}),
    }
    listening = Counting(KEYS["DEEPGRAM_API_KEY"], [*answers, GREETING, ANSWER, BOOKED])
    thinking = kind(KEYS["OPENAI_API_KEY"], GREETING, answers)
    return listening, StandIns(listening, thinking, Cartesia(KEYS["CARTESIA_API_KEY"]), *more)


def twilio(**wanted: str) -> TwilioAPI:
    return BusyTwilio(TwilioCaller.account, TWILIO["TWILIO_AUTH_TOKEN"], wanted or ENDED)


ENDED = {"Status": "completed"}
ASKED = ((BOOK, BOOKED), (QUESTION, ANSWER), (QUESTION, ANSWER))


def used(record: dict[str, Any], service: str) -> dict[str, Any]:
    [found] = [one for one in record["usage"] if one["service"].startswith(service)]
    return {name: amount for name, amount in found.items() if amount is not None}


def test_a_call_and_its_record(made: bots.Project) -> None:
    """A caller books, asks and hangs up."""
    prepared(made)

    async def calls() -> None:
        listening, stand_ins = services(twilio())
        async with stand_ins, made.bot(stand_ins.env) as bot:
            async with socket_clients.call(Clocked, bot.url) as phone:
                await phone.hear(GREETING)
                for number, (sentence, answer) in enumerate(ASKED):
                    await asyncio.sleep(1)
                    await phone.say(sentence)
                    await until(lambda asked=number: len(phone.waits()) > asked, 20)
                    await phone.hear(answer)
                    await asyncio.sleep(4)  # the same answer twice
            await bot.sessions_end()
            record = await recorded(made)
            assert bot.errors() == []
        assert (record["transport"], record["direction"]) == ("twilio", "inbound")
        assert record["ended_by"] == "person" and record["problems"] == []
        said = [(turn["who"], turn["text"]) for turn in record["turns"]]
        expected = [("bot", GREETING)]
        for sentence, answer in ASKED:
            expected += [("person", sentence), ("bot", answer)]
        assert said == expected
        [tool] = record["tools"]
        assert (tool["name"], tool["succeeded"]) == ("book", True)
        assert (tool["arguments"], tool["result"]) == ({"seats": 2}, {"table": 7})
        waits = [turn["answered_after_seconds"] for turn in record["turns"]]
        known = [wait for wait in waits if wait is not None]
        heard = phone.waits()
        print("recorded", known, "heard", heard)
        wrong = sorted(abs(one - other) for one, other in zip(known, heard, strict=True))
        assert wrong[1] < 0.05 and wrong[2] < 0.1  # one may come while the machine is busy
        assert record["latency_seconds"]["worst"] == max(known)
        asked = len(stand_ins.requests("openai", "chat"))
        model = used(record, "OpenAI")
        assert (model["tokens_in"], model["tokens_out"]) == (10 * asked, 5 * asked)
        spoken = sum(len(one["transcript"]) for one in stand_ins.requests("cartesia", "speak"))
        assert used(record, "Cartesia")["characters"] == spoken
        assert abs(used(record, "Deepgram")["seconds"] - listening.seconds()) < 0.05

    network.run(calls, 180)


def test_how_calls_end(made: bots.Project) -> None:
    """By the bot, by a transfer, and by silence; then the bot is stopped, and killed, in a call."""
    prepared(made, {"SILENCE_SECONDS": "1.5"})

    async def calls() -> None:
        dial = f'<Response><Dial timeout="25"><Number>{COLLEAGUE}</Number></Dial>'
        dial += '<Say language="en-US">Nobody can take your call right now. '
        dial += "Please call again later.</Say></Response>"
        api = twilio()
        _, stand_ins = services(api)
        async with stand_ins:
            async with made.bot(stand_ins.env) as bot:
                for number, (sentence, ended_by) in enumerate(
                    ((BYE, "bot"), ("", "silence"), (PERSON, "transferred")), 1
                ):
                    api.wanted = {"Twiml": dial} if sentence == PERSON else ENDED
                    api.notes.clear()
                    async with socket_clients.call(TwilioCaller, bot.url) as phone:
                        await phone.hear(GREETING)
                        if sentence:
                            await phone.say(sentence)
                        if sentence == PERSON:
                            await until(lambda: len(api.notes) == 1, 20)
                        else:
                            await phone.left_alone(40)
                    record = await recorded(made, number)
                    assert record["ended_by"] == ended_by
                assert (await recorded(made, 3))["transferred_to"] == COLLEAGUE
                api.wanted = ENDED
                async with socket_clients.call(TwilioCaller, bot.url) as phone:
                    await phone.hear(GREETING)
                    bot.process.send_signal(signal.SIGTERM)
                    await phone.left_alone(20)
            assert (await recorded(made, 4))["ended_by"] == "shutdown"
            async with made.bot(stand_ins.env) as bot:
                async with socket_clients.call(TwilioCaller, bot.url) as phone:
                    await phone.hear(GREETING)
                    await bot.die()
                    phone.over = True
            assert len(records(made)) == 4
            async with made.bot(stand_ins.env) as bot:
                record = await recorded(made, 5)
                assert record["ended_by"] == "interrupted" and record["ended_at"] is None
                said = "1 sessions were interrupted, because their bot was killed"
                await until(lambda: said in bot.log, 10)
                assert said in bot.log

    network.run(calls, 240)


def test_how_self_host_ends_calls(made: bots.Project) -> None:
    """By its time limit; at FALLBACK_NUMBER, and without one, when a service fails for good."""

    async def calls() -> None:
        for number, (env, ended_by) in enumerate(
            (
                ({"MAX_SESSION_SECONDS": "8"}, "time_limit"),
                ({}, "failure"),
                ({"FALLBACK_NUMBER": FALLBACK}, "fallback"),
            ),
            1,
        ):
            if number == 1:
                prepared(made, HOSTED | env)
            else:
                made.write_env(**KEYS, **TWILIO, **HOSTED, RECORDS="records", **env)
            api = twilio(Twiml=FALLBACK_TWIML) if "FALLBACK_NUMBER" in env else twilio()
            _, stand_ins = services(api, kind=FaultyOpenAI)
            async with stand_ins, made.bot(stand_ins.env, script="self_host.py") as bot:
                await until(lambda bot=bot: "Serving up to" in bot.log, 20)  # until then it is full
                path = f"/{HOSTED['PHONE_TOKEN']}"
                async with socket_clients.call(TwilioCaller, bot.url, path) as phone:
                    await phone.hear(GREETING)
                    if ended_by != "time_limit":
                        [thinking] = [one for one in stand_ins.services if one.name == "openai"]
                        assert isinstance(thinking, FaultyOpenAI)
                        thinking.turn("refuses")
                        await phone.say(QUESTION)
                    if ended_by == "fallback":
                        await until(lambda asked=stand_ins: len(asked.requests("twilio")) == 1, 40)
                    else:
                        await phone.left_alone(60)
                record = await recorded(made, number)
                assert record["ended_by"] == ended_by
                if ended_by != "time_limit":
                    [problem] = record["problems"]
                    assert problem.startswith("OpenAI refused the key. Check OPENAI_API_KEY")
                has_text = ended_by == "time_limit"  # RECORDS_TEXT is not set in the others
                assert record["turns"][0]["text"] == (GREETING if has_text else None)
        assert records(made)[-1]["transferred_to"] == FALLBACK

    network.run(calls, 240)


FALLBACK_TWIML = (
    f'<Response><Dial timeout="25"><Number>{FALLBACK}</Number></Dial><Say language="en-US">'
    "Nobody can take your call right now. Please call again later.</Say></Response>"
)


def test_a_visit_and_its_record(made: bots.Project) -> None:
    prepared(made)

    async def visit() -> None:
        _, stand_ins = services()
        async with stand_ins, made.bot(stand_ins.env) as bot:
            async with webrtc_client.call(bot.url) as page:
                await page.ready()
                await page.hear(GREETING)
                await page.say(QUESTION)
                await page.hear(ANSWER)
            await bot.sessions_end()
            record = await recorded(made)
        assert (record["transport"], record["direction"]) == ("webrtc", None)
        assert record["ended_by"] == "person" and record["from"] is None
        assert [turn["text"] for turn in record["turns"]] == [GREETING, QUESTION, ANSWER]

    network.run(visit, 120)


async def visits_end(project: bots.Project, stand_ins: StandIns, failing: Faulty, way: str) -> None:
    """Somebody is at a page, and the session ends in this way."""
    script = "self_host.py" if way == "time_limit" else "bot.py"
    async with stand_ins, project.bot(stand_ins.env, script=script) as bot:
        async with webrtc_client.call(bot.url) as page:
            await page.ready()
            await page.hear(GREETING)
            if way == "bot":
                await page.say(BYE)
            elif way == "failure":
                failing.turn("refuses")
                await page.say(QUESTION)
            elif way == "shutdown":
                bot.process.send_signal(signal.SIGTERM)
            elif way == "interrupted":
                await bot.die()
            if way != "interrupted":
                await until(lambda: bool(records(project)), 60)
    if way == "interrupted":
        assert records(project) == []
        async with project.bot(stand_ins.env):
            await recorded(project)


WAYS = ["bot", "failure", "silence", "time_limit", "shutdown", "interrupted"]


@pytest.mark.parametrize("way", WAYS)
def test_how_visits_end(made: bots.Project, way: str) -> None:
    prepared(made, {"MAX_SESSION_SECONDS": "8"} | HOSTED)

    async def visit() -> None:
        _, stand_ins = services(kind=FaultyOpenAI)
        [thinking] = [one for one in stand_ins.services if isinstance(one, FaultyOpenAI)]
        with silence_ends_after(made.server, 4 if way == "silence" else 300):
            await visits_end(made, stand_ins, thinking, way)
        record = await recorded(made)
        assert (record["ended_by"], record["transport"]) == (way, "webrtc")
        assert (record["ended_at"] is None) == (way == "interrupted")
        assert len(record["problems"]) == (way == "failure")
        for problem in record["problems"]:
            assert problem.startswith("OpenAI refused the key. Check OPENAI_API_KEY")

    network.run(visit, 120)


class FaultyRealtime(Faulty, RealtimeOpenAI):
    pass


@pytest.mark.parametrize("way", ["failure", "shutdown", "interrupted"])
def test_how_visits_to_a_realtime_bot_end(realtime: bots.Project, way: str) -> None:
    prepared(realtime, keys={"OPENAI_API_KEY": KEYS["OPENAI_API_KEY"]})

    async def visit() -> None:
        model = FaultyRealtime(KEYS["OPENAI_API_KEY"], GREETING, {QUESTION: ANSWER})
        await visits_end(realtime, StandIns(model), model, way)
        record = await recorded(realtime)
        assert record["ended_by"] == way
        assert len(record["problems"]) == (way == "failure")

    network.run(visit, 120)


@pytest.fixture(scope="module")
def realtime(vbot: Path) -> bots.Project:
    return bots.installed(vbot, "records-realtime", "-t", "smallwebrtc", *REALTIME)


def test_a_realtime_bot_and_its_record(realtime: bots.Project) -> None:
    prepared(realtime, keys={"OPENAI_API_KEY": KEYS["OPENAI_API_KEY"]})

    async def visit() -> None:
        model = RealtimeOpenAI(KEYS["OPENAI_API_KEY"], GREETING, {QUESTION: ANSWER})
        async with StandIns(model) as stand_ins, realtime.bot(stand_ins.env) as bot:
            async with webrtc_client.call(bot.url) as page:
                await page.ready()
                await page.hear(GREETING)
                await page.say(QUESTION)
                await page.hear(ANSWER)
                await asyncio.sleep(1)
            await bot.sessions_end()
            record = await recorded(realtime)
        assert record["ended_by"] == "person"
        assert [turn["text"] for turn in record["turns"] if turn["who"] == "bot"] == [
            GREETING,
            ANSWER,
        ]
        [usage] = record["usage"]
        assert (usage["tokens_in"], usage["tokens_out"]) == (20, 10)
        assert usage["characters"] is None and usage["seconds"] is None

    network.run(visit, 120)


def test_calls_over_daily_and_their_records(vbot: Path, tmp_path: Path) -> None:
    """A machine, people who end calls, a bot that does, a fault, a server that stops, a crash."""
    project = bots.installed(vbot, "records-daily", "-t", "daily_pstn_dialout", *CASCADE)
    give_tools(project)
    answers: dict[str, str | Call] = {
        BYE: Call("hang_up", {"goodbye": "Goodbye."}),
        PERSON: Call("put_through", {"goodbye": ANSWER}),
    }

    async def calls() -> None:
        async def call(ended_by: str, *says: str | float, **wanted: Any) -> dict[str, Any]:
            nonlocal number
            number += 1
            await call_out(project, tmp_path, *says, RECORDS="records", **wanted)
            record = await recorded(project, number)
            assert record["ended_by"] == ended_by
            assert (record["transport"], record["direction"]) == ("daily", "outbound")
            assert record["to"] == "+15551234567"
            assert len(record["problems"]) == (ended_by == "failure")
            return record

        number = 0
        await call("voicemail", 0.5, MACHINE[0], 0.7, MACHINE[1])
        await call("person", 0.5, HELLO, 8.0, ends={"leaves": 8})
        await call("silence", SILENCE_SECONDS="2")
        await call("bot", 0.5, HELLO, 7.0, BYE, answers=answers)
        record = await call("transferred", 0.5, HELLO, 7.0, PERSON, answers=answers)
        assert record["transferred_to"] == COLLEAGUE
        record = await call("failure", 0.5, HELLO, 7.0, QUESTION, refuses=QUESTION)
        assert record["problems"][0].startswith("OpenAI refused the key. Check OPENAI_API_KEY")
        await call("shutdown", 0.5, HELLO, 8.0, ends={"stops": 8})
        await call_out(project, tmp_path, 0.5, HELLO, 8.0, ends={"dies": 8}, RECORDS="records")
        assert len(records(project)) == number
        number += 1  # the next start writes the record of the call that was killed
        await call("person", 0.5, HELLO, 8.0, ends={"leaves": 8})
        ends = [(record["ended_by"], record["ended_at"] is None) for record in records(project)]
        assert ends[-2:] == [("interrupted", True), ("person", False)]

    network.run(calls, 400)
