# id: realtime_j
# label: OpenAI Live
# names: openai_live, openai_live_realtime
# extras: openai
# license: BSD-3-Clause: httpx
# languages: auto
# starts: context
# keys: https://platform.openai.com/api-keys
# env: OPENAI_API_KEY required secret: API key
# env: OPENAI_LIVE_BASE_URL optional url =wss://api.openai.com/v1/live/sessions: address
# env: OPENAI_MODEL optional model =gpt-4.1: model id, of the model that it asks for help
# stand-in: openai_live OPENAI_LIVE_BASE_URL=ws://{}/v1/live/sessions
# host: api.openai.com
import os

from pipecat.services.openai.live.llm import OpenAILiveLLMService, ResponsesDelegation
from pipecat.services.openai.responses.llm import OpenAIResponsesLLMService


def build(system_instruction: str) -> OpenAILiveLLMService:
    llm = OpenAILiveLLMService(
        api_key=os.environ["OPENAI_API_KEY"],
        base_url=os.getenv("OPENAI_LIVE_BASE_URL", "wss://api.openai.com/v1/live/sessions"),
        # The model that talks hands on what takes thought or a tool.
        delegation=ResponsesDelegation(
            settings=OpenAIResponsesLLMService.Settings(model=os.getenv("OPENAI_MODEL", "gpt-4.1"))
        ),
        settings=OpenAILiveLLMService.Settings(system_instruction=system_instruction),
    )
    return llm
