# id: tts_ad
# label: Rime
# names: rime, rime_tts
# extras: rime
# keys: https://app.rime.ai/tokens/
# env: RIME_API_KEY required secret: API key
# env: RIME_BASE_URL optional url =wss://users-ws.rime.ai/ws3: address
# env: RIME_VOICE_ID required voice: speaker name, from the voice library
# host: users-ws.rime.ai
import os

from pipecat.services.rime.tts import RimeTTSService


def build(if_set) -> RimeTTSService:
    tts = RimeTTSService(
        api_key=os.environ["RIME_API_KEY"],
        **if_set(url="RIME_BASE_URL"),
        settings=RimeTTSService.Settings(voice=os.environ["RIME_VOICE_ID"]),
    )
    return tts
