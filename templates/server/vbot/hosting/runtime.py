"""Runs the app: limits, probes, logs, and a shutdown that lets sessions end.

A proxy in front of it stops requests that are slow, large or too frequent.
"""

import argparse
import asyncio
import contextlib
import errno
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI
from loguru import logger
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from vbot import log
from vbot.hosting.sessions import Sessions

MAX_CONNECTIONS = 500  # further requests are answered with 503
MAX_HEAD = 32 * 1024  # bytes of a request's head
MAX_MESSAGE = 1_000_000  # bytes of a WebSocket's message
KEEP_ALIVE = 30  # seconds; longer than HAProxy keeps an unused connection (pool-purge-delay)
DRAIN_SECONDS = 3540  # unless DRAIN_SECONDS is set


def run(app: FastAPI, sessions: Sessions, load: Callable[[], None] | None = None) -> None:
    """Serve until SIGTERM, and then until the running sessions have ended.

    Probes and metrics are at the next port, which no proxy forwards.

    Args:
        app: Serves the sessions.
        sessions: Those that the app serves. They are opened once everything is loaded.
        load: Loads models, in a worker thread.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=7860)
    at = parser.parse_args()
    server = uvicorn.Config(
        app,
        at.host,
        at.port,
        http="h11",  # which has the limit of the head
        h11_max_incomplete_event_size=MAX_HEAD,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=5,  # seconds, once no session runs
        ws_max_size=MAX_MESSAGE,
        log_config=None,
        log_level="warning",  # addresses contain tokens, and stay out of the log
        access_log=False,
        forwarded_allow_ips="*",  # the proxy says what was https
    )
    probes = uvicorn.Config(
        probes_app(sessions), at.host, at.port + 1, log_config=None, access_log=False
    )
    for config, serves in ((server, "the bot"), (probes, "probes and metrics")):
        check_port(config.host, config.port, serves)
    sockets = [config.bind_socket() for config in (server, probes)]
    with contextlib.suppress(KeyboardInterrupt):
        servers = [uvicorn.Server(config) for config in (server, probes)]
        asyncio.run(serve(servers, sockets, sessions, load))


def check_port(host: str, port: int, serves: str) -> None:
    """Stop the program, and name the port, if it cannot listen there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as e:
        if e.errno == errno.EADDRINUSE:
            sys.exit(f"Port {port} of {host}, for {serves}, is taken. Choose others with --port.")
        sys.exit(f"Port {port} of {host}, for {serves}, cannot be used: {e.strerror}.")


async def serve(
    servers: list[uvicorn.Server],
    sockets: list[socket.socket],
    sessions: Sessions,
    load: Callable[[], None] | None,
) -> None:
    """Serve until a signal. After SIGTERM, let the running sessions end first."""
    serving = [
        asyncio.create_task(server.serve([listener]))
        for server, listener in zip(servers, sockets, strict=True)
    ]
    while not all(server.started for server in servers):
        await asyncio.sleep(0.05)
    terminated, interrupted, loaded = asyncio.Event(), asyncio.Event(), asyncio.Event()
    # In place of uvicorn's own handlers, which would close all WebSockets immediately.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminated.set)
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupted.set)

    async def load_and_drain() -> None:
        if load:
            await asyncio.to_thread(load)
            logger.info("The models are loaded")
        gc.freeze()  # garbage collection skips what is loaded by now
        loaded.set()
        sessions.open()
        at = servers[0].config
        logger.info(f"Serving up to {sessions.capacity} sessions at http://{at.host}:{at.port}")
        logger.info("Requests are not limited here: put a proxy in front, see deploy/README.md")
        await terminated.wait()
        await sessions.drain(float(os.getenv("DRAIN_SECONDS", DRAIN_SECONDS)))

    until_drained = asyncio.create_task(load_and_drain())
    ends = [until_drained, asyncio.create_task(interrupted.wait()), *serving]
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    if interrupted.is_set() and not loaded.is_set():
        os._exit(130)  # without waiting for load(), which may download models
    for server in servers:
        server.should_exit = True
    await asyncio.gather(*serving)
    if until_drained.done():
        until_drained.result()


def probes_app(sessions: Sessions) -> Starlette:
    """Return the app for the router, the orchestrator and Prometheus."""

    async def status(request: Request) -> Response:
        """Whether the program works."""
        return PlainTextResponse("ready")

    async def ready(request: Request) -> Response:
        """Whether the router may send sessions here. A full bot counts as ready."""
        return PlainTextResponse("", 200 if sessions.is_open() else 503)

    async def metrics(request: Request) -> Response:
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    routes = [Route("/status", status), Route("/ready", ready), Route("/metrics", metrics)]
    return Starlette(routes=routes)


class ToLoguru(logging.Handler):
    """Passes on what other packages log."""

    def emit(self, record: logging.LogRecord) -> None:
        passed_on = logger.bind(logged_at=f"{record.name}:{record.lineno}")
        passed_on.opt(exception=record.exc_info).log(record.levelname, "{}", record.getMessage())


def set_up_logs() -> None:
    """Log to stderr: with LOG_FORMAT=json an object a line, at LOG_LEVEL (INFO) and above."""
    log.set_up(os.getenv("LOG_LEVEL", "INFO").upper(), as_json=os.getenv("LOG_FORMAT") == "json")
    logging.basicConfig(handlers=[ToLoguru()], level=logging.WARNING, force=True)
    # uvicorn reports a refused WebSocket as one that was never answered.
    forgotten = "ASGI callable returned without completing handshake."
    logging.getLogger("uvicorn.error").addFilter(lambda record: record.getMessage() != forgotten)
