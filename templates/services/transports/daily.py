# id: rtc_hosted
# label: Daily
# names: daily
# order: 01
# type: web
# key: daily
# video: in, out
# client: @pipecat-ai/daily-transport ^1.6.9
# extras: daily
# license: BSD-2-Clause: daily-python
# keys: https://dashboard.daily.co/developers
# env: DAILY_API_KEY required secret library: API key
# env: DAILY_ROOM_URL optional url library: room to join; if unset, each session has its own
# host: *.daily.co: the API, signals
# host: prod-ks.pluot.blue
# host: *.daily.co:23000-26999,40000-49999/udp: media
# host: stun.cloudflare.com:3478/udp
# host: *.stun.twilio.com:3478/udp
# host: turn.cloudflare.com:3478/udp: media that cannot go directly
# host: turn.cloudflare.com: media that cannot go over UDP
# host: *.turn.twilio.com: media that cannot go over UDP
# host: *.sentry.io: errors, from the browser
from pipecat.audio.filters.base_audio_filter import BaseAudioFilter
from pipecat.transports.base_transport import VideoInSourceParams
from pipecat.transports.daily.transport import DailyParams


def build(krisp_filter: BaseAudioFilter | None, video_width: int, video_height: int) -> DailyParams:
    params = DailyParams(
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
