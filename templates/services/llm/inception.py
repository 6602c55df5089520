# id: llm_n
# label: Inception
# names: inception, inception_llm
# extras: inception
# keys: https://platform.inceptionlabs.ai/
# env: INCEPTION_API_KEY required secret: API key
# env: INCEPTION_BASE_URL optional url =https://api.inceptionlabs.ai/v1: address
# env: INCEPTION_MODEL optional model =mercury-2: model id
# stand-in: openai_chat INCEPTION_BASE_URL=http://{}/v1
# host: api.inceptionlabs.ai
import os

from pipecat.services.inception.llm import InceptionLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> InceptionLLMService:
    llm = InceptionLLMService(
        api_key=os.environ["INCEPTION_API_KEY"],
        base_url=os.getenv("INCEPTION_BASE_URL", "https://api.inceptionlabs.ai/v1"),
        settings=InceptionLLMService.Settings(
            model=os.getenv("INCEPTION_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
