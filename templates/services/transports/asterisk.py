# id: tel_e
# label: Asterisk
# names: asterisk
# order: 13
# type: telephony
# key: asterisk
# cloud: no
# extras: websocket
# env: ASTERISK_ARI_URL optional url library: address of Asterisk's REST interface, such as http://pbx.example.com:8088/ari
# env: ASTERISK_ARI_USER optional id library with ASTERISK_ARI_URL: its user in ari.conf
# env: ASTERISK_ARI_PASSWORD optional secret library with ASTERISK_ARI_URL: that user's password
# env: SERVER_API_KEY optional secret library: bearer token that a request for a call sends
# stand-in: asterisk
# host: {ASTERISK_ARI_URL}: to choose the extension of a transfer, and for calls that the bot makes
# self-host-env: ASTERISK_PASSWORD required secret: the password in websocket_client.conf
from pipecat.audio.filters.base_audio_filter import BaseAudioFilter
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams


def build(krisp_filter: BaseAudioFilter | None) -> FastAPIWebsocketParams:
    params = FastAPIWebsocketParams(
        audio_in_enabled=True,
        audio_in_filter=krisp_filter,  # when: noise_cancel
        audio_out_enabled=True,
    )
    return params
