# id: tts_w
# label: Neuphonic
# names: neuphonic, neuphonic_tts
# extras: neuphonic
# keys: https://app.neuphonic.com/apikey
# env: NEUPHONIC_API_KEY required secret: API key
# env: NEUPHONIC_BASE_URL optional url =wss://api.neuphonic.com: address
# env: NEUPHONIC_VOICE_ID required voice: voice id, from the voice library
# host: api.neuphonic.com
import os

from pipecat.services.neuphonic.tts import NeuphonicTTSService


def build(if_set) -> NeuphonicTTSService:
    tts = NeuphonicTTSService(
        api_key=os.environ["NEUPHONIC_API_KEY"],
        **if_set(url="NEUPHONIC_BASE_URL"),
        settings=NeuphonicTTSService.Settings(voice=os.environ["NEUPHONIC_VOICE_ID"]),
    )
    return tts
