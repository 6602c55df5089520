# id: tel_d
# label: Exotel
# names: exotel
# order: 08
# type: telephony
# key: exotel
# extras: websocket
# stand-in: exotel
from pipecat.audio.filters.base_audio_filter import BaseAudioFilter
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams


def build(krisp_filter: BaseAudioFilter | None) -> FastAPIWebsocketParams:
    params = FastAPIWebsocketParams(
        audio_in_enabled=True,
        audio_in_filter=krisp_filter,  # when: noise_cancel
        audio_out_enabled=True,
        audio_out_sample_rate=8000,  # the line's rate; the serializer would clip the last word
        audio_out_10ms_chunks=20,  # Exotel takes 3,200 bytes at least
    )
    return params
