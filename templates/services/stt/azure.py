# id: stt_e
# label: Azure Speech
# names: azure, azure_stt
# extras: azure
# keys: https://portal.azure.com/
# env: AZURE_SPEECH_API_KEY required secret: key of the Speech resource
# env: AZURE_SPEECH_REGION required region: region of the Speech resource, such as eastus
import os

from pipecat.services.azure.stt import AzureSTTService


def build() -> AzureSTTService:
    stt = AzureSTTService(
        api_key=os.environ["AZURE_SPEECH_API_KEY"],
        region=os.environ["AZURE_SPEECH_REGION"],
    )
    return stt
