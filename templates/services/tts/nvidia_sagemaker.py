# id: tts_y
# label: NVIDIA SageMaker
# names: nvidia_sagemaker, nvidia_sagemaker_tts
# extras: aws, sagemaker
# python: >=3.12
# license: Apache-2.0: aiobotocore, aws-sdk-sagemaker-runtime-http2
# languages: de-DE, en-US, es-US, fr-FR, hi-IN, it-IT, ja-JP, ko-KR, pt-BR, vi-VN, zh-CN
# keys: https://console.aws.amazon.com/iam/
# env: NVIDIA_SAGEMAKER_TTS_ENDPOINT_NAME required id: SageMaker endpoint name
# env: AWS_REGION optional region =us-west-2: endpoint region, also read by other AWS services
# env: NVIDIA_SAGEMAKER_TTS_VOICE_ID optional voice =Magpie-Multilingual.EN-US.Aria: voice name
# env: AWS_ACCESS_KEY_ID required secret library: access key id, not of a temporary key
# env: AWS_SECRET_ACCESS_KEY required secret library: secret access key
# host: runtime.sagemaker.us-west-2.amazonaws.com:8443: in AWS_REGION
import os

from pipecat.services.nvidia.sagemaker.tts import NvidiaSageMakerTTSService
from pipecat.utils.types import NOT_GIVEN


def build(language: str) -> NvidiaSageMakerTTSService:
    tts = NvidiaSageMakerTTSService(
        endpoint_name=os.environ["NVIDIA_SAGEMAKER_TTS_ENDPOINT_NAME"],
        region=os.getenv("AWS_REGION", "us-west-2"),
        settings=NvidiaSageMakerTTSService.Settings(
            language=language,  # when: language
            voice=os.getenv("NVIDIA_SAGEMAKER_TTS_VOICE_ID", NOT_GIVEN),
        ),
    )
    return tts
