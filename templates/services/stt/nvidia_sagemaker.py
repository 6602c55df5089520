# id: stt_v
# label: NVIDIA SageMaker
# names: nvidia_sagemaker, nvidia_sagemaker_stt
# extras: aws, sagemaker
# python: >=3.12
# license: Apache-2.0: aiobotocore, aws-sdk-sagemaker-runtime-http2
# languages: en
# keys: https://console.aws.amazon.com/iam/
# env: NVIDIA_SAGEMAKER_STT_ENDPOINT_NAME required id: SageMaker endpoint name
# env: AWS_REGION optional region =us-west-2: endpoint region, also read by other AWS services
# env: AWS_ACCESS_KEY_ID required secret library: access key id
# env: AWS_SECRET_ACCESS_KEY required secret library: secret access key
# env: AWS_SESSION_TOKEN optional secret library: session token, for temporary keys only
# host: runtime.sagemaker.us-west-2.amazonaws.com:8443: in AWS_REGION
import os

from pipecat.services.nvidia.sagemaker.stt import NvidiaSageMakerSTTService


def build() -> NvidiaSageMakerSTTService:
    stt = NvidiaSageMakerSTTService(
        endpoint_name=os.environ["NVIDIA_SAGEMAKER_STT_ENDPOINT_NAME"],
        region=os.getenv("AWS_REGION", "us-west-2"),
    )
    return stt
