# id: stt_q
# label: Gradium
# names: gradium, gradium_stt
# extras: gradium
# languages: de, en, es, fr, pt
# keys: https://studio.gradium.ai/
# env: GRADIUM_API_KEY required secret: API key
# env: GRADIUM_STT_BASE_URL optional url =wss://api.gradium.ai/api/speech/asr: address
# stand-in: gradium GRADIUM_STT_BASE_URL=ws://{}/api/speech/asr
# host: api.gradium.ai
import os

from pipecat.services.gradium.stt import GradiumSTTService


def build(language: str) -> GradiumSTTService:
    stt = GradiumSTTService(
        api_key=os.environ["GRADIUM_API_KEY"],
        api_endpoint_base_url=os.getenv(
            "GRADIUM_STT_BASE_URL", "wss://api.gradium.ai/api/speech/asr"
        ),
        settings=GradiumSTTService.Settings(language=language),  # when: language
    )
    return stt
