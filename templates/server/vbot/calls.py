"""Telephone calls: ends them, and connects them to people.

With FALLBACK_NUMBER in .env, a caller is connected to that number when a service fails for good.
On your own machines, also when the bot is full or stopping, and when a session has lasted as long
as it may.
"""

import asyncio
import os
import re
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote
from weakref import WeakKeyDictionary
from xml.sax.saxutils import escape, quoteattr

import aiohttp
from loguru import logger
from pipecat.frames.frames import (
    DataFrame,
    EndWorkerFrame,
    Frame,
    FunctionCallResultProperties,
    TTSSpeakFrame,
)
from pipecat.pipeline.worker import PipelineWorker
from pipecat.runner.types import RunnerArguments, WebSocketRunnerArguments
from pipecat.services.llm_service import FunctionCallParams
from pipecat.transports.base_transport import BaseTransport

from vbot.instructions import ask_model
from vbot.sentences import Sentences

RING_SECONDS = 25  # how long a telephone rings
ENDS = "The call ends after the goodbye, unless the person says something before."  # for the model
SPEAKING_TAKES = 12  # seconds, at most, until the sentence before a transfer has been spoken


async def hang_up(params: FunctionCallParams, goodbye: str):
    """End the call when the person wants to, with a goodbye that is spoken. Say nothing else."""
    await end_call(params, TTSSpeakFrame(goodbye))


async def end_call(params: FunctionCallParams, *speech: Frame) -> None:
    """End the call after this speech, and what is still queued, has been heard.

    A person who speaks meanwhile interrupts the speech. Then the call does not end: what they say
    is answered.
    """
    silent = FunctionCallResultProperties(run_llm=False)
    await params.result_callback(ENDS, properties=silent)  # the tool is done
    end = EndWorkerFrame()
    end.interruptible = True  # so that an interruption drops it with the speech before it
    for frame in (*speech, end):
        await params.llm.push_frame(frame)


@dataclass
class TransferFrame(DataFrame):
    """Has the call connected to a number, after the speech that was queued before it.

    Parameters:
        number: Such as +15551234567.
        caller_id: What the telephone there shows: a number of your account. "" leaves the
            carrier's default, at most carriers the caller's number.
    """

    number: str
    caller_id: str = ""
    interruptible: bool = field(default=False, init=False)


class Call:
    """A telephone call. There is a class for each kind: here, and in vbot/daily."""

    is_outgoing = False  # a call that the bot makes, so that the person speaks first
    can_be_transferred = True

    def attach(
        self, transport: BaseTransport, worker: PipelineWorker, sentences: Sentences
    ) -> None:
        """Do what the call itself needs, before the conversation starts.

        Args:
            transport: Of the conversation.
            worker: Runs the pipeline of the conversation.
            sentences: What a carrier says.
        """

    async def leave(self) -> bool:
        """Leave the caller to the carrier, which goes on. Return whether it can."""
        return False

    async def connect(self, number: str, caller_id: str = "") -> None:
        """Have the carrier connect the call. Raises RuntimeError with the carrier's answer."""
        raise NotImplementedError


class CarrierCall(Call):
    """A call that a carrier streams to the bot. This carrier cannot connect it to a number."""

    def __init__(self, runner_args: WebSocketRunnerArguments):
        self._runner_args = runner_args
        data = runner_args.call_data
        self.id = str((data and data.call_id) or "")  # by which the carrier knows it
        self.can_be_transferred = bool(self.id)

    async def leave(self) -> bool:
        """Close the stream. The carrier goes on with what follows it in its XML, or in its app."""
        await self._runner_args.websocket.close()
        return True

    async def connect(self, number: str, caller_id: str = "") -> None:
        carrier = self._runner_args.transport_type
        raise RuntimeError(f"{carrier} cannot connect a call to a number")


