"""The far ends of the speech-to-text and realtime services, in the bot's own process.

`replace_connections` replaces what the services' classes connect with: WebSockets, HTTP, the
streams of AWS, Google and NVIDIA, Azure's native recognizer, and local models. All above that is
the framework's code and the services' own SDKs. Each end keeps the speech that it is sent, the
rate that it was told and all short texts, in the `Call` that it takes part in.

Where the rate is declared, the service's documentation says; a rate that is never declared is
fixed there. The ends of realtime services also speak: one second, in the form they were asked for.
"""

import asyncio
import base64
import contextlib
import io
import json
import struct
import sys
import wave
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import numpy as np
import openai
from websockets.exceptions import ConnectionClosedOK
from websockets.protocol import State

import sent


@dataclass
class Call:
    """One conversation, as its service has it."""

    service: str  # the name of its file
    voice: Callable[[int], bytes]  # a second of speech, at that rate
    rate: int = 0  # of what it hears, as it was told
    heard: bytearray = field(default_factory=bytearray)
    voice_rate: int = 0  # of what it says
    connected: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)  # to speak first
    listened: float = 0.0  # seconds of the person's audio that the bot is through with
    spoken: int = 0  # how often the bot ended what it said
    realtime: "Realtime | None" = None
    errors: list[str] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)  # in addresses, headers, messages and arguments

    def keep(self, *what: Any) -> None:
        self.texts |= set(sent.values(what))

    def declare(self, rate: int | str) -> None:
        if self.rate not in (0, int(rate)):
            self.errors.append(f"two rates for one stream: {self.rate} and {rate}")
        self.rate = int(rate)
        self.connected.set()

    def hear(self, pcm: bytes) -> None:
        if not self.rate:
            self.errors.append("speech before its rate")
        self.heard += pcm


CALL: ContextVar[Call] = ContextVar("call")

Told = dict[str, Any]


def decoded(text: str) -> bytes:
    return base64.b64decode(text)


def hear_wav(data: bytes) -> None:
    """A whole segment of speech, with its rate in its head."""
    with wave.open(io.BytesIO(data)) as wav:
        assert (wav.getnchannels(), wav.getsampwidth()) == (1, 2)
        CALL.get().declare(wav.getframerate())
        CALL.get().hear(wav.readframes(wav.getnframes()))


