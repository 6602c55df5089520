"""Tools that compute for two seconds, in a thread or in the bot's own, and who asks for them."""

import bots
from editing import above_tools, with_own_import
from services import Call

IMPORTS = """import asyncio
import time

from pipecat.services.llm_service import FunctionCallParams
"""
TOOLS = '''
def compute():
    """Compute for two seconds, in Python."""
    end = time.monotonic() + 2
    while time.monotonic() < end:
        sum(range(1000))


async def add_up(params: FunctionCallParams):
    """Add up an order."""
    await asyncio.to_thread(compute)
    await params.result_callback("42")


async def look_up(params: FunctionCallParams):
    """Look up old orders."""
    compute()
    await params.result_callback("42")
'''
IN_THREAD, BLOCKING = "How much is my whole order?", "Please look for all that I have bought."
SUM, ORDERS = "Your order is forty two Euros.", "There are many of them in the book."
ANSWERS: dict[str, str | Call] = {
    IN_THREAD: Call("add_up", {}, SUM),
    BLOCKING: Call("look_up", {}, ORDERS),
}
SENTENCES = (SUM, ORDERS)  # of the bot


def add_tools(project: bots.Project) -> None:
    agent = project.server / "agent.py"
    source = with_own_import(agent.read_text(), IMPORTS)
    agent.write_text(above_tools(source, TOOLS, "add_up", "look_up"))
