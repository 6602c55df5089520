"""A bot on one machine with a real language model: it answers, streams, and calls a tool.

The model is the smallest that answers at all, so the questions are plain. All of them, and all
answers, are speech.
"""

import asyncio
import contextlib
import difflib
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import asking
import bots
import editing
import evals
import network
import small_model
from asking import greeted, pauses
from caller import until
from ollama import Ollama, served
from runners import PassedOn
from webrtc_client import WebRTCCaller
from weights import installed_weights, own_bot, save, transcribed

pytestmark = pytest.mark.alone  # it measures time, and the models need all cores

CAPITALS = {
    "What is the capital of France?": "paris",
    "What is the capital of Japan?": "tokyo",
    "What is the capital of Italy?": "rome",
}
STORY = "Tell me a story about a cat."
TIME = "What time is it in Paris?"

TOOL = '''
async def get_time(params: FunctionCallParams, city: str):
    """Get the current time in a city.

    Args:
        city: The city.
    """
    print(f"ASKED FOR {city}", flush=True)
    await params.result_callback({"time": "four o'clock"})
'''


@dataclass
class Answer:
    """An answer that somebody heard, and how long it took."""

    seconds: float  # from the end of the question
    written: str  # by the model
    sound: bytes


@pytest.fixture(scope="module")
def model() -> Path:
    return small_model.installed_model()


@pytest.fixture(scope="module")
def real(vbot: Path) -> bots.Project:
    return own_bot(vbot, "my-bot-real")


@pytest.fixture(scope="module")
def questions(real: bots.Project) -> dict[str, bytes]:
    return asking.spoken(real, (*CAPITALS, STORY, TIME))


@contextlib.asynccontextmanager
async def talking(
    project: bots.Project, model: Path, home: Path
) -> AsyncIterator[tuple[bots.Bot, bots.Bot]]:
    """The bot and the model's server, behind Ollama's interface, without a network."""
    env = {"HOME": str(home), "OLLAMA_MODEL": small_model.NAME}
    runner = PassedOn(lambda: small_model.served(model))
    ollama = Ollama(small_model.NAME, runner)
    async with network.silence(), served(ollama), project.bot(env) as bot:
        yield bot, runner.server
        assert bot.errors() == []
        assert ollama.finished == len(ollama.loads) == 1


async def first_sound(caller: WebRTCCaller, pcm: bytes) -> float:
    """Ask, and wait for the sound of an answer: the seconds from the end of the question."""
    before = len(caller.heard)
    asked = await asking.say(caller, pcm)
    return await asking.sound_after(caller, before) - asked


async def ask(caller: WebRTCCaller, pcm: bytes) -> Answer:
    """Ask, and listen to the whole answer."""
    before, told, said = len(caller.heard), len(caller.messages), pauses(caller)
    seconds = await first_sound(caller, pcm)
    await until(lambda: pauses(caller) > said, 60)
    written = [m["data"]["text"] for m in caller.messages[told:] if m["type"] == "bot-llm-text"]
    return Answer(seconds, "".join(written), bytes(caller.heard[before:]))


def check(project: bots.Project, answer: Answer, word: str, folder: Path) -> None:
    """The model wrote the word, and what it wrote can be heard."""
    written = answer.written.lower()
    assert word in written, written
    ears = installed_weights() / "moonshine_voice/assets/tiny-en"
    heard = transcribed(project, "moonshine", ears, save(folder / f"{word}.wav", answer.sound))
    # The small ears mistake a name for a similar one.
    assert difflib.SequenceMatcher(None, written, heard).ratio() > 0.7, f"{written}: {heard}"


def seconds(answers: list[Answer]) -> str:
    return ", ".join(f"{answer.seconds:.1f}" for answer in answers) + " s"


def memory(bot: bots.Bot, server: bots.Bot) -> str:
    of_bot, of_model = (small_model.resident(program) for program in (bot, server))
    return f"bot {of_bot:.0f} MB, model {of_model:.0f} MB"


