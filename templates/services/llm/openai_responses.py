# id: llm_s
# label: OpenAI Responses
# names: openai_responses, openai_responses_llm
# extras: openai
# keys: https://platform.openai.com/api-keys
# env: OPENAI_API_KEY required secret: API key
# env: OPENAI_MODEL optional model =gpt-4.1: model id
import os

from pipecat.services.openai.responses.llm import OpenAIResponsesLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> OpenAIResponsesLLMService:
    llm = OpenAIResponsesLLMService(
        api_key=os.environ["OPENAI_API_KEY"],
        settings=OpenAIResponsesLLMService.Settings(
            model=os.getenv("OPENAI_MODEL") or NOT_GIVEN,
            system_instruction=system_instruction,
        ),
    )
    return llm
