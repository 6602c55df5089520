# id: websocket
# label: WebSocket
# names: websocket
# order: 04
# type: web
# key: websocket
# client: @pipecat-ai/websocket-transport ^1.7.1
# extras: websocket
# self-host-env: BOT_PUBLIC_URL optional url: https address of the bot, if not DOMAIN
# stand-in: websocket
from pipecat.audio.filters.base_audio_filter import BaseAudioFilter
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams


def build(krisp_filter: BaseAudioFilter | None) -> FastAPIWebsocketParams:
    params = FastAPIWebsocketParams(
        audio_in_enabled=True,
        audio_in_filter=krisp_filter,  # when: noise_cancel
        audio_out_enabled=True,
        add_wav_header=False,
        serializer=ProtobufFrameSerializer(),
    )
    return params