def test_it_speaks_while_the_model_writes(
    real: bots.Project, model: Path, questions: dict[str, bytes], figures: list[str], tmp_path: Path
) -> None:
    async def conversation() -> list[Answer]:
        async with talking(real, model, tmp_path) as (bot, server):
            async with greeted(bot) as caller:  # another conversation, as the model stays brief
                story = await first_sound(caller, questions[STORY])
                assert await small_model.writes(server), "all was written before a word was heard"
            async with greeted(bot) as caller:
                answers = [await ask(caller, questions[question]) for question in CAPITALS]
            figures.append(f"question to sound, one person: {seconds(answers)}")
            figures.append(f"question to sound, a long answer: {story:.1f} s")
            figures.append(f"memory, one person: {memory(bot, server)}")
            figures.append(await small_model.speed(server, STORY))
        return answers

    for answer, word in zip(network.run(conversation), CAPITALS.values(), strict=True):
        check(real, answer, word, tmp_path)


def test_two_people_at_once(
    real: bots.Project, model: Path, questions: dict[str, bytes], figures: list[str], tmp_path: Path
) -> None:
    asked = list(CAPITALS)

    async def conversations() -> list[Answer]:
        async with talking(real, model, tmp_path) as (bot, server):
            async with greeted(bot) as one, greeted(bot) as other:
                answers: list[Answer] = []
                for pair in (asked[:2], asked[1:]):
                    people = zip((one, other), pair, strict=True)
                    both = (ask(person, questions[question]) for person, question in people)
                    answers += await asyncio.gather(*both)
                first, second = seconds(answers[:2]), seconds(answers[2:])
                figures.append(f"question to sound, two at once: {first}, then {second}")
                figures.append(f"memory, two people: {memory(bot, server)}")
        return answers

    words = [CAPITALS[question] for question in (*asked[:2], *asked[1:])]
    for answer, word in zip(network.run(conversations), words, strict=True):
        check(real, answer, word, tmp_path)


def test_it_passes_its_eval(real: bots.Project, model: Path, tmp_path: Path) -> None:
    async def evaluation() -> dict[str, str]:
        async with talking(real, model, tmp_path) as (bot, _):
            return await evals.hold(real, bot, real.server / f"evals/{evals.TEXT}.yaml")

    assert network.run(evaluation) == {evals.TEXT: ""}


def examples() -> list[dict[str, object]]:
    """A conversation in which the tool is called, because a model this small needs an example."""

    def said(role: str, text: str) -> dict[str, object]:
        return {"role": role, "content": text}

    def called(city: str) -> list[dict[str, object]]:
        function = {"name": "get_time", "arguments": json.dumps({"city": city})}
        call = {"id": f"call-{city}", "type": "function", "function": function}
        question = said("user", f"What time is it in {city}?")
        return [question, {"role": "assistant", "tool_calls": [call]}]

    result = {"tool_call_id": "call-Tokyo", **said("tool", '{"time": "nine o\'clock"}')}
    return [
        said("user", "What is a cat?"),
        said("assistant", "A cat is a small animal that many people keep at home."),
        *called("Rome"),
        *called("Tokyo"),
        result,
        said("assistant", "In Tokyo it is nine o'clock."),
        *called("Madrid"),
    ]


@pytest.fixture
def tooled(real: bots.Project) -> Iterator[bots.Project]:
    """The bot with a tool, and with examples."""
    agent, bot = real.server / "agent.py", real.server / "bot.py"
    made, source = agent.read_text(), bot.read_text()
    imports = "from pipecat.services.llm_service import FunctionCallParams"
    agent.write_text(editing.above_tools(editing.with_imports(made, imports), TOOL, "get_time"))
    begins = ("context = LLMContext(", f"context = LLMContext({examples()!r}, ")
    bot.write_text(editing.replaced(source, begins))
    yield real
    agent.write_text(made)
    bot.write_text(source)


def test_the_model_calls_a_tool(
    tooled: bots.Project,
    model: Path,
    questions: dict[str, bytes],
    figures: list[str],
    tmp_path: Path,
) -> None:
    async def conversation() -> list[Answer]:
        async with talking(tooled, model, tmp_path) as (bot, _), greeted(bot) as caller:
            answers = [await ask(caller, questions[TIME])]
            assert "ASKED FOR Paris\n" in bot.log
            answers.append(await ask(caller, questions["What is the capital of France?"]))
            assert bot.log.count("ASKED FOR") == 1  # it is the model that decides
        figures.append(f"question to sound, with a tool: {answers[0].seconds:.1f} s")
        return answers

    for answer, word in zip(network.run(conversation), ("four", "paris"), strict=True):
        check(tooled, answer, word, tmp_path)
