# id: realtime_g
# label: Grok Realtime
# names: xai, xai_realtime, grok_realtime, grok
# extras: xai
# keys: https://console.x.ai/
# env: XAI_API_KEY required secret: API key
# env: XAI_REALTIME_BASE_URL optional url =wss://api.x.ai/v1/realtime: address
# env: XAI_VOICE_ID optional voice =eve: voice id
# host: api.x.ai
import os

from pipecat.services.xai.realtime.events import SessionProperties
from pipecat.services.xai.realtime.llm import GrokRealtimeLLMService


def build(if_set, system_instruction: str) -> GrokRealtimeLLMService:
    llm = GrokRealtimeLLMService(
        api_key=os.environ["XAI_API_KEY"],
        **if_set(base_url="XAI_REALTIME_BASE_URL"),
        settings=GrokRealtimeLLMService.Settings(
            session_properties=SessionProperties(voice=os.getenv("XAI_VOICE_ID") or "eve"),
            system_instruction=system_instruction,
        ),
    )
    return llm
