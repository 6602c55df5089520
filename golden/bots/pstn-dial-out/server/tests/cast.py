"""Who plays in the tests of this bot: the services, and the people who talk with it."""

from vbot.testing import Person, Role
from vbot.testing.people.smallwebrtc import Visitor
from vbot.testing.stand_ins.llm.openai_chat import ChatCompletions
from vbot.testing.stand_ins.stt.deepgram import Deepgram
from vbot.testing.stand_ins.tts.cartesia import Cartesia

SERVICES = {
    "stt": Role(
        "Deepgram",
        Deepgram,
        key="DEEPGRAM_API_KEY",
        addresses={"DEEPGRAM_STT_BASE_URL": "ws://{}"},
    ),
    "llm": Role(
        "OpenAI",
        ChatCompletions,
        key="OPENAI_API_KEY",
        addresses={"OPENAI_BASE_URL": "http://{}/v1"},
    ),
    "tts": Role(
        "Cartesia",
        Cartesia,
        key="CARTESIA_API_KEY",
        addresses={"CARTESIA_TTS_BASE_URL": "ws://{}/tts/websocket"},
    ),
}
CALLERS: dict[str, type[Person]] = {}
VISITORS: dict[str, type[Person]] = {
    "smallwebrtc": Visitor,
}
