"""A tool that books appointments at an API of your own: an example, which is yours.

The bot has this tool once agent.py lists it: RECIPES.md says how. Delete the file if you have
other tools, and its tests in tests/test_agent.py with it.
"""

import os

import aiohttp
from pipecat.services.llm_service import FunctionCallParams

TIMEOUT = aiohttp.ClientTimeout(total=8)  # seconds, in which the person hears nothing
TAKEN = "This time is taken. Offer another one."
DOWN = "The calendar cannot be reached. Say so, and offer to call back."


async def book_appointment(params: FunctionCallParams, day: str, time: str, name: str):
    """Book an appointment, once the person has said when and who comes.

    Args:
        day: Such as 2030-12-24.
        time: Such as 14:30.
        name: Of the person who comes.
    """
    url = f"{os.environ['APPOINTMENTS_API_URL']}/appointments"
    key = {"Authorization": f"Bearer {os.environ['APPOINTMENTS_API_KEY']}"}
    wanted = {"day": day, "time": time, "name": name}
    result: dict[str, object] = {"booked": True}
    try:
        async with aiohttp.ClientSession(timeout=TIMEOUT, headers=key) as http:
            async with http.post(url, json=wanted) as response:
                if response.status == 409:
                    result = {"booked": False, "reason": TAKEN}
                else:
                    response.raise_for_status()
    except (aiohttp.ClientError, TimeoutError):
        result = {"booked": False, "reason": DOWN}
    await params.result_callback(result)
