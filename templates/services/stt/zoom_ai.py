# id: stt_ae
# label: Zoom AI
# names: zoom_ai, zoom_ai_stt
# extras: zoom-ai
# keys: https://developers.zoom.us/docs/build/get-credentials/
# env: ZOOM_AI_API_KEY required secret: API key
# env: ZOOM_AI_BASE_URL optional url =wss://api.zoom.us/v2/aiservices/scribe/live: address
# host: api.zoom.us
import os

from pipecat.services.zoom_ai.stt import ZoomAISTTService


def build(if_set) -> ZoomAISTTService:
    stt = ZoomAISTTService(
        api_key=os.environ["ZOOM_AI_API_KEY"],
        **if_set(url="ZOOM_AI_BASE_URL"),
    )
    return stt
