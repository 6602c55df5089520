# id: tts_l
# label: ElevenLabs Dialogue (v3)
# names: elevenlabs_dialogue, elevenlabs_dialogue_tts
# extras: elevenlabs
# languages: af, ar, as, ast, az, be, bg, bn, bs, ca, ceb, cs, cy, da, de, el, en, es, et, fa, fi
# languages: fil, fr, ga, gl, gu, ha, he, hi, hr, hu, hy, id, is, it, ja, jv, ka, kk, kn, ko, ky, lb
# languages: ln, lt, lv, mi, mk, ml, mn, mr, ms, mt, my, ne, nl, no, ny, oc, or, pa, pl, ps, pt, ro
# languages: ru, sd, sk, sl, so, sr, sv, sw, ta, te, tg, th, tr, uk, ur, uz, vi, yue, zh
# voices: any
# keys: https://elevenlabs.io/app/settings/api-keys
# env: ELEVENLABS_API_KEY required secret: API key
# env: ELEVENLABS_DIALOGUE_BASE_URL optional url =wss://api.elevenlabs.io: address
# env: ELEVENLABS_VOICE_ID required voice: id, from the voice library
# stand-in: elevenlabs_dialogue ELEVENLABS_DIALOGUE_BASE_URL=ws://{}
# host: api.elevenlabs.io
import os

from pipecat.services.elevenlabs.dialogue.tts import ElevenLabsDialogueTTSService


def build(language: str) -> ElevenLabsDialogueTTSService:
    tts = ElevenLabsDialogueTTSService(
        api_key=os.environ["ELEVENLABS_API_KEY"],
        url=os.getenv("ELEVENLABS_DIALOGUE_BASE_URL", "wss://api.elevenlabs.io"),
        settings=ElevenLabsDialogueTTSService.Settings(
            language=language,  # when: language
            voice=os.environ["ELEVENLABS_VOICE_ID"],
        ),
    )
    return tts
