# id: tts_k
# label: Deepgram SageMaker
# names: deepgram_sagemaker, deepgram_sagemaker_tts
# extras: deepgram, sagemaker
# python: >=3.12
# license: MIT: deepgram-sdk
# license: Apache-2.0: aws-sdk-sagemaker-runtime-http2
# languages: voice
# keys: https://console.aws.amazon.com/iam/
# env: DEEPGRAM_SAGEMAKER_TTS_ENDPOINT_NAME required id: SageMaker endpoint name
# env: DEEPGRAM_SAGEMAKER_TTS_REGION required region: region of the endpoint, such as us-east-2
# env: DEEPGRAM_SAGEMAKER_TTS_VOICE_ID optional voice =aura-2-helena-en: Aura voice id
# env: AWS_ACCESS_KEY_ID required secret library: access key id
# env: AWS_SECRET_ACCESS_KEY required secret library: secret access key
# env: AWS_SESSION_TOKEN optional secret library: session token, for temporary keys only
# host: runtime.sagemaker.{DEEPGRAM_SAGEMAKER_TTS_REGION}.amazonaws.com:8443
import os

from pipecat.services.deepgram.sagemaker.tts import DeepgramSageMakerTTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> DeepgramSageMakerTTSService:
    tts = DeepgramSageMakerTTSService(
        endpoint_name=os.environ["DEEPGRAM_SAGEMAKER_TTS_ENDPOINT_NAME"],
        region=os.environ["DEEPGRAM_SAGEMAKER_TTS_REGION"],
        settings=DeepgramSageMakerTTSService.Settings(
            voice=os.getenv("DEEPGRAM_SAGEMAKER_TTS_VOICE_ID", NOT_GIVEN)
        ),
    )
    return tts
