"""What the language model is told during a conversation, beside what the person says."""

from pipecat.frames.frames import LLMMessagesAppendFrame


def ask_model(text: str) -> LLMMessagesAppendFrame:
    """Return the frame that tells the model something, and has it answer."""
    return LLMMessagesAppendFrame([{"role": "developer", "content": text}], run_llm=True)
