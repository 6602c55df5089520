"""One second of speech takes one second on the line, for every service that speaks.

Each service's bot is generated twice, for the telephone and for a web page. Its service, whatever
it is told to say, says one second of tone (voices.py); the bot plays that to a line that counts
(line.py), in a process with many other bots (lengths.py). The other providers of telephone lines
have their turn with one of the voices.

By telephone, a service that can be told the language is told one, and is sent it. The web's bots
have none.
"""

import asyncio
import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

import bots
import languages
import network
import sent
import voices
from every_bot import SERVICES
from services import OpenAI
from standins import Service, StandIns, Unexpected, WebSocketService

HERE = Path(__file__).parent
BOTS = bots.PROJECTS / "lengths"
LINES = {"telephone": "twilio", "web": "websocket"}
OTHER_PROVIDERS = ("telnyx", "plivo", "exotel")
PROCESSES = 2  # to make use of two processors
TOLERANCE = 0.02
SENTENCE, KEY = "Hello.", "an-openai-key"

# Replaced in lengths.py, not served from here.
NATIVE = {
    "azure": "a native SDK",
    "deepgram_flux_sagemaker": "HTTP/2 in both directions",
    "deepgram_sagemaker": "HTTP/2 in both directions",
    "gemini": "gRPC",
    "google": "gRPC",
    "kokoro": "a model of one's own machine",
    "nvidia": "gRPC",
    "nvidia_sagemaker": "HTTP/2 in both directions",
    "piper": "a model of one's own machine",
    "pocket_tts": "a model of one's own machine",
}
# Services whose speech cannot be measured here, with the reason.
UNMEASURED: dict[str, str] = {}
DRIVEN = {*voices.SOCKETS, *voices.PAGES, *NATIVE}

UNTOLD, UNTOLD_HOST = "cartesia", "untold.example"  # a bot does not tell it the language, there


# --- the voices that are served --------------------------------------------------------------


@contextlib.contextmanager
def strict() -> Iterator[None]:
    """What a voice refuses fails the test."""
    try:
        yield
    except voices.Refused as error:
        raise Unexpected(str(error)) from None


class Speakers(Service):
    """What a server of XTTS says of its voices."""

    name = host = "xtts.example"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.expect(request.path == "/studio_speakers", f"no such path: {request.path}")
        about: dict[str, list[float]] = {"speaker_embedding": [], "gpt_cond_latent": []}
        return web.json_response({voices.XTTS_VOICE: about})


@dataclass
class Opened:
    """A connection to one of the voices, and the texts that were sent on it."""

    voice: voices.Socket
    said: voices.Session
    texts: set[str]


