"""Four bots behind the router of deploy/kubernetes: callers come and go, and bots are replaced.

HAProxy is Debian's, with the generated file as it stands. The bots are processes, each at an
address of its own like a pod; the cluster's name server is the one of these checks.
"""

import asyncio
import contextlib
import os
import random
import re
import signal
import time
from pathlib import Path

import aiohttp
import pytest
from playwright.async_api import expect
from yarl import URL

import bots
import network
import socket_clients
import webrtc_client
from caller import until
from clients import chromium, recording
from conversation import ANSWER, GREETING, KEYS, QUESTION, stand_ins
from phones import TwilioCaller
from proxies import ROUTER, program, router
from standins import StandIns
from test_self_host import PHONE, SERVICES, TOKEN

PLACES = 3  # of a bot
WEBHOOK = f"/twilio/{TOKEN}"
HEALTH = "http://127.0.0.1:8404/healthz"
START_TOKEN = "cafe" * 16
SHARE = 6  # of an address, of a bot in a minute


class Cluster:
    """Bots, and the names by which the router finds them."""

    def __init__(self, project: bots.Project, services: StandIns, stack: contextlib.AsyncExitStack):
        assert services.names
        self.project, self.services, self.stack = project, services, stack
        self.known = services.names.known
        self.domain = f"pods.{project.folder.name}.svc.cluster.local"
        self.known[self.domain] = []
        services.hosts |= {self.domain, self.name("127.0.1.9")}
        self.bots: dict[str, bots.Bot] = {}

    def name(self, address: str) -> str:
        """Of a pod, as CoreDNS has it."""
        return f"{address.replace('.', '-')}.{self.domain}"

    async def add(self) -> None:
        address = f"127.0.1.{len(self.bots) + 1}"
        env = {
            **bots.plain_env(),
            **self.services.env,
            **{"POD_IP": address, "MAX_SESSIONS": str(PLACES), "LOG_LEVEL": "DEBUG"},
            "MAX_SESSIONS_PER_ADDRESS": str(PLACES),  # all come from one
            "SILENCE_SECONDS": "0",  # callers say nothing while others come and go
        }
        bot = await self.stack.enter_async_context(
            bots.running(
                *(self.project.server / ".venv/bin/python", "self_host.py", "--host", address),
                cwd=self.project.server,
                env=env,
                port=7860,
                path="/ready",
                name=f"pod-{address}",
                host=address,
            )
        )
        self.bots[address] = bot
        self.known[self.name(address)] = [address]
        self.services.hosts.add(self.name(address))
        self.known[self.domain].append(address)

    async def end(self, address: str) -> None:
        """As a rollout does: the pod keeps its name until it has ended."""
        os.kill(self.bots[address].process.pid, signal.SIGTERM)
        async with asyncio.timeout(90):
            await self.bots[address].process.wait()
        self.known[self.domain].remove(address)


@pytest.fixture(scope="module")
def project(vbot: Path) -> bots.Project:
    options = ("-t", "rtc_small", "-t", "twilio", "-t", "plivo", *SERVICES, "--self-host")
    project = bots.installed(vbot, "routed", *options)
    project.write_env(**KEYS, **PHONE)
    return project


def test_telephones_alone_can_be_published(project: bots.Project) -> None:
    """With the two commented lines of the file, only telephones can connect."""
    config = project.folder / "deploy/kubernetes/haproxy.cfg"
    text = config.read_text()
    shut, count = re.subn("(?m)^( +)# (acl phone .*\n +)# (.* unless phone)$", r"\1\2\3", text)
    assert count == 1

    async def knock() -> None:
        async with contextlib.AsyncExitStack() as stack:
            services = await stack.enter_async_context(stand_ins())
            cluster = Cluster(project, services, stack)
            await cluster.add()
            http = await stack.enter_async_context(aiohttp.ClientSession())

            async def asked() -> list[int]:
                found = []
                paths = ("GET", "/"), ("POST", "/start"), ("POST", "/plivo"), ("POST", WEBHOOK)
                for method, path in paths:
                    async with http.request(method, ROUTER + path, json={}) as response:
                        found.append(response.status)
                return found

            async with router(project, "haproxy"):
                assert await asked() == [200, 200, 403, 403]
            config.write_text(shut)
            stack.callback(config.write_text, text)
            proxy = program("haproxy", "haproxy", "-db", "-f", config, url=HEALTH)
            await stack.enter_async_context(proxy)
            async with asyncio.timeout(10):
                while (found := await asked())[2] != 403:  # the bot's, which the router has found
                    await asyncio.sleep(0.2)
            assert found == [404, 404, 403, 403]  # an unsigned webhook is the bot's to refuse
            async with socket_clients.call(TwilioCaller, ROUTER, f"/{TOKEN}") as phone:
                await phone.hear(GREETING)

    network.run(knock)


