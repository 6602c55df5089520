"""What tests of owners are told, and the stand-ins and the clock that they use."""

import hashlib
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import date
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from pipecat.frames.frames import FunctionCallResultProperties

import vbot.calls
import vbot.facts
from fakes import SENTENCES
from vbot import Needs
from vbot.calls import dial, update_at_twilio
from vbot.testing import Api, Bot, Carriers, Clock, Role, Script, Services, Tester, program, values
from vbot.testing import carriers as module
from vbot.testing.clock import tell_time_of_test
from vbot.testing.people import person
from vbot.testing.stand_in import Unexpected
from vbot.testing.tools import called


class Shop(Api):
    address_in, key_in = "SHOP_URL", "SHOP_KEY"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.expect(request.path == "/orders", "the shop has no such path")
        return web.json_response({"id": 1}, status=201)


ROLES = {"carriers": Role("carriers", Carriers, addresses={module.VARIABLE: "{}"})}


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    async with Services(ROLES, values.AnyValue()).serve(tmp_path) as services:
        services.begin_test(None)
        yield services


async def order(services: Services, path: str = "/orders", key: str = "test-shop-key") -> int:
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {key}"}) as http:
        url = services.env_of_own["SHOP_URL"] + path
        async with http.post(f"{url}?now=1", json={"tea": 3}) as response:
            return response.status


async def test_an_api_notes_what_it_was_asked(services: Services) -> None:
    assert await order(services) == 201
    asked = {"method": "POST", "path": "/orders", "query": {"now": "1"}, "body": {"tea": 3}}
    assert services.of(Shop).requests == [asked]
    assert services.script.wrong() == []
    assert services.env["SHOP_KEY"] == "test-shop-key"


async def test_an_api_refuses_another_key_and_is_down(services: Services) -> None:
    assert await order(services, key="none") == 401
    await services.of(Shop).fail(503)
    assert await order(services) == 503
    services.begin_test(None)
    assert await order(services) == 201
    assert len(services.of(Shop).requests) == 1


async def test_what_an_api_would_not_have_taken_fails_the_test(services: Services) -> None:
    assert await order(services, "/order") == 400
    assert services.script.wrong() == ["the shop has no such path (POST /order)"]


@pytest.fixture
def twilio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vbot.calls, "post", module.actual)
    for name in ("ACCOUNT_SID", "AUTH_TOKEN"):
        monkeypatch.setenv(f"TWILIO_{name}", name)
    for name in ("API_KEY", "EDGE", "REGION"):
        monkeypatch.delenv(f"TWILIO_{name}", raising=False)


async def test_a_carrier_shows_what_the_caller_hears_next(services: Services, twilio: None) -> None:
    module.ask_here(services.env[module.VARIABLE])
    await update_at_twilio("CA1", dial("+15551234567", SENTENCES))
    carrier = services.of(Carriers)
    assert carrier.next == ["dial +15551234567", f"say {SENTENCES.nobody_answers}"]
    assert [asked["host"] for asked in carrier.requests] == ["api.twilio.com"]
    await carrier.fail(404)
    with pytest.raises(RuntimeError, match="^404 "):
        await update_at_twilio("CA1", dial("+15551234567", SENTENCES))


async def test_the_other_carriers(services: Services, twilio: None) -> None:
    module.ask_here(services.env[module.VARIABLE])
    carrier, key = services.of(Carriers), {"Authorization": "Bearer key"}
    transfer = "https://api.telnyx.com/v2/calls/v3:1/actions/transfer"
    await vbot.calls.post(transfer, headers=key, json={"to": "+1555"})
    assert carrier.next == ["dial +1555", "bot"]
    account = "https://api.plivo.com/v1/Account/1/Call/2/"
    await vbot.calls.post(account, headers=key, json={"aleg_url": "https://bot.example/dial"})
    assert carrier.next == ["XML of https://bot.example/dial"]
    with pytest.raises(RuntimeError, match="^400 "):
        await vbot.calls.post("https://api.telnyx.com/v2/calls", headers=key, json={})
    assert "v2/calls" in services.script.wrong()[0]