@dataclass
class Host(WebSocketService):
    """All voices of one host, and what else is there."""

    name: str
    host: str = ""
    sockets: dict[str, voices.Socket] = field(default_factory=dict)
    pages: dict[str, voices.Page] = field(default_factory=dict)
    others: Service | None = None
    # The texts of each connection or request, by the path of its voice.
    texts: dict[str, list[set[str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()
        self.host = self.name
        if greeting := voices.GREETINGS.get(self.host):
            self.subprotocols = (greeting[0],)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if self._socket(request):
            return await super().handle(request)
        if answer := self.pages.get(request.path):
            asked = {**request.query, **await request.json()}
            self._keep(request.path, request.headers, asked)
            with strict():
                body, kind = answer(asked)
            return web.Response(body=body, content_type=kind)
        self.expect(self.others, f"no such path: {request.path}")
        assert self.others
        return await self.others.handle(request)

    def _keep(self, path: str, *what: Any) -> set[str]:
        texts = set(sent.values(what))
        self.texts.setdefault(path, []).append(texts)
        return texts

    def _socket(self, request: web.Request) -> str | None:
        return next((path for path in self.sockets if request.path.startswith(path)), None)

    def opened(self, request: web.Request) -> Opened:
        path = self._socket(request)
        assert path
        texts = self._keep(path, str(request.url), request.headers)
        return Opened(self.sockets[path], voices.Session(dict(request.query)), texts)

    async def begin(self, ws: web.WebSocketResponse, session: object) -> None:
        if greeting := voices.GREETINGS.get(self.host):
            await ws.send_bytes(greeting[1])

    async def received(self, ws: web.WebSocketResponse, session: Opened, message: Any) -> None:
        session.texts |= set(sent.values(message))
        with strict():
            for answer in session.voice(session.said, message):
                await (ws.send_bytes(answer) if isinstance(answer, bytes) else ws.send_json(answer))


def hosts() -> dict[str, Host]:
    """Every voice, and a language model that says the sentence."""
    found: dict[str, Host] = {}
    for host, path, voice in voices.SOCKETS.values():
        found.setdefault(host, Host(host)).sockets[path] = voice
    for host, path, answer in voices.PAGES.values():
        found.setdefault(host, Host(host)).pages[path] = answer
    found["api.openai.com"].others = OpenAI(KEY, SENTENCE, {})
    found["xtts.example"].others = Speakers()
    _, path, voice = voices.SOCKETS[UNTOLD]
    found[UNTOLD_HOST] = Host(UNTOLD_HOST, sockets={path: voice})
    return found


def keys() -> dict[str, str]:
    """What the services need to be told: anything, unless it has to be something."""
    heads = [*SERVICES.glob("tts/*.py"), *SERVICES.glob("transports/*.py")]
    text = "".join(path.read_text() for path in heads)
    names = re.findall(r"(?m)^# env: (\w+) required", text)
    aws = {"AWS_ACCESS_KEY_ID": "a-key", "AWS_SECRET_ACCESS_KEY": "a-secret"}
    xtts = {"XTTS_BASE_URL": voices.XTTS_URL, "XTTS_VOICE_ID": voices.XTTS_VOICE}
    return dict.fromkeys(names, "anything") | aws | xtts | {"OPENAI_API_KEY": KEY}


# --- the measurement -------------------------------------------------------------------------


@dataclass(frozen=True)
class Made:
    """A bot, and the transport that it is to speak on."""

    transport: str
    server: Path

    def with_changes(self, *edits: tuple[str, str]) -> "Made":
        """The same bot, once its bot.py is no longer as it should be."""
        code = (self.server / "bot.py").read_text()
        for pattern, instead in edits:
            code, found = re.subn(pattern, instead, code)
            assert found == 1, f"{pattern} is in bot.py {found} times"
        (self.server / "bot.py").write_text(code)
        return self


def generate(
    vbot: Path, service: str, transport: str, name: str = "", more: Sequence[str] = ()
) -> Made:
    """A bot that speaks with that service, on that transport."""
    name = name or f"{service}_{transport}"
    options = ["-m", "cascade", "--stt", "openai", "--llm", "openai", "--tts", service]
    project = bots.generate(vbot, BOTS / name, name, "-t", transport, *options, *more)
    return Made(transport, project.server)


async def lengths(
    python: Path, made: list[Made], env: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """What lengths.py says of each bot."""
    options = {
        # The bots see to it themselves, too late for what lengths.py imports before them.
        "ORT_DISABLE_TELEMETRY": "1",
        "SILENCE_SECONDS": "0",  # they do not ask who is there, however long this takes
    }
    process = await asyncio.create_subprocess_exec(
        python,
        HERE / "lib" / "lengths.py",
        *(f"{bot.transport}:{bot.server}" for bot in made),
        env={**bots.plain_env(), **keys(), **env, **options},
        cwd=BOTS,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0, err.decode()
    results = [json.loads(line) for line in out.splitlines()]
    return {result.pop("project"): result for result in results}


class Results:
    """How long each bot spoke, with every voice within reach and nothing else."""

    def __init__(self, vbot: Path, python: Path) -> None:
        self.told = languages.told(vbot, "tts")
        spoken = {
            (service, line): generate(vbot, service, transport, more=self._language(service, line))
            for service in sorted(DRIVEN)
            for line, transport in LINES.items()
        }
        called = {provider: generate(vbot, "openai", provider) for provider in OTHER_PROVIDERS}
        all_at_8_khz = generate(vbot, "openai", "twilio", "all_at_8_khz").with_changes(
            (r"PipelineParams\(", "PipelineParams(audio_out_sample_rate=8000, "),
            (r"sample_rate=24000,.*\n", "\n"),
        )
        left_to_the_serializer = generate(vbot, "openai", "twilio", "left").with_changes(
            (r"audio_out_sample_rate=8000,.*\n", "\n")
        )
        language = self._language(UNTOLD, "telephone")
        untold = generate(vbot, UNTOLD, "twilio", "untold", language).with_changes(
            (r".*=LANGUAGE,.*\n", ""), (voices.SOCKETS[UNTOLD][0], UNTOLD_HOST)
        )
        made = [*spoken.values(), *called.values(), all_at_8_khz, left_to_the_serializer, untold]
        self.hosts = hosts()

        async def main() -> list[dict[str, dict[str, Any]]]:
            async with StandIns(*self.hosts.values()) as services:
                env = services.env | {"AWS_CA_BUNDLE": services.env["SSL_CERT_FILE"]}
                # Both bots of a service in one process, which imports its packages once.
                size = -(-len(made) // PROCESSES)
                shares = [made[at : at + size] for at in range(0, len(made), size)]
                return await asyncio.gather(*(lengths(python, share, env) for share in shares))

        found = {
            server: result
            for results in network.run(main, timeout=300)
            for server, result in results.items()
        }
        self.spoken = {of: found[str(bot.server)] for of, bot in spoken.items()}
        self.called = {of: found[str(bot.server)] for of, bot in called.items()}
        self.all_at_8_khz = found[str(all_at_8_khz.server)]
        self.left_to_the_serializer = found[str(left_to_the_serializer.server)]

    def _language(self, service: str, line: str) -> list[str]:
        return languages.option(self.told, f"tts/{service}") if line == "telephone" else []

    def texts(self, service: str) -> list[set[str]]:
        """What it was sent, by connection, by request or, where it is replaced, by bot."""
        if service in NATIVE:
            return [set(self.spoken[service, line]["texts"]) for line in LINES]
        host, path, _ = {**voices.SOCKETS, **voices.PAGES}[service]
        return self.hosts[host].texts[path]


@pytest.fixture(scope="module")
def results(vbot: Path, python: Path) -> Results:
    return Results(vbot, python)


def test_every_voice_is_measured(figures: list[str]) -> None:
    """Or there is a reason why not, which the run shows."""
    voiced = {path.stem for path in (SERVICES / "tts").glob("*.py")}
    assert voiced == DRIVEN | UNMEASURED.keys()
    assert not DRIVEN & UNMEASURED.keys()
    figures += [f"{service}: not measured, {why}" for service, why in UNMEASURED.items()]


@pytest.mark.parametrize("service", sorted(DRIVEN))
def test_a_second_of_speech_lasts_a_second(
    service: str, results: Results, figures: list[str]
) -> None:
    of = {line: results.spoken[service, line] for line in LINES}
    lasted = ", ".join(f"{result['seconds']:.3f} s on the {line}" for line, result in of.items())
    how = f" ({NATIVE[service]}: replaced)" if service in NATIVE else ""
    figures.append(f"{service}: at {of['web']['rate']} Hz, {lasted}{how}")
    for result in of.values():
        assert result["log"] == []
        assert result["seconds"] == pytest.approx(1, rel=TOLERANCE)


def test_a_service_is_sent_the_language(results: Results) -> None:
    """By telephone; and what is found is not there without it, on the web."""
    seen = {
        name
        for name in results.told
        if {
            languages.seen(results.told, name, texts)
            for texts in results.texts(name.removeprefix("tts/"))
        }
        == {True, False}
    }
    assert seen == results.told.keys()


@pytest.mark.parametrize("provider", OTHER_PROVIDERS)
def test_it_does_with_every_provider_of_telephone_lines(
    provider: str, results: Results, figures: list[str]
) -> None:
    result = results.called[provider]
    figures.append(f"openai: {result['seconds']:.3f} s over {provider}")
    assert result["log"] == []
    assert result["seconds"] == pytest.approx(1, rel=TOLERANCE)


def test_speech_at_the_wrong_speed_would_be_seen(results: Results) -> None:
    """As it was once: 8 kHz throughout, and OpenAI's 24 kHz taken for that."""
    assert results.all_at_8_khz["seconds"] == pytest.approx(3, rel=TOLERANCE)
    assert any("24000Hz" in line for line in results.all_at_8_khz["log"])


def test_an_ending_that_is_cut_off_would_be_seen(results: Results) -> None:
    """The serializer's resampler keeps the last few hundredths of a second to itself."""
    assert 0.9 < results.left_to_the_serializer["seconds"] < 1 - TOLERANCE


def test_a_service_that_is_not_told_the_language_would_be_seen(results: Results) -> None:
    _, path, _ = voices.SOCKETS[UNTOLD]
    [texts] = results.hosts[UNTOLD_HOST].texts[path]
    assert not languages.seen(results.told, f"tts/{UNTOLD}", texts)