class TwilioCall(CarrierCall):
    _sentences: Sentences

    def attach(
        self, transport: BaseTransport, worker: PipelineWorker, sentences: Sentences
    ) -> None:
        self._sentences = sentences

    async def leave(self) -> bool:
        return False  # after a stream that the bot has closed, Twilio ends the call

    async def connect(self, number: str, caller_id: str = "") -> None:
        await update_at_twilio(self.id, dial(number, self._sentences, caller_id))


class TelnyxCall(CarrierCall):
    async def connect(self, number: str, caller_id: str = "") -> None:
        """Transfer the call. If nobody answers, the caller is with the bot again.

        https://developers.telnyx.com/api-reference/call-commands/transfer-call
        """
        key = os.environ["TELNYX_API_KEY"]
        wanted: dict[str, Any] = {"to": number, "timeout_secs": RING_SECONDS}
        if caller_id:
            wanted["from"] = caller_id
        url = f"https://api.telnyx.com/v2/calls/{self.id}/actions/transfer"
        await post(url, headers={"Authorization": f"Bearer {key}"}, json=wanted)


class PlivoCall(CarrierCall):
    async def connect(self, number: str, caller_id: str = "") -> None:
        """Have Plivo go on with the XML at PLIVO_TRANSFER_URL, or with that of hosting/plivo.py.

        https://www.plivo.com/docs/voice/api/call/transfer-a-call
        """
        account, token = os.environ["PLIVO_AUTH_ID"], os.environ["PLIVO_AUTH_TOKEN"]
        shows = f"?caller_id={quote(caller_id)}" if caller_id else ""
        xml = os.getenv("PLIVO_TRANSFER_URL", "")
        if not xml and (bot := public_url()):
            xml = f"{bot}/plivo/dial/{quote(number)}{shows}"
        if not xml:
            raise RuntimeError("PLIVO_TRANSFER_URL is not set in .env")
        url = f"https://api.plivo.com/v1/Account/{account}/Call/{self.id}/"
        wanted = {"legs": "aleg", "aleg_url": xml, "aleg_method": "POST"}
        await post(url, auth=aiohttp.BasicAuth(account, token), json=wanted)


# Ends Asterisk's connection as an error: no message may be longer than 65,535 bytes. The dialplan
# tells that from HANGUP, after which the call is over, by the cause: 38, not 16.
BREAKS_CONNECTION = bytes(65_536)


class AsteriskCall(CarrierCall):
    """A call that Asterisk connects to the bot. Its dialplan goes on when the bot leaves.

    With Asterisk's REST interface (ARI), the bot chooses the extension with which it goes on.
    """

    def __init__(self, runner_args: WebSocketRunnerArguments):
        super().__init__(runner_args)
        data = runner_args.call_data
        self.is_outgoing = bool(data and data.get("is_outgoing"))
        self._channel = str((data and data.get("channel")) or "")  # of the caller, in Asterisk

    async def leave(self) -> bool:
        """Leave the caller to the dialplan's next line, unless the bot can choose an extension."""
        if has_ari():
            return False
        await self._runner_args.websocket.send_bytes(BREAKS_CONNECTION)
        return True

    async def connect(self, number: str, caller_id: str = "") -> None:
        """Have the dialplan go on with this extension, or with its next line without ARI."""
        if has_ari():
            if not re.fullmatch(r"[\w+*#-]{1,40}", number):
                raise RuntimeError(f"{number!r} is no extension")
            if not re.fullmatch(r"[\w./@:;-]{1,150}", self._channel):
                raise RuntimeError("v(channel=${URIENCODE(${CHANNEL})}) is missing in the dialplan")
            variable = f"SHARED(BOT_NEXT,{self._channel})"
            await ask_ari("asterisk/variable", params={"variable": variable, "value": number})
        await self._runner_args.websocket.send_bytes(BREAKS_CONNECTION)


