"""What a project's README and AGENTS.md say to change in bot.py works as it stands there."""

import ast
import re
import textwrap
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

import bots
import editing
import network
from caller import until
from conversation import ANSWER, GREETING, KEYS, QUESTION, called
from services import Call, Cartesia, Deepgram, OpenAI
from standins import StandIns
from webrtc_client import call

DEV = ("uv", "run", "--group", "dev")
DAY = "2030-12-24"
ASIDE = "Absolutely, absolutely."


@pytest.fixture(scope="module")
def made(vbot: Path) -> bots.Project:
    project = bots.generate(vbot, bots.PROJECTS / "readme", "quickstart")
    project.sync()
    project.write_env(**KEYS)
    return project


@pytest.fixture
def project(made: bots.Project) -> Iterator[bots.Project]:
    """With bot.py as it was made, before and after."""
    bot = made.server / "bot.py"
    source = bot.read_text()
    yield made
    bot.write_text(source)


MORE = ("More of the framework", "AGENTS.md")


def section(project: bots.Project, heading: str, file: str = "README.md") -> str:
    text = (project.folder / file).read_text()
    found = re.search(rf"(?ms)^#+ {heading}$.*?(?=^## |\Z)", text)
    assert found, f"{file} has no section {heading!r}"
    return found[0]


def block(text: str) -> str:
    [code] = editing.blocks(text)
    return code


def edit(
    project: bots.Project, imports: str, function: str, *changes: tuple[str, str], tool: str = ""
) -> None:
    """Add the imports and the function of a tool, if any, to bot.py, and replace each text."""
    bot = project.server / "bot.py"
    source = editing.replaced(bot.read_text(), *changes)
    if function:
        source = editing.above_tools(source, function, tool)
    bot.write_text(editing.with_imports(source, imports))


def stand_ins(said: list[str], answers: dict[str, str | Call]) -> StandIns:
    return StandIns(
        Deepgram(KEYS["DEEPGRAM_API_KEY"], [*said, GREETING, ANSWER]),
        OpenAI(KEYS["OPENAI_API_KEY"], GREETING, answers),
        Cartesia(KEYS["CARTESIA_API_KEY"]),
    )


