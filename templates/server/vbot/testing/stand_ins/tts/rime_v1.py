"""https://docs.rime.ai: the protobuf messages of its WebSocket, rime.v1"""

from typing import Any

from aiohttp import web

from vbot.testing.stand_in import WebSocketService, pieces


class RimeV1Speech(WebSocketService):
    """Streaming text to speech in several contexts, in protobuf."""

    subprotocols = ("rime.v1.binary",)

    def opened(self, request: web.Request) -> dict[str, int]:
        self.expect(request.path == "/ws", "no such path")
        wanted = request.headers.get("Sec-WebSocket-Protocol", "")
        self.expect(wanted == "rime.v1.binary", f"protocol: {wanted}")
        return {}  # the contexts that are open, and their samples a second

    async def begin(self, ws: web.WebSocketResponse, session: Any) -> None:
        await ws.send_bytes(protobuf({2: protobuf({1: 1})}))  # ready, for version 1

    async def received(
        self, ws: web.WebSocketResponse, session: dict[str, int], message: bytes
    ) -> None:
        fields = protobuf_fields(message)
        context = fields.pop(1).decode()
        [(kind, value)] = fields.items()
        whose = {1: context.encode()}
        if kind == 3:  # start
            self.expect(context not in session, "the context exists already")
            session[context] = self._rate(protobuf_fields(value))
            await ws.send_bytes(protobuf(whose | {3: b""}))  # started
            return
        # The bot may cancel what has just ended.
        self.expect(context in session or kind == 6, "no such context")
        if kind == 4:  # text
            text, rate = value.decode().strip(), session[context]
            self.requests.append({"context": context, "text": text})
            for piece in pieces(self.script.voice(text, rate), rate):
                await ws.send_bytes(protobuf(whose | {4: piece}))  # audio
        elif kind == 5:  # end
            del session[context]
            await ws.send_bytes(protobuf(whose | {5: b""}))  # done
        else:
            self.expect(kind == 6, f"field {kind}")
            if session.pop(context, 0):
                await ws.send_bytes(protobuf(whose | {6: b""}))  # cancelled

    def _rate(self, start: dict[int, Any]) -> int:
        self.expect(start.get(3), "no voice")
        audio = protobuf_fields(start[5])
        self.expect(audio[1] == b"audio/pcm", "not asked for samples")
        return audio[2]


def protobuf(fields: dict[int, int | bytes]) -> bytes:
    """A message of protobuf, of numbers and of what has a length."""
    message = b""
    for number, value in fields.items():
        if isinstance(value, int):
            message += varint(number << 3) + varint(value)
        else:
            message += varint(number << 3 | 2) + varint(len(value)) + value
    return message


def varint(number: int) -> bytes:
    """A number as protobuf has it: 7 bits in a byte, the lowest first."""
    low, high = number & 127, number >> 7
    return bytes([low | 128]) + varint(high) if high else bytes([low])


def protobuf_fields(message: bytes) -> dict[int, Any]:
    """The fields of a message of protobuf, by number, as bytes where they are no number."""
    fields: dict[int, Any] = {}
    rest = iter(message)

    def number() -> int:
        byte = next(rest)
        return byte if byte < 128 else byte - 128 + (number() << 7)

    for byte in rest:  # a field's number, which is less than 16, and its kind
        kind = byte & 7
        size = {0: 0, 1: 8, 5: 4}.get(kind)
        if kind == 0:
            fields[byte >> 3] = number()
        else:
            size = number() if size is None else size
            fields[byte >> 3] = bytes(next(rest) for _ in range(size))
    return fields