# The carriers that stream calls to the bot, by the framework's words for them.
CARRIERS: dict[str, type[CarrierCall]] = {
    "twilio": TwilioCall,
    "telnyx": TelnyxCall,
    "plivo": PlivoCall,
    "exotel": CarrierCall,
}

# The calls of Daily and Asterisk, by their transports: create_transport knows that they are calls.
of_transport: WeakKeyDictionary[BaseTransport, Call] = WeakKeyDictionary()


def call_of(runner_args: RunnerArguments, transport: BaseTransport) -> Call | None:
    """Return the call of a conversation, or None if somebody is at a page."""
    if call := of_transport.get(transport):
        return call
    if isinstance(runner_args, WebSocketRunnerArguments):
        if kind := CARRIERS.get(runner_args.transport_type or ""):
            return kind(runner_args)
    return None


class Transfers:
    """The transfers of one conversation.

    Args:
        worker: Runs the pipeline of the conversation.
        call: Of the conversation, if it is one.
        connecting: Said before a caller is connected to FALLBACK_NUMBER; "" to say nothing.

    Attributes:
        connected_to: The number that the carrier connects the caller to; "" if to none.
        connected_at: Unix time at which it was asked to.
        is_at_fallback: Whether that is FALLBACK_NUMBER.
        failures: What carriers have refused, as sentences.
    """

    def __init__(self, worker: PipelineWorker, call: Call | None, connecting: str = ""):
        self._worker, self._call, self._connecting = worker, call, connecting
        self._has_spoken = asyncio.Event()
        self._to_fallback: asyncio.Task[bool] | None = None
        self.connected_to, self.connected_at = "", 0.0
        self.is_at_fallback = False
        self.failures: list[str] = []
        worker.add_reached_downstream_filter((TransferFrame,))
        worker.add_event_handler("on_frame_reached_downstream", self._on_frame)

    @property
    def fallback(self) -> Callable[..., Coroutine[Any, Any, bool]] | None:
        """What connects the caller to FALLBACK_NUMBER; None without a number or a call."""
        if "FALLBACK_NUMBER" in os.environ and self._call and self._call.can_be_transferred:
            return self._take_to_fallback
        return None

    async def _take_to_fallback(self, aloud: bool = True) -> bool:
        """Connect the caller to FALLBACK_NUMBER, once. Return False if the carrier refuses.

        Args:
            aloud: Whether the bot can still say what it does.
        """
        if not self._to_fallback:
            self._to_fallback = asyncio.create_task(self._connect_to_fallback(aloud))
        return await asyncio.shield(self._to_fallback)

    async def _connect_to_fallback(self, aloud: bool) -> bool:
        number = os.environ["FALLBACK_NUMBER"]
        if aloud and self._connecting:
            sentence = TTSSpeakFrame(self._connecting, append_to_context=False)
            await self._worker.queue_frames([sentence, TransferFrame(number)])
            try:
                await asyncio.wait_for(self._has_spoken.wait(), SPEAKING_TAKES)
            except TimeoutError:
                logger.warning("The sentence before the transfer was not spoken in time")
        self._connects(number, is_fallback=True)
        try:
            assert self._call
            if not await self._call.leave():
                await self._call.connect(number)
        except Exception as e:
            self._refused(f"The caller was not connected to FALLBACK_NUMBER: {e}")
            return False
        logger.info("The caller is being connected to FALLBACK_NUMBER")
        return True

    def _connects(self, number: str, is_fallback: bool) -> None:
        # Before the carrier is asked: it may end the session before it answers.
        self.connected_to, self.connected_at = number, time.time()
        self.is_at_fallback = is_fallback

    def _refused(self, problem: str) -> None:
        logger.error(problem)
        self.connected_to = ""
        self.failures.append(problem)

    async def _on_frame(self, worker: PipelineWorker, frame: Frame) -> None:
        if not isinstance(frame, TransferFrame):
            return
        if self._to_fallback and self._connecting:
            self._has_spoken.set()
            return
        try:
            if not self._call or not self._call.can_be_transferred:
                raise RuntimeError("this is not a telephone call")
            self._connects(frame.number, is_fallback=False)
            await self._call.connect(frame.number, frame.caller_id)
        except Exception as e:
            self._refused(f"The call was not put through: {e}")
            news = ask_model("Nobody can take the call. Tell the caller.")
            await worker.queue_frame(news)