def test_the_model_calls_the_tool(vbot: Path, project: bots.Project) -> None:
    """The tool also sends the page a message, as client/README.md says."""
    text = section(project, "Tools")
    imports, _, function = block(text).partition("\n\n\n")
    [tool] = re.findall(r"Add `(\w+),` to `TOOLS`", text)
    options = ("-b", "web", "-m", "cascade", "--client-framework", "react", "--transport")
    services = ("smallwebrtc", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia")
    folder = bots.PROJECTS / "readme-client"
    made = bots.generate(vbot, folder, "readme-client", *options, *services)
    client = section(made, "A message of your own", "client/README.md")
    [frame] = re.findall(r"The frame is in `(.*?)`", client)
    imports += f"\nfrom {frame} import RTVIServerMessageFrame"
    function = function.replace(
        "    await params.result", f"{block(client)}    await params.result"
    )
    edit(project, imports, function, tool=tool)
    bots.must(*DEV, "ruff", "check", "--no-cache", "--fix", cwd=project.server)
    said = bots.must(*DEV, "pyright", "bot.py", cwd=project.server)
    assert "0 errors, 0 warnings, 0 informations" in said

    answer = Call("days_until", {"day": DAY}, then=ANSWER)

    async def conversation() -> None:
        async with (
            stand_ins([QUESTION], {QUESTION: answer}) as services,
            project.bot(services.env) as bot,
            called(bot) as caller,
        ):
            await caller.say(QUESTION)
            await caller.hear(ANSWER)
            _, asked, told = services.requests("openai", "chat")
            [tool] = asked["tools"]
            assert tool["function"]["parameters"]["required"] == ["day"]
            assert DAY in tool["function"]["description"]
            calls, result = told["messages"][-2:]
            assert calls["tool_calls"][0]["function"]["name"] == "days_until"
            days = (date.fromisoformat(DAY) - date.today()).days
            await caller.receive("server-message", lambda data: data == {"days": days})
            assert ast.literal_eval(result["content"]) == {"today": str(date.today()), "days": days}
            assert bot.errors() == []

    network.run(conversation)


def arguments(code: str) -> dict[str, str]:
    """The source of each argument of the aggregator, by name."""
    body = ast.parse(f"dict(\n{textwrap.dedent(code)}\n)", mode="eval").body
    assert isinstance(body, ast.Call)
    return {keyword.arg: ast.unparse(keyword.value) for keyword in body.keywords if keyword.arg}


@pytest.mark.parametrize("name", ["user_turn_strategies", "user_mute_strategies"])
def test_turns_and_interruptions_change(project: bots.Project, name: str) -> None:
    """Somebody speaks two words while the bot greets: it goes on. Then it is asked."""
    imports, _, code = block(section(project, *MORE)).partition("\n\n")
    takes = "LLMUserAggregatorParams("
    edit(project, imports, "", (takes, f"{takes}{name}={arguments(code)[name]}, "))
    patient = name == "user_turn_strategies"
    # Muted, the bot does not tell Deepgram's stand-in where the aside ends.
    heard = QUESTION if patient else f"{ASIDE} {QUESTION}"

    async def conversation() -> None:
        async with (
            stand_ins([ASIDE, QUESTION], {heard: ANSWER}) as services,
            project.bot(services.env) as bot,
            call(bot.url) as caller,
        ):
            await caller.ready()
            await caller.receive("bot-started-speaking")
            await caller.say(ASIDE)
            await caller.hear(GREETING)
            await caller.receive("bot-stopped-speaking")
            assert "broadcasting interruption" not in bot.log
            await caller.say(QUESTION)
            silent = time.monotonic()
            await until(lambda: len(services.requests("openai", "chat")) > 1, 10)
            assert not patient or time.monotonic() - silent > 1.4
            await caller.hear(ANSWER)
            assert len(services.requests("openai", "chat")) == 2
            assert bot.errors() == []

    network.run(conversation)


def test_the_lines_about_more_of_the_framework_fit(project: bots.Project) -> None:
    """Each name is where its line says, and takes the arguments that are shown."""
    text = section(project, *MORE)
    lines = {name: line for name, line in re.findall(r"(?ms)^- \*\*(.*?)\*\*(.*?)(?=^- |\Z)", text)}

    def code(line: str, start: str) -> str:
        [found] = [part for part in re.findall(r"`(.*?)`", lines[line]) if part.startswith(start)]
        return found

    places = re.findall(r"`(\w+)` is in\s+`([\w.]+)`", text)
    assert len(places) == 6
    imports = "\n".join(f"from {module} import {name}" for name, module in places)
    add = code("MCP tools", "uv add").replace('"', "").split()
    bots.must(*add, cwd=project.server)
    found, listed = code("MCP tools", "found ="), code("MCP tools", "await worker")
    last = "    await runner.run()"
    tool = f"{code('Slow tools', '@')}\nasync def slow(params: FunctionCallParams):\n"
    tool += '    """Wait."""\n    await params.result_callback("done")\n'
    edit(
        project,
        imports + "\nfrom pipecat.services.llm_service import FunctionCallParams",
        tool,
        (last, f"    {found}\n    {listed}\n{last}"),
        ("SileroVADAnalyzer())", code("Speech detection", "Silero") + ")"),
        (
            "context, user_params",
            f"context, {code('Long conversations', 'assistant_')}, user_params",
        ),
        tool="slow",
    )
    said = bots.must(*DEV, "pyright", "bot.py", cwd=project.server)
    assert "0 errors, 0 warnings, 0 informations" in said
    python = "from pipecat.utils.context import llm_context_summarization as it; it."
    name = code("Long conversations", "LLMAutoContextSummarizationConfig")
    bots.must("uv", "run", "python", "-c", python + name, cwd=project.server)
    bots.must("uv", "run", "python", "-c", imports, cwd=project.server)
