"""What a bot needs in daily use and Pipecat leaves open. vbot maintains this package.

Its files are the same in every project, whatever the options are: they look at what a conversation
has. Change arguments in bot.py rather than these files. If you do edit one, updates merge it.
"""

import os

from vbot import settings

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when ONNX Runtime is imported
settings.load()
if os.getenv("LOG_FORMAT") == "json":
    os.environ["LOGURU_SERIALIZE"] = "true"  # read when Loguru is imported

from vbot.calls import TransferFrame, hang_up  # noqa: E402
from vbot.conversation import Conversation, to_thread  # noqa: E402
from vbot.facts import facts_about  # noqa: E402
from vbot.failover import (  # noqa: E402
    LanguageModelFailover,
    SpeechToTextFailover,
    TextToSpeechFailover,
)
from vbot.instructions import ask_model  # noqa: E402
from vbot.monitor import Service  # noqa: E402
from vbot.program import run  # noqa: E402
from vbot.sentences import Sentences  # noqa: E402
from vbot.settings import Needs  # noqa: E402
from vbot.transports import create_transport  # noqa: E402

__all__ = [
    "Conversation",
    "LanguageModelFailover",
    "Needs",
    "Sentences",
    "Service",
    "SpeechToTextFailover",
    "TextToSpeechFailover",
    "TransferFrame",
    "create_transport",
    "facts_about",
    "hang_up",
    "to_thread",
    "run",
    "ask_model",
]
