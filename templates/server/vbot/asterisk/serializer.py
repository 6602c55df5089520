"""The messages of Asterisk's WebSocket channel, and the frames of the pipeline."""

import asyncio
import json
from typing import Any

from fastapi import WebSocket
from loguru import logger
from pipecat.audio.dtmf.types import KeypadEntry
from pipecat.audio.utils import (
    alaw_to_pcm,
    create_stream_resampler,
    pcm_to_alaw,
    pcm_to_ulaw,
    ulaw_to_pcm,
)
from pipecat.frames.frames import (
    AudioRawFrame,
    CancelFrame,
    EndFrame,
    Frame,
    InputAudioRawFrame,
    InputDTMFFrame,
    InterruptionFrame,
)
from pipecat.processors.frame_processor import FrameProcessorSetup
from pipecat.serializers.base_serializer import FrameSerializer
from starlette.types import Message

from vbot.asterisk.calls import event_of
from vbot.calls import BREAKS_CONNECTION

PLAYED_WITHIN = 25  # seconds; Asterisk's queue holds 20
REACHES_EAR_AFTER = 0.2  # seconds from Asterisk, where a telephone has a buffer
LAST_WORD = "last-word"  # names the end of what the bot says


class OneReader:
    """A WebSocket that one task reads at a time, as the server demands.

    The transport reads it until the call ends. Then the serializer does, which waits for the last
    word to be played.
    """

    def __init__(self, websocket: WebSocket):
        self._websocket = websocket
        self._reading = asyncio.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._websocket, name)

    async def receive(self) -> Message:
        async with self._reading:
            return await self._websocket.receive()


class AsteriskFrameSerializer(FrameSerializer):
    """Translates between Asterisk and the pipeline, and ends the call when the pipeline ends.

    Asterisk plays what it gets at its own pace, from a queue. It says when the queue is full
    (MEDIA_XOFF), and audio waits here until it is not (MEDIA_XON).

    Args:
        socket: Of the call.
        media: The format of the audio, in both directions.
        rate: Samples a second of that format.
        as_json: Whether messages are JSON, as the option f(json) of the dial string sets.
    """

    def __init__(self, socket: OneReader, media: str, rate: int, as_json: bool = False):
        super().__init__()
        self._socket, self._media, self._rate, self._as_json = socket, media, rate, as_json
        self._input_rate = 0  # of the pipeline
        self._to_pipeline = create_stream_resampler()
        self._to_asterisk = create_stream_resampler()
        self._may_send = asyncio.Event()
        self._may_send.set()
        self._was_played = asyncio.Event()  # the last word
        self._has_ended = False

    async def setup(self, setup: FrameProcessorSetup) -> None:
        self._input_rate = setup.audio_in_sample_rate

    async def serialize(self, frame: Frame) -> str | bytes | None:
        if self._has_ended:
            return None
        match frame:
            case AudioRawFrame():
                await self._may_send.wait()
                return await self._encoded(frame)
            case InterruptionFrame():
                return self._command("FLUSH_MEDIA")
            case EndFrame():
                self._has_ended = True
                await self._until_played()
                return self._command("HANGUP")
            case CancelFrame():  # the session has ended, and the call has not
                self._has_ended = True
                return BREAKS_CONNECTION
        return None

    async def _encoded(self, frame: AudioRawFrame) -> bytes:
        """Return audio in whole frames of 20 ms: Asterisk drops the rest of a message."""
        size = self._rate // 50 * 2
        pcm = await self._to_asterisk.resample(frame.audio, frame.sample_rate, self._rate)
        pcm += bytes(-len(pcm) % size)
        if self._media == "ulaw":
            return await pcm_to_ulaw(pcm, self._rate, self._rate, self._to_asterisk)
        if self._media == "alaw":
            return await pcm_to_alaw(pcm, self._rate, self._rate, self._to_asterisk)
        return pcm

    def _command(self, name: str, id: str = "") -> str:
        if self._as_json:
            return json.dumps({"command": name} | ({"correlation_id": id} if id else {}))
        return f"{name} {id}".rstrip()

    async def _until_played(self) -> None:
        """Wait until all that was said has been played, or the caller has hung up."""
        try:
            async with asyncio.timeout(PLAYED_WITHIN):
                await self._socket.send_text(self._command("MARK_MEDIA", LAST_WORD))
                while not self._was_played.is_set():
                    message = await self._socket.receive()
                    if message["type"] != "websocket.receive":
                        return
                    if text := message.get("text"):
                        await self.deserialize(text)
                await asyncio.sleep(REACHES_EAR_AFTER)
        except TimeoutError:
            logger.warning(f"Asterisk has not played all within {PLAYED_WITHIN} seconds")
        except (RuntimeError, OSError) as e:
            logger.debug(f"The call ended before all was played: {e}")

    async def deserialize(self, data: str | bytes) -> Frame | None:
        if isinstance(data, bytes):
            return await self._decoded(data)
        message = read_event(data)
        match message.get("event"):
            case "MEDIA_XOFF":
                self._may_send.clear()
            case "MEDIA_XON":
                self._may_send.set()
            case "MEDIA_MARK_PROCESSED" if message.get("correlation_id") == LAST_WORD:
                self._was_played.set()
            case "DTMF_END":
                try:
                    return InputDTMFFrame(KeypadEntry(message.get("digit")))
                except ValueError:
                    return None  # A to D, which no telephone has
            case "ERROR":
                logger.warning(f"Asterisk: {data[:500]}")
        return None

    async def _decoded(self, audio: bytes) -> Frame | None:
        wanted, resampler = self._input_rate, self._to_pipeline
        if self._media == "ulaw":
            pcm = await ulaw_to_pcm(audio, self._rate, wanted, resampler)
        elif self._media == "alaw":
            pcm = await alaw_to_pcm(audio, self._rate, wanted, resampler)
        else:
            pcm = await resampler.resample(audio, self._rate, wanted)
        if not pcm:
            return None  # the resampler keeps the first samples
        return InputAudioRawFrame(audio=pcm, sample_rate=wanted, num_channels=1)


def read_event(data: str) -> dict[str, Any]:
    """Return a message of Asterisk, which is plain text or JSON. {} for what is neither."""
    if not data.startswith("{"):
        return event_of(data)
    try:
        message = json.loads(data)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}
