# id: realtime_e
# label: Azure Voice Live
# names: azure_voice_live
# turns: TurnDetection(type='azure_semantic_vad', silence_duration_ms=1000)
# extras: azure
# license: LicenseRef-Microsoft: azure-cognitiveservices-speech
# languages: af, am, ar, as, az, bg, bn, bs, ca, cs, cy, da, de, el, en, es, et, eu, fa, fi, fil, fr
# languages: ga, gl, gu, he, hi, hr, hu, hy, id, is, it, ja, jv, ka, kk, km, kn, ko, lo, lt, lv, mk
# languages: ml, mn, mr, ms, mt, my, nb, ne, nl, no, or, pa, pl, ps, pt, ro, ru, si, sk, sl, so, sq
# languages: sr, su, sv, sw, ta, te, th, tr, uk, ur, uz, vi, wuu, yue, zh, zu
# keys: https://portal.azure.com/
# env: AZURE_VOICE_LIVE_API_KEY required secret: key of the Foundry resource
# env: AZURE_VOICE_LIVE_ENDPOINT required url: address, https://NAME.services.ai.azure.com
# stand-in: azure_voice_live tls AZURE_VOICE_LIVE_ENDPOINT=https://{}
# host: {AZURE_VOICE_LIVE_ENDPOINT}
import os

from pipecat.services.azure.voice_live.events import (
    AzureStandardVoice,
    InputAudioNoiseReduction,
    InputAudioTranscription,
    SessionProperties,
    TurnDetection,
)
from pipecat.services.azure.voice_live.llm import AzureVoiceLiveLLMService


def build(system_instruction: str, language: str) -> AzureVoiceLiveLLMService:
    llm = AzureVoiceLiveLLMService(
        api_key=os.environ["AZURE_VOICE_LIVE_API_KEY"],
        endpoint=os.environ["AZURE_VOICE_LIVE_ENDPOINT"],
        settings=AzureVoiceLiveLLMService.Settings(
            model="gpt-4o-mini",
            session_properties=SessionProperties(
                modalities=["text", "audio"],
                voice=AzureStandardVoice(name="en-US-Ava:DragonHDLatestNeural"),
                turn_detection=TurnDetection(type="azure_semantic_vad_multilingual"),
                input_audio_transcription=InputAudioTranscription(
                    model="azure-speech",
                    language=language,  # when: language
                ),
                input_audio_noise_reduction=InputAudioNoiseReduction(),
            ),
            system_instruction=system_instruction,
        ),
    )
    return llm
