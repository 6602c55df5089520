# id: stt_g
# label: Cartesia Turns
# names: cartesia_turns, cartesia_turns_stt
# extras: cartesia
# keys: https://play.cartesia.ai/keys
# env: CARTESIA_API_KEY required secret: API key
import os

from pipecat.services.cartesia.turns.stt import CartesiaTurnsSTTService


def build() -> CartesiaTurnsSTTService:
    stt = CartesiaTurnsSTTService(api_key=os.environ["CARTESIA_API_KEY"])
    return stt
