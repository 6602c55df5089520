# id: rtc_room
# label: LiveKit
# names: livekit
# order: 03
# type: web
# key: livekit
# video: in, out
# cloud: no
# client: livekit-client ^2.23.0
# extras: livekit
# license: Apache-2.0: livekit, livekit-api, tenacity
# license: MIT: pyjwt
# keys: https://cloud.livekit.io
# env: LIVEKIT_URL required url library: address for the bot and browsers, wss://...
# env: LIVEKIT_API_KEY required id library: API key
# env: LIVEKIT_API_SECRET required secret library: API secret
# env: LIVEKIT_ROOM_NAME optional id library: one room for all sessions; unset: one for each
# host: {LIVEKIT_URL}: signals
# host: {LIVEKIT_URL}:50000-60000/udp: media
# host: {LIVEKIT_URL}:7881: media that cannot go over UDP
# host: stun.l.google.com:19302/udp: unless the LiveKit server names others
# host: stun1.l.google.com:19302/udp: unless the LiveKit server names others
# host: global.stun.twilio.com:3478/udp: unless the LiveKit server names others
# region: in projects with that region, of LiveKit Cloud https://docs.livekit.io/deploy/admin/regions/data-residency
from pipecat.audio.filters.base_audio_filter import BaseAudioFilter
from pipecat.transports.base_transport import VideoInSourceParams
from pipecat.transports.livekit.transport import LiveKitParams


def build(
    krisp_filter: BaseAudioFilter | None, video_width: int, video_height: int
) -> LiveKitParams:
    params = LiveKitParams(
        audio_in_enabled=True,
        audio_in_filter=krisp_filter,  # when: noise_cancel
        audio_out_enabled=True,
        video_in_enabled=True,  # when: video_in
        video_in_sources={"camera": VideoInSourceParams(framerate=1)},  # when: video_in
        video_out_enabled=True,  # when: video_out
        video_out_is_live=True,  # when: video_out
        video_out_width=video_width,  # when: avatar
        video_out_height=video_height,  # when: avatar
    )
    return params
