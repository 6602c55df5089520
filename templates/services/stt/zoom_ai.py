# id: stt_ae
# label: Zoom AI
# names: zoom_ai, zoom_ai_stt
# extras: zoom-ai
# keys: https://developers.zoom.us/docs/build/get-credentials/
# env: ZOOM_AI_API_KEY required secret: API key
import os

from pipecat.services.zoom_ai.stt import ZoomAISTTService


def build() -> ZoomAISTTService:
    stt = ZoomAISTTService(api_key=os.environ["ZOOM_AI_API_KEY"])
    return stt
