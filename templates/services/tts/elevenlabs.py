# id: tts_b
# label: ElevenLabs
# names: elevenlabs, elevenlabs_tts
# extras: elevenlabs
# languages: ar, bg, cs, da, de, el, en, es, fi, fil, fr, hi, hr, hu, id, it, ja, ko, ms, nl, no, pl
# languages: pt, ro, ru, sk, sv, ta, tr, uk, vi, zh
# voices: any
# keys: https://elevenlabs.io/app/settings/api-keys
# env: ELEVENLABS_API_KEY required secret: API key
# env: ELEVENLABS_TTS_BASE_URL optional url =wss://api.elevenlabs.io: address
# env: ELEVENLABS_VOICE_ID required voice: id, from the voice library
# stand-in: elevenlabs ELEVENLABS_TTS_BASE_URL=ws://{}
# host: api.elevenlabs.io
import os

from pipecat.services.elevenlabs.tts import ElevenLabsTTSService


def build(language: str) -> ElevenLabsTTSService:
    tts = ElevenLabsTTSService(
        api_key=os.environ["ELEVENLABS_API_KEY"],
        url=os.getenv("ELEVENLABS_TTS_BASE_URL", "wss://api.elevenlabs.io"),
        settings=ElevenLabsTTSService.Settings(
            language=language,  # when: language
            voice=os.environ["ELEVENLABS_VOICE_ID"],
        ),
    )
    return tts
