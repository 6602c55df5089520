# id: tts_u
# label: MiniMax
# names: minimax, minimax_tts
# languages: af, ar, bg, ca, cs, da, de, el, en, es, fa, fi, fil, fr, he, hi, hr, hu, id, it, ja, ko
# languages: ms, nb, nl, nn, pl, pt, ro, ru, sk, sl, sv, ta, th, tr, uk, vi, yue, zh
# keys: https://platform.minimax.io/user-center/basic-information/interface-key
# env: MINIMAX_API_KEY required secret: API key
# env: MINIMAX_BASE_URL optional url =https://api.minimax.io/v1/t2a_v2: address
# env: MINIMAX_GROUP_ID required id: group id, from the account page
# env: MINIMAX_VOICE_ID optional voice =Calm_Woman: voice id
# stand-in: minimax MINIMAX_BASE_URL=http://{}/v1/t2a_v2
# host: api.minimax.io
import os

import aiohttp
from pipecat.services.minimax.tts import MiniMaxHttpTTSService, language_to_minimax_language
from pipecat.transcriptions.language import Language
from pipecat.utils.types import NOT_GIVEN


def build(session: aiohttp.ClientSession, language: str) -> MiniMaxHttpTTSService:
    tts = MiniMaxHttpTTSService(
        api_key=os.environ["MINIMAX_API_KEY"],
        base_url=os.getenv("MINIMAX_BASE_URL", "https://api.minimax.io/v1/t2a_v2"),
        group_id=os.environ["MINIMAX_GROUP_ID"],
        aiohttp_session=session,
        settings=MiniMaxHttpTTSService.Settings(
            language_boost=language_to_minimax_language(Language(language)),  # when: language
            voice=os.getenv("MINIMAX_VOICE_ID", NOT_GIVEN),
        ),
    )
    return tts
