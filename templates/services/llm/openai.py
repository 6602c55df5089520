# id: llm_a
# label: OpenAI
# names: openai, openai_llm
# extras: openai
# license: BSD-3-Clause: httpx
# keys: https://platform.openai.com/api-keys
# env: OPENAI_API_KEY required secret unless OPENAI_BASE_URL: API key
# env: OPENAI_BASE_URL optional url library =https://api.openai.com/v1: address of a compatible API
# env: OPENAI_MODEL optional model =gpt-4.1: model id
# stand-in: openai_chat OPENAI_BASE_URL=http://{}/v1
# host: api.openai.com
# region: with OPENAI_BASE_URL=https://eu.api.openai.com/v1, for eligible organizations https://developers.openai.com/api/docs/guides/data-residency
import os

from pipecat.services.openai.llm import OpenAILLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> OpenAILLMService:
    llm = OpenAILLMService(
        api_key=os.getenv("OPENAI_API_KEY", "none"),
        settings=OpenAILLMService.Settings(
            model=os.getenv("OPENAI_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
