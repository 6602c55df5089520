# id: tel_a
# label: Twilio
# names: twilio
# order: 05
# type: telephony
# key: twilio
# extras: websocket
# keys: https://console.twilio.com
# env: TWILIO_ACCOUNT_SID required id library: account SID
# env: TWILIO_AUTH_TOKEN required secret library unless TWILIO_API_KEY: auth token, or an API key
# env: TWILIO_API_KEY optional id library without TWILIO_AUTH_TOKEN: API key, in place of the token
# env: TWILIO_API_SECRET optional secret library with TWILIO_API_KEY: secret of that API key
# env: TWILIO_REGION optional region library: region that processes calls, such as ie1, where the number is routed; its keys are its own
# env: TWILIO_EDGE optional region library: edge location of the API, such as dublin; needed with TWILIO_REGION
# stand-in: twilio
# host: api.twilio.com: to hang up; with TWILIO_EDGE and TWILIO_REGION, api.EDGE.REGION.twilio.com
# self-host-env: BOT_PUBLIC_URL optional url: https address of the bot, if not DOMAIN
# region: in the region IE1 https://www.twilio.com/docs/global-infrastructure/regional-product-and-feature-availability
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