class End:
    """The service's end of a connection. By default: binary audio, at the rate in the URL."""

    parameter = "sample_rate"
    first: Told | None = None  # what the service says as soon as it is connected

    def __init__(self, url: str):
        self.call = CALL.get()
        self.call.keep(url)
        self.query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        self.outgoing: asyncio.Queue[str | bytes | None] = asyncio.Queue()
        self.opened()

    def opened(self) -> None:
        self.call.declare(self.query[self.parameter])
        if self.first:
            self.say(**self.first)

    def say(self, **message: Any) -> None:
        self.outgoing.put_nowait(json.dumps(message))

    def take(self, message: str | bytes) -> None:
        if isinstance(message, str):
            self.call.keep(message)
        self.received(message)

    def received(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            self.call.hear(message)
        elif message.startswith("{"):
            self.told(json.loads(message))

    def told(self, message: Told) -> None:
        """One message of JSON."""


# --- speech-to-text ---------------------------------------------------------------------------


class AWSTranscribe(End):
    parameter = "sample-rate"

    def received(self, message: str | bytes) -> None:
        """A message of AWS's event streams: lengths, head, audio, checksum."""
        if isinstance(message, bytes):
            total, head = struct.unpack(">II", message[:8])
            assert total == len(message)
            self.call.hear(message[12 + head : -4])


class CartesiaTurns(End):
    first = {"type": "connected", "request_id": "1"}


class DeepgramFlux(End):
    first = {"type": "Connected", "request_id": "1", "sequence_id": 0}


class XAI(End):
    first = {"type": "transcript.created"}


class ElevenLabs(End):
    parameter = "audio_format"

    def opened(self) -> None:
        self.call.declare(self.query[self.parameter].removeprefix("pcm_"))

    def told(self, message: Told) -> None:
        self.call.declare(message["sample_rate"])
        self.call.hear(decoded(message["audio_base_64"]))


class Undeclared(End):
    """The URL says nothing of a rate."""

    def opened(self) -> None:
        if self.first:
            self.say(**self.first)


class Gladia(Undeclared):
    """The rate comes in the request that opens the session."""

    def told(self, message: Told) -> None:
        if message["type"] == "audio_chunk":
            self.call.hear(decoded(message["data"]["chunk"]))


class Gradium(Undeclared):
    def told(self, message: Told) -> None:
        if message["type"] == "setup":
            self.call.declare(message["input_format"].removeprefix("pcm_"))
            self.say(type="ready")
        elif message["type"] == "audio":
            self.call.hear(decoded(message["audio"]))


class Meta(Undeclared):
    def told(self, message: Told) -> None:
        if encoding := message.get("audioEncoding"):
            self.call.declare({"PCM_16KHZ": 16000, "PCM_24KHZ": 24000}[encoding])
            self.say(sessionId="1")


class Mistral(Undeclared):
    first = {
        "type": "session.created",
        "session": {
            "request_id": "1",
            "model": "m",
            "audio_format": {"encoding": "pcm_s16le", "sample_rate": 16000},
        },
    }

    def told(self, message: Told) -> None:
        if message["type"] == "session.update":
            self.call.declare(message["session"]["audio_format"]["sample_rate"])
        elif message["type"] == "input_audio.append":
            self.call.hear(decoded(message["audio"]))


class NvidiaNIM(Undeclared):
    def told(self, message: Told) -> None:
        if message["type"] == "transcription_session.update":
            self.call.declare(message["session"]["input_audio_params"]["sample_rate_hz"])
        elif message["type"] == "input_audio_buffer.append":
            self.call.hear(decoded(message["audio"]))


class OpenAITranscription(Undeclared):
    first = {"type": "session.created"}

    def told(self, message: Told) -> None:
        if message["type"] == "session.update":
            self.call.declare(message["session"]["audio"]["input"]["format"]["rate"])
            self.say(type="session.updated")
        elif message["type"] == "input_audio_buffer.append":
            self.call.hear(decoded(message["audio"]))


class Sarvam(End):
    def told(self, message: Told) -> None:
        if audio := message.get("audio"):
            self.call.declare(audio["sample_rate"])
            self.call.hear(decoded(audio["data"]))


class SarvamRealtime(End):
    first = {"event": "session.begin", "request_id": "1"}

    def told(self, message: Told) -> None:
        if audio := message.get("audio"):
            self.call.hear(decoded(audio))


class Soniox(Undeclared):
    def told(self, message: Told) -> None:
        if "audio_format" in message:
            self.call.declare(message["sample_rate"])


class Speechmatics(Undeclared):
    def told(self, message: Told) -> None:
        if message["message"] == "StartRecognition":
            self.call.declare(message["audio_format"]["sample_rate"])
            self.say(message="RecognitionStarted", id="1")
        elif message["message"] == "EndOfStream":
            self.say(message="EndOfTranscript")


class Together(End):
    parameter = "input_audio_format"

    def opened(self) -> None:
        self.call.declare(self.query[self.parameter].removeprefix("pcm_s16le_"))

    def told(self, message: Told) -> None:
        if message["type"] == "input_audio_buffer.append":
            self.call.hear(decoded(message["audio"]))


class ZoomAI(Undeclared):
    def told(self, message: Told) -> None:
        if message["type"] == "session.update":
            assert message["audio"] == {"format": "pcm16"}
            self.call.declare(16000)  # fixed: the protocol has no field for it
            self.say(type="session.updated")


# --- Gemini, for both -------------------------------------------------------------------------


class Gemini(Undeclared):
    """https://ai.google.dev/api/live"""

    def told(self, message: Told) -> None:
        if "setup" in message:
            self.say(setupComplete={})
            self.call.connected.set()
        elif audio := message.get("realtime_input", {}).get("audio"):
            kind, rate = audio["mime_type"].split(";rate=")
            assert kind == "audio/pcm"
            self.call.declare(rate)
            self.call.hear(base64.urlsafe_b64decode(audio["data"]))


# --- realtime ---------------------------------------------------------------------------------


class Realtime(Undeclared):
    """An end that speaks. It says nothing until it is asked to."""

    interrupts = True  # else it is full duplex: what it says when, is for the model alone

    def __init__(self, url: str):
        super().__init__(url)
        self.call.realtime = self

    def chunks(self) -> Iterator[bytes]:
        """A second of speech, in tenths."""
        pcm = self.call.voice(self.call.voice_rate)
        size = self.call.voice_rate // 10 * 2
        assert len(pcm) == 10 * size
        for start in range(0, len(pcm), size):
            yield pcm[start : start + size]

    def texts(self) -> Iterator[str]:
        for chunk in self.chunks():
            yield base64.b64encode(chunk).decode()

    def speak(self) -> None:
        raise NotImplementedError

    def interrupt(self) -> None:
        """Judge that the person interrupts the bot."""
        raise NotImplementedError


class OpenAIRealtime(Realtime):
    """https://platform.openai.com/docs/api-reference/realtime-server-events"""

    audio, item = "response.output_audio", "conversation.item.added"

    def opened(self) -> None:
        self.responses = 0
        self.event("session.created", session={})

    def event(self, kind: str, **rest: Any) -> None:
        self.say(type=kind, event_id="1", **rest)

    def rates(self, session: Told) -> tuple[int, int]:
        # PCM of 24 kHz is the format where a session names none.
        assert not session["audio"]["input"].get("format") and not session["audio"].get("output")
        return 24000, 24000

    def told(self, message: Told) -> None:
        kind = message["type"]
        if kind == "session.update":
            rate, self.call.voice_rate = self.rates(message["session"])
            self.call.declare(rate)
            self.event("session.updated", session={})
        elif kind == "input_audio_buffer.append":
            self.call.hear(decoded(message["audio"]))
        elif kind == "response.create":
            self.call.asked.set()

    def speak(self) -> None:
        self.responses += 1
        response: Told = {"id": f"r{self.responses}", "object": "realtime.response", "output": []}
        item = {"id": f"i{self.responses}", "type": "message", "role": "assistant", "content": []}
        place = {"response_id": response["id"], "output_index": 0}
        within = {**place, "item_id": item["id"], "content_index": 0}
        self.event("response.created", response=response | {"status": "in_progress"})
        self.event(self.item, item=item, **place)
        for text in self.texts():
            self.event(f"{self.audio}.delta", **within, delta=text)
        self.event(f"{self.audio}.done", **within)
        self.event("response.done", response=response | {"status": "completed", "usage": {}})

    def interrupt(self) -> None:
        self.event("input_audio_buffer.speech_started", audio_start_ms=0, item_id="i")


class AzureVoiceLive(OpenAIRealtime):
    """https://learn.microsoft.com/azure/ai-services/speech-service/voice-live-how-to"""

    audio, item = "response.audio", "response.output_item.added"

    def rates(self, session: Told) -> tuple[int, int]:
        assert session["input_audio_format"] == "pcm16"
        spoken = {"pcm16": 24000, "pcm16_16000hz": 16000, "pcm16_8000hz": 8000}
        return session["input_audio_sampling_rate"], spoken[session["output_audio_format"]]


class Grok(OpenAIRealtime):
    """https://docs.x.ai/docs/guides/voice/agent"""

    def opened(self) -> None:
        super().opened()
        self.event(
            "conversation.created", conversation={"id": "c", "object": "realtime.conversation"}
        )

    def rates(self, session: Told) -> tuple[int, int]:
        formats = [session["audio"][way]["format"] for way in ("input", "output")]
        assert {form["type"] for form in formats} == {"audio/pcm"}
        return formats[0]["rate"], formats[1]["rate"]


class Inworld(Grok):
    """https://docs.inworld.ai/realtime"""

    def opened(self) -> None:
        OpenAIRealtime.opened(self)


class OpenAILive(Realtime):
    """It speaks all the time, silence too, and stops by itself when it is talked over."""

    interrupts = False

    def told(self, message: Told) -> None:
        kind = message["type"]
        if kind == "session.start":
            # PCM of 24 kHz is the format where a session names none, in both directions.
            assert not (message["session"].get("audio") or {}).get("format")
            self.call.voice_rate = 24000
            self.call.declare(24000)
            self.say(type="session.started", session={"id": "s"})
        elif kind == "session.input_audio.append":
            self.call.hear(decoded(message["audio"]))
        elif kind == "session.commentary.append":
            self.call.asked.set()
        elif kind == "session.close":
            self.say(type="session.closed", reason="closed")

    def speak(self) -> None:
        silence = base64.b64encode(bytes(2 * self.call.voice_rate)).decode()
        for text in [*self.texts(), silence]:
            self.say(type="session.output_audio.delta", delta=text)


class GeminiLive(Gemini, Realtime):
    def told(self, message: Told) -> None:
        super().told(message)
        self.call.voice_rate = 24000  # fixed
        if message.get("client_content", {}).get("turnComplete"):
            self.call.asked.set()

    def content(self, **content: Any) -> None:
        self.say(serverContent=content, usageMetadata={"totalTokenCount": 1})

    def speak(self) -> None:
        for text in self.texts():
            data = {"mimeType": "audio/pcm;rate=24000", "data": text}
            self.content(modelTurn={"parts": [{"inlineData": data}]})
        self.content(turnComplete=True)

    def interrupt(self) -> None:
        self.content(interrupted=True)


class Ultravox(Realtime):
    """https://docs.ultravox.ai/apps/datamessages; the rates come in the request for a call."""

    def opened(self) -> None:
        self.call.asked.set()  # who calls is greeted without being asked to

    def speak(self) -> None:
        for chunk in self.chunks():
            self.outgoing.put_nowait(chunk)
        self.say(type="state", state="listening")

    def interrupt(self) -> None:
        self.say(type="playback_clear_buffer")


class NovaSonic(Realtime):
    """https://docs.aws.amazon.com/nova/latest/userguide/speech-bidirection.html"""

    def told(self, message: Told) -> None:
        [(kind, event)] = message["event"].items()
        if kind == "promptStart":
            self.call.voice_rate = event["audioOutputConfiguration"]["sampleRateHertz"]
        elif kind == "contentStart" and event["type"] == "AUDIO":
            self.call.declare(event["audioInputConfiguration"]["sampleRateHertz"])
        elif kind == "contentStart" and event["role"] == "USER" and event["interactive"]:
            self.call.asked.set()
        elif kind == "audioInput":
            self.call.hear(decoded(event["content"]))

    def event(self, kind: str, **event: Any) -> None:
        self.say(event={kind: event})

    def text(self, stage: str, reason: str) -> None:
        fields = json.dumps({"generationStage": stage})
        self.event("contentStart", type="TEXT", role="ASSISTANT", additionalModelFields=fields)
        self.event("textOutput", content="Hello.")
        self.event("contentEnd", type="TEXT", stopReason=reason)

    def speak(self) -> None:
        self.text("SPECULATIVE", "PARTIAL_TURN")
        self.event("contentStart", type="AUDIO", role="ASSISTANT")
        for text in self.texts():
            self.event("audioOutput", content=text)
        self.event("contentEnd", type="AUDIO", stopReason="END_TURN")

    def interrupt(self) -> None:
        self.text("FINAL", "INTERRUPTED")


# By the name of the service's file.
ENDS: dict[str, type[End]] = {
    "stt/assemblyai": End,
    "stt/aws_transcribe": AWSTranscribe,
    "stt/cartesia": End,
    "stt/cartesia_turns": CartesiaTurns,
    "stt/deepgram": End,
    "stt/deepgram_flux": DeepgramFlux,
    "stt/deepgram_flux_sagemaker": DeepgramFlux,
    "stt/deepgram_sagemaker": End,
    "stt/elevenlabs_realtime": ElevenLabs,
    "stt/gemini": Gemini,
    "stt/gladia": Gladia,
    "stt/gradium": Gradium,
    "stt/meta": Meta,
    "stt/mistral": Mistral,
    "stt/nvidia_sagemaker": NvidiaNIM,
    "stt/openai_realtime": OpenAITranscription,
    "stt/sarvam": Sarvam,
    "stt/sarvam_realtime": SarvamRealtime,
    "stt/smallest": End,
    "stt/soniox": Soniox,
    "stt/speechmatics": Speechmatics,
    "stt/together": Together,
    "stt/xai": XAI,
    "stt/zoom_ai": ZoomAI,
    "realtime/azure": OpenAIRealtime,
    "realtime/azure_voice_live": AzureVoiceLive,
    "realtime/gemini_live": GeminiLive,
    "realtime/inworld": Inworld,
    "realtime/nova_sonic": NovaSonic,
    "realtime/openai": OpenAIRealtime,
    "realtime/openai_live": OpenAILive,
    "realtime/ultravox": Ultravox,
    "realtime/vertex_live": GeminiLive,
    "realtime/xai": Grok,
}
# Those that hear before they connect: a whole segment, or a queue of audio.
UNCONNECTED = {
    "stt/assemblyai_sync",
    "stt/elevenlabs",
    "stt/fal",
    "stt/funasr",
    "stt/google",
    "stt/groq",
    "stt/moonshine",
    "stt/nvidia",
    "stt/openai",
    "stt/whisper",
}


# --- what connects ----------------------------------------------------------------------------


class Socket:
    """The bot's end of a WebSocket, as far as anybody here uses it."""

    response = None

    def __init__(self, end: End):
        self.end, self.state = end, State.OPEN

    async def send(self, message: str | bytes) -> None:
        self.end.take(message)

    async def recv(self, decode: bool | None = None) -> str | bytes:
        message = await self.end.outgoing.get()
        if message is None:
            self.end.outgoing.put_nowait(None)
            raise ConnectionClosedOK(None, None)
        return message

    async def __aiter__(self) -> AsyncIterator[str | bytes]:
        while (message := await self.end.outgoing.get()) is not None:
            yield message

    async def close(self, *_: Any, **__: Any) -> None:
        self.state = State.CLOSED
        self.end.outgoing.put_nowait(None)


class Connect:
    """`websockets.connect`: awaited, or entered."""

    def __init__(self, uri: str, **options: Any):
        CALL.get().keep(options)
        self.uri = uri

    async def open(self) -> Socket:
        self.socket = Socket(ENDS[CALL.get().service](self.uri))
        return self.socket

    def __await__(self) -> Any:
        return self.open().__await__()

    async def __aenter__(self) -> Socket:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.socket.close()


class Answer:
    """What came back over HTTP."""

    def __init__(self, status: int, body: Told):
        self.status, self.ok, self._body = status, status < 400, body

    async def json(self) -> Told:
        return self._body

    async def text(self) -> str:
        return json.dumps(self._body)

    async def read(self) -> bytes:
        return json.dumps(self._body).encode()

    async def __aenter__(self) -> "Answer":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


async def request(_: Any, method: str, url: str, **content: Any) -> Answer:
    """`aiohttp.ClientSession._request`, which all others of its methods call."""
    call = CALL.get()
    form = content.get("data")
    call.keep(str(url), content, form._fields if isinstance(form, aiohttp.FormData) else ())
    if call.service in ("stt/assemblyai_sync", "stt/elevenlabs"):
        if method == "POST":  # and not to warm the connection up
            [file] = [part[2] for part in content["data"]._fields if "filename" in part[0]]
            hear_wav(file.read())
        return Answer(200, {"text": ""})
    if call.service == "stt/fal":
        hear_wav(decoded(content["json"]["audio_url"].removeprefix("data:audio/x-wav;base64,")))
        return Answer(200, {"text": ""})
    if call.service == "stt/gladia":
        assert (content["json"]["encoding"], content["json"]["bit_depth"]) == ("wav/pcm", 16)
        call.declare(content["json"]["sample_rate"])
        return Answer(201, {"id": "1", "url": "wss://api.gladia.io/v2/live?token=1"})
    if call.service == "realtime/ultravox":
        medium = content["json"]["medium"]["serverWebSocket"]
        call.declare(medium["inputSampleRate"])
        call.voice_rate = medium.get("outputSampleRate", medium["inputSampleRate"])
        return Answer(201, {"joinUrl": "wss://voice.ultravox.ai/calls/1"})
    if "api.twilio.com" in url:
        return Answer(200, {})
    raise AssertionError(f"{method} {url}: nobody expects that")


class Stream:
    """A bidirectional stream of AWS: both of its halves."""

    def __init__(self, query: str | None, form: Callable[[bytes], Any]):
        self.end = ENDS[CALL.get().service](f"wss://aws.example/?{query or ''}")
        self.form, self.input_stream = form, self

    async def send(self, event: Any) -> None:
        part = event.value
        text = getattr(part, "data_type", "UTF8") == "UTF8"
        self.end.take(part.bytes_.decode().strip() if text else part.bytes_)

    async def await_output(self) -> tuple[None, "Stream"]:
        return None, self

    async def receive(self) -> Any:
        message = await self.end.outgoing.get()
        if message is None:
            self.end.outgoing.put_nowait(None)
            return None
        return self.form(message if isinstance(message, bytes) else message.encode())

    async def close(self) -> None:
        self.end.outgoing.put_nowait(None)


class Word:
    """A language model's answer: one word."""

    async def __aiter__(self) -> AsyncIterator[Any]:
        choice = {"index": 0, "delta": {"content": "Hello."}, "finish_reason": "stop"}
        about = {"id": "1", "created": 0, "model": "m", "object": "chat.completion.chunk"}
        yield openai.types.chat.ChatCompletionChunk.model_validate(about | {"choices": [choice]})

    async def close(self) -> None:
        pass


class Spoken:
    """A voice's answer: silence, which is sound."""

    status_code = 200

    @contextlib.asynccontextmanager
    async def create(self, **_: Any) -> AsyncIterator["Spoken"]:
        yield self

    async def iter_bytes(self, _: int) -> AsyncIterator[bytes]:
        yield bytes(4800)


def replace_connections() -> None:
    """Before any module of a service is imported: they keep what they find."""
    import websockets
    import websockets.asyncio.client
    import websockets.legacy.client

    for module in (websockets, websockets.asyncio.client, websockets.legacy.client):
        module.connect = Connect
    aiohttp.ClientSession._request = request

    import openai.resources.audio.speech
    import openai.resources.audio.transcriptions
    import openai.resources.chat.completions.completions

    async def transcribe(_: Any, *, file: tuple[str, bytes, str], **rest: Any) -> Any:
        CALL.get().keep(rest)
        hear_wav(file[1])
        return openai.types.audio.Transcription(text="")

    async def complete(_: Any, **__: Any) -> Word:
        return Word()

    openai.resources.audio.speech.AsyncSpeech.with_streaming_response = Spoken()
    openai.resources.audio.transcriptions.AsyncTranscriptions.create = transcribe
    openai.resources.chat.completions.completions.AsyncCompletions.create = complete

    _replace_aws()
    _replace_google()
    _replace_nvidia()
    _replace_azure()
    _replace_models()


def _replace_aws() -> None:
    import aws_sdk_bedrock_runtime.client as bedrock
    import aws_sdk_bedrock_runtime.models as bedrock_models
    import aws_sdk_sagemaker_runtime_http2.client as sagemaker
    import aws_sdk_sagemaker_runtime_http2.models as sagemaker_models

    async def endpoint(_: Any, input: Any) -> Stream:
        def form(data: bytes) -> Any:
            part = sagemaker_models.ResponsePayloadPart(bytes_=data, data_type="UTF8")
            return sagemaker_models.ResponseStreamEventPayloadPart(value=part)

        return Stream(input.model_query_string, form)

    async def model(_: Any, input: Any) -> Stream:
        def form(data: bytes) -> Any:
            part = bedrock_models.BidirectionalOutputPayloadPart(bytes_=data)
            return bedrock_models.InvokeModelWithBidirectionalStreamOutputChunk(value=part)

        return Stream(None, form)

    client = sagemaker.SageMakerRuntimeHTTP2Client
    client.invoke_endpoint_with_bidirectional_stream = endpoint
    bedrock.BedrockRuntimeClient.invoke_model_with_bidirectional_stream = model


def _replace_google() -> None:
    from google.cloud import speech_v2
    from google.oauth2 import service_account

    async def recognize(_: Any, requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async def listen() -> AsyncIterator[Any]:
            async for said in requests:
                if said.audio:
                    CALL.get().hear(said.audio)
                else:
                    CALL.get().keep(type(said).to_dict(said))
                    form = said.streaming_config.config.explicit_decoding_config
                    assert form.encoding.name == "LINEAR16" and form.audio_channel_count == 1
                    CALL.get().declare(form.sample_rate_hertz)
            for nothing in ():
                yield nothing

        return listen()

    def refresh(self: Any, _: Any) -> None:
        self.token = "a-token"

    speech_v2.SpeechAsyncClient.streaming_recognize = recognize
    service_account.Credentials.refresh = refresh


def _replace_nvidia() -> None:
    import riva.client

    def listen(_: Any, audio_chunks: Iterator[bytes], streaming_config: Any) -> Iterator[Any]:
        assert streaming_config.config.encoding == riva.client.AudioEncoding.LINEAR_PCM
        CALL.get().declare(streaming_config.config.sample_rate_hertz)
        for chunk in audio_chunks:
            CALL.get().hear(chunk)
        yield from ()

    riva.client.ASRService.streaming_response_generator = listen


def _replace_azure() -> None:
    import azure.cognitiveservices.speech as speech

    class Format:
        def __init__(self, samples_per_second: int, channels: int):
            assert channels == 1
            CALL.get().declare(samples_per_second)

    class Microphone:
        def __init__(self, form: Format):
            pass

        def write(self, pcm: bytes) -> None:
            CALL.get().hear(pcm)

        def close(self) -> None:
            pass

    class Signal:
        def connect(self, callback: Callable[[Any], None]) -> None:
            pass

    class Recognizer:
        recognizing, recognized, canceled = Signal(), Signal(), Signal()

        def __init__(self, speech_config: Any, **_: Any):
            CALL.get().keep(speech_config.speech_recognition_language)

        def start_continuous_recognition_async(self) -> None:
            pass

        def stop_continuous_recognition_async(self) -> None:
            pass

    speech.audio.AudioStreamFormat = Format
    speech.audio.PushAudioInputStream = Microphone
    speech.dialog.AudioConfig = lambda stream: None
    speech.SpeechRecognizer = Recognizer


def _replace_models() -> None:
    """The models of one's own machine: all take 16 kHz, whatever they are told."""
    import faster_whisper
    import moonshine_voice

    def hear(samples: Any, rate: int) -> None:
        CALL.get().declare(rate)
        CALL.get().hear((np.asarray(samples) * 32768).astype(np.int16).tobytes())

    class Whisper:
        def __init__(self, *_: Any, **__: Any):
            pass

        def transcribe(self, samples: Any, **options: Any) -> tuple[list[Any], None]:
            CALL.get().keep(options)
            hear(samples, 16000)
            return [], None

    class Moonshine:
        def __init__(self, *_: Any):
            pass

        def transcribe_without_streaming(self, samples: list[float], rate: int) -> Any:
            hear(samples, rate)
            return SimpleNamespace(lines=[])

    class FunASR:
        def __init__(self, **_: Any):
            pass

        def generate(self, input: Any, **options: Any) -> list[dict[str, str]]:
            CALL.get().keep(options)
            # The framework (1.14.0) gives it the head of a WAV file as the first 22 samples.
            hear(input[22:], 16000)
            return [{"text": ""}]

    def load(language: str, arch: Any = None) -> tuple[str, Any]:
        CALL.get().keep(language)
        return "", arch

    faster_whisper.WhisperModel = Whisper
    moonshine_voice.Transcriber = Moonshine
    moonshine_voice.get_model_for_language = load
    # FunASR's package needs PyTorch, which is not installed for these checks.
    sys.modules |= {
        "funasr": SimpleNamespace(AutoModel=FunASR),
        "funasr.utils.postprocess_utils": SimpleNamespace(rich_transcription_postprocess=str),
    }
