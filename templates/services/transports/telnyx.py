# id: tel_b
# label: Telnyx
# names: telnyx
# order: 06
# type: telephony
# key: telnyx
# extras: websocket
# keys: https://portal.telnyx.com
# env: TELNYX_API_KEY required secret library: API key
# stand-in: telnyx
# host: api.telnyx.com: to hang up
# self-host-env: BOT_PUBLIC_URL optional url: https address of the bot, if not DOMAIN
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