def say(sentence: str, language: str, element: str = "Say") -> str:
    """Return the XML with which a carrier says a sentence. Plivo's element is "Speak"."""
    return f"<{element} language={quoteattr(language)}>{escape(sentence)}</{element}>"


def dial(number: str, sentences: Sentences, caller_id: str = "", element: str = "Say") -> str:
    """Return the XML with which a carrier connects a call, or says that nobody answers."""
    shows = f" callerId={quoteattr(caller_id)}" if caller_id else ""
    to = f"<Number>{escape(number)}</Number>"
    calls = f'<Dial timeout="{RING_SECONDS}"{shows}>{to}</Dial>'
    return calls + say(sentences.nobody_answers, sentences.language, element)


def instead_of_the_bot(sentences: Sentences, element: str = "Say") -> str:
    """Return the XML for a call that the bot does not take: FALLBACK_NUMBER, or a sentence."""
    if number := os.getenv("FALLBACK_NUMBER"):
        return dial(number, sentences, element=element)
    return say(sentences.busy, sentences.language, element)


async def post(url: str, **request: Any) -> None:
    """Send a request to a carrier's API. Raises RuntimeError with its response if that fails."""
    timeout = aiohttp.ClientTimeout(total=10)  # seconds
    async with aiohttp.ClientSession(timeout=timeout) as session:
        async with session.post(url, **request) as response:
            if response.status >= 400:
                raise RuntimeError(f"{response.status} {(await response.text())[:500]}")


async def update_at_twilio(call_sid: str, twiml: str) -> None:
    """Continue a call with this TwiML, which ends its stream to the bot.

    https://www.twilio.com/docs/voice/api/call-resource#update-a-call-resource
    """
    account = os.environ["TWILIO_ACCOUNT_SID"]
    if key := os.getenv("TWILIO_API_KEY"):
        login = aiohttp.BasicAuth(key, os.environ["TWILIO_API_SECRET"])
    else:
        login = aiohttp.BasicAuth(account, os.environ["TWILIO_AUTH_TOKEN"])
    where = [os.getenv("TWILIO_EDGE"), os.getenv("TWILIO_REGION"), "twilio.com"]
    host = ".".join(["api", *filter(None, where)])
    url = f"https://{host}/2010-04-01/Accounts/{account}/Calls/{call_sid}.json"
    await post(url, auth=login, data={"Twiml": f"<Response>{twiml}</Response>"})


def has_ari() -> bool:
    """Whether the bot may use Asterisk's REST interface."""
    names = ("ASTERISK_ARI_URL", "ASTERISK_ARI_USER", "ASTERISK_ARI_PASSWORD")
    return all(name in os.environ for name in names)


async def ask_ari(path: str, **request: Any) -> None:
    """Send a request to Asterisk's REST interface. Raises RuntimeError if Asterisk refuses it.

    https://docs.asterisk.org/Latest_API/API_Documentation/Asterisk_REST_Interface/
    """
    user, password = os.environ["ASTERISK_ARI_USER"], os.environ["ASTERISK_ARI_PASSWORD"]
    url = f"{os.environ['ASTERISK_ARI_URL'].rstrip('/')}/{path}"
    await post(url, auth=aiohttp.BasicAuth(user, password), **request)


def public_url() -> str:
    """Return the https address of the bot, without a slash at its end; "" if it is not known."""
    domain = os.getenv("DOMAIN")
    return os.getenv("BOT_PUBLIC_URL", f"https://{domain}" if domain else "").rstrip("/")
