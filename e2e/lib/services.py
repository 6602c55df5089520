"""The services that stand in for Deepgram, OpenAI and Cartesia.

Each one follows the documentation of the real service as far as the framework uses it, and refuses
everything else. Deepgram transcribes what its ear hears, OpenAI answers only questions for which it
has an answer, and Cartesia speaks the text that it gets.
"""

import base64
import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256

import speech
from stand_ins import Aloud, Reply, Unexpected
from standins import Service, Shared
from vbot.testing.stand_ins.llm.openai_chat import ChatCompletions, text_of
from vbot.testing.stand_ins.llm.openai_responses import OpenAIResponses as ResponsesProtocol
from vbot.testing.stand_ins.stt.deepgram import Deepgram as DeepgramProtocol
from vbot.testing.stand_ins.stt.openai import OpenAITranscription as TranscriptionProtocol
from vbot.testing.stand_ins.tts.cartesia import Cartesia as CartesiaProtocol
from vbot.testing.stand_ins.tts.openai import OpenAISpeech as SpeechProtocol


class Deepgram(Shared, DeepgramProtocol):
    """Streaming transcription: hears the sentences given to it."""

    name, host, kind = "deepgram", "api.deepgram.com", "listen"
    place, key_in = ("GET", "/v1/listen"), ("Authorization", "Token ")

    def __init__(self, key: str, sentences: list[str]):
        ear = Aloud(sentences, speech.STRETCHED, lambda text: self.note("finalize", heard=text))
        super().__init__(key, ear)


class Call(Reply):
    """An answer for which the model calls a tool first: what it calls, and what it says then, which
    is nothing where the tool ends the call."""

    def __init__(self, name: str, arguments: dict[str, Any], then: str = ""):
        super().__init__(then, name, arguments)


class OpenAI(Shared, ChatCompletions):
    """Chat completions, streamed: a greeting first, then the answers to what is said to it."""

    name, host, kind = "openai", "api.openai.com", "chat"
    place = "POST", "/v1/chat/completions"

    def __init__(self, key: str, greeting: str | Call, answers: Mapping[str, str | Call]):
        super().__init__(key)
        self.greeting, self.answers = greeting, answers

    def _reply(self, body: dict[str, Any]) -> Reply:
        answer = self.answer_to(body["messages"])
        if isinstance(answer, str):
            return Reply(answer)
        tools = [tool["function"]["name"] for tool in body.get("tools", [])]
        self.expect(answer.call in tools, f"no tool {answer.call} in {tools}")
        return answer

    def answer_to(self, messages: list[dict[str, Any]]) -> str | Call:
        last = messages[-1]
        if last["role"] in ("system", "developer"):
            return self.greeting
        # After a call comes its result, and the answer to what was said before it.
        called = last["role"] == "tool"
        users = [message for message in messages if message["role"] == "user"]
        said = text_of(users[-1]) if called and users else text_of(last)
        asked = last["role"] == "user" or called
        self.expect(asked and said in self.answers, f"no answer to {last}")
        answer = self.answers[said]
        return answer.say if called and isinstance(answer, Call) else answer


class Always(Aloud):
    """Gives the same answer to everything."""

    def reply(self, tool_answered: bool = False) -> Reply:
        return Reply(self.greeting)


class OpenAIResponses(Shared, ResponsesProtocol):
    """Responses over a WebSocket, which the Python tool's bot asks for: always the same one."""

    name, host, kind = "openai responses", "api.openai.com", "create"
    place = "GET", "/v1/responses"

    def __init__(self, key: str, reply: str):
        super().__init__(key, Always())
        self.script.greeting = reply


class OpenAITranscription(Shared, TranscriptionProtocol):
    """Transcription of a recording: hears the sentences given to it."""

    name, host, kind = "openai stt", "api.openai.com", "transcribe"
    place = "POST", "/v1/audio/transcriptions"

    def __init__(self, key: str, sentences: list[str]):
        super().__init__(key, Aloud(sentences))


class OpenAISpeech(Shared, SpeechProtocol):
    """Speech from text: eSpeak says each input."""

    name, host, kind = "openai tts", "api.openai.com", "speak"
    place = "POST", "/v1/audio/speech"

    def __init__(self, key: str):
        super().__init__(key, Aloud())


class Cartesia(Shared, CartesiaProtocol):
    """Streaming speech: eSpeak says each transcript."""

    name, host, kind = "cartesia", "api.cartesia.ai", "speak"
    place, key_in = ("GET", "/tts/websocket"), ("X-API-Key", "")

    def __init__(self, key: str):
        super().__init__(key, Aloud())


class GoogleAccounts(Service):
    """Gives a token to a client that signs with the key of the service account."""

    name, host = "google accounts", "oauth2.googleapis.com"
    token = "a-token-of-the-account"

    def __init__(self, key: rsa.RSAPublicKey):
        super().__init__()
        self.key = key

    async def handle(self, request: web.Request) -> web.StreamResponse:
        asked = (request.method, request.path)
        self.expect(asked == ("POST", "/token"), f"no such path: {asked}")
        signed, _, signature = str((await request.post())["assertion"]).rpartition(".")
        try:
            self.key.verify(_unpadded(signature), signed.encode(), PKCS1v15(), SHA256())
        except InvalidSignature:
            raise Unexpected("signed with another key") from None
        self.note("token", **json.loads(_unpadded(signed.partition(".")[2])))
        answer = {"access_token": self.token, "token_type": "Bearer", "expires_in": 3600}
        return web.json_response(answer)


def _unpadded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class VertexLive(Service):
    """Accepts only clients with a token, and says nothing."""

    name = "vertex"

    def __init__(self, location: str):
        super().__init__()
        self.host = f"{location}-aiplatform.googleapis.com"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        bearer = request.headers.get("Authorization")
        self.expect(bearer == f"Bearer {GoogleAccounts.token}", f"no token: {bearer}")
        self.note("refused", path=request.path)
        return web.Response(status=403)


_OPENAI_REFUSES = {
    # The real one repeats the beginning and the end of the key, too.
    "message": "Incorrect API key provided: a-w*****key. You can find your API key at "
    "https://platform.openai.com/account/api-keys.",
    "type": "invalid_request_error",
    "param": None,
    "code": "invalid_api_key",
}

# What a service answers to a wrong key, in addition to 401.
REFUSALS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "cartesia": ("api.cartesia.ai", {"title": "Unauthorized", "message": "Invalid API key"}),
    "deepgram": (
        "api.deepgram.com",
        {"err_code": "INVALID_AUTH", "err_msg": "Invalid credentials."},
    ),
    "elevenlabs": (
        "api.elevenlabs.io",
        {"detail": {"status": "invalid_api_key", "message": "Invalid API key"}},
    ),
    # On a WebSocket, it accepts the connection first: see Refusing.
    "gemini": (
        "generativelanguage.googleapis.com",
        {"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}},
    ),
    "heygen": ("api.liveavatar.com", {"code": 4001, "data": None, "message": "Invalid API key"}),
    "openai": ("api.openai.com", {"error": _OPENAI_REFUSES}),
}


class Refusing(Service):
    """A service that refuses every key."""

    def __init__(self, name: str):
        super().__init__()
        self.name = name
        self.host, self.body = REFUSALS[name]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.note("refused", path=request.path)
        if self.name == "gemini":
            ws = web.WebSocketResponse()
            await ws.prepare(request)
            message = b"API key not valid. Please pass a valid API key."
            await ws.close(code=1007, message=message)
            return ws
        return web.json_response(self.body, status=401)
