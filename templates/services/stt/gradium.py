# id: stt_q
# label: Gradium
# names: gradium, gradium_stt
# extras: gradium
# keys: https://studio.gradium.ai/
# env: GRADIUM_API_KEY required secret: API key
import os

from pipecat.services.gradium.stt import GradiumSTTService


def build() -> GradiumSTTService:
    stt = GradiumSTTService(api_key=os.environ["GRADIUM_API_KEY"])
    return stt