def test_the_page_sends_its_token_and_nobody_logs_it(project: bots.Project, tmp_path: Path) -> None:
    async def visit() -> None:
        project.write_env(**KEYS, **PHONE, START_TOKEN=START_TOKEN)
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(project.write_env, **KEYS, **PHONE)
            services = await stack.enter_async_context(stand_ins())
            cluster = Cluster(project, services, stack)
            await cluster.add()
            log = await stack.enter_async_context(router(project, "haproxy"))
            microphone = recording(tmp_path / "person.wav")
            browser = await stack.enter_async_context(chromium(microphone))
            for address in (f"{ROUTER}/#token={START_TOKEN}", f"{ROUTER}/"):
                async with browser.visit(address, "microphone") as page:
                    await page.press("button", "Connect")
                    if "#" not in address:
                        field = page.page.get_by_label("Enter the token")
                        await field.fill(START_TOKEN, timeout=20_000)
                        await field.press("Enter")
                    greeted = page.entries("Bot", GREETING)
                    await expect(greeted).to_have_count(1, timeout=20_000)
                    await page.button("Disconnect").click()
            [bot] = cluster.bots.values()
            assert "/start" in bot.log + log.read_text()
            assert START_TOKEN not in bot.log + log.read_text()
            assert bot.errors() == []

    network.run(visit)


def test_strangers_are_bounded(project: bots.Project) -> None:
    """One that asks without end, and many that send half a request, keep nobody else out."""

    async def knock() -> None:
        async with contextlib.AsyncExitStack() as stack:
            services = await stack.enter_async_context(stand_ins())
            cluster = Cluster(project, services, stack)
            await cluster.add()
            await cluster.add()
            await stack.enter_async_context(router(project, "haproxy"))
            http = await stack.enter_async_context(aiohttp.ClientSession())

            async def asks(address: str) -> int:
                headers = {"X-Forwarded-For": f"1.1.1.1, {address}"}
                async with http.post(f"{ROUTER}/start", json={}, headers=headers) as response:
                    return response.status

            async def slow(text: bytes) -> tuple[float, bytes]:
                began = time.monotonic()
                reader, writer = await asyncio.open_connection("127.0.0.1", 8000)
                writer.write(text)
                answer = await reader.read()
                writer.close()
                return time.monotonic() - began, answer[:12]

            head = b"POST /start HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            halves = [asyncio.create_task(slow(head)) for _ in range(300)]
            halves += [
                asyncio.create_task(slow(head + b"Content-Length: 9\r\n\r\n{")) for _ in range(300)
            ]
            said = [await asks("9.9.9.9") for _ in range(150)]
            assert said.count(200) <= 2 * SHARE and said[-1] == 429, said
            async with socket_clients.call(TwilioCaller, ROUTER, f"/{TOKEN}") as phone:
                await phone.hear(GREETING)
            # Others of a network of IPv6, or with another port, are the same visitor.
            said = [await asks(f"2001:db8::{number:x}") for number in range(70)]
            assert said[-1] == 429 and await asks("9.9.9.9:99") == 429, said
            async with http.get(f"{ROUTER}/healthz") as response:
                assert response.status == 404  # it is for probes
            await asyncio.sleep(10.5)  # nobody came
            assert await asks("9.9.9.9") == 429
            async with webrtc_client.call(ROUTER) as page:
                await page.ready()
            for seconds, answer in await asyncio.gather(*halves):
                assert seconds < 12 and answer == b"HTTP/1.1 408", (seconds, answer)
            for bot in cluster.bots.values():
                assert bot.errors() == []

    network.run(knock, timeout=300)


