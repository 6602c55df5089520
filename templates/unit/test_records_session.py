"""A record says what happened in a session: who, when, how it ended, and what it used."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from pipecat.frames import frames
from pipecat.metrics.metrics import (
    LLMTokenUsage,
    LLMUsageMetricsData,
    STTUsage,
    STTUsageMetricsData,
    TTFBMetricsData,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.runner.types import DailyRunnerArguments, RunnerArguments
from pipecat.workers.runner import WorkerRunner

from fakes import SENTENCES, Ears, Line, Model, Voice, streamed
from vbot import Conversation, Service, TransferFrame, calls, facts, records
from vbot.hosting.sessions import Sessions
from vbot.log import Turn
from vbot.records.folder import Fields, Folder
from vbot.records.session import bot_version, latency

SCHEMA = json.loads((Path(records.__file__).with_name("schema.json")).read_text())
TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}


def check(value: Any, schema: Any = SCHEMA, where: str = "record") -> None:
    """Check a value by what schema.json uses of JSON Schema."""
    unknown = schema.keys() - {
        *("$schema", "title", "description", "type", "enum", "format", "minimum"),
        *("additionalProperties", "required", "properties", "items"),
    }
    assert not unknown, unknown
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        assert isinstance(value, tuple(TYPES[name] for name in types)), f"{where}: {value!r}"
    if "enum" in schema:
        assert value in schema["enum"], f"{where}: {value!r}"
    if "minimum" in schema and value is not None:
        assert value >= schema["minimum"], f"{where}: {value!r}"
    if schema.get("format") == "date-time" and value is not None:
        assert value.endswith("Z") and len(value) == 24, f"{where}: {value!r}"
    if isinstance(value, dict) and "properties" in schema:
        assert list(value) == list(schema["properties"]) == schema["required"], where
        for name, inner in value.items():
            check(inner, schema["properties"][name], f"{where}.{name}")
    if isinstance(value, list):
        for number, inner in enumerate(value):
            check(inner, schema["items"], f"{where}[{number}]")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    monkeypatch.setenv("RECORDS", str(tmp_path))
    for name in ("RECORDS_TEXT", "RECORDS_NUMBERS", "RECORDS_WEBHOOK", "BOT_VERSION"):
        monkeypatch.delenv(name, raising=False)
    records.keeper.cache_clear()
    return Folder(tmp_path)


def written(folder: Folder) -> list[Fields]:
    """Return the records that are written once the sessions have ended."""
    records.keeper()._writer.submit(lambda: None).result(10)
    found = [json.loads(line) for path in folder.days() for line in path.read_bytes().splitlines()]
    for record in found:
        check(record)
    return found


class Talk:
    """One session of a bot: what bot.py does, and what happens then."""

    def __init__(self, happens: Callable[["Talk"], Awaitable[None]], **more: Any) -> None:
        self.happens, self.more = happens, more
        self.line, self.model, self.voice, self.ears = Line(), Model("answers"), Voice(), Ears()
        self.call: calls.Call | None = None

    async def bot(self, arguments: RunnerArguments) -> None:
        if self.call:
            calls.of_transport[self.line] = self.call
        records.begin(arguments, self.line)
        user, assistant = LLMContextAggregatorPair(LLMContext())
        parts = [self.line.input(), self.ears, user, self.model, self.voice, self.line.output()]
        self.worker = PipelineWorker(
            Pipeline([*parts, assistant]),
            params=PipelineParams(enable_metrics=True, enable_usage_metrics=True),
            idle_timeout_secs=self.more.pop("idle", 60),
        )
        services = {
            self.ears: Service("Ears", "EARS_KEY"),
            self.model: Service("Model", "MODEL_KEY"),
            self.voice: Service("Voice", "VOICE_KEY"),
        }
        self.conversation = Conversation(
            self.worker, self.line, arguments, services, SENTENCES, **self.more
        )
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(self.worker)

        @self.line.event_handler("on_client_disconnected")
        async def on_client_disconnected(transport: Any, client: Any) -> None:
            await runner.cancel()

        @self.worker.event_handler("on_pipeline_started")
        async def on_pipeline_started(worker: Any, frame: Any) -> None:
            await self.line.connect_client()
            await self.happens(self)

        await runner.run()

    async def leave(self) -> None:
        await self.line._call_event_handler("on_client_disconnected", "somebody")

    async def told(self, *several: frames.Frame) -> None:
        await self.worker.queue_frames(list(several))
        await asyncio.sleep(0.1)


async def recorded(
    folder: Folder,
    happens: Callable[[Talk], Awaitable[None]],
    arguments: RunnerArguments | None = None,
    call: calls.Call | None = None,
    **more: Any,
) -> Fields:
    talk = Talk(happens, **more)
    talk.call = call
    served = arguments or streamed("twilio", from_number="+15551230001", to_number="+15559990000")
    task = asyncio.create_task(talk.bot(served))
    await asyncio.wait([task])
    await asyncio.sleep(0)
    [record] = written(folder)
    return record


async def leaves(talk: Talk) -> None:
    await talk.leave()


def ends(frame: frames.Frame) -> Callable[[Talk], Awaitable[None]]:
    """The bot ends the session. Its transport then says that the client has left."""

    async def happens(talk: Talk) -> None:
        await talk.told(frame)
        await talk.leave()

    return happens


async def fails(talk: Talk) -> None:
    talk.conversation.monitor.end_because("Model does not work. Check MODEL_KEY.")


async def says_nothing(talk: Talk) -> None:
    pass


@pytest.mark.parametrize(
    ("happens", "ended_by"),
    [
        (leaves, "person"),
        (ends(frames.EndFrame()), "bot"),
        (ends(frames.EndWorkerFrame()), "bot"),
        (ends(frames.EndFrame(reason="silence")), "silence"),
        (ends(frames.EndWorkerFrame(reason="voicemail")), "voicemail"),
        (ends(frames.CancelFrame(reason="failure: The call failed: busy")), "failure"),
    ],
)
async def test_how_sessions_end(happens: Any, ended_by: str, folder: Folder) -> None:
    record = await recorded(folder, happens)
    assert record["ended_by"] == ended_by
    assert record["problems"] == (["The call failed: busy"] if ended_by == "failure" else [])
    assert record["id"] == "the-session" and record["language"] == "en-US"
    assert (record["transport"], record["direction"]) == ("twilio", "inbound")
    assert (record["from"], record["to"]) == ("+15551230001", "+15559990000")
    assert record["started_at"] < record["ended_at"] and 0 < record["duration_seconds"] < 10


async def test_a_caller_who_says_nothing(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILENCE_SECONDS", "0.1")
    assert (await recorded(folder, says_nothing))["ended_by"] == "silence"


async def test_a_session_in_which_nothing_happens(folder: Folder) -> None:
    page = RunnerArguments(session_id="p")
    record = await recorded(folder, says_nothing, page, idle=0.3)
    assert record["ended_by"] == "silence" and record["direction"] is None


async def test_a_service_that_fails(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vbot.monitor.APOLOGY_TAKES", 0.2)
    record = await recorded(folder, fails)
    assert record["ended_by"] == "failure"
    assert record["problems"] == ["Model does not work. Check MODEL_KEY."]


async def test_a_bot_that_cannot_be_built(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("test_records_session.LLMContext", lambda: 1 // 0)
    record = await recorded(folder, leaves)
    assert record["ended_by"] == "failure" and record["turns"] == []
    assert record["problems"] == ["ZeroDivisionError: integer division or modulo by zero"]


class Transferable(calls.Call):
    refuses = False

    async def connect(self, number: str, caller_id: str = "") -> None:
        if self.refuses:
            raise RuntimeError(f"400 {number} is not valid")


async def transfers(talk: Talk) -> None:
    await talk.told(TransferFrame("+15557650001"))
    await talk.leave()


async def comes_back(talk: Talk) -> None:
    await talk.told(TransferFrame("+15557650001"))
    await talk.conversation.log._tell("person", asyncio.get_running_loop().time() + 1, "Hello?")
    await talk.leave()


async def takes_to_fallback(talk: Talk) -> None:
    assert talk.conversation.transfers.fallback
    await talk.conversation.transfers.fallback(False)
    await talk.leave()


async def test_transfers(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FALLBACK_NUMBER", "+15557650000")
    for happens, ended_by, to in (
        (transfers, "transferred", "+15557650001"),
        (comes_back, "person", "+15557650001"),
        (takes_to_fallback, "fallback", "+15557650000"),
    ):
        record = await recorded(folder, happens, call=Transferable())
        assert (record["ended_by"], record["transferred_to"]) == (ended_by, to)
        assert record["problems"] == []
        folder.delete("the-session")


async def test_a_transfer_that_is_refused(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FALLBACK_NUMBER", "+15557650000")
    call = Transferable()
    call.refuses = True
    record = await recorded(folder, takes_to_fallback, call=call)
    assert record["ended_by"] == "person" and record["transferred_to"] is None
    said = "The caller was not connected to FALLBACK_NUMBER: 400 +15557650000 is not valid"
    assert record["problems"] == [said]


async def test_what_hosting_ends(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    for why, ended_by in (("time", "time_limit"), ("stopped", "shutdown"), ("", "person")):
        talk = Talk(leaves if not why else says_nothing)
        sessions = Sessions(talk.bot, 2)
        sessions.open()
        session = sessions.reserve(is_call=True)
        session.max_seconds = 0.5 if why == "time" else 60
        task = sessions.start(session, streamed("twilio"))
        if why == "stopped":
            await asyncio.sleep(0.5)
            await sessions.drain(0.1)
        await asyncio.wait([task])
        await asyncio.sleep(0)
        [record] = written(folder)
        assert record["ended_by"] == ended_by
        folder.delete("the-session")


async def test_a_bot_that_is_stopped(folder: Folder) -> None:
    """As by Ctrl-C."""

    async def happens(talk: Talk) -> None:
        task.cancel()

    talk = Talk(happens)
    task = asyncio.create_task(talk.bot(RunnerArguments(session_id="one")))
    await asyncio.wait([task])
    await asyncio.sleep(0)
    assert [record["ended_by"] for record in written(folder)] == ["shutdown"]


async def speaks(talk: Talk) -> None:
    """A person asks, the bot calls tools and answers; then it is interrupted."""
    await talk.told(frames.VADUserStartedSpeakingFrame(start_secs=0.2))
    await talk.told(frames.VADUserStoppedSpeakingFrame(stop_secs=0.2))
    await talk.line.input().push_frame(frames.LLMContextUserTurnFrame("A table?", "now"))
    await asyncio.sleep(0.2)
    for name, error in (("book", None), ("pay", "ValueError: no money")):
        await talk.model.push_frame(
            frames.FunctionCallInProgressFrame(name, name, {"seats": 2, "odd": float("nan")})
        )
        await asyncio.sleep(0.1)
        await talk.model.push_frame(
            frames.FunctionCallResultFrame(name, name, {}, {"id": 7}, error=error)
        )
    for data in (
        LLMUsageMetricsData(
            processor=talk.model.name,
            model="m",
            value=LLMTokenUsage(
                prompt_tokens=100,
                completion_tokens=20,
                total_tokens=220,  # the cached ones are not among the prompt's
                cache_read_input_tokens=100,
            ),
        ),
        STTUsageMetricsData(processor=talk.ears.name, model="", value=STTUsage(audio_seconds=1.25)),
        TTFBMetricsData(processor=talk.voice.name, value=0.3),
    ):
        await talk.told(frames.MetricsFrame(data=[data]), frames.MetricsFrame(data=[data]))
    await talk.told(frames.BotStartedSpeakingFrame(), frames.InterruptionFrame())
    await talk.line.output().push_frame(frames.LLMContextAssistantTurnFrame("Booked.", "now"))
    await asyncio.sleep(0.1)
    await talk.leave()


@pytest.mark.parametrize("with_text", [False, True])
async def test_what_is_said_done_and_used(
    with_text: bool, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECORDS_TEXT", "true" if with_text else "false")
    monkeypatch.setenv("RECORDS_NUMBERS", "last4")
    monkeypatch.setenv("BOT_VERSION", "7")
    bot_version.cache_clear()
    record = await recorded(folder, speaks, with_transcript=not with_text)
    person, bot = record["turns"]
    assert (person["who"], bot["who"], bot["interrupted"]) == ("person", "bot", True)
    assert person["answered_after_seconds"] is None and person["interrupted"] is None
    assert person["at"] < bot["at"] and 0.4 < bot["answered_after_seconds"] < 2
    waited = bot["answered_after_seconds"]
    assert record["latency_seconds"] == {"median": waited, "p95": waited, "worst": waited}
    book, pay = record["tools"]
    assert (book["name"], book["succeeded"]) == ("book", True)
    assert (pay["name"], pay["succeeded"]) == ("pay", False)
    assert 0.05 < book["seconds"] < 0.5
    usage = {used.pop("service"): used for used in record["usage"]}
    none = dict.fromkeys(usage["Voice"])
    assert usage == {
        "Model": none | {"model": "m", "tokens_in": 400, "tokens_cached": 200, "tokens_out": 40},
        "Ears": none | {"seconds": 2.5},
        "Voice": none | {"characters": None},
    }
    assert (record["from"], record["to"]) == ("…0001", "…0000")
    assert record["bot_version"] == "7"
    text = json.dumps(record)
    if with_text:
        assert (person["text"], bot["text"]) == ("A table?", "Booked.")
        assert book["arguments"] == {"seats": 2, "odd": "NaN"} and book["result"] == {"id": 7}
        assert pay["result"] == "ValueError: no money"
    else:
        assert not [word for word in ("table", "Booked", "seats", "money") if word in text]
    assert "555" not in text


async def test_data_and_calls_over_daily(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    page = RunnerArguments(
        session_id="../etc/pa:ss", body={"customer": "Ada", "many": "x" * 20_000}
    )
    record = await recorded(folder, leaves, page)
    assert record["id"] == "_etc_pa_ss" and record["from"] is None
    assert record["data"].startswith('{"customer": "Ada"') and len(record["data"]) == 10_001
    folder.delete(record["id"])
    request = {
        "dialin_settings": {"From": "+15551230001", "To": "+15559990000", "call_id": "c"},
        "daily_api_key": "a-key",
    }
    dialin = DailyRunnerArguments(room_url="https://x.daily.co/r", body=request, session_id="d")
    facts.over_daily[id(dialin)] = dialin
    record = await recorded(folder, leaves, dialin, call=calls.Call())
    assert (record["transport"], record["direction"], record["data"]) == ("daily", "inbound", None)
    assert (record["from"], record["to"]) == ("+15551230001", "+15559990000")
    assert "a-key" not in json.dumps(record)
    folder.delete("d")
    sip = RunnerArguments(
        session_id="s",
        body={"sip_uri": "sip:a@example.com", "data": {"order": 7}, "signature": "signed"},
    )
    facts.over_daily[id(sip)] = sip

    class Outgoing(calls.Call):
        is_outgoing = True

    record = await recorded(folder, leaves, sip, call=Outgoing())
    assert (record["to"], record["direction"]) == ("sip:a@example.com", "outbound")
    assert record["data"] == {"order": 7} and record["transport"] == "daily"


async def test_a_session_that_is_killed(folder: Folder) -> None:
    """Its file in running/ is the record that the next start writes."""

    async def happens(talk: Talk) -> None:
        records.keeper()._writer.submit(lambda: None).result(10)
        [running] = folder.running.iterdir()
        killed.append(json.loads(running.read_bytes()))
        await talk.leave()

    killed: list[Fields] = []
    await recorded(folder, happens)
    check(killed[0])
    assert killed[0]["ended_by"] == "interrupted" and killed[0]["ended_at"] is None
    assert killed[0]["from"] == "+15551230001" and killed[0]["duration_seconds"] is None


async def test_a_recording_is_named(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "SERVER", folder.path)
    name = "20261128-090000-000000-the-session.wav"
    (folder.path / "recordings").mkdir()
    for one in (name, name.replace("the-session", "the-session-2")):
        (folder.path / "recordings" / one).write_bytes(b"")
    record = await recorded(folder, leaves)
    assert record["recording"] == f"recordings/{name}"


async def test_a_disk_that_fails_changes_no_session(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, log: list[str]
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    for name in ("begin", "end"):
        monkeypatch.setattr(Folder, name, full)
    talk = Talk(leaves)
    await asyncio.create_task(talk.bot(streamed("twilio")))
    await asyncio.sleep(0)
    assert written(folder) == []
    lost = "The record of session the-session could not be written: [Errno 28] No space left on"
    assert [line for line in log if line.startswith(lost)]


async def test_without_records_there_is_none(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECORDS")
    talk = Talk(leaves)
    await asyncio.create_task(talk.bot(streamed("twilio")))
    await asyncio.sleep(0)
    assert records.keeper.cache_info().currsize == 0 and records.current.get() is None


def test_percentiles() -> None:
    turns = [Turn("bot", 0.0, "", waited=float(seconds)) for seconds in range(1, 21)]
    assert latency(turns) == {"median": 10.5, "p95": 19.0, "worst": 20.0}
    assert latency(turns[:1]) == {"median": 1.0, "p95": 1.0, "worst": 1.0}
    assert latency([Turn("person", 0.0, "")]) is None
