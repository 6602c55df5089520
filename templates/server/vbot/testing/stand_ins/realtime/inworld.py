"""https://docs.inworld.ai/realtime"""

from vbot.testing.stand_ins.realtime.realtime_api import RealtimeAPI


class InworldRealtime(RealtimeAPI):
    """OpenAI's API, as Inworld has it."""

    path = "/api/v1/realtime/session"
