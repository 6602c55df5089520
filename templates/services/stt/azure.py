# id: stt_e
# label: Azure Speech
# names: azure, azure_stt
# extras: azure
# license: LicenseRef-Microsoft: azure-cognitiveservices-speech
# languages: af, am, ar, as, az, bg, bn, bs, ca, cs, cy, da, de, el, en, es, et, eu, fa, fi, fil, fr
# languages: ga, gl, gu, he, hi, hr, hu, hy, id, is, it, ja, jv, ka, kk, km, kn, ko, lo, lt, lv, mk
# languages: ml, mn, mr, ms, mt, my, nb, ne, nl, no, or, pa, pl, ps, pt, ro, ru, si, sk, sl, so, sq
# languages: sr, su, sv, sw, ta, te, th, tr, uk, ur, uz, vi, wuu, yue, zh, zu
# keys: https://portal.azure.com/
# env: AZURE_SPEECH_API_KEY required secret: key of the Speech resource
# env: AZURE_SPEECH_REGION required region unless AZURE_SPEECH_STT_ENDPOINT: region, such as eastus
# env: AZURE_SPEECH_STT_ENDPOINT optional url: address of a private endpoint, wss://...
# host: {AZURE_SPEECH_REGION}.stt.speech.microsoft.com
# region: in resources of a region in the EU https://learn.microsoft.com/azure/ai-services/speech-service/regions
import os

from pipecat.services.azure.stt import AzureSTTService


def build(language: str) -> AzureSTTService:
    stt = AzureSTTService(
        api_key=os.environ["AZURE_SPEECH_API_KEY"],
        private_endpoint=os.getenv("AZURE_SPEECH_STT_ENDPOINT"),
        region=os.getenv("AZURE_SPEECH_REGION"),
        settings=AzureSTTService.Settings(language=language),  # when: language
    )
    return stt
