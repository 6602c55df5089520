"""Debian's coturn, started as in the Compose file, with the settings from deploy/README.md."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from pathlib import Path

import bots
import composed
import network


@contextlib.asynccontextmanager
async def running(project: bots.Project) -> AsyncIterator[str]:
    """The server, up; its address. server/.env says so, too."""
    deploy = (project.folder / "deploy/README.md").read_text()
    found = re.search(r"(?ms)^TURN_URL=.*?^TURN_ADDRESS=(\S+)$", deploy)
    assert found
    with network.card() as address, (project.server / ".env").open("a") as env:
        env.write(found[0].replace(found[1], address) + "\n")
        env.flush()
        log_file = bots.CACHE / "logs" / "turnserver.log"
        log_file.parent.mkdir(exist_ok=True)
        with log_file.open("w") as log:
            process = await asyncio.create_subprocess_exec(
                *("turnserver", "--log-file=stdout", "--pidfile=/dev/null"),
                *composed.service(project, "turn")["command"],
                cwd=project.folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            await _until_it_listens(address, process, log_file)
            yield address
        finally:
            process.kill()
            await process.wait()


async def _until_it_listens(
    address: str, process: asyncio.subprocess.Process, log_file: Path
) -> None:
    async with asyncio.timeout(20):
        while True:
            assert process.returncode is None, log_file.read_text()
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection(address, 3478)
                writer.close()
                return
            await asyncio.sleep(0.1)
