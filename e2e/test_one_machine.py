"""The services of deploy/compose.yaml on one machine: Caddy, HAProxy and the bot, as processes.

Both proxies are Debian's, with the generated files. Caddy does not use ports 80 and 443, which the
stand-ins of services use.
"""

import asyncio
import contextlib
import json
import os
import signal
import ssl
import time
from collections.abc import AsyncIterator
from pathlib import Path
from xml.etree import ElementTree

import aiohttp
import pytest
from yarl import URL

import bots
import composed
import network
import socket_clients
import webrtc_client
from conversation import ANSWER, GREETING, KEYS, QUESTION, stand_ins
from phones import TwilioCaller
from proxies import ROUTER, program, router
from standins import StandIns
from test_self_host import PHONE, SERVICES, TOKEN, plivo_signature

DOMAIN = "localhost"  # for which Caddy has an authority of its own
PROXY = f"https://{DOMAIN}:8443"
HEAD = b"POST /start HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def project(vbot: Path) -> bots.Project:
    options = ("-t", "rtc_small", "-t", "twilio", "-t", "plivo", *SERVICES, "--self-host")
    project = bots.installed(vbot, "machine", *options)
    phone = {name: value for name, value in PHONE.items() if name != "BOT_PUBLIC_URL"}
    project.write_env(**KEYS, **phone, DOMAIN=DOMAIN)
    return project


@contextlib.asynccontextmanager
async def machine(
    project: bots.Project, services: StandIns, data: Path
) -> AsyncIterator[tuple[bots.Bot, ssl.SSLContext]]:
    """The services of the Compose file, with their commands and their environment."""
    deploy = project.folder / "deploy"
    bot = composed.service(project, "bot")
    running = bots.running(
        *(project.server / ".venv/bin/python", "self_host.py", *bot["command"]),
        cwd=project.server,
        env=bots.plain_env() | services.env | bot["environment"] | {"LOG_LEVEL": "DEBUG"},
        port=7860,
        path="/ready",
        name="machine",
        host="127.0.0.1",
    )
    proxy = composed.service(project, "proxy")["environment"]
    ports = "{\n\thttp_port 8081\n\thttps_port 8443\n"
    caddyfile = data / "Caddyfile"
    caddyfile.write_text((deploy / "Caddyfile").read_text().replace("{\n", ports, 1))
    caddy = ("caddy", "run", "--adapter", "caddyfile", "--config", caddyfile)
    home = {"XDG_DATA_HOME": str(data), "XDG_CONFIG_HOME": str(data / "config")}
    async with (
        running as one,
        router(project, "machine-haproxy", **composed.service(project, "router")["environment"]),
        program("machine-caddy", *caddy, url=PROXY, **proxy, **home),
    ):
        trust = ssl.create_default_context(cafile=data / "caddy/pki/authorities/local/root.crt")
        yield one, trust


def test_a_domain_is_all_that_https_and_wss_take(project: bots.Project, tmp_path: Path) -> None:
    """The page, a telephone call, and the address that the carrier is told."""

    async def connect() -> None:
        async with (
            stand_ins() as services,
            machine(project, services, tmp_path) as (bot, trust),
            aiohttp.ClientSession() as http,
        ):
            async with http.get(f"{PROXY}/", ssl=trust) as response:
                assert response.status == 200 and "<title>" in await response.text()
            async with http.get(f"http://{DOMAIN}:8081/", allow_redirects=False) as response:
                assert response.headers["Location"].startswith(f"https://{DOMAIN}")
            form = {"CallUUID": "1", "From": "15551234567", "To": "15557654321"}
            sent = plivo_signature(f"https://{DOMAIN}/plivo", form, "n")
            headers = {"X-Plivo-Signature-V3-Nonce": "n", "X-Plivo-Signature-V3": sent}
            async with http.post(
                f"{PROXY}/plivo", data=form, headers=headers, ssl=trust
            ) as response:
                assert response.status == 200, await response.text()
                [stream, _otherwise] = ElementTree.fromstring(await response.text())
            numbers = [form[name] for name in ("From", "To") if name in form]
            assert stream.text == "/".join([f"wss://{DOMAIN}/ws/{TOKEN}", *numbers])
            # Its page may start a session, others may not.
            for origin, status in ((PROXY, 200), ("https://b.example", 403)):
                headers = {"Origin": origin}
                body = {"transport": "webrtc"}
                async with http.post(
                    f"{PROXY}/start", json=body, headers=headers, ssl=trust
                ) as response:
                    assert response.status == status, origin
            line = socket_clients.call(TwilioCaller, PROXY, f"/{TOKEN}", trust)
            async with line as phone, webrtc_client.call(ROUTER) as page:
                await page.ready()
                await phone.hear(GREETING)
                await phone.say(QUESTION)
                await phone.hear(ANSWER)
                # A bot that stops takes no session, and goes on with those that run.
                os.kill(bot.process.pid, signal.SIGTERM)
                await asyncio.sleep(4)  # until the router has noticed
                async with http.post(f"{PROXY}/start", json={}, ssl=trust) as response:
                    assert response.status == 503
                await page.offer_address()
                await page.offer(pc_id=page.id)
                await page.say(QUESTION)
                await page.hear(ANSWER)
                await phone.say(QUESTION)
                await phone.hear(ANSWER)
            async with asyncio.timeout(30):
                assert await bot.process.wait() == 0
            assert bot.errors() == []
            assert TOKEN not in bot.log

    network.run(connect, timeout=300)


