# id: stt_a
# label: Deepgram
# names: deepgram, deepgram_stt
# extras: deepgram
# keys: https://console.deepgram.com/
# env: DEEPGRAM_API_KEY required secret unless DEEPGRAM_STT_BASE_URL: API key
# env: DEEPGRAM_STT_BASE_URL optional url: address, such as ws://localhost:8080
# host: api.deepgram.com
import os

from pipecat.services.deepgram.stt import DeepgramSTTService


def build() -> DeepgramSTTService:
    stt = DeepgramSTTService(
        api_key=os.getenv("DEEPGRAM_API_KEY") or "none",
        base_url=os.getenv("DEEPGRAM_STT_BASE_URL") or "",
    )
    return stt
