# id: stt_ae
# label: Zoom AI
# names: zoom_ai, zoom_ai_stt
# turns: Settings(silence_duration_ms=1000)
# extras: zoom-ai
# languages: ar, bn, ca, cs, da, de, el, en, es, et, fa, fi, fil, fr, he, hi, hu, id, it, ja, ko, ms
# languages: nl, pl, pt, ro, ru, sv, ta, te, th, tl, tr, uk, vi, yue, zh
# keys: https://developers.zoom.us/docs/build/get-credentials/
# env: ZOOM_AI_API_KEY required secret: API key
# env: ZOOM_AI_BASE_URL optional url =wss://api.zoom.us/v2/aiservices/scribe/live: address
# host: api.zoom.us
import os

from pipecat.services.zoom_ai.stt import ZoomAISTTService


def build(language: str) -> ZoomAISTTService:
    stt = ZoomAISTTService(
        api_key=os.environ["ZOOM_AI_API_KEY"],
        url=os.getenv("ZOOM_AI_BASE_URL", "wss://api.zoom.us/v2/aiservices/scribe/live"),
        settings=ZoomAISTTService.Settings(language=language),  # when: language
    )
    return stt
