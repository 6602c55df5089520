"""Calls from the bot to an answering machine, to a person, and to a person who is silent.

Daily's native client is played by lib/daily_session.py; sound goes through it in real time.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

import bots
import network
import speech
from conversation import ANSWER, KEYS, QUESTION
from faults import REFUSALS
from services import Call, Cartesia, Deepgram, OpenAI
from standins import StandIns
from telephony import Daily, in_daily_session, signed
from test_bots import CASCADE

DAILY_KEY = "a-daily-key"
ROOM, TOKEN = "https://company.daily.co/a-room", "a-token"
HELLO, FINE = "Hello?", "Good morning, this is the garage about your car."
# A machine speaks on after a pause that is longer than those within a sentence, and after the tone.
MACHINE = ["You have reached the Miller family.", "Please leave a message after the tone."]
MENU = "Press one to listen to your message again, or hang up now."
MESSAGE = "Hello, this is an automated call. We will try again later."
STILL_THERE = "Are you still there?"
SILENT_GOODBYE = "I cannot hear you, so I am ending the call. Goodbye."
SPOKEN = 24000  # samples a second of the bot's speech


class Classifying(OpenAI):
    """A model that is also asked, without streaming, whether a machine speaks."""

    refuses = ""  # the key, as soon as somebody says this

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if self.refuses and self.refuses in json.dumps(body["messages"]):
            return web.json_response(REFUSALS["openai"][1], status=401)
        if body.get("stream"):
            return await super().handle(request)
        self.expect(body["response_format"]["type"] == "json_schema", "no schema")
        asked = body["messages"][-1]["content"]
        self.note("classify", asked=asked)
        choice = "voicemail" if MACHINE[0] in asked else "conversation"
        answer = json.dumps({"voicemail": {"choice": choice, "probabilities": {choice: 0.9}}})
        message = {"role": "assistant", "content": answer}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        head = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"]}
        return web.json_response(head | {"choices": choices})


@dataclass
class Called:
    """The result of a call."""

    asked: list[list[Any]]  # of Daily
    log: str
    services: StandIns
    heard: bytes

    def sentences(self, *known: str) -> list[str]:
        return speech.hear(speech.resample(self.heard, SPOKEN, 16000), 16000, [*known])

    def heard_from(self) -> float:
        """When the first word of the bot is heard, in seconds."""
        return next(at for at in range(0, 60_000, 20) if self._loud(at)) / 1000

    def _loud(self, at: int) -> bool:
        piece = self.heard[at * SPOKEN // 1000 * 2 : (at + 20) * SPOKEN // 1000 * 2]
        return speech.loudness(piece) > 300


def sound(parts: Iterable[str | float]) -> bytes:
    """Sentences, and seconds of silence."""
    pieces = [
        speech.speak(one, 16000) if isinstance(one, str) else bytes(int(one * 16000) * 2)
        for one in parts
    ]
    return b"".join(pieces)


@pytest.fixture(scope="module")
def project(vbot: Path) -> bots.Project:
    return bots.installed(vbot, "calling", "-t", "daily_pstn_dialout", *CASCADE)


async def call(
    project: bots.Project,
    folder: Path,
    *says: str | float,
    answers: Mapping[str, str | Call] | None = None,
    refuses: str = "",
    ends: Mapping[str, float] | None = None,
    **env: str,
) -> Called:
    """The bot calls somebody who says this.

    Args:
        project: Of the bot.
        folder: For the sound.
        says: Sentences, and seconds of silence.
        answers: Of the model, to more sentences than those of this file.
        refuses: A sentence after which the model refuses the key.
        ends: How the session ends: see daily_session.py.
        env: More of .env.
    """
    project.write_env(**KEYS, DAILY_API_KEY=DAILY_KEY, SERVER_API_KEY="a-long-random-text", **env)
    words = [said for said in says if isinstance(said, str)]
    answers = {HELLO: FINE, QUESTION: ANSWER, "": FINE} | dict(answers or {})
    answers |= {" ".join(MACHINE[:n]): "Oh, hello." for n in (1, 2)} | {MACHINE[1]: "Oh, hello."}
    model = Classifying(KEYS["OPENAI_API_KEY"], "Nobody is greeted.", answers)
    model.refuses = refuses
    services = StandIns(
        Deepgram(KEYS["DEEPGRAM_API_KEY"], words or [HELLO]),
        model,
        Cartesia(KEYS["CARTESIA_API_KEY"]),
        Daily(DAILY_KEY),
    )
    said, hears = folder / "says", folder / "hears"
    said.write_bytes(sound(says))
    body = {"room_url": ROOM, "token": TOKEN, "phone_number": "+15551234567", "data": {}}
    what = {"room_url": ROOM, "token": TOKEN, "body": signed(body, DAILY_KEY), "refusals": 0}
    what |= {"says": str(said), "hears": str(hears), **(ends or {})}
    hears.write_bytes(b"")
    done = await in_daily_session(project, services, 80, **what)
    asked = json.loads(done.stdout.splitlines()[-1])["asked"] if done.stdout else []
    return Called(asked, done.stderr, services, hears.read_bytes())


DIALED = ["dial", {"phoneNumber": "+15551234567"}]
ENDED = [["join", ROOM], DIALED, ["leave", None], ["release", None]]


def test_a_machine_is_hung_up_on(project: bots.Project, tmp_path: Path) -> None:
    async def calls() -> None:
        called = await call(project, tmp_path, 0.5, MACHINE[0], 0.7, MACHINE[1])
        assert called.asked == ENDED  # once, so it was no failed attempt
        assert "A machine answered: hanging up" in called.log
        assert speech.loudness(called.heard) == 0
        assert called.services.requests("daily", "delete") == [{"room": "a-room"}]

    network.run(calls)


def test_a_machine_gets_a_message(project: bots.Project, tmp_path: Path) -> None:
    """It gets all of it after its greeting, even if it speaks again meanwhile."""

    async def calls() -> None:
        says = (0.5, MACHINE[0], 0.7, MACHINE[1], 4.5, MENU)
        called = await call(project, tmp_path, *says, VOICEMAIL="leave_message")
        assert called.asked == ENDED
        assert "A machine answered: leaving a message" in called.log
        assert called.sentences(MESSAGE, "Oh, hello.") == [MESSAGE]
        greeted = len(sound(says[:4])) / 2 / 16000
        assert greeted + 2 < called.heard_from() < greeted + 4.5
        spoken = len(speech.speak(MESSAGE, 16000)) / 2 / 16000
        assert len(called.heard) / 2 / SPOKEN > called.heard_from() + spoken - 0.2

    network.run(calls)


def test_a_person_is_talked_with(project: bots.Project, tmp_path: Path) -> None:
    async def calls() -> None:
        says = (0.2, HELLO, 7.0, QUESTION)
        called = await call(project, tmp_path, *says, ends={"leaves": 17})
        assert called.sentences(FINE, ANSWER) == [FINE, ANSWER]
        assert "A person answered" in called.log
        # A second after the turn, which ends half a second after the words.
        assert called.heard_from() - len(sound(says[:2])) / 2 / 16000 < 3
        assert len(called.services.requests("openai", "classify")) == 1

    network.run(calls)


def test_a_silent_person_is_asked(project: bots.Project, tmp_path: Path) -> None:
    async def calls() -> None:
        called = await call(project, tmp_path, SILENCE_SECONDS="2")
        spoken = [one["transcript"] for one in called.services.requests("cartesia", "speak")]
        assert spoken == [STILL_THERE, STILL_THERE, SILENT_GOODBYE]
        assert called.sentences(STILL_THERE, SILENT_GOODBYE) == [STILL_THERE, SILENT_GOODBYE]
        assert called.asked == ENDED

    network.run(calls)


def test_a_wrong_setting_is_named_at_the_start(project: bots.Project) -> None:
    project.write_env(
        **KEYS, DAILY_API_KEY=DAILY_KEY, SERVER_API_KEY="a-long-random-text", VOICEMAIL="leave"
    )
    done = bots.run("uv", "run", "bot.py", cwd=project.server, env=bots.plain_env(), timeout=40)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "Set VOICEMAIL in .env to hang_up or leave_message."
