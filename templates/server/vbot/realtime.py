"""What models need that hear and speak themselves."""

from pipecat.frames.frames import LLMMessagesAppendFrame
from pipecat.services.llm_service import FunctionCallParams

from vbot.calls import end_call
from vbot.instructions import ask_model


async def hang_up(params: FunctionCallParams):
    """End the call when the person wants to and you have said goodbye."""
    await end_call(params)


def greeting(text: str, word_for_word: bool) -> LLMMessagesAppendFrame:
    """Return the frame that asks for the greeting. The model may still change a word of it.

    Args:
        text: The greeting, or what the model is asked for.
        word_for_word: Whether the text is the greeting itself.
    """
    return ask_model(f'Say exactly this, and nothing else: "{text}"' if word_for_word else text)
