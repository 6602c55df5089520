# id: tel_c
# label: Plivo
# names: plivo
# order: 07
# type: telephony
# key: plivo
# extras: websocket
# keys: https://console.plivo.com
# env: PLIVO_AUTH_ID required id library: auth ID
# env: PLIVO_AUTH_TOKEN required secret library: auth token
# stand-in: plivo
# host: api.plivo.com: to hang up
# self-host-env: BOT_PUBLIC_URL required url unless DOMAIN: https address of the bot, if not DOMAIN
# self-host-pip: plivo>=4.59,<5
from pipecat.audio.filters.base_audio_filter import BaseAudioFilter
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams


def build(krisp_filter: BaseAudioFilter | None) -> FastAPIWebsocketParams:
    params = FastAPIWebsocketParams(
        audio_in_enabled=True,
        audio_in_filter=krisp_filter,  # when: noise_cancel
        audio_out_enabled=True,
        audio_out_sample_rate=8000,  # the line's rate; the serializer would clip the last word
    )
    return params
