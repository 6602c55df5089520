# id: rtc_hosted_pstn_dialin
# label: Daily PSTN (dial-in)
# names: daily_pstn_dialin
# order: 09
# type: telephony
# generic: rtc_hosted_pstn
# mode: dial-in
# key: daily
# extras: daily
# license: BSD-2-Clause: daily-python
# keys: https://dashboard.daily.co/developers
# env: DAILY_API_KEY required secret library: API key
# host: *.daily.co: the API, signals
# host: prod-ks.pluot.blue
# host: *.daily.co:23000-26999,40000-49999/udp: media
# host: stun.cloudflare.com:3478/udp
# host: *.stun.twilio.com:3478/udp
# host: turn.cloudflare.com:3478/udp: media that cannot go directly
# host: turn.cloudflare.com: media that cannot go over UDP
# host: *.turn.twilio.com: media that cannot go over UDP
# self-host-env: DAILY_HMAC_SECRET required secret: the hmac of the dial-in webhook of the number
from pipecat.audio.filters.base_audio_filter import BaseAudioFilter
from pipecat.transports.daily.transport import DailyParams


def build(krisp_filter: BaseAudioFilter | None) -> DailyParams:
    params = DailyParams(
        audio_in_enabled=True,
        audio_in_filter=krisp_filter,  # when: noise_cancel
        audio_out_enabled=True,
    )
    return params
