# id: realtime_c
# label: AWS Nova Sonic
# names: nova_sonic, aws_nova_realtime, aws_nova, aws_nova_sonic
# turns: Settings(endpointing_sensitivity='LOW')
# extras: aws-nova-sonic
# languages: de, en, es, fr, hi, it, pt
# voices: de lennart, es carlos, fr florian, it lorenzo
# python: >=3.12
# license: Apache-2.0: aws-sdk-bedrock-runtime
# starts: context
# keys: https://console.aws.amazon.com/iam/
# env: AWS_SECRET_ACCESS_KEY required secret: secret access key
# env: AWS_ACCESS_KEY_ID required secret: access key id
# env: AWS_REGION required region: region, such as us-east-1
# env: AWS_SESSION_TOKEN optional secret: session token, for temporary keys only
# env: AWS_VOICE_ID optional voice =matthew: Nova Sonic voice name, also read by Polly
# host: bedrock-runtime.{AWS_REGION}.amazonaws.com
import os

from pipecat.services.aws.nova_sonic.llm import AWSNovaSonicLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> AWSNovaSonicLLMService:
    llm = AWSNovaSonicLLMService(
        secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"],
        access_key_id=os.environ["AWS_ACCESS_KEY_ID"],
        region=os.environ["AWS_REGION"],
        session_token=os.getenv("AWS_SESSION_TOKEN"),
        settings=AWSNovaSonicLLMService.Settings(
            voice=os.getenv("AWS_VOICE_ID", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
