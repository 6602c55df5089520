"""Stand-ins of OpenAI's Realtime and Live APIs, which listen, think and speak on one WebSocket."""

from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web

from stand_ins import Aloud, Reply, Unexpected
from standins import Shared
from vbot.testing.stand_ins.realtime.openai_live import OpenAILive
from vbot.testing.stand_ins.realtime.realtime_api import Conversation, RealtimeAPI


class Answering(Aloud):
    """A stand-in that has only these answers."""

    def __init__(
        self, greeting: str, answers: Mapping[str, str], note: Callable[[str], object]
    ) -> None:
        super().__init__(answers, note=note)
        self.greeting, self.answers = greeting, answers

    def reply(self, tool_answered: bool = False) -> Reply:
        if not self.conversation or self.conversation[-1][0] != "user":
            return Reply(self.greeting)
        text = self.conversation[-1][1]
        if text not in self.answers:
            raise Unexpected(f"speech that is none of {list(self.answers)}")
        return Reply(self.answers[text])


class RealtimeOpenAI(Shared, RealtimeAPI):
    """Greets when it is asked to speak first, and answers what it hears."""

    name, host = "realtime", "api.openai.com"
    place = "GET", "/v1/realtime"
    transcribes = False

    def __init__(self, key: str, greeting: str, answers: Mapping[str, str]):
        script = Answering(greeting, answers, lambda text: self.note("heard", text=text))
        super().__init__(key, script)

    def opened(self, request: web.Request) -> Conversation:
        self.expect(request.query.get("model"), "no model")
        self.expect("OpenAI-Beta" not in request.headers, "the beta API is gone")
        return super().opened(request)

    async def received(
        self, ws: web.WebSocketResponse, session: Conversation, message: Any
    ) -> None:
        if message["type"] == "session.update":
            self.expect(message["session"].get("type") == "realtime", "no type of session")
            heard = (message["session"].get("audio") or {}).get("input") or {}
            self.transcribes = bool(heard.get("transcription"))
        await super().received(ws, session, message)

    async def _send(self, ws: web.WebSocketResponse, kind: str, **rest: Any) -> None:
        if self.transcribes or not kind.endswith("input_audio_transcription.completed"):
            await super()._send(ws, kind, **rest)


class LiveOpenAI(Shared, OpenAILive):
    """Speaks first when it is given something to say, and answers what it hears."""

    name, host = "live", "api.openai.com"
    place = "GET", "/v1/live/sessions"

    def __init__(self, key: str, greeting: str, answers: Mapping[str, str]):
        script = Answering(greeting, answers, lambda text: self.note("heard", text=text))
        super().__init__(key, script)
