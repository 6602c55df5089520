# id: llm_r
# label: Ollama
# names: ollama, ollama_llm
# flags: local
# license: LicenseRef-Llama-3.2: the model llama3.2 of Ollama
# env: OLLAMA_BASE_URL optional url =http://localhost:11434: address
# env: OLLAMA_MODEL optional model =llama3.2: model name, as for ollama pull
# stand-in: ollama OLLAMA_BASE_URL=http://{}/v1
# host: localhost:11434
import os

from pipecat.services.ollama.llm import OLLamaLLMService


def build(system_instruction: str) -> OLLamaLLMService:
    address = os.getenv("OLLAMA_BASE_URL", "http://localhost:11434").rstrip("/")
    llm = OLLamaLLMService(
        base_url=address.removesuffix("/v1") + "/v1",
        settings=OLLamaLLMService.Settings(
            model=os.getenv("OLLAMA_MODEL", "llama3.2"),
            system_instruction=system_instruction,
        ),
    )
    return llm
