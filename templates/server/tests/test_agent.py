"""Tests of agent.py. This file is yours: no update changes it.

The example is a tool that books appointments at an API of your own, which is played here. The bot
has it in tests until you change appointments.py, or name its variables in REQUIRED of agent.py.
From then on, TOOLS has to list it.

`script` says what the model answers in a test; what it does not say, the model repeats.
"""

import pytest
from aiohttp import web

from appointments import DOWN, TAKEN, book_appointment
from vbot.testing import Api, Script, Services, Tester, called


class Appointments(Api):
    """Plays the API, in which one time is taken."""

    address_in, key_in = "APPOINTMENTS_API_URL", "APPOINTMENTS_API_KEY"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.expect(request.path == "/appointments", "the API has no such path")
        is_taken = (await request.json())["time"] == "10:00"
        return web.json_response({}, status=409 if is_taken else 201)


ADA = {"day": "2030-12-24", "time": "14:30", "name": "Ada"}


@pytest.fixture
def appointments(services: Services) -> Appointments:
    return services.of(Appointments)


async def test_the_tool_books(appointments: Appointments) -> None:
    params = await called(book_appointment, **ADA)
    params.result_callback.assert_awaited_once_with({"booked": True})
    assert [asked["body"] for asked in appointments.requests] == [ADA]


async def test_a_caller_books(tester: Tester, script: Script, appointments: Appointments) -> None:
    said = "At half past two on Christmas Eve, please."
    script.when(said, "See you then.", call="book_appointment", arguments=ADA)
    await tester.hears(script.greeting)
    await tester.speaks(said)
    await tester.hears("See you then.")
    assert '"booked": true' in script.results[-1]
    assert [asked["body"] for asked in appointments.requests] == [ADA]


async def test_a_time_is_taken(tester: Tester, script: Script) -> None:
    at_ten = ADA | {"time": "10:00"}
    script.when("At ten.", "And at two?", call="book_appointment", arguments=at_ten)
    await tester.hears(script.greeting)
    await tester.speaks("At ten.")
    await tester.hears("And at two?")
    assert TAKEN in script.results[-1]


async def test_the_api_is_down(tester: Tester, script: Script, appointments: Appointments) -> None:
    script.when("At two.", "We will call you.", call="book_appointment", arguments=ADA)
    await appointments.fail(503)
    await tester.hears(script.greeting)
    await tester.speaks("At two.")
    await tester.hears("We will call you.")
    assert DOWN in script.results[-1]