async def test_the_rest_interface_of_asterisk(services: Services, twilio: None) -> None:
    """As vbot.calls and vbot.asterisk.dialout ask it: a transfer, and a call out."""
    module.ask_here(services.env[module.VARIABLE])
    carrier, key = services.of(Carriers), {"Authorization": "Basic dmJvdDp2Ym90"}
    address = module.ARI["ASTERISK_ARI_URL"]
    chosen = {"variable": "SHARED(BOT_NEXT,PJSIP/caller-00000001)", "value": "201"}
    await vbot.calls.post(f"{address}/asterisk/variable", headers=key, params=chosen)
    assert carrier.next == ["dial 201"]
    wanted = {"endpoint": "Local/201@bot-out/n"}
    await vbot.calls.post(f"{address}/channels", headers=key, json=wanted)
    assert [asked["path"] for asked in carrier.requests] == [
        "/ari/asterisk/variable",
        "/ari/channels",
    ]
    assert services.script.wrong() == []
    other = {"variable": "GLOBAL(BOT_NEXT)", "value": "201"}
    with pytest.raises(RuntimeError, match="^400 "):  # the dialplan does not read it
        await vbot.calls.post(f"{address}/asterisk/variable", headers=key, params=other)
    assert "GLOBAL(BOT_NEXT)" in services.script.wrong()[0]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    monkeypatch.setattr(vbot.facts, "now", vbot.facts.now)
    monkeypatch.setenv("CLOCK_OF_TESTS", "")
    tell_time_of_test()
    clock = Clock()
    yield clock
    clock.remove()


