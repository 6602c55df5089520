"""Calls out: POST /dialout has Asterisk call somebody, through its REST interface (ARI).

When the person answers, Asterisk connects them to the bot as any other call: with the extension
`talk` of the context `bot`.
"""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, HTTPException
from loguru import logger
from pydantic import BaseModel, ConfigDict, Field

from vbot.bearer import authorize
from vbot.calls import RING_SECONDS, ask_ari, has_ari

MAX_CALL = 1000  # characters of what Asterisk is told for the bot; it has a line for them

Number = Annotated[str, Field(pattern=r"^\+?[0-9]{2,20}$")]  # or an extension

router = APIRouter(dependencies=[Depends(authorize)])


class Wanted(BaseModel):
    """A request for a call, and values that the model may be told: see facts_about in bot.py."""

    model_config = ConfigDict(extra="forbid")
    phone_number: Number
    caller_id: Number | None = None  # what the telephone there shows; None leaves it to Asterisk
    data: dict[Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")], str | int | float | bool] = {}


@router.post("/dialout")
async def call(wanted: Wanted) -> dict[str, str]:
    """Have Asterisk call a number, and then connect the person to the bot."""
    if not has_ari():
        missing = "ASTERISK_ARI_URL, ASTERISK_ARI_USER and ASTERISK_ARI_PASSWORD"
        raise HTTPException(
            501, f"set {missing} in .env: Asterisk makes calls by its REST interface"
        )
    taken = {"from", "to", "call", "channel"} & wanted.data.keys()
    if taken:
        raise HTTPException(422, f"data has names of the call itself: {', '.join(sorted(taken))}")
    values = {"call": "out", "to": wanted.phone_number} | wanted.data
    told = ",".join(f"{name}={quote(str(value), safe='')}" for name, value in values.items())
    if len(told) > MAX_CALL:
        raise HTTPException(422, f"data is too long: {MAX_CALL} characters, as in an address")
    channel = {
        "endpoint": f"Local/{wanted.phone_number}@bot-out/n",
        "context": "bot",
        "extension": "talk",
        "priority": 1,
        "timeout": RING_SECONDS,
        "variables": {"BOT_CALL": told},
    }
    shown = {"callerId": wanted.caller_id} if wanted.caller_id else {}
    try:
        await ask_ari("channels", json=channel | shown)
    except Exception as e:
        logger.error(f"Asterisk made no call: {e}")
        raise HTTPException(502, "Asterisk made no call; see the log") from e
    return {"status": "started"}
