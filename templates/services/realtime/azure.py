# id: realtime_d
# label: Azure Realtime
# names: azure, azure_realtime
# video: in
# extras: azure
# keys: https://portal.azure.com/
# env: AZURE_REALTIME_API_KEY required secret: key of the Azure OpenAI resource
# env: AZURE_REALTIME_BASE_URL required url: wss URL ending in /openai/v1/realtime?model=DEPLOYMENT
# host: {AZURE_REALTIME_BASE_URL}
import os

from pipecat.services.azure.realtime.llm import AzureRealtimeLLMService
from pipecat.services.openai.realtime.events import (
    AudioConfiguration,
    AudioInput,
    InputAudioTranscription,
    SessionProperties,
)


def build(system_instruction: str) -> AzureRealtimeLLMService:
    llm = AzureRealtimeLLMService(
        api_key=os.environ["AZURE_REALTIME_API_KEY"],
        base_url=os.environ["AZURE_REALTIME_BASE_URL"],
        settings=AzureRealtimeLLMService.Settings(
            session_properties=SessionProperties(
                audio=AudioConfiguration(
                    input=AudioInput(transcription=InputAudioTranscription(model="whisper-1"))
                )
            ),
            system_instruction=system_instruction,
        ),
    )
    return llm