@pytest.mark.alone
def test_nobody_is_refused_while_one_bot_has_room(
    project: bots.Project, figures: list[str]
) -> None:
    async def come_and_go() -> None:
        async with contextlib.AsyncExitStack() as stack:
            services = await stack.enter_async_context(stand_ins())
            cluster = Cluster(project, services, stack)
            for _ in range(4):
                await cluster.add()
            await stack.enter_async_context(router(project, "haproxy"))
            for _ in range(PLACES):  # one of them is full, and stays so
                line = socket_clients.call(TwilioCaller, cluster.bots["127.0.1.1"].url, f"/{TOKEN}")
                await stack.enter_async_context(line)
            room = asyncio.Semaphore(3 * PLACES - 1)
            chance = random.Random(1)

            async def phone() -> None:
                line = socket_clients.call(TwilioCaller, ROUTER, f"/{TOKEN}")
                async with room, line as caller:
                    await asyncio.sleep(chance.uniform(0, 4))
                    assert not caller.ws.closed
                    caller.over = True
                    await caller.ws.close()
                    await asyncio.sleep(2)  # until the bot has noticed

            async def page() -> None:
                async with room:
                    async with webrtc_client.call(ROUTER) as caller:
                        await caller.ready()
                        await caller.offer_address()
                        await caller.offer(pc_id=caller.id)
                        await asyncio.sleep(chance.uniform(0, 4))
                    await asyncio.sleep(2)

            callers = [phone, page] * 60
            began = time.monotonic()
            await asyncio.gather(*(call() for call in callers))
            took = time.monotonic() - began
            found = [await bot.metrics() for bot in cluster.bots.values()]
            started = [int(f["bot_sessions_started_total"]) for f in found]
            assert sum(started) == PLACES + len(callers), started
            sent_on = sum(int(f["bot_sessions_refused_total"]) for f in found)
            assert sent_on > 0
            figures.append(
                f"{len(callers)} calls in {took:.0f} s, at most {3 * PLACES - 1} at once: "
                f"{started} in four bots of {PLACES}, {sent_on} sent on from a full one"
            )

    network.run(come_and_go, timeout=400)


def test_calls_outlive_the_bots_that_are_replaced(project: bots.Project) -> None:
    """Later requests of a session work, too: candidates, renegotiation, an ICE restart."""

    async def replace() -> None:
        async with contextlib.AsyncExitStack() as stack:
            services = await stack.enter_async_context(stand_ins())
            cluster = Cluster(project, services, stack)
            await cluster.add()
            await stack.enter_async_context(router(project, "haproxy"))
            [old] = cluster.bots.values()
            async with (
                webrtc_client.call(ROUTER) as page,
                socket_clients.call(TwilioCaller, ROUTER, f"/{TOKEN}") as phone,
            ):
                await page.ready()
                await page.hear(GREETING)
                await phone.hear(GREETING)
                await cluster.add()
                new = cluster.bots["127.0.1.2"]
                ending = asyncio.create_task(cluster.end("127.0.1.1"))
                await asyncio.sleep(1)

                async with webrtc_client.call(ROUTER) as late:
                    await late.ready()
                    assert len(new.sessions()) == 1 and len(old.sessions()) == 2
                await page.offer_address()
                await page.offer(pc_id=page.id)
                await page.say(QUESTION)
                await page.hear(ANSWER)
                moved = webrtc_client.new_caller()
                await moved.replace(page)
                await moved.type(QUESTION)
                await moved.hear(ANSWER)
                await phone.say(QUESTION)
                await phone.hear(ANSWER)
                assert not ending.done()
                await moved.hang_up()
            await ending
            assert old.process.returncode == 0
            assert len(old.sessions()) == 2 and not any(old.sessions().values())
            assert old.errors() == [] == new.errors()
            async with aiohttp.ClientSession() as http:
                missing = "/sessions/127-0-1-9.x/api/offer"
                private = (
                    "/metrics",
                    "/%6detrics",
                    "/metrics%0A",
                    "/ready",
                    "/ready%0A",
                    "/status",
                )
                for path in (*private, "/sessions/../metrics", "//metrics", "/docs", missing):
                    async with http.get(URL(ROUTER + path, encoded=True)) as response:
                        assert response.status == 404, path
                async with http.get("http://127.0.0.1:8404/metrics") as response:
                    told = await response.text()
                assert 'haproxy_backend_http_responses_total{proxy="bots",code="5xx"}' in told
                await until(lambda: len(cluster.known[cluster.domain]) == 1, 5)

    network.run(replace, timeout=300)
