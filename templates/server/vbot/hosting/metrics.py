"""Makes Prometheus metrics of what happens in the sessions."""

import time

from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    ClientConnectedFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.observers.base_observer import BaseObserver, FramePushed
from prometheus_client import Counter, Gauge, Histogram

from vbot.conversation import Conversation
from vbot.hosting.sessions import Listener, Session, Sessions
from vbot.monitor import Service, ServiceMonitor

WAITS = (0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 20)  # seconds
LENGTHS = (10, 30, 60, 120, 300, 600, 1200, 1800, 3600)  # seconds
REFUSED = Counter("bot_sessions_refused", "Requests for a session that were refused")
STARTED = Counter("bot_sessions_started", "Sessions that started")
ENDED = Counter(
    "bot_sessions_ended",
    "Sessions that ended, by why: left, service, time, nobody, stopped, failed",
    ["why"],
)
RUNNING = Gauge("bot_sessions", "Sessions that are reserved or running")
CAPACITY = Gauge("bot_sessions_max", "The most sessions at a time")
LASTED = Histogram("bot_session_seconds", "How long sessions lasted", buckets=LENGTHS)
FAILED = Counter("bot_service_failures", "Failures of services", ["service"])
DELAYED = Counter("bot_service_delays", "How often people waited for a service", ["service"])
FIRST_WORD = Histogram("bot_first_word_seconds", "From request to first sound", buckets=WAITS)
ANSWERED = Histogram("bot_turn_seconds", "From a person's last word to the answer", buckets=WAITS)


def show(sessions: Sessions) -> None:
    """Let the gauges show how many sessions there are, and how many there may be."""
    RUNNING.set_function(sessions.count)
    # A process that stops has room for no more than it runs.
    CAPACITY.set_function(lambda: sessions.capacity if sessions.is_open() else sessions.count())


class Metrics(Listener):
    """Counts sessions, and measures their conversations."""

    def on_refused(self) -> None:
        REFUSED.inc()

    def on_started(self, session: Session) -> None:
        STARTED.inc()

    def on_conversation(self, session: Session, conversation: Conversation) -> None:
        def on_failed(monitor: ServiceMonitor, service: Service, problem: str) -> None:
            FAILED.labels(service.label).inc()
            session.service_failed()

        def on_late(monitor: ServiceMonitor, service: Service, problem: str) -> None:
            DELAYED.labels(service.label).inc()

        conversation.monitor.add_event_handler("on_failed", on_failed)
        conversation.monitor.add_event_handler("on_late", on_late)
        conversation.worker.add_observer(AnswerTimes(session))

    def on_ended(self, session: Session, seconds: float) -> None:
        LASTED.observe(seconds)
        ENDED.labels(session.ended_because).inc()


class AnswerTimes(BaseObserver):
    """Measures how long the person of one session waits for the bot's voice."""

    def __init__(self, session: Session):
        super().__init__(observe_every_push=False)
        self._session = session
        self._is_first = True
        self._stopped_speaking_at = 0.0  # of a sentence that has no answer yet

    async def on_push_frame(self, data: FramePushed):
        now, session = time.monotonic(), self._session
        match data.frame:
            case ClientConnectedFrame():
                session.client_connected()
            case VADUserStoppedSpeakingFrame():
                self._stopped_speaking_at = now
            case BotStartedSpeakingFrame():
                if self._is_first:
                    began = session.connected_at if session.may_ring else session.requested_at
                    FIRST_WORD.observe(now - began)
                elif self._stopped_speaking_at:
                    ANSWERED.observe(now - self._stopped_speaking_at)
                self._is_first, self._stopped_speaking_at = False, 0.0
