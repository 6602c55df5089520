"""Every transport and option is sound Python, alone and with all others.

One environment holds the packages of all of them, one run of each tool reads them all. The services
are those of the quickstart: e2e/services has the others.
"""

import itertools
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import bots
import every_bot

BOTS = bots.PROJECTS / "options"


@pytest.fixture(scope="module")
def generated(vbot: Path, catalog: dict[str, Any]) -> dict[str, bots.Project]:
    return every_bot.generate(vbot, every_bot.with_every_option(vbot, catalog), BOTS)


@pytest.fixture(scope="module")
def python(generated: dict[str, bots.Project]) -> Path:
    return every_bot.install(generated.values(), "options")


@pytest.fixture(scope="module")
def sources(generated: dict[str, bots.Project]) -> list[Path]:
    return every_bot.python_files(generated.values())


def test_every_transport_is_in_a_bot(generated: dict[str, bots.Project]) -> None:
    """The class that each file of the catalog is about is in the code of a bot."""
    code = [(project.server / "bot.py").read_text() for project in generated.values()]
    words = {word for text in code for word in re.findall(r"\w+", text)}
    keys = {key for text in code for key in re.findall(r'"(\w+)": lambda:', text)}
    files = [path.read_text() for path in every_bot.with_code("transports")]
    assert len(files) > 10
    for text in files:
        returned = re.search(r"-> (\w+):", text)
        assert returned and returned[1] in words, text
        if key := re.search(r"(?m)^# key: (\w+)$", text):
            assert key[1] in keys, text
    servers = [project.server / "server.py" for project in generated.values()]
    texts = [path.read_text() for path in servers if path.exists()]
    posts = {post for text in texts for post in re.findall(r'@app.post\("/(\w+)"', text)}
    assert posts == {"call", "dialout"}


def test_every_bot_passes_the_linter(python: Path, sources: list[Path]) -> None:
    every_bot.lint(python, BOTS, sources)


def test_every_bot_passes_the_type_check(python: Path, sources: list[Path]) -> None:
    found = every_bot.type_errors(python, BOTS, sources)
    assert [line for path in sources for line in found[path]] == []


BOT = "-t smallwebrtc -m cascade --stt deepgram --llm openai --tts cartesia".split()
PIPELINE = "            stt,\n            user_aggregator,\n"
LONGER_PIPELINE = PIPELINE.replace("user", "FrameProcessor(),\n            user")
# What people change first: a file in server/, a text in it that stands there once, another.
EDITS = {
    "prompt": ("bot.py", "You are a friendly assistant", "You are the captain of a ship"),
    "greeting": ("bot.py", "Greet the person", "Say ahoy"),
    "voice": ("bot.py", "86e30c1d-714b-4074-a1f2-1cb6b552fb49", "a-voice-of-mine"),
    "tool": (
        "bot.py",
        "\n\ndef build(",
        "\n\nasync def ahoy(params: FunctionCallParams):\n"
        '    """Greet another ship."""\n    await params.result_callback("ahoy")\n\n\ndef build(',
    ),
    "given tool": ("bot.py", "GREETING}])", "GREETING}], tools=[])"),
    "processor": ("bot.py", PIPELINE, LONGER_PIPELINE),
    "comment": ("bot.py", "    context = LLM", "    # What was said.\n    context = LLM"),
    "idle time": ("bot.py", "runner_args.pipeline_idle_timeout_secs", "60"),
    "package": ("pyproject.toml", '>=1.14,<2",\n', '>=1.14,<2",\n    "httpx",\n'),
    "own key": (".env.example", "DEEPGRAM_API_KEY=\n", "DEEPGRAM_API_KEY=\nSHIP_API_KEY=\n"),
}
IMPORTS = {
    "tool": "from pipecat.services.llm_service import FunctionCallParams\n",
    "processor": "from pipecat.processors.frame_processor import FrameProcessor\n",
}
CHANGES = [
    "--tts elevenlabs",
    "--stt openai",
    "--llm together",
    "--language de",
    "--recording",
    "--transcription",
    "-t smallwebrtc -t daily",
    "--eval",
    "--self-host",
    "--client-framework react",
]


def test_edits_come_along(vbot: Path, python: Path) -> None:
    """Each edit with each change of options is merged, or nothing is written and the line named.
    What is merged is sound Python with both in it."""
    outcome: dict[tuple[str, str], str] = {}
    folder = bots.PROJECTS / "merged"
    for (edit, (name, old, new)), change in itertools.product(EDITS.items(), CHANGES):
        label = f"{edit}{change}".replace(" ", "")
        project = bots.generate(vbot, folder / label, "bot", *BOT)
        file = project.server / name
        text = file.read_text()
        assert text.count(old) == 1, (edit, text)
        text = text.replace(old, new)
        if edit in IMPORTS:
            at = text.index("from pipecat.transports.base")
            text = text[:at] + IMPORTS[edit] + text[at:]
        file.write_text(text)
        before = {path: (project.folder / path).read_bytes() for path in bots.tree(project.folder)}
        line = (vbot, "init", project.folder, "--update", *change.split())
        done = bots.run(*line, cwd=folder, env=bots.plain_env())
        after = {path: (project.folder / path).read_bytes() for path in bots.tree(project.folder)}
        assert done.returncode in (0, 1), done
        if done.returncode == 1:
            assert before == after
            assert f"server/{name}: your edits and vbot's changes meet at line" in done.stderr
        else:
            assert all(part in file.read_text() for part in new.split("\n"))
            fresh = bots.generate(vbot, folder / f"{label}-fresh", "bot", *BOT, *change.split())
            others = {f"server/{name}", ".vbot.json"}
            for path in bots.tree(fresh.folder) - others:
                assert after[path] == (fresh.folder / path).read_bytes(), path
        outcome[edit, change] = "merged" if done.returncode == 0 else "refused"
    print("\n".join(f"{edit:10} {change:25} {how}" for (edit, change), how in outcome.items()))
    assert Counter(outcome.values())["merged"] > 0.8 * len(outcome)
    merged = [
        folder / f"{edit}{change}".replace(" ", "") / "bot/server"
        for (edit, change), how in outcome.items()
        if how == "merged"
    ]
    for server in merged:
        tomllib.loads((server / "pyproject.toml").read_text())
    (folder / "pyrightconfig.json").write_text("{}")
    files = [server / "bot.py" for server in merged]
    every_bot.ruff(python, "check", "--ignore=I001", *files)
    found = every_bot.type_errors(python, folder, files)
    assert [line for path in files for line in found[path]] == []
