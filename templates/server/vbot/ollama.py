"""Loads the language model of Ollama, and lets people know when they have to wait for it.

Ollama stops loading a model when the client that asked for it disconnects, as happens when a person
interrupts the bot. So a request of its own loads the model: all sessions wait for it, and none
cancels it. What this module says about Ollama is from its source of August 2026 (server/sched.go).
"""

import asyncio
import os
import sys
import time
from typing import Any

import aiohttp
import openai
from loguru import logger
from pipecat.frames.frames import Frame, LLMContextFrame, TTSSpeakFrame, UserStartedSpeakingFrame
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import (
    FrameDirection,
    FrameProcessor,
    FrameProcessorSetup,
)
from pipecat.processors.frameworks.rtvi.frames import RTVIServerMessageFrame
from pipecat.services.ollama.llm import OLLamaLLMService

from vbot import reading
from vbot.reading import ReadingAhead

ADDRESS = "http://localhost:11434"  # unless OLLAMA_BASE_URL is set
KEEP_ALIVE = "24h"  # how long the model stays in memory unused; Ollama's default is 5 minutes
LOADED_WITHIN = 1  # seconds in which Ollama answers a request to load a model that is loaded
ANSWERS_WITHIN = 2  # seconds in which a server answers while it loads a model
CHECKED_EVERY = 5  # seconds


class NotAModel(openai.OpenAIError):
    """What answers has no interface for language models. The text is its status."""


class Model:
    """A model of Ollama. All sessions of the program share one object.

    Args:
        server: The address of Ollama, without "/v1".
        name: The model's name, as for `ollama pull`.
    """

    def __init__(self, server: str, name: str):
        self.server, self.name = server, name
        self.problem = ""  # why it could not be loaded
        self.sessions = 0  # that use it
        self._reads = asyncio.Lock()  # ahead
        self._load: asyncio.Task[None] | None = None

    def load(self) -> asyncio.Task[None]:
        """Have the model loaded if it is not, and return the task that waits for it.

        To be called before each question: meanwhile Ollama may have unloaded the model to make room
        for another, and a request with a question cannot say how long the model is to stay.
        """
        if not self._load or self._load.done():
            self._load = asyncio.create_task(self._request_load())
        return self._load

    def may_read_ahead(self) -> bool:
        """Whether it can read a part of a question without keeping anybody waiting."""
        return self.sessions == 1 and not self.is_loading() and not self._reads.locked()

    async def read_ahead(self, llm: OLLamaLLMService, context: LLMContext) -> None:
        """Have the model read a conversation that goes on, unless it does so already."""
        if self._reads.locked():
            return
        async with self._reads:
            try:
                await self.read(llm, context)
            except openai.OpenAIError as e:  # the question will tell
                logger.debug(f"{self.name} has not read ahead: {e}")

    def is_loading(self) -> bool:
        return bool(self._load and not self._load.done())

    async def _request_load(self) -> None:
        """Ask for the model without a prompt: Ollama answers when it is loaded."""
        limits = aiohttp.ClientTimeout(total=None, sock_connect=ANSWERS_WITHIN)
        body = {"model": self.name, "keep_alive": KEEP_ALIVE}
        self.problem = ""
        try:
            async with (
                aiohttp.ClientSession(timeout=limits) as http,
                http.post(f"{self.server}/api/generate", json=body) as response,
            ):
                if response.status != 200:
                    self.problem = await error_of(response)
        except (aiohttp.ClientError, OSError) as e:
            self.problem = str(e) or type(e).__name__
        if self.problem:
            logger.debug(f"{self.name} at {self.server} was not loaded: {self.problem}")

    async def is_reachable(self) -> bool:
        """Whether a server answers at the address, even a busy one or one that is not Ollama."""
        return (await self._get("/api/version"))[0]

    async def names(self) -> list[str]:
        """Return the names of the models that Ollama has; none if it is another server."""
        _, found = await self._get("/api/tags")
        models = found.get("models", []) if isinstance(found, dict) else []
        return [str(model["name"]).removesuffix(":latest") for model in models]

    async def _get(self, path: str) -> tuple[bool, Any]:
        """Return whether the server answers, and what; None if that is not JSON."""
        limit = aiohttp.ClientTimeout(total=ANSWERS_WITHIN)
        try:
            async with (
                aiohttp.ClientSession(timeout=limit) as http,
                http.get(self.server + path) as response,
            ):
                is_json = response.content_type == "application/json"
                return True, await response.json() if is_json else None
        except (aiohttp.ClientError, OSError, ValueError):
            return False, None

    async def read(self, llm: OLLamaLLMService, context: LLMContext) -> None:
        """Have the model read a conversation that has just begun, to be faster when it goes on.

        Raises openai.OpenAIError, and NotAModel if another kind of server answers.
        """
        settings: Any = llm.settings
        invocation = await llm.get_llm_adapter().get_llm_invocation_params(
            context,
            system_instruction=settings.system_instruction,
            convert_developer_to_user=True,
        )
        request = llm.build_chat_completion_params(invocation) | {"stream": False, "max_tokens": 1}
        del request["stream_options"]
        address = f"{self.server}/v1"
        async with openai.AsyncOpenAI(base_url=address, api_key="none", max_retries=0) as client:
            answer: Any = await client.chat.completions.create(**request)
        if not getattr(answer, "choices", None):  # such as a page of a proxy
            raise NotAModel("200 OK")