def test_hostile_requests_reach_no_bot(project: bots.Project, tmp_path: Path) -> None:
    """Others are served during a partial head, and partial, endless and long bodies."""
    chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    slow = [
        *(b"", b"GET / HT", b"GET / HTTP/1.1\r\n", HEAD),
        *(HEAD + b"Content-Length: 9\r\n\r\n{", chunked, chunked + b"1\r\n{\r\n"),
    ]

    async def held(port: int, text: bytes, endless: bytes = b"") -> tuple[float, bytes]:
        """Send it, and then `endless` for as long as somebody reads it."""
        began = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        answer = b""
        writer.write(text)
        answered = asyncio.create_task(reader.read(100))
        with contextlib.suppress(ConnectionError):
            while endless and not answered.done() and time.monotonic() - began < 20:
                writer.write(endless)
                await writer.drain()
        with contextlib.suppress(ConnectionError):  # which may take the answer along
            answer = await asyncio.wait_for(answered, 30)
        writer.close()
        return time.monotonic() - began, answer[:12]

    log_file = bots.CACHE / "logs/machine-haproxy.log"

    async def knock() -> None:
        async with (
            stand_ins() as services,
            machine(project, services, tmp_path) as (bot, trust),
            aiohttp.ClientSession() as http,
        ):
            many = [asyncio.create_task(held(8000, text)) for text in slow * 80]
            many += [asyncio.create_task(held(7860, b"")) for _ in range(20)]  # past the proxies
            await asyncio.sleep(1)
            async with webrtc_client.call(ROUTER) as page:
                await page.ready()
                for seconds, answer in await asyncio.gather(*many[: len(slow) * 80]):
                    assert 9 < seconds < 14 and answer in (b"HTTP/1.1 408", b""), (seconds, answer)
                # Bodies without end, in chunks and otherwise; a long head; a long body.
                piece = b"1000\r\n" + b"x" * 0x1000 + b"\r\n"
                endless = [
                    (chunked, piece, b"HTTP/1.1 413"),
                    (chunked, b"1\r\nx\r\n" * 200, b"HTTP/1.1 413"),
                    (HEAD + b"Content-Length: 999999999\r\n\r\n", b"x" * 4096, b"HTTP/1.1 413"),
                    (HEAD + b"X: ", b"x" * 4096, b"HTTP/1.1 400"),
                ]
                for text, more, status in endless:
                    seconds, answer = await held(8000, text, more)
                    assert seconds < 12 and answer in (status, b""), (text, seconds, answer)
                    said = log_file.read_text().splitlines()[-1]
                    assert f"http/<NOSRV> {status[-3:].decode()} " in said, (text, said)
                for length, status in ((40_000, 422), (50_000, 413)):
                    for path in ("/start", "/sessions/x/api/offer", "/plivo"):
                        body = json.dumps({"transport": ["x" * length]})
                        headers = {"Content-Type": "application/json"}

                        async def pieces(body: str = body) -> AsyncIterator[bytes]:
                            yield body.encode()

                        for data in (body, pieces()):  # with its length, and in chunks
                            async with http.post(
                                ROUTER + path, data=data, headers=headers
                            ) as response:
                                if path == "/start" or status == 413:
                                    assert response.status == status, (path, length)
                for path in (
                    "/metrics",
                    "/metrics%0A",
                    "/%6detrics",
                    "/ready",
                    "/status",
                    "//metrics",
                ):
                    async with http.get(URL(PROXY + path, encoded=True), ssl=trust) as response:
                        assert response.status == 404, path
                # Through Caddy, too, whose visitors are told apart.
                said = []
                for _ in range(150):
                    async with http.post(f"{PROXY}/start", json={}, ssl=trust) as response:
                        said.append(response.status)
                assert said.count(200) <= 12 and said[-1] == 429, said
                async with socket_clients.call(TwilioCaller, PROXY, f"/{TOKEN}", trust) as phone:
                    await phone.hear(GREETING)
                await page.say(QUESTION)
                await page.hear(ANSWER)
            assert bot.errors() == []

    network.run(knock, timeout=300)
