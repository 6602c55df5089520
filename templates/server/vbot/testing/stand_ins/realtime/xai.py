"""https://docs.x.ai/docs/guides/voice/agent"""

from aiohttp import web

from vbot.testing.stand_ins.realtime.realtime_api import Conversation, RealtimeAPI


class Grok(RealtimeAPI):
    """OpenAI's API, as Grok has it."""

    async def begin(self, ws: web.WebSocketResponse, session: Conversation) -> None:
        await super().begin(ws, session)
        conversation = {"id": "1", "object": "realtime.conversation"}
        await self._send(ws, "conversation.created", conversation=conversation)
