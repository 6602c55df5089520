# id: video_a
# label: HeyGen
# names: heygen, heygen_video
# size: 1280x720
# extras: heygen
# license: Apache-2.0: livekit
# keys: https://app.liveavatar.com/developers
# env: HEYGEN_API_KEY required secret: LiveAvatar API key, not that of HeyGen itself
# env: HEYGEN_AVATAR_ID required id: LiveAvatar avatar id
# host: api.liveavatar.com
# host: *.livekit.cloud
# host: *.turn.livekit.cloud
# host: *.host.livekit.cloud:3478/udp
# host: *:50000-60000/udp: media
# host: *:7881: media that cannot go over UDP
import os

import aiohttp
from pipecat.services.heygen.api_liveavatar import LiveAvatarNewSessionRequest
from pipecat.services.heygen.client import ServiceType
from pipecat.services.heygen.video import HeyGenVideoService


def build(session: aiohttp.ClientSession) -> HeyGenVideoService:
    video = HeyGenVideoService(
        api_key=os.environ["HEYGEN_API_KEY"],
        service_type=ServiceType.LIVE_AVATAR,
        session=session,
        session_request=LiveAvatarNewSessionRequest(avatar_id=os.environ["HEYGEN_AVATAR_ID"]),
    )
    return video
