"""The tests that a generated project brings."""

import asyncio
import subprocess

import bots
import network


def pytest_in(project: bots.Project, *options: str, **env: str) -> subprocess.CompletedProcess[str]:
    """`uv run --group test pytest`, without a network."""

    async def alone() -> subprocess.CompletedProcess[str]:
        command = ("uv", "run", "--group", "test", "pytest", "-q", *options)
        plain = bots.plain_env() | {"UV_OFFLINE": "1"} | env
        run = bots.run
        return await asyncio.to_thread(
            run, *command, cwd=project.server, env=plain, timeout=140, nice=0
        )

    return network.run(alone)
