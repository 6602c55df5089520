# id: tts_aj
# label: XTTS (Coqui)
# names: xtts, xtts_tts, coqui
# extras: xtts
# flags: local, deprecated
# languages: cs, de, en, es, fr, hi, hu, it, ja, ko, nl, pl, pt, ru, tr, zh
# env: XTTS_BASE_URL required url: URL of the XTTS streaming server, such as http://localhost:8000
# env: XTTS_VOICE_ID required voice: studio speaker name, from the server
# stand-in: xtts XTTS_BASE_URL=http://{}
# host: {XTTS_BASE_URL}
import os

import aiohttp
from pipecat.services.xtts.tts import XTTSService


def build(session: aiohttp.ClientSession, language: str) -> XTTSService:
    tts = XTTSService(
        base_url=os.environ["XTTS_BASE_URL"],
        aiohttp_session=session,
        sample_rate=24000,  # the model's rate
        settings=XTTSService.Settings(
            language=language,  # when: language
            voice=os.environ["XTTS_VOICE_ID"],
        ),
    )
    return tts
