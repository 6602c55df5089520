# id: stt_f
# label: Cartesia
# names: cartesia, cartesia_stt
# extras: cartesia
# keys: https://play.cartesia.ai/keys
# env: CARTESIA_API_KEY required secret: API key
# env: CARTESIA_STT_BASE_URL optional url: address, such as wss://api.cartesia.ai
# host: api.cartesia.ai
import os

from pipecat.services.cartesia.stt import CartesiaSTTService


def build() -> CartesiaSTTService:
    stt = CartesiaSTTService(
        api_key=os.environ["CARTESIA_API_KEY"],
        base_url=os.getenv("CARTESIA_STT_BASE_URL") or "",
    )
    return stt
