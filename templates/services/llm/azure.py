# id: llm_d
# label: Azure OpenAI
# names: azure, azure_llm, azure_openai
# extras: azure
# license: LicenseRef-Microsoft: azure-cognitiveservices-speech
# keys: https://portal.azure.com/
# env: AZURE_CHATGPT_ENDPOINT required url: URL of the resource, ending in /openai/v1
# env: AZURE_CHATGPT_API_KEY required secret: key of the Azure OpenAI resource
# env: AZURE_CHATGPT_MODEL optional model =gpt-4.1: name of the model deployment
# stand-in: openai_chat AZURE_CHATGPT_ENDPOINT=http://{}/openai/v1
# host: {AZURE_CHATGPT_ENDPOINT}
import os

from pipecat.services.azure.llm import AzureLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> AzureLLMService:
    llm = AzureLLMService(
        endpoint=os.environ["AZURE_CHATGPT_ENDPOINT"],
        api_key=os.environ["AZURE_CHATGPT_API_KEY"],
        settings=AzureLLMService.Settings(
            model=os.getenv("AZURE_CHATGPT_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
