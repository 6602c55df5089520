# id: stt_d
# label: AWS Transcribe
# names: aws_transcribe, aws_transcribe_stt, transcribe
# extras: aws
# keys: https://console.aws.amazon.com/iam/
# env: AWS_REGION optional region =us-east-1: region, also read by the SageMaker services
# env: AWS_ACCESS_KEY_ID optional secret library: access key id
# env: AWS_SECRET_ACCESS_KEY optional secret library: secret access key
# env: AWS_SESSION_TOKEN optional secret library: session token, for temporary keys only
# host: transcribestreaming.us-east-1.amazonaws.com:8443: in AWS_REGION
import os

from pipecat.services.aws.stt import AWSTranscribeSTTService


def build() -> AWSTranscribeSTTService:
    stt = AWSTranscribeSTTService(region=os.getenv("AWS_REGION") or "us-east-1")
    return stt
