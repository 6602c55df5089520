"""https://learn.microsoft.com/azure/ai-services/speech-service/voice-live-how-to"""

from typing import Any

from vbot.testing.stand_ins.realtime.realtime_api import RealtimeAPI


class AzureVoiceLive(RealtimeAPI):
    """OpenAI's API, as Azure has it: in an older form."""

    path = "/voice-live/realtime"
    audio = "response.audio"
    added = "response.output_item.added"

    def rates(self, session: dict[str, Any]) -> tuple[int, int]:
        self.expect(session["input_audio_format"] == "pcm16", "format of the input")
        spoken = {"pcm16": 24000, "pcm16_16000hz": 16000, "pcm16_8000hz": 8000}
        return session["input_audio_sampling_rate"], spoken[session["output_audio_format"]]
