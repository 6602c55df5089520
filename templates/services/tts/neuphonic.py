# id: tts_w
# label: Neuphonic
# names: neuphonic, neuphonic_tts
# extras: neuphonic
# languages: ar, de, en, es, fr, hi, nl, pt, ru, zh
# keys: https://app.neuphonic.com/apikey
# env: NEUPHONIC_API_KEY required secret: API key
# env: NEUPHONIC_BASE_URL optional url =wss://api.neuphonic.com: address
# env: NEUPHONIC_VOICE_ID required voice: id, from the voice library
# stand-in: neuphonic untimed NEUPHONIC_BASE_URL=ws://{}
# host: api.neuphonic.com
import os

from pipecat.services.neuphonic.tts import NeuphonicTTSService


def build(language: str) -> NeuphonicTTSService:
    tts = NeuphonicTTSService(
        api_key=os.environ["NEUPHONIC_API_KEY"],
        url=os.getenv("NEUPHONIC_BASE_URL", "wss://api.neuphonic.com"),
        settings=NeuphonicTTSService.Settings(
            language=language,  # when: language
            voice=os.environ["NEUPHONIC_VOICE_ID"],
        ),
    )
    return tts
