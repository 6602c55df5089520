# id: tts_e
# label: Azure TTS
# names: azure, azure_tts
# extras: azure
# languages: voice
# keys: https://portal.azure.com/
# env: AZURE_SPEECH_API_KEY required secret: key of the Speech resource
# env: AZURE_SPEECH_REGION required region unless AZURE_SPEECH_TTS_ENDPOINT: region, such as eastus
# env: AZURE_SPEECH_TTS_ENDPOINT optional url: address of a private endpoint, wss://...
# env: AZURE_SPEECH_VOICE_ID optional voice =en-US-SaraNeural: voice name, from the voice gallery
# host: {AZURE_SPEECH_REGION}.tts.speech.microsoft.com
import os

from pipecat.services.azure.tts import AzureTTSService
from pipecat.utils.types import NOT_GIVEN


def build() -> AzureTTSService:
    tts = AzureTTSService(
        api_key=os.environ["AZURE_SPEECH_API_KEY"],
        private_endpoint=os.getenv("AZURE_SPEECH_TTS_ENDPOINT"),
        region=os.getenv("AZURE_SPEECH_REGION"),
        settings=AzureTTSService.Settings(voice=os.getenv("AZURE_SPEECH_VOICE_ID", NOT_GIVEN)),
    )
    return tts
