"""How long does the bot of each project speak, on its line? For test_lengths.py, which explains.

    python lengths.py LINE:PROJECT...        # LINE: twilio, websocket...; PROJECT: its server/

Run it with a Python that has the packages of all these bots. One JSON object for each of them goes
to stdout: its `project`, the `seconds`, the `rate` that its voice says its sound has, the lines of
its `log` up to the hang-up that are warnings or worse, and the `texts` that what is replaced was
sent.

The bots run at the same time, in this process. What has no connection that a server on loopback
could take the other end of is replaced here: native code, gRPC and models of one's own machine.
"""

import asyncio
import contextlib
import contextvars
import json
import sys
import urllib.parse
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import line
import sent
import voices
from line import tone

PAUSE = 5  # seconds of silence: some services take three to notice that they are at their end
PATIENCE = 60  # seconds until the first sound

# Which bot a line of the log, or a frame, belongs to.
whose: contextvars.ContextVar[str] = contextvars.ContextVar("whose", default="")

TEXTS: dict[str, set[str]] = {}  # that a bot sent to what is replaced


def keep(*what: Any) -> None:
    TEXTS.setdefault(whose.get(), set()).update(sent.values(what))


# --- native code -----------------------------------------------------------------------------


class Azure:
    """The synthesizer of Azure's SDK; the real configuration tells it what is wanted."""

    def __init__(self, speech_config: Any, audio_config: None) -> None:
        form = speech_config.speech_synthesis_output_format_string
        assert form.endswith("khz-16bit-mono-pcm") and form.startswith("raw-"), form
        self.rate = int(form.removeprefix("raw-").partition("khz")[0]) * 1000
        self.handlers: dict[str, Callable[[Any], None]] = {}

    def __getattr__(self, name: str) -> Any:  # an event
        return SimpleNamespace(connect=lambda handler: self.handlers.update({name: handler}))

    def speak_ssml_async(self, ssml: str) -> None:
        for sound in voices.pieces(tone(self.rate)):
            result = SimpleNamespace(audio_data=sound)
            self.handlers["synthesizing"](SimpleNamespace(result=result))
        done = SimpleNamespace(result=SimpleNamespace(audio_duration=None))
        self.handlers["synthesis_completed"](done)


