"""Who plays in the tests of this bot: the services, and the people who talk with it."""

from vbot.testing import Person, Role
from vbot.testing.people.smallwebrtc import Visitor
from vbot.testing.people.twilio import TwilioCaller
from vbot.testing.stand_ins.llm.anthropic import AnthropicMessages
from vbot.testing.stand_ins.stt.openai import OpenAITranscription
from vbot.testing.stand_ins.tts.elevenlabs import ElevenLabsSpeech

SERVICES = {
    "stt": Role(
        "OpenAI",
        OpenAITranscription,
        key="OPENAI_API_KEY",
        addresses={"OPENAI_STT_BASE_URL": "http://{}/v1"},
    ),
    "llm": Role(
        "Anthropic Claude",
        AnthropicMessages,
        key="ANTHROPIC_API_KEY",
        addresses={"ANTHROPIC_BASE_URL": "http://{}"},
    ),
    "tts": Role(
        "ElevenLabs",
        ElevenLabsSpeech,
        key="ELEVENLABS_API_KEY",
        addresses={"ELEVENLABS_TTS_BASE_URL": "ws://{}"},
    ),
}
CALLERS: dict[str, type[Person]] = {
    "twilio": TwilioCaller,
}
VISITORS: dict[str, type[Person]] = {
    "smallwebrtc": Visitor,
}
