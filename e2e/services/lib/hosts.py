"""Does each service contact the hosts that its file lists, and no others?

    python e2e/services/lib/hosts.py [FOLDER]        # FOLDER: templates/services

Run it as root, with a Python that has every service's packages. Each service of the catalog runs in
a process and a network of its own, with nothing in it but loopback: a name server gives every name
an address of 127.0.0.0/8, and every packet to such an address is noted, whoever sends it, Python or
native code. The service is built as bot.py builds it, without an address of one's own, and then
hears, thinks or speaks. It gets no further than to its first host, which does not answer.

What is seen must be listed. What is listed must be seen, or be in hosts_unseen.toml with its
source: a line of an installed package, which is looked up, or a page. So must be what transports
list, which are not run here.

Exit code 0: so it is. 1: one line for each difference.
"""

import asyncio
import contextlib
import os
import re
import socket
import struct
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import MagicMock
from urllib.parse import urlsplit

import aiohttp
import dns.flags
import dns.message
import dns.rrset
from google.oauth2.service_account import Credentials
from loguru import logger
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    LLMContextFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.workers.runner import WorkerRunner

import addresses
import catalog_arguments
import catalog_check
import hearing
import network

TOGETHER = 8  # processes at a time
PATIENCE = 20.0  # seconds until a service has asked for the hosts of its file
MORE = 1.0  # seconds in which it asks for another

VALUES = {
    "AWS_ACCESS_KEY_ID": "a-key",
    "AWS_SECRET_ACCESS_KEY": "a-key",
    "PIPER_VOICE_ID": "en_US-ryan-high",
}
REFRESH = Credentials.refresh
UNSEEN = tomllib.loads(Path(__file__).with_name("hosts_unseen.toml").read_text())["unseen"]


class Recorder:
    """The name server of a network of one's own, and what goes over its loopback."""

    def __init__(self) -> None:
        self.names = {"127.0.0.1": "localhost"}  # by address
        self.seen: set[str] = set()  # HOST:PORT[/udp]
        self.server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.server.bind(("127.0.0.1", 53))
        self.wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
        self.wire.bind(("lo", 0))
        for work in (self.answer, self.listen):
            threading.Thread(target=work, daemon=True).start()

    def answer(self) -> None:
        while True:
            data, asker = self.server.recvfrom(4096)
            query = dns.message.from_wire(data)
            reply = dns.message.make_response(query)
            reply.flags |= dns.flags.RA
            question = query.question[0]
            name = question.name.to_text(omit_final_dot=True).lower()
            if question.rdtype == 1:  # A
                address = next((a for a, n in self.names.items() if n == name), "")
                address = address or f"127.1.0.{len(self.names) + 1}"
                self.names[address] = name
                reply.answer.append(dns.rrset.from_text(question.name, 60, "IN", "A", address))
            self.server.sendto(reply.to_wire(), asker)

    def listen(self) -> None:
        while True:
            packet = self.wire.recv(65535)[14:]
            length, protocol = (packet[0] & 15) * 4, packet[9]
            name = self.names.get(socket.inet_ntoa(packet[16:20]))
            if name is None or protocol not in (socket.IPPROTO_TCP, socket.IPPROTO_UDP):
                continue
            [port] = struct.unpack("!H", packet[length + 2 : length + 4])
            if name == "localhost" and port != 11434:
                continue  # this name server, and the answers of all
            if protocol == socket.IPPROTO_UDP:
                self.seen.add(f"{name}:{port}/udp")
            elif packet[length + 13] & 0x12 == 0x02:  # SYN without ACK
                self.seen.add(f"{name}:{port}")


def frames(kind: str) -> list[Frame]:
    """What makes a service of a kind work."""
    second = InputAudioRawFrame(audio=b"\1\2" * 16000, sample_rate=16000, num_channels=1)
    speech: list[Frame] = [VADUserStartedSpeakingFrame(), second, VADUserStoppedSpeakingFrame()]
    context = LLMContextFrame(LLMContext([{"role": "user", "content": "Hello."}]))
    voice = TTSAudioRawFrame(audio=b"\1\2" * 24000, sample_rate=24000, num_channels=1)
    return {
        "stt": speech,
        "llm": [context],
        "tts": [TTSSpeakFrame("Hello there, this is a sentence.")],
        "realtime": [context, *speech],
        "video": [voice],
    }[kind]


def refreshed(self: Credentials, request: object) -> None:
    """Ask for a token, and go on without."""
    with contextlib.suppress(Exception):
        REFRESH(self, request)
    self.token = "a-token"