class Google:
    """The client of Google's SDK, which is on gRPC. Gemini's voices have one rate."""

    async def streaming_synthesize(self, requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
        first = await anext(requests)
        keep(type(first).to_dict(first))
        form = first.streaming_config.streaming_audio_config
        rate = 24000 if first.streaming_config.voice.model_name else form.sample_rate_hertz

        async def answers() -> AsyncIterator[Any]:
            assert (await anext(requests)).input.text
            for sound in voices.pieces(tone(rate)):
                yield SimpleNamespace(audio_content=sound)

        return answers()


class Riva:
    """NVIDIA's client, likewise."""

    def __init__(self, auth: Any) -> None:
        self.auth, self.stub = auth, self

    def GetRivaSynthesisConfig(self, request: Any) -> None:
        pass

    def SynthesizeOnline(self, requests: Iterator[Any], metadata: Any) -> Iterator[Any]:
        for request in requests:
            keep(request.language_code)
            for sound in voices.pieces(tone(request.sample_rate_hz)):
                yield SimpleNamespace(audio=sound)


class SageMaker:
    """The framework's client of SageMaker, which is on HTTP/2: the protocol is its model's."""

    def __init__(
        self, *, model_invocation_path: str | None, model_query_string: str | None, **_: Any
    ) -> None:
        protocols = {"v1/speak": voices.aura, "v2/speak": voices.flux, None: voices.nim}
        keep(f"wss://model/?{model_query_string}")
        self.model = protocols[model_invocation_path]
        self.session = voices.Session(dict(urllib.parse.parse_qsl(model_query_string or "")))
        self.answers: asyncio.Queue[bytes] = asyncio.Queue()
        self.is_active = False

    async def start_session(self) -> None:
        self.is_active = True

    async def send_json(self, message: dict[str, Any]) -> None:
        keep(message)
        for answer in self.model(self.session, message):
            self.answers.put_nowait(
                answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            )

    async def receive_response(self) -> Any:
        from aws_sdk_sagemaker_runtime_http2 import models

        part = models.ResponsePayloadPart(bytes_=await self.answers.get())
        return models.ResponseStreamEventPayloadPart(value=part)

    async def close_session(self) -> None:
        self.is_active = False


# --- models of one's own machine -------------------------------------------------------------


class Kokoro:
    """Samples as floating-point numbers, at 24 kHz."""

    def __init__(self, *files: str) -> None:
        self.voices = ["af_heart", "hf_alpha"]  # the second speaks Hindi

    async def create_stream(self, text: str, **options: Any) -> AsyncIterator[Any]:
        import numpy

        keep(options)
        for sound in voices.pieces(tone(24000)):
            yield numpy.frombuffer(sound, numpy.int16) / 32767, 24000


class Piper:
    """At the rate that the file of the voice says: 22050 Hz, in the low qualities 16000 Hz."""

    def __init__(self) -> None:
        self.config = SimpleNamespace(sample_rate=22050)

    @classmethod
    def load(cls, path: Path, **_: Any) -> "Piper":
        return cls()

    def synthesize(self, text: str) -> Iterator[Any]:
        for sound in voices.pieces(tone(self.config.sample_rate)):
            yield SimpleNamespace(audio_int16_bytes=sound)


class Pocket:
    """Tensors, at 24 kHz."""

    sample_rate = 24000

    @classmethod
    def load_model(cls, **options: Any) -> "Pocket":
        keep(options)
        return cls()

    def get_state_for_audio_prompt(self, voice: str) -> None:
        pass

    def generate_audio_stream(self, *_: Any, **__: Any) -> Iterator[Any]:
        for sound in voices.pieces(tone(self.sample_rate)):
            tensor = MagicMock()
            scaled = tensor.clamp(-1.0, 1.0).__mul__(32767)
            scaled.to.return_value.numpy.return_value.tobytes.return_value = sound
            yield tensor


def replace() -> None:
    """Put these into the framework's modules, in place of what they are named after."""
    # pocket_tts cannot be imported without PyTorch; see PLACEHOLDERS in catalog_arguments.py.
    for name in ("pocket_tts", "torch"):
        sys.modules[name] = MagicMock()
    sys.modules["pocket_tts"].TTSModel = Pocket  # type: ignore[attr-defined]

    import pipecat.audio.resamplers.soxr_stream_resampler as resampler
    import pipecat.services.azure.tts as azure
    import pipecat.services.deepgram.flux.sagemaker.tts as flux_sagemaker
    import pipecat.services.deepgram.sagemaker.tts as sagemaker
    import pipecat.services.google.tts as google
    import pipecat.services.kokoro.tts as kokoro
    import pipecat.services.nvidia.sagemaker.tts as nvidia_sagemaker
    import pipecat.services.piper.tts as piper
    import riva.client

    changed: dict[Any, dict[str, Any]] = {
        # After 0.2 s without audio it drops what it holds back. Here that would only mean that the
        # machine is busy, so its clock stands still.
        resampler: {"time": SimpleNamespace(time=lambda: 0.0)},
        azure: {"SpeechSynthesizer": Azure},
        google.GoogleBaseTTSService: {"_create_client": lambda *_: Google()},
        riva.client: {"SpeechSynthesisService": Riva},
        kokoro: {"Kokoro": Kokoro, "_ensure_model_files": lambda *_: None},
        piper: {"PiperVoice": Piper, "download_voice": lambda *_, **__: None},
        **dict.fromkeys(
            (sagemaker, flux_sagemaker, nvidia_sagemaker), {"SageMakerBidiClient": SageMaker}
        ),
    }
    for owner, names in changed.items():
        for name, stand_in in names.items():
            assert hasattr(owner, name), f"{owner} has no {name} any more"
            setattr(owner, name, stand_in)


# --- the measurement -------------------------------------------------------------------------


class Notes:
    """What the bots leave behind while they run, by project: warnings, and the rate of speech."""

    def __init__(self) -> None:
        self.log: dict[str, list[str]] = {}
        self.rate: dict[str, int] = {}

    def keep(self, message: Any) -> None:
        self.log.setdefault(whose.get(), []).append(message.record["message"])

    def watch(self) -> None:
        from loguru import logger
        from pipecat.frames.frames import TTSAudioRawFrame

        logger.remove()
        logger.add(self.keep, level="WARNING")
        made: Any = TTSAudioRawFrame.__post_init__

        def note(frame: Any) -> None:
            made(frame)
            # The first is the service's own; the transport makes more of them.
            self.rate.setdefault(whose.get(), frame.sample_rate)

        TTSAudioRawFrame.__post_init__ = note  # type: ignore[method-assign]


async def measure(
    kind: str, server: str, module: ModuleType, starting: asyncio.Lock, notes: Notes
) -> dict[str, Any]:
    """What happens when somebody is connected to that bot over a line of that kind."""
    whose.set(server)
    result: dict[str, Any] = {"project": server, "seconds": 0.0, "rate": None, "log": []}
    log = notes.log[server] = result["log"]
    said = line.LINES[kind]()
    try:
        async with contextlib.AsyncExitStack() as stack:
            # One after the other: a start takes the loop for long enough to make others stutter.
            async with starting:
                await stack.enter_async_context(line.session(module, said))
                await asyncio.wait_for(said.sounding.wait(), PATIENCE)
            await said.quiet(PAUSE)
            result |= {"seconds": said.seconds, "rate": notes.rate[server], "log": list(log)}
    except Exception as error:
        result["log"].append(f"{type(error).__name__}: {error}")
    return result


async def main(bots: list[list[str]]) -> None:
    replace()
    notes = Notes()
    notes.watch()
    # All of them before the first speaks: what they import takes a while.
    modules = [line.load(Path(server), f"bot_{at}") for at, (_, server) in enumerate(bots)]
    starting = asyncio.Lock()
    measuring = (
        measure(kind, server, module, starting, notes)
        for (kind, server), module in zip(bots, modules, strict=True)
    )
    for result in await asyncio.gather(*measuring):
        texts = sorted(TEXTS.get(result["project"], ()))
        print(json.dumps({**result, "texts": texts}))
    assert "" not in notes.log, f"nobody knows who said this: {notes.log['']}"


if __name__ == "__main__":
    asyncio.run(main([argument.split(":", 1) for argument in sys.argv[1:]]))
