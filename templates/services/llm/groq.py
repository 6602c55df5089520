# id: llm_m
# label: Groq
# names: groq, groq_llm
# extras: groq
# keys: https://console.groq.com/keys
# env: GROQ_API_KEY required secret: API key
# env: GROQ_LLM_BASE_URL optional url =https://api.groq.com/openai/v1: address
# env: GROQ_MODEL optional model =openai/gpt-oss-120b: model id
# host: api.groq.com
import os

from pipecat.services.groq.llm import GroqLLMService
from pipecat.utils.types import NOT_GIVEN


def build(if_set, system_instruction: str) -> GroqLLMService:
    llm = GroqLLMService(
        api_key=os.environ["GROQ_API_KEY"],
        **if_set(base_url="GROQ_LLM_BASE_URL"),
        settings=GroqLLMService.Settings(
            model=os.getenv("GROQ_MODEL") or NOT_GIVEN,
            system_instruction=system_instruction,
        ),
    )
    return llm
