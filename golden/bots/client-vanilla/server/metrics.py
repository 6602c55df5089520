"""Makes Prometheus metrics of what happens in the sessions. self_host.py serves them."""

import time

from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    ClientConnectedFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.observers.base_observer import BaseObserver, FramePushed
from pipecat.pipeline.worker import PipelineWorker
from prometheus_client import Counter, Gauge, Histogram

import sessions
from monitor import Service, ServiceMonitor

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


def count_sessions(of: sessions.Sessions) -> None:
    """Count the sessions of this process."""

    def ended(session: sessions.Session, seconds: float) -> None:
        LASTED.observe(seconds)
        ENDED.labels(session.ended_because).inc()

    of.on_refused = REFUSED.inc
    of.on_started = lambda session: STARTED.inc()
    of.on_ended = ended
    RUNNING.set_function(of.count)
    # A process that stops has room for no more than it runs.
    CAPACITY.set_function(lambda: of.capacity if of.accepts() else of.count())


def count_failure(monitor: ServiceMonitor, service: Service, problem: str) -> None:
    FAILED.labels(service.label).inc()
    if session := sessions.current.get():
        session.ended_because = "service"  # if the person leaves from now on


def count_delay(monitor: ServiceMonitor, service: Service, problem: str) -> None:
    DELAYED.labels(service.label).inc()


class AnswerTimes(BaseObserver):
    """Measures how long the person of one session waits for the bot's voice."""

    def __init__(self, session: sessions.Session | None):
        super().__init__(observe_every_push=False)
        self._session = session
        self._is_first = True
        self._stopped_speaking_at = 0.0  # of a sentence that has no answer yet

    async def on_push_frame(self, data: FramePushed):
        now = time.monotonic()
        match data.frame:
            case ClientConnectedFrame() if self._session:
                self._session.client_connected()
            case VADUserStoppedSpeakingFrame():
                self._stopped_speaking_at = now
            case BotStartedSpeakingFrame():
                if self._is_first and self._session:
                    session = self._session
                    began = session.connected_at if session.is_call else session.requested_at
                    FIRST_WORD.observe(now - began)
                elif self._stopped_speaking_at:
                    ANSWERED.observe(now - self._stopped_speaking_at)
                self._is_first, self._stopped_speaking_at = False, 0.0


def measure(worker: PipelineWorker) -> None:
    """Measure the session that runs this code."""
    worker.add_observer(AnswerTimes(sessions.current.get()))
