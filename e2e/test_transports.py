"""A bot rejects a session over a transport that it lacks, and names those that it has."""

import bots

START = """
import asyncio
from pipecat.runner import types
import bot

class Phone:
    # Twilio says first who calls.
    async def iter_text(self):
        yield '{"event": "connected"}'
        yield '{"event": "start", "start": {"streamSid": "a", "callSid": "b"}}'

async def start(*arguments):
    for each in arguments:
        try:
            await bot.bot(each)
        except ValueError as e:
            print(e)

sessions = [
    types.RunnerArguments(),
    types.LiveKitRunnerArguments(room_name="a", url="ws://localhost", token="b"),
    types.WebSocketRunnerArguments(websocket=Phone()),
]
asyncio.run(start(*sessions))
"""


def test_a_bot_says_which_transports_it_has(quickstart: bots.Project) -> None:
    command = ("uv", "run", "python", "-c", START)
    said = bots.must(*command, cwd=quickstart.server, env=bots.plain_env(), timeout=60)
    way_out = "Use one of these, or add an entry to TRANSPORTS in bot.py."
    assert said.splitlines() == [
        f"This bot serves sessions over webrtc, daily; this one came {came}. {way_out}"
        for came in ("with RunnerArguments", "over livekit", "over twilio")
    ]
