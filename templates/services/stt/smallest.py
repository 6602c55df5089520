# id: stt_y
# label: Smallest
# names: smallest, smallest_stt
# extras: smallest
# keys: https://app.smallest.ai/dashboard/api-keys
# env: SMALLEST_API_KEY required secret: API key
# env: SMALLEST_STT_BASE_URL optional url =wss://api.smallest.ai: address
# host: api.smallest.ai
import os

from pipecat.services.smallest.stt import SmallestSTTService


def build(if_set) -> SmallestSTTService:
    stt = SmallestSTTService(
        api_key=os.environ["SMALLEST_API_KEY"],
        **if_set(base_url="SMALLEST_STT_BASE_URL"),
    )
    return stt
