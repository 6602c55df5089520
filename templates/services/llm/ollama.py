# id: llm_r
# label: Ollama
# names: ollama, ollama_llm
# flags: local
# env: OLLAMA_BASE_URL optional url =http://localhost:11434/v1: address
# env: OLLAMA_MODEL optional model =llama2: model name, as ollama pull takes it
# host: localhost:11434
import os

from pipecat.services.ollama.llm import OLLamaLLMService
from pipecat.utils.types import NOT_GIVEN


def build(if_set, system_instruction: str) -> OLLamaLLMService:
    llm = OLLamaLLMService(
        **if_set(base_url="OLLAMA_BASE_URL"),
        settings=OLLamaLLMService.Settings(
            model=os.getenv("OLLAMA_MODEL") or NOT_GIVEN,
            system_instruction=system_instruction,
        ),
    )
    return llm