def test_a_clock_says_what_it_was_set_to(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIME_ZONE", "Europe/Berlin")
    clock.set("2030-07-01 10:00")
    assert vbot.facts.now().isoformat() == "2030-07-01T10:00:00+02:00"
    clock.set("2030-12-22 10:00")
    assert f"{vbot.facts.now():%A %z}" == "Sunday +0100"
    clock.reset()
    assert abs(vbot.facts.now().timestamp() - vbot.facts.datetime.now().timestamp()) < 5
    with pytest.raises(ValueError):
        clock.set("soon")


@pytest.fixture
def no_values(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("A", "B", "C", "OPENAI_API_KEY", "FALLBACK_NUMBER", "TIME_ZONE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("required", "has"),
    [
        (["SHOP_API_KEY"], {"SHOP_API_KEY": "test-shop-api-key"}),
        ([Needs("A", in_tests="+1555")], {"A": "+1555"}),
        ([Needs("A", "B")], {"A": "test-a"}),
        ([Needs("A", if_set="B")], {}),
        (["B", Needs("A", if_set="B")], {"B": "test-b", "A": "test-a"}),
        ([Needs("A", transport="twilio"), lambda: ["no"]], {"A": "test-a"}),
        (["FALLBACK_NUMBER", "TIME_ZONE"], {"FALLBACK_NUMBER": "+15551234567", "TIME_ZONE": "UTC"}),
        ([], {}),
    ],
)
def test_required_variables_have_values(
    required: Any, has: dict[str, str], no_values: None
) -> None:
    assert values.of(required) == has


def test_the_environment_comes_first(no_values: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("B", "mine")
    assert values.of(["B", Needs("A", "B")]) == {"B": "mine"}
    assert values.AnyValue()["B"] == "mine"
    assert values.keys_of({"llm": Role("OpenAI", key="OPENAI_API_KEY")}) == {
        "OPENAI_API_KEY": "test-openai-api-key"
    }
    assert os.environ["B"] == "mine"


def test_a_tool_that_the_model_does_not_have_is_named() -> None:
    script = Script()
    script.tools = ["hang_up"]
    script.when("Book it.", "Done.", call="book")
    script.conversation = [("user", "Book it.")]
    with pytest.raises(Unexpected, match="^The model has no tool book: add it to TOOLS in agent"):
        script.reply()
    script.tools = ["hang_up", "book"]
    assert script.reply().call == "book"


EXAMPLE = "async def book_appointment(params): ...\n"
URL = "APPOINTMENTS_API_URL"


@pytest.mark.parametrize(
    ("text", "required", "listed", "given"),
    [
        (EXAMPLE, [], [], ["book_appointment"]),
        (EXAMPLE.replace("\n", "\r\n"), ["OTHER"], [], ["book_appointment"]),
        (f"{EXAMPLE}# edited\n", [], [], []),  # so it is the owner's, and TOOLS has to list it
        (EXAMPLE, [URL], [], []),
        (EXAMPLE, [Needs(URL, if_set="OTHER")], [], []),
        (EXAMPLE, [], [len], ["len"]),  # no second time
        ("", [], [], []),  # deleted
    ],
)
def test_the_bot_of_tests_has_the_example_while_it_is_one(
    text: str,
    required: list[Any],
    listed: list[Any],
    given: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorded = {"server/appointments.py": hashlib.sha256(EXAMPLE.encode()).hexdigest()}
    (tmp_path / ".vbot.json").write_text(json.dumps({"files": recorded}))
    (tmp_path / "server").mkdir()
    monkeypatch.chdir(tmp_path / "server")
    if text:
        Path("appointments.py").write_bytes(text.encode())
    module = ModuleType("appointments")
    exec(EXAMPLE, vars(module))
    if listed:
        vars(module)["book_appointment"] = len
    monkeypatch.setitem(sys.modules, "appointments", module)
    agent = SimpleNamespace(TOOLS=listed, REQUIRED=required)
    monkeypatch.setitem(sys.modules, "agent", agent)  # pyright: ignore[reportArgumentType]
    program.add_example()
    assert [tool.__name__ for tool in agent.TOOLS] == given


@pytest.fixture
def bot(tmp_path: Path) -> Bot:
    log = tmp_path / "bot.log"
    log.write_text(
        "12:00 | INFO | vbot.log:see:1 - Connected\n"
        "12:01 | ERROR | vbot.monitor:_on_pipeline_error:1 - The tool book failed: KeyError: 'A'\n"
    )
    return Bot("", log)


async def test_a_failed_tool_is_told_at_once_with_its_error(bot: Bot) -> None:
    script = Script()
    tester = Tester(bot, script)
    script.results = ["The function `book` failed and returned no result."]
    with pytest.raises(AssertionError) as told:
        await tester.until(lambda: False, "say anything")
    assert str(told.value).splitlines()[1] == "The tool book failed: KeyError: 'A'"
    assert script.is_told


async def test_a_healthy_bot_is_waited_for(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(person, "PATIENCE", 0.1)
    caller = person.Person(bot, Script())
    await caller.until(lambda: True, "say anything")
    monkeypatch.setattr(os, "getloadavg", lambda: (0.5, 0.5, 0.5))
    with pytest.raises(AssertionError) as told:
        await caller.until(lambda: False, "say anything")
    said, *log = str(told.value).splitlines()
    assert said == "The bot did not say anything within 0.1 s. It heard no speech."
    assert len(log) == 1 and "The tool book failed" in log[0]


async def test_a_limit_that_passed_is_told_with_what_was_heard_and_the_load(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(person, "PATIENCE", 0.1)
    monkeypatch.setattr(os, "getloadavg", lambda: (17.3, 9.0, 5.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    script = Script()
    caller = person.Person(bot, script)
    script.will_be_spoken("At ten.")
    with pytest.raises(
        AssertionError, match=r" within 0.1 s. It did not hear 'At ten.'.\n"
    ) as told:
        await caller.until(lambda: False, "say anything")
    assert (
        str(told.value).splitlines()[-1].startswith("This machine is busy (load 17.3 on 2 cores)")
    )

    script.heard(b"\xff\x7f" * 100, 16000)
    with pytest.raises(AssertionError, match="It last heard 'At ten.'."):
        await caller.until(lambda: False, "say anything")
    caller.gone.set()
    with pytest.raises(
        AssertionError, match="^The bot hung up and did not say anything. It"
    ) as told:
        await caller.until(lambda: False, "say anything")
    assert "busy" not in str(told.value)


async def test_a_tool_that_does_not_answer_is_told_and_the_machine_is_not_blamed(
    bot: Bot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = "The tool book has not answered within 12 s: it must call params.result_callback."
    with (tmp_path / "bot.log").open("a") as log:
        log.write(f"12:02 | WARNING | vbot.tools:_wait:1 - {told}\n")
    monkeypatch.setattr(os, "getloadavg", lambda: (17.3, 9.0, 5.0))
    script = Script()
    with pytest.raises(AssertionError) as failed:
        await person.Person(bot, script).until(lambda: False, "say anything")
    assert str(failed.value) == f"The bot did not say anything.\n{told}"
    assert script.is_told


async def test_a_tool_that_still_runs_is_named(
    bot: Bot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(person, "PATIENCE", 0.1)
    monkeypatch.setattr(os, "getloadavg", lambda: (17.3, 9.0, 5.0))
    lines = ["book runs: 1", "ask runs: 2", "ask has answered: 2", "go runs: 3"]
    lines.append("go was cancelled: 3")
    log = "".join(f"12:02 | DEBUG | vbot.tools:on_push_frame:1 - Tool {line}\n" for line in lines)
    (tmp_path / "bot.log").write_text(log)
    with pytest.raises(AssertionError) as failed:
        await person.Person(bot, Script()).until(lambda: False, "say anything")
    _, told = str(failed.value).splitlines()
    assert told == "The tool book has not answered: call params.result_callback."


async def test_the_machine_is_not_blamed_for_another_answer(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(person, "PATIENCE", 0.1)
    monkeypatch.setattr(os, "getloadavg", lambda: (17.3, 9.0, 5.0))
    script = Script()
    script.said = ["You said: At ten."]
    with pytest.raises(AssertionError, match=" It said 'You said: At ten.'. ") as failed:
        await person.Person(bot, script).until(lambda: False, "say 'Done.'")
    assert "busy" not in str(failed.value)


async def test_what_the_model_was_told_is_shown(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sentence that never reached the model is not in it."""
    monkeypatch.setattr(person, "PATIENCE", 0.1)
    script = Script()
    script.told([("assistant", "Hello."), ("user", "At ten.")])
    with pytest.raises(AssertionError, match="The model was last told 'At ten.'.\n"):
        await person.Person(bot, script).until(lambda: False, "say anything")


async def test_a_model_that_speaks_takes_no_typed_text(bot: Bot) -> None:
    tester = Tester(bot, Script())
    tester.script.takes_text = False
    with pytest.raises(AssertionError, match="use `speaks`"):
        await tester.types("Hello.")


IN_UVICORN = """\
ERROR:    Exception in ASGI application
Traceback (most recent call last):
  File "{server}/.venv/lib/uvicorn/a.py", line 9, in run_asgi
    result = await app(scope)
  File "<frozen runpy>", line 88, in _run_code
  File "bot.py", line 90, in build
    tools = vbot.tools_of(agent.TOOLS)
  File "{server}/vbot/tools.py", line 12, in tools_of
    raise Exception(name)
Exception: Direct function opening_hours must be async
INFO:     connection closed
"""
IN_A_GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "{server}/bot.py", line 9, in main
  |     run()
  | ExceptionGroup: unhandled errors (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "{server}/hours.py", line 5, in hours
    |     return HOURS[day]
    | KeyError: 'Montag'
    +------------------------------------
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            IN_UVICORN,
            "ERROR:    Exception in ASGI application\n"
            "Exception: Direct function opening_hours must be async "
            "(bot.py, line 90, in build: tools = vbot.tools_of(agent.TOOLS))",
        ),
        (IN_A_GROUP, "KeyError: 'Montag' (hours.py, line 5, in hours: return HOURS[day])"),
        ("INFO:     Started server process [1]\n12:00 | INFO | a - No errors\n", ""),
    ],
)
def test_exceptions_that_no_service_caused_are_told(tmp_path: Path, text: str, told: str) -> None:
    """With the last line of the owner's that led to them. A quiet log has none."""
    log = tmp_path / "bot.log"
    log.write_text(text.format(server=person.SERVER))
    assert Bot("", log).errors() == told


def test_the_last_words_of_a_bot_that_did_not_start(tmp_path: Path) -> None:
    log = tmp_path / "bot.log"
    log.write_text("12:00 | INFO | pipecat - Pipecat\nTests have no value for A.\n")
    assert Bot("", log).last_words() == "Tests have no value for A."
    log.write_text("Traceback:\nNameError: a\n")
    assert Bot("", log).last_words() == "Traceback:\nNameError: a"


def answering(*answers: Any, **properties: Any) -> Any:
    """A tool that answers this."""

    async def tool(params: Any) -> None:
        for answer in answers:
            given = FunctionCallResultProperties(**properties) if properties else None
            await params.result_callback(answer, properties=given)

    return tool


@pytest.mark.parametrize("answer", ["Done.", {"booked": True}, [1, None], ""])
async def test_a_tool_that_answers_once_is_called(answer: Any) -> None:
    params = await called(answering(answer, run_llm=False))
    assert params.result_callback.await_args.args == (answer,)


async def test_a_tool_that_reports_what_it_does_answers_once() -> None:
    async def slow(params: Any) -> None:
        await answering("Half of it.", is_final=False)(params)
        await params.result_callback(result="All of it.")

    await called(slow)


@pytest.mark.parametrize(
    ("tool", "fault"),
    [
        (answering(), "^The tool tool has not answered: call params.result_callback.$"),
        (answering("a", is_final=False), "^The tool tool has not answered"),
        (answering("a", "b"), "^The tool tool has answered 2 times: only the first one counts.$"),
        (
            answering({"day": date(2030, 12, 24)}),
            "^The tool tool failed: its answer is no JSON: Object of type date is not JSON",
        ),
    ],
)
async def test_a_tool_whose_answer_no_model_gets_is_noticed(tool: Any, fault: str) -> None:
    with pytest.raises(AssertionError, match=fault):
        await called(tool)