async def error_of(response: aiohttp.ClientResponse) -> str:
    """Return what Ollama says is wrong; of another server, the status."""
    try:
        return str((await response.json())["error"])
    except (aiohttp.ClientError, ValueError, LookupError, TypeError):
        return f"{response.status} {response.reason}"


_models: dict[tuple[str, str], Model] = {}  # by address and name


def service_of(llm: Any) -> OLLamaLLMService | None:
    """Return the service of Ollama that answers now: `llm`, or one in a switcher of failover.py."""
    strategy = getattr(llm, "strategy", None)
    service = strategy.active_service if strategy else llm
    return service if isinstance(service, OLLamaLLMService) else None


def model_of(service: OLLamaLLMService) -> Model:
    address = os.getenv("OLLAMA_BASE_URL", ADDRESS)
    key = address.rstrip("/").removesuffix("/v1"), str(service.settings.model)
    return _models.setdefault(key, Model(*key))


class ModelLoader(FrameProcessor):
    """Holds questions until the language model, which comes next in the pipeline, is loaded.

    Args:
        llm: The language model.
        context: The conversation.
        still_loading: Said to a person who has to wait.
    """

    def __init__(self, llm: Any, context: LLMContext, still_loading: str):
        super().__init__()
        self._llm, self._context, self._still_loading = llm, context, still_loading
        self._reading: asyncio.Task[None] | None = None
        self._ahead: ReadingAhead | None = None
        self._model: Model | None = None  # whose sessions include this one
        self._telling: asyncio.Task[None] | None = None

    def delays_answer(self) -> bool:
        """Whether the model is being loaded, so that questions are not answered yet."""
        service = service_of(self._llm)
        return bool(service and model_of(service).is_loading())

    async def setup(self, setup: FrameProcessorSetup):
        await super().setup(setup)
        if not (service := service_of(self._llm)):
            return
        model = self._model = model_of(service)
        model.sessions += 1
        if not (reading.is_on() and reading.is_on_this_machine(model.server, model.name)):
            return
        if hear := reading.ear_of(setup.pipeline_worker.pipeline):

            async def read(words: str) -> None:
                said: Any = {"role": "user", "content": words}
                context = LLMContext([*self._context.messages, said], tools=self._context.tools)
                await model.read_ahead(service, context)

            self._ahead = ReadingAhead(hear, read, model.may_read_ahead)

    async def process_frame(self, frame: Frame, direction: FrameDirection):
        await super().process_frame(frame, direction)
        if self._ahead:
            self._ahead.take(frame)
        if service := service_of(self._llm):
            match frame:
                case TTSSpeakFrame(text=greeting) if not self._reading:
                    self._reading = self.create_task(self._read_ahead(service, greeting))
                case UserStartedSpeakingFrame():
                    model_of(service).load()  # while the person speaks
                case LLMContextFrame(context=context):
                    if self._ahead:
                        await self._ahead.stop(last_words(context))
                    await self._wait_for(model_of(service))
        await self.push_frame(frame, direction)

    async def _wait_for(self, model: Model) -> None:
        """Wait while the model is loaded. A server that does not answer is left to monitor.py."""
        load = model.load()
        await asyncio.wait({load}, timeout=LOADED_WITHIN)
        if load.done() or not await model.is_reachable():
            return
        if not self._telling or self._telling.done():
            self._telling = self.create_task(self._tell_page(model, load))
        await self.push_frame(TTSSpeakFrame(self._still_loading, append_to_context=False))
        while not load.done() and await model.is_reachable():
            await asyncio.wait({load}, timeout=CHECKED_EVERY)

    async def _tell_page(self, model: Model, load: asyncio.Task[None]) -> None:
        """Tell the page that the model is loading, and when it is loaded."""
        logger.warning(f"A person waits while {model.server} loads {model.name}")
        await self.push_frame(RTVIServerMessageFrame(data={"loading": model.name}))
        await asyncio.wait({load})
        await self.push_frame(RTVIServerMessageFrame(data={"loading": ""}))

    async def _read_ahead(self, service: OLLamaLLMService, greeting: str) -> None:
        """Have the model read, while the greeting is spoken, what comes before a question."""
        model = model_of(service)
        await asyncio.wait({model.load()})
        spoken: Any = {"role": "assistant", "content": greeting}
        context = LLMContext([*self._context.messages, spoken], tools=self._context.tools)
        await model.read_ahead(service, context)

    async def cleanup(self):
        if self._ahead:
            await self._ahead.close()
        if self._model:
            self._model.sessions -= 1
            self._model = None
        for task in (self._reading, self._telling):
            if task:
                await self.cancel_task(task)
        await super().cleanup()


