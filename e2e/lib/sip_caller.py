"""A telephone call as LiveKit's SIP service puts it into a room: a participant of the kind `sip`.

python sip_caller.py ROOM NUMBER SAID.pcm HEARD.pcm SECONDS, with LIVEKIT_* in the environment

It plays the first file (16 kHz, mono) once somebody is in the room, and writes what it hears
meanwhile to the second. It runs in an environment with the framework's package for LiveKit.
"""

import asyncio
import os
import sys
from pathlib import Path

from livekit import api, rtc

RATE = 16000


async def call(room_name: str, number: str, said: Path, heard: Path, seconds: float) -> None:
    # The identity and the name that LiveKit gives a caller by default, and its attributes.
    token = (
        api.AccessToken(os.environ["LIVEKIT_API_KEY"], os.environ["LIVEKIT_API_SECRET"])
        .with_identity(f"sip_{number}")
        .with_name(f"Phone {number}")
        .with_kind("sip")
        .with_attributes({"sip.phoneNumber": number, "sip.callStatus": "active"})
        .with_grants(api.VideoGrants(room_join=True, room=room_name))
    )
    room = rtc.Room()
    sound = bytearray()
    there = asyncio.Event()
    listening = []

    async def listen(track: rtc.RemoteAudioTrack) -> None:
        async for event in rtc.AudioStream(track, sample_rate=RATE, num_channels=1):
            sound.extend(event.frame.data.tobytes())

    @room.on("track_subscribed")
    def subscribed(track: rtc.RemoteAudioTrack, *_: object) -> None:
        listening.append(asyncio.create_task(listen(track)))
        there.set()

    await room.connect(os.environ["LIVEKIT_URL"], token.to_jwt())
    source = rtc.AudioSource(RATE, 1)
    track = rtc.LocalAudioTrack.create_audio_track("telephone", source)
    await room.local_participant.publish_track(track)
    print("in the room", flush=True)
    await asyncio.wait_for(there.wait(), 30)
    pcm = bytes(2 * RATE) + said.read_bytes()  # after a second
    size = 2 * RATE // 50
    loop = asyncio.get_running_loop()
    ends = loop.time() + seconds
    while loop.time() < ends:
        chunk, pcm = pcm[:size].ljust(size, b"\0"), pcm[size:]
        await source.capture_frame(rtc.AudioFrame(chunk, RATE, 1, size // 2))
    heard.write_bytes(sound)
    await room.disconnect()
    for task in listening:
        task.cancel()


if __name__ == "__main__":
    room_name, number, said, heard, seconds = sys.argv[1:]
    asyncio.run(call(room_name, number, Path(said), Path(heard), float(seconds)))
