# id: llm_s
# label: OpenAI Responses
# names: openai_responses, openai_responses_llm
# extras: openai
# license: BSD-3-Clause: httpx
# keys: https://platform.openai.com/api-keys
# env: OPENAI_API_KEY required secret unless OPENAI_RESPONSES_WS_URL: API key
# env: OPENAI_BASE_URL optional url library =https://api.openai.com/v1: address of a compatible API
# env: OPENAI_RESPONSES_WS_URL optional url =wss://api.openai.com/v1/responses: WebSocket address
# env: OPENAI_MODEL optional model =gpt-4.1: model id
# stand-in: openai_responses OPENAI_RESPONSES_WS_URL=ws://{}/v1/responses
# host: api.openai.com
import os

from pipecat.services.openai.responses.llm import OpenAIResponsesLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> OpenAIResponsesLLMService:
    llm = OpenAIResponsesLLMService(
        api_key=os.getenv("OPENAI_API_KEY", "none"),
        ws_url=os.getenv("OPENAI_RESPONSES_WS_URL", "wss://api.openai.com/v1/responses"),
        settings=OpenAIResponsesLLMService.Settings(
            model=os.getenv("OPENAI_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
