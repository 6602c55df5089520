"""A real LiveKit server, built from its Go module, which takes minutes, once per version.

`build` needs the network; `running` needs what it built.
"""

import contextlib
import fcntl
import json
import shutil
from collections.abc import AsyncIterator

import bots
import composed
import network

VERSION = "1.11.0"
FOLDER = bots.CACHE / f"livekit-{VERSION}"
PROGRAM = FOLDER / "livekit-server"
# Of a project with --self-host, for its bot, its Compose file and this.
KEYS = {
    "LIVEKIT_URL": "ws://localhost:7880",
    "LIVEKIT_API_KEY": "a-livekit-key",
    "LIVEKIT_API_SECRET": "a-livekit-secret-of-32-characters",
}


def build() -> None:
    """Build the server. Its go.mod replaces a module, so `go install` does not take it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another worker may be building it
        if PROGRAM.exists():
            return
        source = FOLDER / "source"
        shutil.rmtree(source, ignore_errors=True)
        download = ("go", "mod", "download", "-json")
        module = f"github.com/livekit/livekit-server@v{VERSION}"
        folder = json.loads(bots.must(*download, module, cwd=FOLDER))["Dir"]
        shutil.copytree(folder, source, copy_function=shutil.copyfile)
        bots.must("chmod", "-R", "u+w", source, cwd=FOLDER)
        flags = ("-trimpath", "-ldflags=-s -w")
        env = bots.networked_env() | {"CGO_ENABLED": "0"}
        bots.must(
            "go", "build", *flags, "-o", PROGRAM, "./cmd/server", cwd=source, env=env, timeout=1800
        )
        shutil.rmtree(source)


@contextlib.asynccontextmanager
async def running(project: bots.Project) -> AsyncIterator[bots.Bot]:
    """The server as the project's Compose file starts it, up."""
    service = composed.service(project, "livekit")
    name, _, tag = service["image"].partition(":")
    assert name == "livekit/livekit-server" and VERSION.startswith(tag.removeprefix("v"))
    with network.card() as address:
        env = bots.plain_env() | service["environment"] | {"NODE_IP": address}
        async with bots.running(
            PROGRAM, cwd=FOLDER, env=env, port=7880, path="/", name="livekit-server"
        ) as server:
            yield server
