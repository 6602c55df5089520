# id: llm_s
# label: OpenAI Responses
# names: openai_responses, openai_responses_llm
# extras: openai
# keys: https://platform.openai.com/api-keys
# env: OPENAI_API_KEY required secret unless OPENAI_RESPONSES_WS_URL: API key
# env: OPENAI_BASE_URL optional url =https://api.openai.com/v1: address of the API or one like it
# env: OPENAI_RESPONSES_WS_URL optional url =wss://api.openai.com/v1/responses: of WebSockets
# env: OPENAI_MODEL optional model =gpt-4.1: model id
# host: api.openai.com
import os

from pipecat.services.openai.responses.llm import OpenAIResponsesLLMService
from pipecat.utils.types import NOT_GIVEN


def build(if_set, system_instruction: str) -> OpenAIResponsesLLMService:
    llm = OpenAIResponsesLLMService(
        api_key=os.getenv("OPENAI_API_KEY") or "none",
        base_url=os.getenv("OPENAI_BASE_URL") or "https://api.openai.com/v1",
        **if_set(ws_url="OPENAI_RESPONSES_WS_URL"),
        settings=OpenAIResponsesLLMService.Settings(
            model=os.getenv("OPENAI_MODEL") or NOT_GIVEN,
            system_instruction=system_instruction,
        ),
    )
    return llm
