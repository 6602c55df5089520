"""Outgoing calls: POST /dialout creates a room and starts the bot, which calls from that room."""

from typing import TypeVar

import aiohttp
from fastapi import APIRouter, Depends, HTTPException, Request
from pydantic import BaseModel, ConfigDict, ValidationError

from vbot import daily
from vbot.bearer import authorize
from vbot.webhooks import no_room, read, start_bot

W = TypeVar("W", bound="Wanted")


class Wanted(BaseModel):
    """A request for a call, and values that the model may be told: see facts_about in bot.py."""

    model_config = ConfigDict(extra="forbid")
    data: daily.Values = {}


class TelephoneWanted(Wanted):
    phone_number: daily.PhoneNumber


class SipAddressWanted(Wanted):
    sip_uri: daily.SipUri


to_telephones = APIRouter(dependencies=[Depends(authorize)])
to_sip_addresses = APIRouter(dependencies=[Depends(authorize)])


@to_telephones.post("/dialout")
async def call_telephone(request: Request) -> dict[str, str]:
    """Have the bot call a telephone."""
    wanted = await wanted_by(request, TelephoneWanted)
    return await call(request, daily.PstnDialout, wanted, wanted.phone_number)


@to_sip_addresses.post("/dialout")
async def call_sip_address(request: Request) -> dict[str, str]:
    """Have the bot call a SIP address."""
    wanted = await wanted_by(request, SipAddressWanted)
    user = wanted.sip_uri.partition(":")[2].partition("@")[0]
    return await call(request, daily.SipDialout, wanted, user)


async def wanted_by(request: Request, kind: type[W]) -> W:
    """Return what a request asks for.

    FastAPI would read the body of a declared parameter before it asks for the key.
    """
    try:
        return kind.model_validate_json(await read(request))
    except ValidationError as e:
        raise HTTPException(422, e.errors(include_url=False, include_input=False)) from e


async def call(
    request: Request, kind: type[daily.Call], wanted: Wanted, called: str
) -> dict[str, str]:
    """Create a room and start the bot, which calls the person from that room."""
    session: aiohttp.ClientSession = request.app.state.session
    try:
        room = await daily.make_dialout_room(session, called)
    except Exception as e:
        raise no_room(e) from e
    fields = {"room_url": room.room_url, "token": room.token} | wanted.model_dump()
    await start_bot(session, kind.model_validate(fields))
    return {"status": "started", "room_url": room.room_url}
