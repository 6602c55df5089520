"""The changes to agent.py and bot.py in a project's README.md and RECIPES.md work unchanged."""

import ast
import time
from collections.abc import Iterator
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

import bots
import editing
import network
import recipes
from caller import until
from conversation import ANSWER, GREETING, KEYS, QUESTION, called
from realtime import RealtimeOpenAI
from recipes import follow
from services import Call, Cartesia, Deepgram, OpenAI
from standins import Service, StandIns
from test_bots import CASCADE, REALTIME
from webrtc_client import call

DAY = "2030-12-24"
TURNS = ("RECIPES.md", "Turns and interruptions")
ASIDE = "Absolutely, absolutely."


@pytest.fixture(scope="module")
def made(vbot: Path) -> bots.Project:
    project = bots.generate(vbot, bots.PROJECTS / "readme", "quickstart")
    project.sync()
    project.write_env(**KEYS)
    return project


@pytest.fixture
def project(made: bots.Project) -> Iterator[bots.Project]:
    """A project whose agent.py and bot.py are restored after each test."""
    files = recipes.read(made)
    yield made
    recipes.write(made, files)


def stand_ins(said: list[str], answers: dict[str, str | Call], *more: Service) -> StandIns:
    return StandIns(
        Deepgram(KEYS["DEEPGRAM_API_KEY"], [*said, GREETING, ANSWER]),
        Model(KEYS["OPENAI_API_KEY"], GREETING, answers),
        Cartesia(KEYS["CARTESIA_API_KEY"]),
        *more,
    )


SUMMARY = "Somebody asked about France."


