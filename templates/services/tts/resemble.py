# id: tts_ac
# label: Resemble
# names: resemble, resemble_tts, resembleai
# extras: resembleai
# languages: voice
# keys: https://app.resemble.ai/account/api
# env: RESEMBLE_API_KEY required secret: API key
# env: RESEMBLE_BASE_URL optional url =wss://websocket.cluster.resemble.ai/stream: address
# env: RESEMBLE_VOICE_ID required voice: voice UUID, from the voice library
# stand-in: resemble RESEMBLE_BASE_URL=ws://{}/stream
# host: websocket.cluster.resemble.ai
import os

from pipecat.services.resembleai.tts import ResembleAITTSService


def build() -> ResembleAITTSService:
    tts = ResembleAITTSService(
        api_key=os.environ["RESEMBLE_API_KEY"],
        url=os.getenv("RESEMBLE_BASE_URL", "wss://websocket.cluster.resemble.ai/stream"),
        settings=ResembleAITTSService.Settings(voice=os.environ["RESEMBLE_VOICE_ID"]),
    )
    return tts
