# id: llm_x
# label: Sarvam
# names: sarvam, sarvam_llm
# extras: sarvam
# license: NOASSERTION: sarvamai
# keys: https://dashboard.sarvam.ai/
# env: SARVAM_API_KEY required secret: API key
# env: SARVAM_BASE_URL optional url: address of the API
# env: SARVAM_MODEL optional model =sarvam-105b: model id
# stand-in: openai_chat SARVAM_BASE_URL=http://{}/v1
# host: api.sarvam.ai
import os

from pipecat.services.sarvam.llm import SarvamLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> SarvamLLMService:
    llm = SarvamLLMService(
        api_key=os.environ["SARVAM_API_KEY"],
        base_url=os.getenv("SARVAM_BASE_URL"),
        settings=SarvamLLMService.Settings(
            model=os.getenv("SARVAM_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
