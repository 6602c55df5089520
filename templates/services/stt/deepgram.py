# id: stt_a
# label: Deepgram
# names: deepgram, deepgram_stt
# extras: deepgram
# keys: https://console.deepgram.com/
# env: DEEPGRAM_API_KEY required secret: API key
import os

from pipecat.services.deepgram.stt import DeepgramSTTService


def build() -> DeepgramSTTService:
    stt = DeepgramSTTService(api_key=os.environ["DEEPGRAM_API_KEY"])
    return stt
