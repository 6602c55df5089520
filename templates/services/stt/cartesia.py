# id: stt_f
# label: Cartesia
# names: cartesia, cartesia_stt
# extras: cartesia
# keys: https://play.cartesia.ai/keys
# env: CARTESIA_API_KEY required secret: API key
import os

from pipecat.services.cartesia.stt import CartesiaSTTService


def build() -> CartesiaSTTService:
    stt = CartesiaSTTService(api_key=os.environ["CARTESIA_API_KEY"])
    return stt
