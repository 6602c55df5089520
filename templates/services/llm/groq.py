# id: llm_m
# label: Groq
# names: groq, groq_llm
# extras: groq
# license: Apache-2.0: groq
# keys: https://console.groq.com/keys
# env: GROQ_API_KEY required secret: API key
# env: GROQ_LLM_BASE_URL optional url =https://api.groq.com/openai/v1: address
# env: GROQ_MODEL optional model =openai/gpt-oss-120b: model id
# stand-in: openai_chat GROQ_LLM_BASE_URL=http://{}/v1
# host: api.groq.com
import os

from pipecat.services.groq.llm import GroqLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> GroqLLMService:
    llm = GroqLLMService(
        api_key=os.environ["GROQ_API_KEY"],
        base_url=os.getenv("GROQ_LLM_BASE_URL", "https://api.groq.com/openai/v1"),
        settings=GroqLLMService.Settings(
            model=os.getenv("GROQ_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
