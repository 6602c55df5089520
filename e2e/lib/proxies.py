"""Starts Debian's proxies in front of a bot, with the files of deploy/."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp

import bots

ROUTER = "http://127.0.0.1:8000"


@contextlib.asynccontextmanager
async def program(name: str, *command: str | Path, url: str, **env: str) -> AsyncIterator[Path]:
    """Start a proxy, wait until it answers at `url`, and yield its log, which is called `name`."""
    log_file = bots.CACHE / "logs" / f"{name}.log"
    log_file.parent.mkdir(exist_ok=True)
    with log_file.open("w") as log:
        process = await asyncio.create_subprocess_exec(
            *command, env=bots.plain_env() | env, stdout=log, stderr=log
        )
    try:
        async with aiohttp.ClientSession() as http, asyncio.timeout(30):
            while True:
                assert process.returncode is None, log_file.read_text()
                with contextlib.suppress(aiohttp.ClientError):
                    async with http.get(url, ssl=False) as response:
                        if response.status < 500:  # 404 where a bot has no page
                            break
                await asyncio.sleep(0.2)
        yield log_file
    finally:
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself, as its log says
            process.kill()
        await process.wait()


@contextlib.asynccontextmanager
async def router(
    project: bots.Project, name: str, *, url: str = ROUTER, **env: str
) -> AsyncIterator[Path]:
    """HAProxy, once `url` answers: otherwise the page of a bot to which it passes on; its log."""
    config = project.folder / "deploy/kubernetes/haproxy.cfg"
    async with program(name, "haproxy", "-db", "-f", config, url=url, **env) as log_file:
        yield log_file
