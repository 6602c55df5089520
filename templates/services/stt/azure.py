# id: stt_e
# label: Azure Speech
# names: azure, azure_stt
# extras: azure
# keys: https://portal.azure.com/
# env: AZURE_SPEECH_API_KEY required secret: key of the Speech resource
# env: AZURE_SPEECH_REGION required region unless AZURE_SPEECH_STT_ENDPOINT: region, such as eastus
# env: AZURE_SPEECH_STT_ENDPOINT optional url: address of a private endpoint, wss://...
# host: {AZURE_SPEECH_REGION}.stt.speech.microsoft.com
import os

from pipecat.services.azure.stt import AzureSTTService


def build() -> AzureSTTService:
    stt = AzureSTTService(
        api_key=os.environ["AZURE_SPEECH_API_KEY"],
        private_endpoint=os.getenv("AZURE_SPEECH_STT_ENDPOINT") or None,
        region=os.getenv("AZURE_SPEECH_REGION") or None,
    )
    return stt
