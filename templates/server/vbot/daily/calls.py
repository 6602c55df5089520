"""Telephone calls over Daily: one class for each kind."""

import contextlib
import hmac
import json
import os
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any, ClassVar
from xml.sax.saxutils import escape

from fastapi import HTTPException
from loguru import logger
from pipecat.pipeline.worker import PipelineWorker
from pipecat.runner.types import DailyDialinRequest, DailyRunnerArguments, RunnerArguments
from pipecat.transports.base_transport import BaseTransport
from pipecat.transports.daily.transport import DailyParams, DailyTransport
from pydantic import BaseModel, Field, PrivateAttr

from vbot import calls
from vbot.daily.rooms import delete_room, transfer_at_daily
from vbot.sentences import Sentences

MAX_ATTEMPTS = 3  # to reach the person

Values = dict[str, str | int | float | bool]  # by their names
PhoneNumber = Annotated[str, Field(pattern=r"^\+[1-9][0-9]{6,14}$")]  # such as +15551234567
SipUri = Annotated[str, Field(pattern=r"^sips?:[^@\s]+@[^@\s]+$")]  # such as sip:alice@example.com


class Call(BaseModel, calls.Call):
    """A telephone call that webhooks.py starts, and the Daily room in which the bot joins it."""

    room_url: str = Field(pattern=r"^https://[A-Za-z0-9-]+\.daily\.co/[A-Za-z0-9_-]+$")
    token: str  # the bot needs it to join
    until: int = 0  # Unix time, from which on the bot refuses it
    signature: str = ""

    def signed(self) -> dict[str, Any]:
        """Return it with a signature that the bot accepts for a minute."""
        self.until = int(time.time()) + 60
        self.signature = self._sign()
        return self.model_dump()

    def _sign(self) -> str:
        """Sign with a key that webhooks.py and the bot have, and nobody else."""
        fields = self.model_dump(exclude={"until", "signature"}) | {"until": self.until}
        text = json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
        return hmac.new(os.environ["DAILY_API_KEY"].encode(), text.encode(), "sha256").hexdigest()

    @classmethod
    def authentic(cls, body: Any) -> "Call":
        """Return the call that webhooks.py signed. Raises HTTPException 401 for any other."""
        for kind in (PstnDialout, SipDialout, TwilioSipDialin):
            with contextlib.suppress(ValueError):
                call = kind.model_validate(body)
                if hmac.compare_digest(call.signature.encode(), call._sign().encode()):
                    if call.until > time.time():
                        return call
        raise HTTPException(401, "webhooks.py did not sign this call within the last minute")

    def transport(self, params: DailyParams) -> DailyTransport:
        """Return the transport that joins the room."""
        return DailyTransport(self.room_url, self.token, "Pipecat Bot", params=params)


class Dialout(Call):
    """A call that the bot makes."""

    is_outgoing: ClassVar[bool] = True
    _transport: DailyTransport = PrivateAttr()

    def address(self) -> dict[str, str]:
        """Return who is called, as Daily takes it."""
        raise NotImplementedError

    def attach(
        self, transport: BaseTransport, worker: PipelineWorker, sentences: Sentences
    ) -> None:
        """Call the person once the bot is in the room. End the session if nobody can be reached."""
        assert isinstance(transport, DailyTransport)
        self._transport = transport
        attempts = 0

        async def call() -> None:
            nonlocal attempts
            attempts += 1
            [called] = self.address().values()
            logger.debug(f"Calling {called!r}, attempt {attempts}")
            _, error = await transport.start_dialout(self.address())
            if error:
                await fail(worker, f"The call cannot be started: {error!r}")

        @transport.event_handler("on_joined")
        async def on_joined(transport: DailyTransport, data: Any) -> None:
            await call()

        @transport.event_handler("on_dialout_answered")
        async def on_dialout_answered(transport: DailyTransport, data: Any) -> None:
            logger.info("The call was answered")

        @transport.event_handler("on_dialout_error")
        async def on_dialout_error(transport: DailyTransport, data: Any) -> None:
            problem = f"The call failed: {data!r}"
            logger.warning(problem)
            if attempts < MAX_ATTEMPTS:
                await call()
            else:
                await worker.cancel(reason=f"failure: {problem}")

    async def connect(self, number: str, caller_id: str = "") -> None:
        """Have Daily connect the call to a number. Raises RuntimeError if it refuses."""
        await transfer_at_daily(self._transport, number)


