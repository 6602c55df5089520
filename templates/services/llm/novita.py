# id: llm_p
# label: Novita
# names: novita, novita_llm
# extras: novita
# keys: https://novita.ai/settings/key-management
# env: NOVITA_API_KEY required secret: API key
# env: NOVITA_BASE_URL optional url =https://api.novita.ai/openai: address
# env: NOVITA_MODEL optional model =moonshotai/kimi-k2.5: model id
# stand-in: openai_chat NOVITA_BASE_URL=http://{}/v1
# host: api.novita.ai
import os

from pipecat.services.novita.llm import NovitaLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> NovitaLLMService:
    llm = NovitaLLMService(
        api_key=os.environ["NOVITA_API_KEY"],
        base_url=os.getenv("NOVITA_BASE_URL", "https://api.novita.ai/openai"),
        settings=NovitaLLMService.Settings(
            model=os.getenv("NOVITA_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
