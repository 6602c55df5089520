# id: rtc_small
# label: SmallWebRTC
# names: smallwebrtc, webrtc
# order: 02
# type: web
# key: webrtc
# video: in, out
# client: @pipecat-ai/small-webrtc-transport ^1.10.8
# extras: webrtc
# license: BSD-3-Clause: aiortc, av
# license: LGPL-3.0-or-later: the FFmpeg in av
# license: GPL-2.0-or-later: x264 and x265 in av
# stand-in: smallwebrtc
from pipecat.audio.filters.base_audio_filter import BaseAudioFilter
from pipecat.transports.base_transport import TransportParams, VideoInSourceParams


def build(
    krisp_filter: BaseAudioFilter | None, video_width: int, video_height: int
) -> TransportParams:
    params = TransportParams(
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
