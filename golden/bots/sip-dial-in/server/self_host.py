"""Serves the bot on your own machines.

At most MAX_SESSIONS sessions run at a time, each for MAX_SESSION_SECONDS at most. After SIGTERM no
session starts. The program ends when the running ones have ended, at the latest after
DRAIN_SECONDS. deploy/README.md says how to run it.
"""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when ONNX Runtime is imported
if os.getenv("LOG_FORMAT") == "json":
    os.environ["LOGURU_SERIALIZE"] = "true"  # read when Loguru is imported

from typing import Any

from pipecat.runner.types import RunnerArguments

import bot
import metrics
import recording
import runtime
import settings
from call import Call
from runtime import max_call_seconds
from sessions import Sessions

sessions = Sessions(
    capacity=int(os.getenv("MAX_SESSIONS", "8")),
)
metrics.count_sessions(sessions)
app = runtime.new_app()


@app.post("/call")
async def start_call(body: dict[str, Any]) -> dict[str, str]:
    """Start a session in the room that webhooks.py made for a call."""
    Call.authentic(body)
    reservation = sessions.reserve(max_call_seconds())
    arguments = RunnerArguments(body=body, session_id=reservation.id)
    sessions.start(reservation, bot.bot(arguments), is_call=True)
    return {"sessionId": reservation.id}


if __name__ == "__main__":
    runtime.set_up_logs()
    settings.require(
        [
            *bot.REQUIRED,
        ],
        problems=recording.problems(),
    )
    recording.delete_old_daily()
    runtime.serve(app, sessions)
