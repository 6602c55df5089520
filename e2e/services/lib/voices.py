"""The services that turn text into speech, as far as the length of that speech goes.

Whatever they are told to say, each of them says one second of tone, in the form that its
documentation has: at the rate that it was asked for where its API takes one, at its own where it
does not. `SOCKETS` has those that are spoken to over a WebSocket, `PAGES` those that answer a
request, by their files in the catalog. test_lengths.py serves them; lengths.py has the services
that come in native code or run on one's own machine.
"""

import base64
import io
import json
import struct
import wave
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from line import tone

Answer = dict[str, Any] | bytes


class Refused(Exception):
    """A request that the real service would not take."""


@dataclass
class Session:
    """One connection: the address it was opened with, and what has been said on it."""

    query: dict[str, str]
    rate: int = 0
    context: str = ""
    text: str = ""  # what is still to be spoken

    def speak(self) -> list[bytes]:
        """The tone in pieces, if there is anything to say; the text is done with."""
        text, self.text = self.text.strip(), ""
        return list(pieces(tone(self.rate))) if text else []


def pieces(pcm: bytes, count: int = 5) -> Iterator[bytes]:
    """Some services send sound as it is made."""
    size = -(-len(pcm) // count // 4) * 4
    return (pcm[at : at + size] for at in range(0, len(pcm), size))


def base(sound: bytes) -> str:
    return base64.b64encode(sound).decode()


def wav(pcm: bytes, rate: int) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(pcm)
    return out.getvalue()


def expect(holds: object, what: object) -> None:
    if not holds:
        raise Refused(str(what))


# --- over a WebSocket ------------------------------------------------------------------------

Socket = Callable[[Session, Any], Iterable[Answer]]
SOCKETS: dict[str, tuple[str, str, Socket]] = {}  # file of the catalog: host, path, what it says


def socket(host: str, path: str) -> Callable[[Socket], Socket]:
    def add(function: Socket) -> Socket:
        SOCKETS[function.__name__] = host, path, function
        return function

    return add


@socket("api.async.com", "/text_to_speech/websocket/ws")
def asyncai(said: Session, message: Any) -> Iterable[Answer]:
    if form := message.get("output_format"):
        expect((form["container"], form["encoding"]) == ("raw", "pcm_s16le"), form)
        said.rate = form["sample_rate"]
    said.text = message.get("transcript", "")
    for sound in said.speak():
        yield {"context_id": message["context_id"], "audio": base(sound), "final": False}


@socket("api.bland.ai", "/v2/tts/ws")
def bland(said: Session, message: Any) -> Iterable[Answer]:
    match message["type"]:
        case "init":
            yield {"type": "ready", "session_id": "1", **message["audio"]}
            said.rate = message["audio"]["sample_rate"]
        case "speak":
            said.text += message["text"]
        case "end_of_turn":
            yield {"type": "utterance_start", "context_id": message["context_id"]}
            yield from said.speak()
            end = {"type": "utterance_end", "reason": "completed"}
            yield end | {"context_id": message["context_id"]}
        case "close":
            yield {"type": "done", "session_id": "1"}


@socket("api.cartesia.ai", "/tts/websocket")
def cartesia(said: Session, message: Any) -> Iterable[Answer]:
    form = message["output_format"]
    expect((form["container"], form["encoding"]) == ("raw", "pcm_s16le"), form)
    said.rate, said.text = form["sample_rate"], message["transcript"]
    head = {"context_id": message["context_id"], "done": False, "status_code": 206}
    for sound in said.speak():
        yield head | {"type": "chunk", "data": base(sound), "step_time": 1.0}
    if not message["continue"]:
        yield head | {"type": "done", "done": True, "status_code": 200}


def aura(said: Session, message: Any) -> Iterable[Answer]:
    """Deepgram's protocol of Aura, which its models on SageMaker speak too."""
    expect(said.query["encoding"] == "linear16", said.query)
    said.rate = int(said.query["sample_rate"])
    if message["type"] == "Speak":
        said.text += message["text"]
    elif message["type"] == "Flush":
        yield from said.speak()
        yield {"type": "Flushed", "sequence_id": 0}


def flux(said: Session, message: Any) -> Iterable[Answer]:
    """Deepgram's protocol of Flux, likewise."""
    expect(said.query["encoding"] == "linear16", said.query)
    said.rate = int(said.query["sample_rate"])
    if message["type"] == "Speak":
        said.text += message["text"]
    elif message["type"] == "Flush":
        yield {"type": "Flushed"}
        yield from said.speak()
        yield {"type": "SpeechMetadata", "speech_id": "1", "audio_duration_ms": 1000}


def nim(said: Session, message: Any) -> Iterable[Answer]:
    """The protocol of NVIDIA's models on SageMaker."""
    match message["type"]:
        case "synthesize_session.update":
            said.rate = message["session"]["output_audio_params"]["sample_rate_hz"]
        case "input_text.append":
            said.text += message["text"]
        case "input_text.commit":
            for sound in said.speak():
                yield {"type": "conversation.item.speech.data", "audio": base(sound)}


SOCKETS["deepgram"] = "api.deepgram.com", "/v1/speak", aura
SOCKETS["deepgram_flux"] = "api.deepgram.com", "/v2/speak", flux


@socket("api.elevenlabs.io", "/v1/text-to-speech/")
def elevenlabs(said: Session, message: Any) -> Iterable[Answer]:
    said.rate = int(said.query["output_format"].removeprefix("pcm_"))
    said.text = message.get("text", "")
    for sound in said.speak():
        yield {"audio": base(sound), "contextId": message["context_id"]}
    if message.get("close_context"):
        yield {"isFinal": True, "contextId": message["context_id"]}


@socket("api.elevenlabs.io", "/v1/text-to-dialogue/")
def elevenlabs_dialogue(said: Session, message: Any) -> Iterable[Answer]:
    said.rate = int(said.query["output_format"].removeprefix("pcm_"))
    said.text = "".join(entry["text"] for entry in message.get("inputs", []))
    for sound in said.speak():
        yield {"audio": base(sound), "context_id": message["context_id"]}
    if message.get("close_context"):
        yield {"is_final": True, "context_id": message["context_id"]}


@socket("api.fish.audio", "/v1/tts/live")
def fish(said: Session, message: bytes) -> Iterable[Answer]:
    """In MessagePack, of which this knows as much as it needs."""
    if b"\xa5event\xa5start" in message:
        expect(b"\xa6format\xa3pcm" in message, message)
        [rate] = struct.unpack_from(">H", message.partition(b"\xabsample_rate\xcd")[2])
        said.rate = rate
    elif b"\xa5event\xa4text" in message:
        said.text = "something"
    elif b"\xa5event\xa5flush" in message:
        for sound in said.speak():
            length = struct.pack(">I", len(sound))
            yield b"\x82\xa5event\xa5audio\xa5audio\xc6" + length + sound


@socket("api.gradium.ai", "/api/speech/tts")
def gradium(said: Session, message: Any) -> Iterable[Answer]:
    said.rate = 48000  # of its format "pcm"
    whose = {"client_req_id": message["client_req_id"]}
    match message["type"]:
        case "setup":
            expect(message["output_format"] == "pcm", message)
            yield whose | {"type": "ready"}
        case "text":
            said.text = message["text"]
            for sound in said.speak():
                yield whose | {"type": "audio", "audio": base(sound)}
        case "end_of_stream":
            yield whose | {"type": "end_of_stream"}


@socket("api.inworld.ai", "/tts/v1/voice:streamBidirectional")
def inworld(said: Session, message: Any) -> Iterable[Answer]:
    def result(**rest: Any) -> dict[str, Any]:
        return {"result": {"contextId": message["contextId"], "status": {"code": 0}} | rest}

    if form := (message.get("create") or {}).get("audioConfig"):
        expect(form["audioEncoding"] == "PCM", form)  # LINEAR16 would have the header of a WAV file
        said.rate = form["sampleRateHertz"]
        yield result(contextCreated={})
    said.text += (message.get("send_text") or {}).get("text", "")
    if "flush_context" in message or "close_context" in message:
        for sound in said.speak():
            yield result(audioChunk={"audioContent": base(sound)})
        yield result(flushCompleted={})
    if "close_context" in message:
        yield result(contextClosed={})


@socket("api.neuphonic.com", "/speak/")
def neuphonic(said: Session, message: Any) -> Iterable[Answer]:
    expect(said.query["encoding"] == "pcm_linear", said.query)
    said.rate = int(said.query["sampling_rate"])
    said.text = message["text"].replace("<STOP>", "")
    for sound in said.speak():
        yield {"data": {"audio": base(sound), "sampling_rate": said.rate}}


@socket("websocket.cluster.resemble.ai", "/stream")
def resemble(said: Session, message: Any) -> Iterable[Answer]:
    expect(message["precision"] == "PCM_16" and message["no_audio_header"], message)
    said.rate, said.text = message["sample_rate"], message["data"]
    whose = {"request_id": message["request_id"]}
    for sound in said.speak():
        yield whose | {"type": "audio", "audio_content": base(sound)}
    yield whose | {"type": "audio_end"}


@socket("users-ws.rime.ai", "/ws3")
def rime(said: Session, message: Any) -> Iterable[Answer]:
    expect(said.query["audioFormat"] == "pcm", said.query)
    said.rate = int(said.query["samplingRate"])
    said.text += message.get("text", "")
    said.context = message.get("contextId", said.context)
    if message.get("operation") == "flush":
        for sound in said.speak():
            yield {"type": "chunk", "data": base(sound), "contextId": said.context}
        yield {"type": "done", "contextId": said.context}


def varint(number: int) -> bytes:
    """As protobuf writes a number: 7 bits in a byte, the lowest first."""
    low, high = number & 127, number >> 7
    return bytes([low | 128]) + varint(high) if high else bytes([low])


def varint_at_start(data: bytes) -> int:
    return data[0] & 127 | (varint_at_start(data[1:]) << 7 if data[0] > 127 else 0)


@socket("coda.api.rime.ai", "/ws")
def rime_v1(said: Session, message: bytes) -> Iterable[Answer]:
    """In protobuf, of which this knows as much as it needs."""
    size = 2 + message[1]  # of the first field, a short string
    whose, payload = message[:size], message[size:]
    match payload[0] >> 3:  # the number of the second field
        case 3:  # start
            [_, found, rest] = payload.partition(b"\x0a\x09audio/pcm\x10")
            expect(found, message)
            said.rate = varint_at_start(rest)
        case 4:  # text
            said.text = "something"
        case 5:  # end
            for sound in said.speak():
                yield whose + b"\x22" + varint(len(sound)) + sound
            yield whose + b"\x2a\x00"  # done


# Hosts that speak first: the WebSocket's subprotocol, and what they say.
GREETINGS = {"coda.api.rime.ai": ("rime.v1.binary", b"\x12\x02\x08\x01")}  # ready, version 1


@socket("api.sarvam.ai", "/text-to-speech/ws")
def sarvam(said: Session, message: Any) -> Iterable[Answer]:
    match message["type"]:
        case "config":
            expect(message["data"]["output_audio_codec"] == "linear16", message)
            said.rate = int(message["data"]["speech_sample_rate"])
        case "text":
            said.text += message["data"]["text"]
        case "flush":
            for sound in said.speak():
                yield {"type": "audio", "data": {"audio": base(sound), "request_id": "1"}}
            yield {"type": "event", "data": {"event_type": "final"}}


@socket("api.smallest.ai", "/waves/v1/tts/live")
def smallest(said: Session, message: Any) -> Iterable[Answer]:
    said.text += message["text"]
    if message.get("continue") is False:  # what keeps the connection alive says neither
        expect(message["output_format"] == "pcm", message)
        said.rate = message["sample_rate"]
        for sound in said.speak():
            yield {"status": "chunk", "request_id": "1", "data": {"audio": base(sound)}}
        yield {"status": "complete", "request_id": "1"}


@socket("tts-rt.soniox.com", "/tts-websocket")
def soniox(said: Session, message: Any) -> Iterable[Answer]:
    whose = {"stream_id": message.get("stream_id")}  # what keeps the connection alive has none
    if form := message.get("audio_format"):
        expect(form == "pcm_s16le", message)
        said.rate = message["sample_rate"]
    said.text += message.get("text", "")
    if message.get("text_end"):
        for sound in said.speak():
            yield whose | {"audio": base(sound)}
        yield whose | {"audio_end": True}
        yield whose | {"terminated": True}


@socket("api.together.ai", "/v1/audio/speech/websocket")
def together(said: Session, message: Any) -> Iterable[Answer]:
    said.rate = 24000  # of all its models
    said.text += message.get("text", "")
    if message["type"] == "input_text_buffer.commit":
        kind, whose = "conversation.item.audio_output", {"item_id": "1"}
        sounds = said.speak()
        for sound in sounds:
            yield whose | {"type": f"{kind}.delta", "delta": base(sound)}
        if sounds:
            yield whose | {"type": f"{kind}.done"}


@socket("api.x.ai", "/v1/tts")
def xai(said: Session, message: Any) -> Iterable[Answer]:
    expect(said.query["codec"] == "pcm", said.query)
    said.rate = int(said.query["sample_rate"])
    said.text += message.get("delta", "")
    if message["type"] == "text.done":
        for sound in said.speak():
            yield {"type": "audio.delta", "delta": base(sound)}
        yield {"type": "audio.done"}


# --- over HTTP -------------------------------------------------------------------------------

Page = Callable[[Any], tuple[bytes, str]]
PAGES: dict[str, tuple[str, str, Page]] = {}  # file of the catalog: host, path, body and its type


def page(host: str, path: str) -> Callable[[Page], Page]:
    def add(function: Page) -> Page:
        PAGES[function.__name__] = host, path, function
        return function

    return add


def events(*pairs: tuple[str, dict[str, Any]]) -> tuple[bytes, str]:
    """Server-sent events: names, and data in JSON."""
    lines = (
        f"event: {name}\n" * bool(name) + f"data: {json.dumps(data)}\n\n" for name, data in pairs
    )
    return "".join(lines).encode(), "text/event-stream"


@page("client.camb.ai", "/apis/tts-stream")
def camb(asked: Any) -> tuple[bytes, str]:
    expect(asked["output_configuration"]["format"] == "pcm_s16le", asked)
    rates = {"mars-flash": 22050, "mars-pro": 48000, "mars-instruct": 22050}
    return tone(rates[asked["speech_model"]]), "audio/pcm"


@page("api.groq.com", "/openai/v1/audio/speech")
def groq(asked: Any) -> tuple[bytes, str]:
    expect(asked["response_format"] == "wav", asked)
    return wav(tone(24000), 24000), "audio/wav"


@page("api.hume.ai", "/v0/tts/stream/json")
def hume(asked: Any) -> tuple[bytes, str]:
    expect(asked["format"] == {"type": "pcm"}, asked)
    ids = dict.fromkeys(("generation_id", "request_id", "snippet_id", "text"), "1")
    chunk = ids | {"type": "audio", "audio_format": "pcm", "is_last_chunk": False}
    sounds = enumerate(pieces(tone(48000)))
    lines = (json.dumps(chunk | {"chunk_index": at, "audio": base(s)}) + "\n" for at, s in sounds)
    return "".join(lines).encode(), "application/json"


@page("api.minimax.io", "/v1/t2a_v2")
def minimax(asked: Any) -> tuple[bytes, str]:
    form = asked["audio_setting"]
    expect((form["format"], form["channel"]) == ("pcm", 1), form)
    sounds = pieces(tone(form["sample_rate"]))
    told = [("", {"data": {"audio": sound.hex(), "status": 1}}) for sound in sounds]
    return events(*told, ("", {"data": {"status": 2}, "extra_info": {"audio_length": 1000}}))


@page("api.mistral.ai", "/v1/audio/speech")
def mistral(asked: Any) -> tuple[bytes, str]:
    expect(asked["response_format"] == "pcm" and asked["stream"], asked)
    whole = struct.iter_unpack("<h", tone(24000))
    floats = b"".join(struct.pack("<f", sample / 32767) for (sample,) in whole)
    kind, usage = "speech.audio", {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    told = [
        (f"{kind}.delta", {"type": f"{kind}.delta", "audio_data": base(sound)})
        for sound in pieces(floats)
    ]
    return events(*told, (f"{kind}.done", {"type": f"{kind}.done", "usage": usage}))


@page("api.openai.com", "/v1/audio/speech")
def openai(asked: Any) -> tuple[bytes, str]:
    expect(asked["response_format"] == "pcm", asked)
    return tone(24000), "audio/pcm"


@page("polly.us-east-1.amazonaws.com", "/v1/speech")
def polly(asked: Any) -> tuple[bytes, str]:
    expect(asked["OutputFormat"] == "pcm", asked)
    expect(asked["SampleRate"] in ("8000", "16000"), asked)  # it has no others
    return tone(int(asked["SampleRate"])), "audio/pcm"


@page("api.speechify.ai", "/v1/audio/stream/with-timestamps")
def speechify(asked: Any) -> tuple[bytes, str]:
    sounds = pieces(tone(int(asked["output_format"].removeprefix("pcm_"))))
    told = [("speech.chunk", {"audio": base(sound)}) for sound in sounds]
    return events(*told, ("speech.done", {"audio_duration_ms": 1000}))


@page("preview.tts.speechmatics.com", "/generate/sarah")
def speechmatics(asked: Any) -> tuple[bytes, str]:
    expect(asked["output_format"] == "pcm_16000", asked)  # it has no other rate
    return tone(16000), "audio/pcm"


XTTS_URL, XTTS_VOICE = "https://xtts.example", "a-voice"


@page("xtts.example", "/tts_stream")
def xtts(asked: Any) -> tuple[bytes, str]:
    expect(asked["add_wav_header"] is False, asked)
    return tone(24000), "audio/pcm"
