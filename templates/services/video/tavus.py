# id: video_b
# label: Tavus
# names: tavus, tavus_video
# size: 1280x720
# extras: tavus
# license: BSD-2-Clause: daily-python
# keys: https://platform.tavus.io/api-keys
# env: TAVUS_API_KEY required secret: API key
# env: TAVUS_REPLICA_ID required id: replica id, from the replica library
# host: tavusapi.com
# host: *.daily.co: signals
# host: prod-ks.pluot.blue
# host: *.daily.co:23000-26999,40000-49999/udp: media
# host: stun.cloudflare.com:3478/udp
# host: *.stun.twilio.com:3478/udp
# host: turn.cloudflare.com:3478/udp: media that cannot go directly
# host: turn.cloudflare.com: media that cannot go over UDP
# host: *.turn.twilio.com: media that cannot go over UDP
# region: on request https://docs.tavus.io/sections/conversational-video-interface/conversation/customizations/eu-region
import os

import aiohttp
from pipecat.services.tavus.video import TavusVideoService


def build(session: aiohttp.ClientSession) -> TavusVideoService:
    video = TavusVideoService(
        api_key=os.environ["TAVUS_API_KEY"],
        replica_id=os.environ["TAVUS_REPLICA_ID"],
        session=session,
    )
    return video
