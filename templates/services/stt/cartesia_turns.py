# id: stt_g
# label: Cartesia Turns
# names: cartesia_turns, cartesia_turns_stt
# turns: Settings(turn_end_threshold=0.15, turn_end_timeout_ms=8000)
# extras: cartesia
# languages: en, es, fr, hi, ja
# keys: https://play.cartesia.ai/keys
# env: CARTESIA_API_KEY required secret: API key
# env: CARTESIA_TURNS_BASE_URL optional url =wss://api.cartesia.ai/stt/turns/websocket: address
# stand-in: cartesia_turns CARTESIA_TURNS_BASE_URL=ws://{}/stt/turns/websocket
# host: api.cartesia.ai
# region: for enterprises, on request https://docs.cartesia.ai/enterprise/regional-endpoints
import os

from pipecat.services.cartesia.turns.stt import CartesiaTurnsSTTService


def build() -> CartesiaTurnsSTTService:
    stt = CartesiaTurnsSTTService(
        api_key=os.environ["CARTESIA_API_KEY"],
        url=os.getenv("CARTESIA_TURNS_BASE_URL", "wss://api.cartesia.ai/stt/turns/websocket"),
    )
    return stt
