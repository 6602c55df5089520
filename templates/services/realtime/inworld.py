# id: realtime_i
# label: Inworld Realtime
# names: inworld, inworld_realtime
# extras: inworld
# starts: context
# keys: https://platform.inworld.ai/api-keys
# env: INWORLD_API_KEY required secret: API key, the Base64 form
# env: INWORLD_REALTIME_BASE_URL optional url =wss://api.inworld.ai/api/v1/realtime/session: address
# env: INWORLD_MODEL optional model =openai/gpt-4.1-mini: model id, or a router of yours
# env: INWORLD_VOICE_ID optional voice =Clive: voice name, also read by Inworld's text to speech
# host: api.inworld.ai
import os

from pipecat.services.inworld.realtime.llm import InworldRealtimeLLMService
from pipecat.utils.types import NOT_GIVEN


def build(if_set, system_instruction: str) -> InworldRealtimeLLMService:
    llm = InworldRealtimeLLMService(
        api_key=os.environ["INWORLD_API_KEY"],
        **if_set(base_url="INWORLD_REALTIME_BASE_URL"),
        voice=os.getenv("INWORLD_VOICE_ID") or None,
        settings=InworldRealtimeLLMService.Settings(
            model=os.getenv("INWORLD_MODEL") or NOT_GIVEN,
            system_instruction=system_instruction,
        ),
    )
    return llm
