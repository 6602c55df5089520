# id: realtime_i
# label: Inworld Realtime
# names: inworld, inworld_realtime
# extras: inworld
# languages: auto
# starts: context
# keys: https://platform.inworld.ai/api-keys
# env: INWORLD_API_KEY required secret: API key, the Base64 form
# env: INWORLD_REALTIME_BASE_URL optional url =wss://api.inworld.ai/api/v1/realtime/session: address
# env: INWORLD_MODEL optional model =openai/gpt-4.1-mini: model id, or a router of yours
# env: INWORLD_VOICE_ID optional voice =Clive: voice name, also read by Inworld's text to speech
# stand-in: inworld INWORLD_REALTIME_BASE_URL=ws://{}/api/v1/realtime/session
# host: api.inworld.ai
import os

from pipecat.services.inworld.realtime.llm import InworldRealtimeLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> InworldRealtimeLLMService:
    llm = InworldRealtimeLLMService(
        api_key=os.environ["INWORLD_API_KEY"],
        base_url=os.getenv(
            "INWORLD_REALTIME_BASE_URL", "wss://api.inworld.ai/api/v1/realtime/session"
        ),
        voice=os.getenv("INWORLD_VOICE_ID"),
        settings=InworldRealtimeLLMService.Settings(
            model=os.getenv("INWORLD_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
