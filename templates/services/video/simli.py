# id: video_c
# label: Simli
# names: simli, simli_video
# size: 512x512
# extras: simli
# license: MIT: simli-ai
# keys: https://app.simli.com/
# env: SIMLI_API_KEY required secret: API key
# env: SIMLI_BASE_URL optional url =https://api.simli.ai: address
# env: SIMLI_FACE_ID required id: face id, from the list of faces
# host: api.simli.ai
import os

from pipecat.services.simli.video import SimliVideoService


def build() -> SimliVideoService:
    video = SimliVideoService(
        api_key=os.environ["SIMLI_API_KEY"],
        simli_url=os.getenv("SIMLI_BASE_URL", "https://api.simli.ai"),
        face_id=os.environ["SIMLI_FACE_ID"],
    )
    return video
