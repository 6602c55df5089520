# id: stt_j
# label: Deepgram SageMaker
# names: deepgram_sagemaker, deepgram_sagemaker_stt
# extras: deepgram, sagemaker
# python: >=3.12
# license: MIT: deepgram-sdk
# license: Apache-2.0: aws-sdk-sagemaker-runtime-http2
# languages: af, ar, be, bg, bn, bs, ca, cs, da, de, de-CH, el, en, en-AU, en-GB, en-IN, en-NZ
# languages: en-US, es, es-419, et, fa, fi, fr, fr-CA, gu, he, hi, hr, hu, hy, id, it, ja, ka, kn
# languages: ko, ko-KR, lt, lv, mk, mr, ms, ne, nl, nl-BE, no, pa, pl, pt, pt-BR, pt-PT, ro, ru, sk
# languages: sl, sr, sv, ta, te, th, tl, tr, uk, ur, vi, zh, zh-CN, zh-HK, zh-TW
# keys: https://console.aws.amazon.com/iam/
# env: DEEPGRAM_SAGEMAKER_STT_ENDPOINT_NAME required id: SageMaker endpoint name
# env: DEEPGRAM_SAGEMAKER_STT_REGION required region: region of the endpoint, such as us-east-2
# env: AWS_ACCESS_KEY_ID required secret library: access key id
# env: AWS_SECRET_ACCESS_KEY required secret library: secret access key
# env: AWS_SESSION_TOKEN optional secret library: session token, for temporary keys only
# host: runtime.sagemaker.{DEEPGRAM_SAGEMAKER_STT_REGION}.amazonaws.com:8443
import os

from pipecat.services.deepgram.sagemaker.stt import DeepgramSageMakerSTTService


def build(language: str) -> DeepgramSageMakerSTTService:
    stt = DeepgramSageMakerSTTService(
        endpoint_name=os.environ["DEEPGRAM_SAGEMAKER_STT_ENDPOINT_NAME"],
        region=os.environ["DEEPGRAM_SAGEMAKER_STT_REGION"],
        settings=DeepgramSageMakerSTTService.Settings(language=language),  # when: language
    )
    return stt
