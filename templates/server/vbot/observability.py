"""Shows what happens in a pipeline: Whisker, and traces over OTLP."""

import os
import socket
from functools import cache

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from pipecat.pipeline.worker import PipelineWorker
from pipecat.utils.tracing.setup import setup_tracing
from pipecat.workers.runner import WorkerRunner
from pipecat_whisker import WhiskerServer


@cache
def send_traces(name: str) -> None:
    """Send the traces of this and all later sessions over OTLP, if .env has an address."""
    if os.getenv("OTEL_EXPORTER_OTLP_ENDPOINT"):
        setup_tracing(name, OTLPSpanExporter())


async def observe(worker: PipelineWorker, runner: WorkerRunner, name: str) -> None:
    """Trace the session. Show it in Whisker unless that shows another session; see README.md.

    Args:
        worker: Runs the pipeline of the session.
        runner: Runs the worker.
        name: Of the bot, in the traces.
    """
    send_traces(name)
    try:
        socket.create_server(("localhost", 9090)).close()
    except OSError:
        return  # the port is taken
    whisker = WhiskerServer()
    worker.add_observer(whisker.create_observer(worker))
    await runner.add_workers(whisker)

    @worker.event_handler("on_pipeline_finished")
    async def on_pipeline_finished(worker, frame):
        await runner.cancel()  # otherwise Whisker keeps running