class Model(OpenAI):
    """A model that can also summarize, in a response that is not streamed."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if body.get("stream"):
            return await super().handle(request)
        self.note("summarize", **body)
        message = {"role": "assistant", "content": SUMMARY}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m"}
        return web.json_response(head | {"choices": [choice]})


def test_the_model_calls_the_tool(vbot: Path, project: bots.Project) -> None:
    """The tool of README.md also sends the page a message, as client/README.md says."""
    follow(project, "README.md", "Tools", recipes.tool)
    options = ("-t", "smallwebrtc", *CASCADE, "--client-framework", "react")
    made = bots.generate(vbot, bots.PROJECTS / "readme-client", "readme-client", *options)
    title = "A message of your own"
    follow(project, "client/README.md", title, recipes.message, of=made)
    answer = Call("days_until", {"day": DAY}, then=ANSWER)
    days = (date.fromisoformat(DAY) - date.today()).days
    told = {"today": str(date.today()), "days": days}

    async def conversation() -> None:
        async with (
            stand_ins([QUESTION], {QUESTION: answer}) as services,
            project.bot(services.env) as bot,
            called(bot) as caller,
        ):
            await caller.say(QUESTION)
            await caller.hear(ANSWER)
            _, asked, answered = services.requests("openai", "chat")
            [tool] = asked["tools"]
            described = tool["function"]
            assert described["parameters"]["required"] == ["day"]
            assert DAY in described["description"]
            calls, result = answered["messages"][-2:]
            assert calls["tool_calls"][0]["function"]["name"] == answer.call
            assert ast.literal_eval(result["content"]) == told
            await caller.receive("server-message", lambda data: data == {"days": told["days"]})
            assert bot.errors() == []

    network.run(conversation)


@pytest.mark.parametrize("name", ["user_turn_strategies", "user_mute_strategies"])
def test_turns_and_interruptions_change(project: bots.Project, name: str) -> None:
    """Somebody speaks two words while the bot greets: it goes on. Then it is asked."""
    follow(project, *TURNS, partial(recipes.turns, only=name))
    patient = name == "user_turn_strategies"

    async def conversation() -> None:
        async with (
            stand_ins([ASIDE, QUESTION], {QUESTION: ANSWER}) as services,
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


def test_a_realtime_model_is_patient_and_not_interrupted(vbot: Path) -> None:
    """It is told to wait longer, as README.md says. Who speaks while the bot does is not heard."""
    patient = bots.installed(vbot, "patient", "-t", "smallwebrtc", *REALTIME)
    patient.write_env(OPENAI_API_KEY=KEYS["OPENAI_API_KEY"])
    follow(patient, "README.md", "Turns and interruptions", recipes.service_turns)
    follow(patient, *TURNS, partial(recipes.turns, only="user_mute_strategies"))
    model = RealtimeOpenAI(KEYS["OPENAI_API_KEY"], GREETING, {QUESTION: ANSWER})

    async def conversation() -> None:
        async with (
            StandIns(model) as services,
            patient.bot(services.env) as bot,
            call(bot.url) as caller,
        ):
            await caller.ready()
            await caller.receive("bot-started-speaking")
            await caller.say(ASIDE)
            await caller.hear(GREETING)
            await caller.receive("bot-stopped-speaking")
            await caller.say(QUESTION)
            await caller.hear(ANSWER)
            heard = [asked["text"] for asked in services.requests("realtime", "heard")]
            assert heard == [QUESTION]
            [settings, *_] = services.requests("realtime", "session.update")
            detection = settings["session"]["audio"]["input"]["turn_detection"]
            assert detection["eagerness"] == "low"
            assert bot.errors() == []

    network.run(conversation)


LONG = " ".join(["all of this is long"] * 1700)  # more than 8000 tokens, as the framework counts


def test_a_long_conversation_is_summarized(project: bots.Project) -> None:
    """The bot, whose voice detection is stricter, continues with the summary."""
    follow(project, "RECIPES.md", "Long conversations", recipes.long_conversations)
    follow(project, "RECIPES.md", "Speech detection", recipes.speech_detection)

    async def conversation() -> None:
        async with (
            stand_ins([QUESTION], {QUESTION: ANSWER, LONG: ANSWER}) as services,
            project.bot({**services.env, "MAX_MESSAGE_CHARS": "100000"}) as bot,
            called(bot) as caller,
        ):

            async def ask() -> None:
                caller.heard.clear()
                await caller.say(QUESTION)
                await caller.hear(ANSWER)
                await caller.receive("bot-stopped-speaking")
                caller.messages.clear()

            caller.messages.clear()
            await ask()
            await ask()
            await caller.type(LONG)
            await caller.receive("bot-stopped-speaking")
            caller.messages.clear()
            await ask()
            await ask()
            await ask()
            assert len(services.requests("openai", "summarize")) > 0
            last = services.requests("openai", "chat")[-1]["messages"]
            assert SUMMARY in str(last) and LONG not in str(last)
            assert bot.errors() == []

    network.run(conversation)


FOUR = "Four people."


class Waiter(Model):
    """Calls the tool of the first step, and does what the second says."""

    def answer_to(self, messages: list[dict[str, Any]]) -> str | Call:
        asks = str(messages[-1]["content"]).startswith("Ask on which day 4 people")
        return ANSWER if asks else super().answer_to(messages)


def test_the_model_goes_through_steps(project: bots.Project) -> None:
    """Each step has its task and its tools, and those of the bot."""
    follow(project, "README.md", "Tools", recipes.tool)
    follow(project, "RECIPES.md", "Steps of a conversation", recipes.steps)
    answers: dict[str, str | Call] = {FOUR: Call("note_people", {"people": 4})}
    services = StandIns(
        Deepgram(KEYS["DEEPGRAM_API_KEY"], [FOUR, GREETING, ANSWER]),
        Waiter(KEYS["OPENAI_API_KEY"], GREETING, answers),
        Cartesia(KEYS["CARTESIA_API_KEY"]),
    )

    async def conversation() -> None:
        async with services, project.bot(services.env) as bot, called(bot) as caller:
            await caller.say(FOUR)
            await caller.hear(ANSWER)
            first, *_, last = services.requests("openai", "chat")
            assert "friendly assistant" in first["messages"][0]["content"]
            assert "Ask how many people" in str(first["messages"])
            tools = [{t["function"]["name"] for t in asked["tools"]} for asked in (first, last)]
            assert tools == [{"note_people", "days_until"}, {"days_until"}]
            assert bot.errors() == []

    network.run(conversation)


SLOW = '''
async def slow(params: FunctionCallParams):
    """Take a long time."""
    import asyncio

    await asyncio.sleep(8)
    await params.result_callback("it is done")
'''
SLOWLY = "Please take a long time."


def test_the_conversation_goes_on_beside_a_slow_tool(project: bots.Project) -> None:
    """Its answer reaches the model, though somebody has interrupted it meanwhile."""
    slow = partial(recipes.slow_tool, function=SLOW)
    follow(project, "RECIPES.md", "Slow tools", slow)
    answers: dict[str, str | Call] = {SLOWLY: Call("slow", {}, then=ANSWER), QUESTION: ANSWER}

    async def conversation() -> None:
        async with (
            stand_ins([SLOWLY, QUESTION], answers) as services,
            project.bot(services.env) as bot,
            called(bot) as caller,
        ):
            await caller.say(SLOWLY)
            await until(lambda: len(services.requests("openai", "chat")) > 1, 10)
            await caller.say(QUESTION)
            await caller.hear(ANSWER)
            assert "it is done" not in str(services.requests("openai", "chat"))
            await until(lambda: "it is done" in str(services.requests("openai", "chat")), 15)
            assert "it is done" in str(services.requests("openai", "chat")[-1]["messages"])
            assert bot.errors() == []

    network.run(conversation)


class Tools(Service):
    """A server of the Model Context Protocol, with one tool.

    https://modelcontextprotocol.io/specification/2025-06-18/basic/transports
    """

    name, host = "mcp", "tools.example.com"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.expect(request.path == "/mcp", f"no such path: {request.path}")
        if request.method != "POST":
            return web.Response(status=405)  # it sends nothing by itself
        asked = await request.json()
        self.note(asked["method"], **asked.get("params") or {})
        if "id" not in asked:
            return web.Response(status=202)
        results: dict[str, Any] = {
            "tools/list": {"tools": [self.tool]},
            "tools/call": {"content": [{"type": "text", "text": "It rains."}]},
        }
        if asked["method"] == "initialize":
            result = {
                "protocolVersion": asked["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "tools", "version": "1"},
            }
        else:
            self.expect(asked["method"] in results, f"method {asked['method']}")
            result = results[asked["method"]]
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "result": result})

    tool: dict[str, Any] = {
        "name": "weather",
        "description": "Tell the weather.",
        "inputSchema": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    }


def test_the_model_calls_a_tool_of_a_server(project: bots.Project) -> None:
    follow(project, "RECIPES.md", "MCP tools", recipes.mcp_tools)
    bot_py = project.server / "bot.py"
    at = ("YOUR_URL", f"https://{Tools.host}/mcp")
    bot_py.write_text(editing.replaced(bot_py.read_text(), at))
    answers: dict[str, str | Call] = {QUESTION: Call("weather", {"city": "Paris"}, then=ANSWER)}

    async def conversation() -> None:
        async with (
            stand_ins([QUESTION], answers, Tools()) as services,
            project.bot(services.env) as bot,
            called(bot) as caller,
        ):
            await caller.say(QUESTION)
            await caller.hear(ANSWER)
            [asked] = services.requests("mcp", "tools/call")
            assert (asked["name"], asked["arguments"]) == ("weather", {"city": "Paris"})
            assert "It rains." in services.requests("openai", "chat")[-1]["messages"][-1]["content"]
            assert bot.errors() == []

    network.run(conversation)


def test_the_settings_of_summaries_exist(project: bots.Project) -> None:
    section = editing.documents(project.folder)["RECIPES.md", "Long conversations"]
    name = section.code("LLMAutoContextSummarizationConfig")
    code = f"from pipecat.utils.context.llm_context_summarization import {name}"
    bots.must("uv", "run", "python", "-c", code, cwd=project.server)


def test_a_bot_names_the_settings_that_it_lacks(project: bots.Project) -> None:
    """One that is always needed; and one that is needed only with another, once that is set."""
    follow(project, "AGENTS.md", "Settings", recipes.variables)
    env = project.server / ".env"
    before = env.read_text()

    def lacks(*settings: str) -> str:
        env.write_text(before + "".join(f"{setting}\n" for setting in settings))
        done = bots.run("uv", "run", "bot.py", cwd=project.server, timeout=60)
        assert done.returncode != 0
        return done.stdout + done.stderr

    assert "Set NAME in .env" in lacks()
    assert "Set OTHER in .env" in lacks("NAME=1")
    env.write_text(before)
