# id: stt_i
# label: Deepgram Flux SageMaker
# names: deepgram_flux_sagemaker, deepgram_flux_sagemaker_stt
# turns: Settings(eot_threshold=0.85, eot_timeout_ms=8000)
# extras: deepgram, sagemaker
# python: >=3.12
# license: MIT: deepgram-sdk
# license: Apache-2.0: aws-sdk-sagemaker-runtime-http2
# languages: en
# keys: https://console.aws.amazon.com/iam/
# env: DEEPGRAM_FLUX_SAGEMAKER_STT_ENDPOINT_NAME required id: SageMaker endpoint name
# env: DEEPGRAM_FLUX_SAGEMAKER_STT_REGION required region: region of the endpoint, such as us-east-2
# env: AWS_ACCESS_KEY_ID required secret library: access key id
# env: AWS_SECRET_ACCESS_KEY required secret library: secret access key
# env: AWS_SESSION_TOKEN optional secret library: session token, for temporary keys only
# host: runtime.sagemaker.{DEEPGRAM_FLUX_SAGEMAKER_STT_REGION}.amazonaws.com:8443
import os

from pipecat.services.deepgram.flux.sagemaker.stt import DeepgramFluxSageMakerSTTService


def build() -> DeepgramFluxSageMakerSTTService:
    stt = DeepgramFluxSageMakerSTTService(
        endpoint_name=os.environ["DEEPGRAM_FLUX_SAGEMAKER_STT_ENDPOINT_NAME"],
        region=os.environ["DEEPGRAM_FLUX_SAGEMAKER_STT_REGION"],
    )
    return stt
