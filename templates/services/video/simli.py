# id: video_c
# label: Simli
# names: simli, simli_video
# size: 512x512
# extras: simli
# keys: https://app.simli.com/
# env: SIMLI_API_KEY required secret: API key
# env: SIMLI_FACE_ID required id: face id, from the list of faces
import os

from pipecat.services.simli.video import SimliVideoService


def build() -> SimliVideoService:
    video = SimliVideoService(
        api_key=os.environ["SIMLI_API_KEY"],
        face_id=os.environ["SIMLI_FACE_ID"],
    )
    return video
