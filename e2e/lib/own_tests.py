"""Runs the tests of a generated project."""

import asyncio
import subprocess
from pathlib import Path

import bots
import network


def without_network(
    *command: str, cwd: Path, timeout: float = 140, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run a command of the project, which finds all that it needs installed."""

    async def alone() -> subprocess.CompletedProcess[str]:
        plain = bots.plain_env() | {"UV_OFFLINE": "1"} | env
        return await asyncio.to_thread(
            bots.run, *command, cwd=cwd, env=plain, timeout=timeout, nice=0
        )

    return network.run(alone)


def pytest_in(
    project: bots.Project, *options: str, timeout: float = 140, **env: str
) -> subprocess.CompletedProcess[str]:
    """`uv run --group test pytest`, without a network."""
    command = ("uv", "run", "--group", "test", "pytest", "-q", *options)
    return without_network(*command, cwd=project.server, timeout=timeout, **env)
