# id: llm_c
# label: AWS Bedrock
# names: bedrock, aws_bedrock_llm, aws_bedrock
# extras: aws
# license: Apache-2.0: aiobotocore
# keys: https://console.aws.amazon.com/iam/
# env: AWS_REGION optional region =us-east-1: region, also read by the SageMaker services
# env: AWS_BEDROCK_MODEL optional model =us.amazon.nova-lite-v1:0: model id or inference profile id
# env: AWS_ACCESS_KEY_ID optional secret library: access key id
# env: AWS_SECRET_ACCESS_KEY optional secret library: secret access key
# env: AWS_SESSION_TOKEN optional secret library: session token, for temporary keys only
# host: bedrock-runtime.us-east-1.amazonaws.com: in AWS_REGION
import os

from pipecat.services.aws.llm import AWSBedrockLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> AWSBedrockLLMService:
    llm = AWSBedrockLLMService(
        aws_region=os.getenv("AWS_REGION", "us-east-1"),
        settings=AWSBedrockLLMService.Settings(
            model=os.getenv("AWS_BEDROCK_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
