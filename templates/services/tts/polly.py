# id: tts_d
# label: AWS Polly
# names: polly, aws_polly_tts, aws_polly
# extras: aws
# license: Apache-2.0: aiobotocore
# languages: ar, ca, cs, cy, da, de, en, es, fi, fr, hi, is, it, ja, ko, nb, nl, no, pl, pt, ro, ru
# languages: sv, tr, yue, zh
# voices: ar Zeina, cy Gwyneth, da Naja, de Vicki, es Lucia, fr Lea, hi Aditi, is Dora, it Bianca
# voices: ja Mizuki, ko Seoyeon, nb Liv, nl Lotte, no Liv, pl Ewa, pt Camila, ro Carmen, ru Tatyana
# voices: sv Astrid, tr Filiz, zh Zhiyu, en-AU Nicole, en-GB Amy, en-IN Raveena, es-MX Mia
# voices: es-US Lupe, fr-CA Chantal, pt-PT Ines
# keys: https://console.aws.amazon.com/iam/
# env: AWS_REGION optional region =us-east-1: region, also read by the SageMaker services
# env: AWS_VOICE_ID optional voice =Joanna: Polly voice of the language, also read by Nova Sonic
# env: AWS_ACCESS_KEY_ID optional secret library: access key id
# env: AWS_SECRET_ACCESS_KEY optional secret library: secret access key
# env: AWS_SESSION_TOKEN optional secret library: session token, for temporary keys only
# host: polly.us-east-1.amazonaws.com: in AWS_REGION
import os

from pipecat.services.aws.tts import AWSPollyTTSService
from pipecat.utils.types import NOT_GIVEN


def build(language: str) -> AWSPollyTTSService:
    tts = AWSPollyTTSService(
        region=os.getenv("AWS_REGION", "us-east-1"),
        sample_rate=16000,  # the rate that the framework asks Polly for
        settings=AWSPollyTTSService.Settings(
            language=language,  # when: language
            voice=os.getenv("AWS_VOICE_ID", NOT_GIVEN),
        ),
    )
    return tts