class PstnDialout(Dialout):
    """A call to a telephone."""

    phone_number: PhoneNumber
    data: Values = {}  # that came with the request

    def address(self) -> dict[str, str]:
        return {"phoneNumber": self.phone_number}


class SipDialout(Dialout):
    """A call to a SIP address."""

    sip_uri: SipUri
    data: Values = {}  # that came with the request

    def address(self) -> dict[str, str]:
        return {"sipUri": self.sip_uri}


class TwilioSipDialin(Call):
    """A call that waits at Twilio until the bot fetches it."""

    sip_uri: str  # of the room
    call_sid: str
    caller: str  # the caller's number
    _sentences: Sentences = PrivateAttr()

    def attach(
        self, transport: BaseTransport, worker: PipelineWorker, sentences: Sentences
    ) -> None:
        """Fetch the call once the room can take it. End the session if that fails."""
        self._sentences = sentences

        @transport.event_handler("on_dialin_ready")
        async def on_dialin_ready(transport: DailyTransport, sip_endpoint: str) -> None:
            logger.debug(f"Fetching call {self.call_sid!r} of {self.caller!r} from Twilio")
            try:
                to = f"<Dial><Sip>{escape(self.sip_uri)}</Sip></Dial>"
                await calls.update_at_twilio(self.call_sid, to)
            except Exception as e:
                await fail(worker, f"Twilio did not hand the call over: {e}")

        end_if_it_fails(transport, worker)

    async def connect(self, number: str, caller_id: str = "") -> None:
        """Have Twilio connect the call, which then leaves the room."""
        xml = calls.dial(number, self._sentences, caller_id)
        await calls.update_at_twilio(self.call_sid, xml)


class DialinCall(calls.Call):
    """A call over PSTN that Daily took, and for which it had the bot started."""

    def __init__(self, transport: BaseTransport):
        assert isinstance(transport, DailyTransport)
        self._transport = transport

    def attach(
        self, transport: BaseTransport, worker: PipelineWorker, sentences: Sentences
    ) -> None:
        end_if_it_fails(transport, worker)

    async def connect(self, number: str, caller_id: str = "") -> None:
        """Have Daily connect the call to a number. Raises RuntimeError if it refuses."""
        await transfer_at_daily(self._transport, number)


async def fail(worker: PipelineWorker, problem: str) -> None:
    """End the session because of a problem, which its record names, too."""
    logger.error(problem)
    await worker.cancel(reason=f"failure: {problem}")


def end_if_it_fails(transport: BaseTransport, worker: PipelineWorker) -> None:
    """End the session if a call that came in fails."""

    @transport.event_handler("on_dialin_error")
    async def on_dialin_error(transport: DailyTransport, data: Any) -> None:
        await fail(worker, f"The call failed: {data!r}")


@contextlib.asynccontextmanager
async def room_of(runner_args: RunnerArguments) -> AsyncIterator[None]:
    """Delete the room of a call after it. Rooms of pages, and others' rooms, are left alone."""
    body, room = runner_args.body, None
    with contextlib.suppress(HTTPException):
        room = (Call.authentic(body).room_url, os.environ["DAILY_API_KEY"])
    if isinstance(runner_args, DailyRunnerArguments):
        with contextlib.suppress(ValueError):
            call = DailyDialinRequest.model_validate(body, from_attributes=True)
            room = (runner_args.room_url, call.daily_api_key, call.daily_api_url)
    try:
        yield
    finally:
        if room:
            await delete_room(*room)
