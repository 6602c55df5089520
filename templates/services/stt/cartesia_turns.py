# id: stt_g
# label: Cartesia Turns
# names: cartesia_turns, cartesia_turns_stt
# extras: cartesia
# keys: https://play.cartesia.ai/keys
# env: CARTESIA_API_KEY required secret: API key
# env: CARTESIA_TURNS_BASE_URL optional url =wss://api.cartesia.ai/stt/turns/websocket: address
# host: api.cartesia.ai
import os

from pipecat.services.cartesia.turns.stt import CartesiaTurnsSTTService


def build(if_set) -> CartesiaTurnsSTTService:
    stt = CartesiaTurnsSTTService(
        api_key=os.environ["CARTESIA_API_KEY"],
        **if_set(url="CARTESIA_TURNS_BASE_URL"),
    )
    return stt
