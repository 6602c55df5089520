# id: stt_d
# label: AWS Transcribe
# names: aws_transcribe, aws_transcribe_stt, transcribe
# extras: aws
# license: Apache-2.0: aiobotocore
# languages: af, am, ar, ar-AE, ar-SA, be, bg, bn, bs, ca, ckb-IQ, ckb-IR, cs, cy, da, de, de-CH
# languages: de-DE, el, en, en-AB, en-AU, en-GB, en-IE, en-IN, en-NZ, en-US, en-WL, en-ZA, es, es-ES
# languages: es-MX, es-US, et, eu, fa, fa-AF, fa-IR, fi, fil, fr, fr-CA, fr-FR, gl, gu, he, hi, hr
# languages: ht, hu, hy, id, is, it, ja, jv, ka, kab, kk, km, kn, ko, lg, lt, lv, mk, ml, mr, ms, my
# languages: nb, ne, nl, nl-NL, no, or, pa, pl, ps, pt, pt-BR, pt-PT, ro, ru, si, sk, sl, so, sq, sr
# languages: su, sv, sw, sw-BI, sw-KE, sw-RW, sw-TZ, sw-UG, ta, te, th, tl, tr, uk, uz, vi, yue, zh
# languages: zh-CN, zh-HK, zh-TW, zu
# keys: https://console.aws.amazon.com/iam/
# env: AWS_REGION optional region =us-east-1: region, also read by the SageMaker services
# env: AWS_ACCESS_KEY_ID optional secret library: access key id
# env: AWS_SECRET_ACCESS_KEY optional secret library: secret access key
# env: AWS_SESSION_TOKEN optional secret library: session token, for temporary keys only
# host: transcribestreaming.us-east-1.amazonaws.com:8443: in AWS_REGION
import os

from pipecat.services.aws.stt import AWSTranscribeSTTService


def build(language: str) -> AWSTranscribeSTTService:
    stt = AWSTranscribeSTTService(
        region=os.getenv("AWS_REGION", "us-east-1"),
        settings=AWSTranscribeSTTService.Settings(language=language),  # when: language
    )
    return stt
