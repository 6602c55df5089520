# id: stt_y
# label: Smallest
# names: smallest, smallest_stt
# extras: smallest
# keys: https://app.smallest.ai/dashboard/api-keys
# env: SMALLEST_API_KEY required secret: API key
import os

from pipecat.services.smallest.stt import SmallestSTTService


def build() -> SmallestSTTService:
    stt = SmallestSTTService(api_key=os.environ["SMALLEST_API_KEY"])
    return stt