def last_words(context: LLMContext) -> str:
    """Return what the person has said last."""
    last: Any = context.messages[-1] if context.messages else None
    content = last.get("content") if isinstance(last, dict) else None
    return content if isinstance(content, str) else ""


async def prepare(llm: Any) -> list[str]:
    """Load the model and have it read the instruction, before the first session.

    Returns:
        What is wrong, and what helps: a line for each problem.
    """
    service = service_of(llm)
    if not service:
        return []
    model = model_of(service)
    if not model.server.startswith(("http://", "https://")):
        return [f"OLLAMA_BASE_URL in .env must begin with http://, as in http://{model.server}."]
    load = model.load()
    await _show_progress(model, load)
    if not await model.is_reachable():
        return [f"Nothing answers at {model.server}: start Ollama, or set OLLAMA_BASE_URL in .env."]
    names = await model.names()
    if model.problem and names:  # servers other than Ollama have no such request
        if model.name.removesuffix(":latest") not in names:
            return [
                f"There is no model {model.name} at {model.server}. Run: ollama pull {model.name}, "
                f"or set OLLAMA_MODEL in .env to one that is there: {', '.join(names)}."
            ]
        return [f"{model.server} cannot load {model.name}: {model.problem}"]
    try:
        await model.read(service, LLMContext([{"role": "user", "content": "Hello"}]))
    except NotAModel as e:
        return [not_ollama(model, str(e))]
    except openai.APIStatusError as e:
        if not says_why(e.response):
            return [not_ollama(model, f"{e.status_code} {e.response.reason_phrase}")]
        if isinstance(e, openai.NotFoundError):
            help_ = f"Run: ollama pull {model.name}"
            return [f"There is no model {model.name} at {model.server}. {help_}"]
        return [f"{model.name} at {model.server} does not answer: {e.message}"]
    except openai.APIError as e:
        return [f"{model.name} at {model.server} does not answer: {e.message}"]
    return []


def not_ollama(model: Model, status: str) -> str:
    return f"What answers at {model.server} is not Ollama ({status}). Set OLLAMA_BASE_URL in .env."


def says_why(response: Any) -> bool:
    """Whether an answer has the form of an error of Ollama, or of OpenAI's interface."""
    try:
        return "error" in response.json()
    except (ValueError, TypeError):
        return False


async def _show_progress(model: Model, load: asyncio.Task[None]) -> None:
    """Show how long the model has been loading, in a terminal on one line."""
    started_at = time.monotonic()
    await asyncio.wait({load}, timeout=LOADED_WITHIN)
    is_terminal = sys.stderr.isatty()
    begin, end, every = ("\r", "", 1) if is_terminal else ("", "\n", 10)
    while not load.done():
        line = f"Loading {model.name} at {model.server}: {time.monotonic() - started_at:.0f} s"
        print(begin + line, end=end, file=sys.stderr, flush=True)
        await asyncio.wait({load}, timeout=every)
        if load.done() and is_terminal:
            print(file=sys.stderr)
