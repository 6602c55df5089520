# id: llm_b
# label: Anthropic Claude
# names: anthropic, anthropic_llm, claude
# extras: anthropic
# license: MIT: anthropic
# keys: https://platform.claude.com/settings/keys
# env: ANTHROPIC_API_KEY required secret: API key
# env: ANTHROPIC_BASE_URL optional url library =https://api.anthropic.com: address
# env: ANTHROPIC_MODEL optional model =claude-sonnet-4-6: model id
# stand-in: anthropic ANTHROPIC_BASE_URL=http://{}
# host: api.anthropic.com
import os

from pipecat.services.anthropic.llm import AnthropicLLMService
from pipecat.utils.types import NOT_GIVEN


def build(system_instruction: str) -> AnthropicLLMService:
    llm = AnthropicLLMService(
        api_key=os.environ["ANTHROPIC_API_KEY"],
        settings=AnthropicLLMService.Settings(
            model=os.getenv("ANTHROPIC_MODEL", NOT_GIVEN),
            system_instruction=system_instruction,
        ),
    )
    return llm
