# id: tts_u
# label: MiniMax
# names: minimax, minimax_tts
# keys: https://platform.minimax.io/user-center/basic-information/interface-key
# env: MINIMAX_API_KEY required secret: API key
# env: MINIMAX_BASE_URL optional url =https://api.minimax.io/v1/t2a_v2: address
# env: MINIMAX_GROUP_ID required id: group id, from the account page
# env: MINIMAX_VOICE_ID optional voice =Calm_Woman: voice id
# host: api.minimax.io
import os

import aiohttp
from pipecat.services.minimax.tts import MiniMaxHttpTTSService
from pipecat.utils.types import NOT_GIVEN


def build(if_set, session: aiohttp.ClientSession) -> MiniMaxHttpTTSService:
    tts = MiniMaxHttpTTSService(
        api_key=os.environ["MINIMAX_API_KEY"],
        **if_set(base_url="MINIMAX_BASE_URL"),
        group_id=os.environ["MINIMAX_GROUP_ID"],
        aiohttp_session=session,
        settings=MiniMaxHttpTTSService.Settings(voice=os.getenv("MINIMAX_VOICE_ID") or NOT_GIVEN),
    )
    return tts
