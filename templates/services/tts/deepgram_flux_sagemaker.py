# id: tts_j
# label: Deepgram Flux SageMaker
# names: deepgram_flux_sagemaker, deepgram_flux_sagemaker_tts
# extras: deepgram, sagemaker
# python: >=3.12
# license: MIT: deepgram-sdk
# license: Apache-2.0: aws-sdk-sagemaker-runtime-http2
# languages: en
# keys: https://console.aws.amazon.com/iam/
# env: DEEPGRAM_FLUX_SAGEMAKER_TTS_ENDPOINT_NAME required id: SageMaker endpoint name
# env: DEEPGRAM_FLUX_SAGEMAKER_TTS_REGION required region: region of the endpoint, such as us-east-2
# env: DEEPGRAM_FLUX_SAGEMAKER_TTS_VOICE_ID optional voice =flux-heather-en: Flux voice id
# env: AWS_ACCESS_KEY_ID required secret library: access key id
# env: AWS_SECRET_ACCESS_KEY required secret library: secret access key
# env: AWS_SESSION_TOKEN optional secret library: session token, for temporary keys only
# host: runtime.sagemaker.{DEEPGRAM_FLUX_SAGEMAKER_TTS_REGION}.amazonaws.com:8443
import os

from pipecat.services.deepgram.flux.sagemaker.tts import DeepgramFluxSageMakerTTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> DeepgramFluxSageMakerTTSService:
    tts = DeepgramFluxSageMakerTTSService(
        endpoint_name=os.environ["DEEPGRAM_FLUX_SAGEMAKER_TTS_ENDPOINT_NAME"],
        region=os.environ["DEEPGRAM_FLUX_SAGEMAKER_TTS_REGION"],
        settings=DeepgramFluxSageMakerTTSService.Settings(
            voice=os.getenv("DEEPGRAM_FLUX_SAGEMAKER_TTS_VOICE_ID", NOT_GIVEN)
        ),
    )
    return tts