async def work(
    service: addresses.Service, enough: Callable[[], bool], done: threading.Event
) -> None:
    """Let a service do its work."""
    Credentials.refresh = refreshed
    async with aiohttp.ClientSession() as session:
        service.known["session"] = session
        os.environ.update(service.plain)
        wanted = [a.arg for a in service.entry.build.args.args]
        built = service.module.build(**{name: service.known[name] for name in wanted})
        worker = PipelineWorker(Pipeline([built]), params=PipelineParams())
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        running = asyncio.create_task(runner.run())
        await asyncio.sleep(1)
        await worker.queue_frames(frames(service.entry.kind))
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and not enough():
            await asyncio.sleep(0.1)
        await asyncio.sleep(MORE)
        done.set()
        running.cancel()


def listed(path: Path, values: dict[str, str]) -> set[str]:
    """The addresses in the head of a file, HOST:PORT[/udp], with the values of variables."""
    out = set[str]()
    for address in re.findall(
        r"(?m)^# (?:host|download): (\S+?)(?:: .*)?$", path.read_text("utf-8")
    ):
        for name in values.keys() & set(re.findall(r"{(\w+)}", address)):
            host = urlsplit(values[name]).hostname or values[name]
            address = address.replace(f"{{{name}}}", host)
        out.add(address if ":" in address else f"{address}:443")
    return out


def prepare(service: addresses.Service) -> None:
    """Values for variables that a service would look for on the network, or needs in a form."""
    for v in service.entry.variables:
        if v.name in VALUES:
            service.plain[v.name] = VALUES[v.name]
        elif v.kind == "url" and v.required:
            service.plain[v.name] = hearing.VALUES.get(v.name, f"https://{addresses.host(v)}/v1")


def apart(path: Path) -> list[str]:
    """`watched` in a process of its own, which ends at once, whatever the service still does."""
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as report:
        child = os.fork()
        if child == 0:
            try:
                Path(report.name).write_text("\n".join(watched(path)), "utf-8")
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        lines = report.read().splitlines()
    first, *lines = lines or ["", "its process failed"]
    return [f"{path.parent.name}/{path.name}: {line}" for line in lines]


def watched(path: Path) -> list[str]:
    """A line for each host that a service contacts and does not list, and the other way round."""
    network._leave_the_network()
    said = ""
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOME"] = home
        service = addresses.Service(path, str(hearing.google_credentials(Path(home))), None)
        prepare(service)
        expected = listed(path, service.plain)
        sure = {address for address in expected if not unseen(service.entry.where, address)}
        recorder, done = Recorder(), threading.Event()

        def run() -> None:
            nonlocal said
            try:
                asyncio.run(work(service, lambda: sure <= recorder.seen, done))
            except BaseException as e:
                said = f" ({type(e).__name__}: {e})"
                done.set()

        threading.Thread(target=run, daemon=True).start()
        done.wait(2 * PATIENCE)
    seen = set(recorder.seen)
    lines = [f"it contacts {a}, and does not list it" for a in sorted(seen - expected)]
    lines += [f"it lists {a}, and does not contact it{said}" for a in sorted(sure - seen)]
    return ["of it:", *lines]


def unseen(where: str, address: str) -> bool:
    """Whether an address is not contacted here, by hosts_unseen.toml."""
    return any(
        address in group["addresses"] and where in group.get("files", [where]) for group in UNSEEN
    )


def check_sources(folder: Path) -> Iterator[str]:
    """What hosts_unseen.toml says of installed packages is there, and it has all of transports."""
    for path in sorted(folder.glob("transports/*.py")):
        where = f"transports/{path.name}"
        for address in sorted(a for a in listed(path, {}) if not unseen(where, a)):
            yield f"{where}: {address} has no source in hosts_unseen.toml"
    for group in UNSEEN:
        if "package" in group:
            [file] = (p for s in sys.path if (p := Path(s) / group["package"]).is_file())
            if group["line"] not in file.read_text("utf-8"):
                yield f"hosts_unseen.toml: {group['package']} has no {group['line']}"


def main() -> int:
    for name in catalog_arguments.PLACEHOLDERS:
        sys.modules[name] = MagicMock()
    logger.remove()
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else catalog_check.CATALOG
    paths = sorted(p for kind in addresses.KINDS for p in folder.glob(f"{kind}/*.py"))
    for path in paths:
        catalog_arguments.load(path)  # so that the modules are there before the processes part
    wrong = list(check_sources(folder))
    with ThreadPoolExecutor(TOGETHER) as pool:
        wrong += [line for lines in pool.map(apart, paths) for line in lines]
    for line in wrong:
        print(line)
    print(f"{len(paths)} services", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
