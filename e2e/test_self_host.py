"""The files of `--self-host`: an image, a Compose file, and manifests for a cluster.

There is no container engine, so dockerfiles.py makes the image. Its program then runs as in a pod,
with the user, the environment and the probes of the Deployment. test_cluster.py tests the manifests
with an API server.
"""

import asyncio
import base64
import contextlib
import hmac
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import tomllib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import aiohttp
import aioice
import aioice.stun
import aioice.turn
import pytest
import yaml
from dotenv import dotenv_values
from ruamel.yaml import YAML
from yarl import URL

import bots
import dockerfiles
import network
import socket_clients
import telephony
import turn
import webrtc_client
from caller import until
from conversation import ANSWER, GREETING, KEYS, QUESTION, called, stand_ins
from phones import TwilioAPI, TwilioCaller
from standins import StandIns

SERVICES = ["-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia"]
TOKEN = "f00d" * 16
PHONE = {
    "TWILIO_ACCOUNT_SID": TwilioCaller.account,
    "TWILIO_AUTH_TOKEN": "a-twilio-token",
    "PLIVO_AUTH_ID": "MA",
    "PLIVO_AUTH_TOKEN": "a-plivo-token",
    "PHONE_TOKEN": TOKEN,
    "BOT_PUBLIC_URL": "https://bot.example.com",
}
# Whoever reads .env but python-dotenv stumbles over this.
VOICE = 'a "voice" for $5 # and\nof two lines'
# The version of the library with which Docker reads its Compose files.
COMPOSE = "github.com/compose-spec/compose-go/v2/cmd@v2.16.2"


@pytest.fixture(scope="module")
def hosted(vbot: Path) -> bots.Project:
    """A bot with a page and a telephone, for machines of one's own."""
    options = ["-t", "rtc_small", "-t", "twilio", "-t", "plivo", *SERVICES, "--self-host"]
    return bots.generate(vbot, bots.PROJECTS / "hosted", "hosted", *options)


@pytest.fixture(scope="module")
def everywhere(vbot: Path, hosted: bots.Project) -> list[bots.Project]:
    """Projects with everything that deploy/ can hold."""
    calls = ["-t", "twilio_daily_sip_dialin", *SERVICES, "--recording", "--self-host"]
    rooms = ["-t", "livekit", *SERVICES, "--self-host"]
    phone = ["-t", "telnyx", *SERVICES, "--self-host"]
    return [
        hosted,
        bots.generate(vbot, bots.PROJECTS / "hosted_calls", "calls", *calls),
        bots.generate(vbot, bots.PROJECTS / "hosted_rooms", "rooms", *rooms),
        bots.generate(vbot, bots.PROJECTS / "hosted_phone", "phone", *phone),
    ]


@pytest.fixture(scope="module")
def image(hosted: bots.Project) -> Iterator[dockerfiles.Image]:
    """The image, in a folder that every user can enter."""
    bots.must("uv", "lock", cwd=hosted.server)
    # The Python of the base image, which every user can run.
    env = {"UV_PYTHON": "/usr/bin/python3"} if Path("/usr/bin/python3").exists() else {}
    with tempfile.TemporaryDirectory(prefix="e2e-image-") as folder:
        Path(folder).chmod(0o755)
        dockerfile = hosted.folder / "deploy/Dockerfile"
        place = Path(folder) / "stages"
        yield dockerfiles.build(dockerfile, hosted.server, place, bots.networked_env() | env)


def pod(project: bots.Project) -> dict[str, Any]:
    """The pod of the Deployment."""
    text = (project.folder / "deploy/kubernetes/bot.yaml").read_text()
    deployment = next(iter(yaml.safe_load_all(text)))
    return deployment["spec"]["template"]["spec"]


def as_user(image: dockerfiles.Image) -> list[str]:
    """How to start a program as the image's user, if this machine lets us."""
    user, group = image.user.split(":")
    everybody = Path("/proc/self/uid_map").read_text().split()[2] == "4294967295"
    if os.geteuid() != 0 or not everybody:
        return []  # as whom we are: no root either
    return [
        *("setpriv", "--reuid", user, "--regid", group, "--clear-groups"),
        *("--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"),
    ]


@contextlib.asynccontextmanager
async def running(
    project: bots.Project, image: dockerfiles.Image, services: StandIns, **env: str
) -> AsyncIterator[bots.Bot]:
    """The pod's only container."""
    [container] = pod(project)["containers"]
    port = bots.free_port()
    (image.root / "tmp").mkdir(mode=0o777, exist_ok=True)
    (image.root / "tmp").chmod(0o777)
    # What the stand-ins are trusted by lies in a folder that the image's user cannot enter.
    trust = image.root / "ca.pem"
    trust.write_bytes(Path(services.env["SSL_CERT_FILE"]).read_bytes())
    full = {
        **bots.plain_env(),
        **services.env,
        **image.env,
        **{e["name"]: e["value"] for e in container["env"] if "value" in e},
        "LOG_LEVEL": "DEBUG",
        "MAX_SESSIONS_PER_ADDRESS": "100",  # all people of a test have the same
        **env,
        "SSL_CERT_FILE": str(trust),
    }
    command = [*as_user(image), *image.entrypoint, "--port", str(port)]
    ready = container["readinessProbe"]["httpGet"]["path"]
    async with bots.running(
        *command, cwd=image.folder, env=full, port=port, path=ready, name="pod"
    ) as bot:
        yield bot


async def until_it_answers(bot: bots.Bot, path: str, status: int) -> None:
    async with asyncio.timeout(10):
        while await bot.answers(path) != status:
            await asyncio.sleep(0.1)


async def refuses_sessions(bot: bots.Bot) -> None:
    """Check that the bot refuses sessions over every transport."""
    assert await bot.answers("/start", "POST") == 503
    async with aiohttp.ClientSession() as http:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await http.ws_connect(f"{bot.url}/ws/{TOKEN}")
        assert refused.value.status == 503


def write_env(image: dockerfiles.Image, **more: str) -> None:
    """Mount the file as a pod does: only its group can read it."""
    env = image.folder / ".env"
    env.unlink(missing_ok=True)
    values = KEYS | PHONE | {"CARTESIA_VOICE_ID": f"'{VOICE}'"} | more
    env.write_text("".join(f"{name}={value}\n" for name, value in values.items()))
    if as_user(image):
        os.chown(env, 0, int(image.user.partition(":")[2]))
        env.chmod(0o440)


def test_the_dockerfile_passes_hadolint(everywhere: list[bots.Project]) -> None:
    for project in everywhere:
        file = project.folder / "deploy/Dockerfile"
        assert bots.must("hadolint", file, cwd=project.folder) == ""


def test_the_dockerfile_copies_what_exists(everywhere: list[bots.Project]) -> None:
    for project in everywhere:
        sources = dockerfiles.copied(project.folder / "deploy/Dockerfile")
        files = {name.removeprefix("server/") for name in project.files}
        # Patterns, and a folder.
        assert sources - files == {"uv.lock*", "wheels*", "*.py", "page.html*", "vbot"}


def test_nothing_names_pipecat_cloud(everywhere: list[bots.Project]) -> None:
    for project in everywhere:
        for name in project.files:
            if name.startswith("deploy/") or name == "server/self_host.py":
                text = (project.folder / name).read_text()
                assert not re.search(r"(?i)pipecat.?cloud|dailyco|cloud-deploy", text), name


def test_compose_reads_the_file(everywhere: list[bots.Project]) -> None:
    """Docker Compose's own library checks the schema, and that everything named exists."""
    found: set[str] = set()
    for project in everywhere:
        (project.server / ".env").touch()
        file = project.folder / "deploy/compose.yaml"
        said = bots.must("go", "run", COMPOSE, file.name, cwd=file.parent)
        model = yaml.safe_load(said)
        found |= set(model["services"])
        bot = model["services"]["bot"]
        build = bot["build"]
        assert Path(build["context"], build["dockerfile"]).resolve() == file.parent / "Dockerfile"
        assert Path(model["secrets"]["env"]["file"]) == project.server / ".env"
        env_of_pod = {e["name"]: e.get("value") for e in pod(project)["containers"][0]["env"]}
        assert env_of_pod.pop("POD_IP") is None  # it is the pod's own
        assert bot["environment"] == env_of_pod
    assert found == {"proxy", "router", "bot", "calls", "turn", "livekit"}


def test_the_proxies_take_their_files(everywhere: list[bots.Project], tmp_path: Path) -> None:
    """Caddy, and HAProxy for one machine and for a cluster."""
    for project in everywhere:
        env = bots.plain_env() | {"XDG_DATA_HOME": str(tmp_path), "DOMAIN": "bot.example.com"}
        caddyfile = project.folder / "deploy/Caddyfile"
        caddy = ("caddy", "validate", "--adapter", "caddyfile", "--config", caddyfile)
        bots.must(*caddy, cwd=project.folder, env=env)
        config = project.folder / "deploy/kubernetes/haproxy.cfg"
        for bot in ({}, {"BOT": "bot:7860"}, {"BOT": "127.0.0.1:7860", "ROUTER_HOST": "127.0.0.1"}):
            bots.must("haproxy", "-c", "-f", config, cwd=project.folder, env=env | bot)


# Some reader of YAML takes each for something else than a text.
NO_TEXTS = ["123", "1e3", "0x1f", "0o17", "0b1", "2001-01-01", "true", "null", "on", "no", "y"]


@pytest.mark.parametrize("name", NO_TEXTS)
def test_any_name_is_a_text_to_every_reader(vbot: Path, name: str) -> None:
    """YAML 1.1, as Kubernetes has it, YAML 1.2 and TOML. `no` is also the tag of Norwegian."""
    options = ["-n", name, "-t", "webrtc", "-t", "twilio_daily_sip_dialin", *SERVICES]
    options += ["--recording", "--eval", "--language", "no", "--self-host"]
    project = bots.generate(vbot, bots.PROJECTS / "hosted_name", "named", *options)
    read: dict[str, Any] = {}
    for file in sorted(name for name in project.files if not name.startswith(".vbot/")):
        text = (project.folder / file).read_text()
        if file.endswith(".yaml"):
            read[file] = list(yaml.safe_load_all(text))
            assert repr(list(YAML(typ="safe", pure=True).load_all(text))) == repr(read[file]), file
        elif file.endswith(".toml"):
            read[file] = tomllib.loads(text)
    assert len(read) == 12
    [compose] = read["deploy/compose.yaml"]
    images = {who: service["image"] for who, service in compose["services"].items()}
    assert [compose["name"], images["bot"], images["calls"]] == [name, name, name]
    assert images["turn"] == "${TURN_IMAGE:-coturn/coturn:4.6}"
    [kustomization] = read["deploy/kubernetes/kustomization.yaml"]
    assert kustomization["namespace"] == name
    [evaluated] = read["server/evals/starter_audio.yaml"]
    assert evaluated["judge"]["transcription"]["language"] == "no"
    assert read["server/pyproject.toml"]["project"]["name"] == f"{name}-server"
    assert read["server/cloud-deploy.toml"]["agent_name"] == name
    volumes = pod(project)["volumes"]
    assert volumes[0]["secret"] == {"secretName": "bot", "defaultMode": 0o440}


def test_a_cluster_knows_every_field(everywhere: list[bots.Project]) -> None:
    """By the schemas of Kubernetes, without a server."""
    for project in everywhere:
        folder = project.folder / "deploy/kubernetes"
        names = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
        names.append("by-sessions.yaml")  # in place of autoscaler.yaml
        there = {path.name for path in folder.glob("*.yaml")}
        assert {*names, "kustomization.yaml", "monitoring.yaml"} == there
        files = [folder / name for name in names]
        bots.must("kubernetes-validate", "--strict", *files, cwd=folder)


def test_a_pod_holds_conversations_and_lets_them_end(
    hosted: bots.Project, image: dockerfiles.Image, figures: list[str]
) -> None:
    """After SIGTERM, too: only new sessions are refused."""
    security = pod(hosted)["securityContext"]
    assert image.user == f"{security['runAsUser']}:{security['runAsGroup']}"
    assert list((image.folder / ".venv").glob("lib/*/site-packages/pipecat/__pycache__/*.pyc"))
    write_env(image)
    who = f"user {image.user}" if as_user(image) else "whoever runs these checks"
    figures.append(f"the pod of --self-host ran as {who}")

    async def calls() -> None:
        async with stand_ins() as services, running(hosted, image, services) as bot:
            container = pod(hosted)["containers"][0]
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                assert await bot.answers(container[probe]["httpGet"]["path"]) == 200
            health = [part.replace("7861", bot.probes.rpartition(":")[2]) for part in image.health]
            check = await asyncio.create_subprocess_exec(*health, env=image.env)
            assert await check.wait() == 0

            line = socket_clients.call(TwilioCaller, bot.url, f"/{TOKEN}")
            async with called(bot) as page, line as phone:
                await until(lambda: len(bot.sessions()) == 2, 10)
                os.kill(bot.process.pid, signal.SIGTERM)
                await until_it_answers(bot, container["readinessProbe"]["httpGet"]["path"], 503)
                assert await bot.answers(container["livenessProbe"]["httpGet"]["path"]) == 200
                await refuses_sessions(bot)
                await page.say(QUESTION)
                await page.hear(ANSWER)
                await phone.say(QUESTION)
                await phone.hear(ANSWER)
                assert bot.process.returncode is None
            async with asyncio.timeout(20):
                assert await bot.process.wait() == 0
            assert len(bot.sessions()) == 2 and not any(bot.sessions().values())
            assert bot.errors() == []
            said = services.requests("cartesia", "speak")
            assert {request["voice"]["id"] for request in said} == {VOICE}

    network.run(calls)


def test_a_full_pod_takes_no_session_and_calls_end_in_time(
    hosted: bots.Project, image: dockerfiles.Image
) -> None:
    write_env(image)

    async def calls() -> None:
        limits = {"MAX_SESSIONS": "1", "DRAIN_SECONDS": "1"}
        async with stand_ins() as services, running(hosted, image, services, **limits) as bot:
            async with webrtc_client.call(bot.url) as page:
                await refuses_sessions(bot)
                assert await bot.answers("/ready") == 200  # it is no broken one
                for pc_id in (None, "made-up"):  # which would be one more that nobody counts
                    offer = {"sdp": page.sdp, "type": "offer", "pc_id": pc_id}
                    async with aiohttp.ClientSession() as http:
                        async with http.post(page.session, json=offer) as response:
                            assert response.status in (400, 409)
                await page.offer_address()  # what belongs to its own session
                await page.offer(pc_id=page.id)
                again = webrtc_client.new_caller()
                await again.replace(page)
                await again.ready()
                await again.hang_up()
            await bot.sessions_end()
            async with webrtc_client.call(bot.url):
                await refuses_sessions(bot)
                os.kill(bot.process.pid, signal.SIGTERM)
                async with asyncio.timeout(20):
                    await bot.process.wait()
            assert len(bot.sessions()) == 2 and not any(bot.sessions().values())

    network.run(calls)


async def start(
    http: aiohttp.ClientSession, url: str, address: str = "10.0.0.1", **more: Any
) -> tuple[int, dict[str, Any]]:
    body, headers = {"transport": "webrtc"} | more, {"X-Forwarded-For": address}
    async with http.post(f"{url}/start", json=body, headers=headers) as response:
        return response.status, await response.json()


def test_the_limit_holds_from_the_moment_of_asking(
    hosted: bots.Project, image: dockerfiles.Image
) -> None:
    """Ten clients ask a bot for two sessions, and none connects, not even a telephone's socket."""
    write_env(image)

    async def ask() -> None:
        limits = {"MAX_SESSIONS": "2", "LOG_FORMAT": "json", "POD_IP": "10.1.2.3"}
        async with (
            stand_ins() as services,
            running(hosted, image, services, **limits) as bot,
            aiohttp.ClientSession() as http,
        ):
            answers = await asyncio.gather(
                *(start(http, bot.url, f"10.0.0.{i}") for i in range(10))
            )
            started = [answer["sessionId"] for status, answer in answers if status == 200]
            assert len(started) == 2 and all(id.startswith("10-1-2-3.") for id in started)
            assert [status for status, _ in answers].count(503) == 8
            offers = [f"{bot.url}/sessions/{id}/api/offer" for id in (*started, "10-1-2-3.x")]
            async with http.post(offers[2], json={"sdp": "v=0", "type": "offer"}) as response:
                assert response.status == 404
            await asyncio.sleep(10.5)  # nobody came
            async with http.post(offers[0], json={"sdp": "v=0", "type": "offer"}) as response:
                assert response.status == 404

            sockets = [await http.ws_connect(f"{bot.url}/ws/{TOKEN}") for _ in range(2)]
            await refuses_sessions(bot)
            began = asyncio.get_running_loop().time()
            for socket in sockets:
                assert (await socket.receive(timeout=15)).type == aiohttp.WSMsgType.CLOSE
            assert asyncio.get_running_loop().time() - began < 12
            await asyncio.sleep(1)

            figures = await bot.metrics()
            assert figures["bot_sessions"] == 0 and figures["bot_sessions_max"] == 2
            assert figures["bot_sessions_refused_total"] == 10
            assert figures["bot_sessions_started_total"] == 2
            assert figures['bot_sessions_ended_total{why="failed"}'] == 2
            for line in bot.log.splitlines():
                assert TOKEN not in line and json.loads(line)["record"]["message"]

    network.run(ask)


def test_prometheus_gets_waits_and_failures(hosted: bots.Project, image: dockerfiles.Image) -> None:
    """How long somebody waited for the first word, and which service failed."""
    write_env(image)

    async def measure() -> None:
        async with stand_ins() as services, aiohttp.ClientSession() as http:
            async with running(hosted, image, services) as bot:
                async with called(bot) as page:
                    await page.say(QUESTION)
                    await page.hear(ANSWER)
                    figures = await bot.metrics()
                assert figures["bot_sessions"] == 1 == figures["bot_first_word_seconds_count"]
                assert 0 < figures["bot_first_word_seconds_sum"] < 20
                assert figures["bot_turn_seconds_count"] == 1
                assert 0 < figures["bot_turn_seconds_sum"] < 20
                await bot.sessions_end()
                figures = await bot.metrics()
                assert figures['bot_sessions_ended_total{why="left"}'] == 1
                assert 1 < figures["bot_session_seconds_sum"] < 60
                async with http.get(f"{bot.probes}/metrics") as response:
                    known = set(re.findall("(?m)^# HELP (bot_\\w+)", await response.text()))
                for file in ("dashboard.json", "kubernetes/monitoring.yaml"):
                    text = (hosted.folder / "deploy" / file).read_text()
                    asked = set(re.findall(r"\bbot_\w+", text))
                    assert {re.sub("_(bucket|count)$", "", name) for name in asked} <= known, file
            env = image.folder / ".env"
            env.write_text(env.read_text().replace(KEYS["OPENAI_API_KEY"], "another-key"))
            async with running(hosted, image, services) as bot, webrtc_client.call(bot.url) as page:
                await page.ready()
                failed = 'bot_service_failures_total{service="OpenAI"}'
                async with asyncio.timeout(30):
                    while (await bot.metrics()).get(failed) != 1:
                        await asyncio.sleep(0.2)
                services.services[1].unexpected.clear()

    network.run(measure)


def test_only_the_provider_comes_in(hosted: bots.Project, image: dockerfiles.Image) -> None:
    """By the token of the socket's address, and the signature of the webhook."""
    write_env(image)
    form = {"CallUUID": "1", "From": "15551234567", "To": "15557654321"}

    async def knock() -> None:
        env = {"PIPECAT_ALLOWED_ORIGINS": "https://a.example.com"}
        old = "0" * 16
        write_env(image, PHONE_TOKEN=f"{TOKEN},{old}")
        async with (
            stand_ins() as services,
            running(hosted, image, services, **env) as bot,
            aiohttp.ClientSession() as http,
        ):
            for path in ("/ws", "/ws/", "/ws/wrong", f"/ws/{TOKEN}x", "/ws/%C3%A9"):
                with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                    await http.ws_connect(bot.url + path)
                assert refused.value.status in (403, 404), path

            # Twilio signs the address of its sockets, too; each token holds while it is listed.
            for token, by, status in (
                *((TOKEN, PHONE["TWILIO_AUTH_TOKEN"], 101), (old, PHONE["TWILIO_AUTH_TOKEN"], 101)),
                *((TOKEN, "another", 403), (TOKEN, None, 101), ("1" * 16, None, 403)),
            ):
                url = f"wss://bot.example.com/ws/{token}"
                headers = {"X-Twilio-Signature": telephony.signature(by, url, {})} if by else {}
                try:
                    socket = await http.ws_connect(f"{bot.url}/ws/{token}", headers=headers)
                    assert status == 101, (token, by)
                    await socket.close()
                except aiohttp.WSServerHandshakeError as refused_here:
                    assert refused_here.status == status, (token, by)

            signed = plivo_signature(f"{PHONE['BOT_PUBLIC_URL']}/plivo", form, "n")
            for signature, status in ((signed, 200), ("x" + signed[1:], 403), (None, 403)):
                headers = {"X-Plivo-Signature-V3-Nonce": "n"}
                headers |= {"X-Plivo-Signature-V3": signature} if signature else {}
                async with http.post(f"{bot.url}/plivo", data=form, headers=headers) as response:
                    assert response.status == status
                    if status == 200:
                        [stream, _otherwise] = ElementTree.fromstring(await response.text())
                        numbers = f"{form['From']}/{form['To']}"
                        assert stream.text == f"wss://bot.example.com/ws/{TOKEN}/{numbers}"
            form["To"] = "1"
            async with http.post(f"{bot.url}/plivo", data=form, headers=headers) as response:
                assert response.status == 403

            # Twilio signs its requests, and the token is part of their address.
            ring = {"From": "+15551234567", "To": "+15557654321"}
            for token, by, status in (
                *((TOKEN, PHONE["TWILIO_AUTH_TOKEN"], 200), (old, PHONE["TWILIO_AUTH_TOKEN"], 200)),
                *((TOKEN, "another", 403), (TOKEN, None, 403)),
                ("1" * 16, PHONE["TWILIO_AUTH_TOKEN"], 403),
            ):
                url = f"{PHONE['BOT_PUBLIC_URL']}/twilio/{token}"
                headers = {"X-Twilio-Signature": telephony.signature(by, url, ring)} if by else {}
                where = f"{bot.url}/twilio/{token}"
                async with http.post(where, data=ring, headers=headers) as response:
                    assert response.status == status, (token, by)

            for origin, allowed in (("https://a.example.com", True), ("https://b.example", False)):
                asks = {"Origin": origin, "Access-Control-Request-Method": "POST"}
                async with http.options(f"{bot.url}/start", headers=asks) as response:
                    assert response.ok == allowed
            # Its own page may. Behind a proxy that changes the host's name, the browser says so.
            own, elsewhere = {"Origin": bot.url}, {"Origin": "https://b.example"}
            listed = {"Origin": "https://a.example.com", "Sec-Fetch-Site": "cross-site"}
            for headers, allowed in (
                *((own, True), (elsewhere, False), (listed, True)),
                (elsewhere | {"Sec-Fetch-Site": "same-origin"}, True),
                (elsewhere | {"Sec-Fetch-Site": "cross-site"}, False),
                (elsewhere | {"Sec-Fetch-Site": "same-site"}, False),
            ):
                asked = {"transport": "other"}  # and so no place
                async with http.post(f"{bot.url}/start", json=asked, headers=headers) as response:
                    assert response.status == (400 if allowed else 403), headers
            # Probes and metrics are at their own port, and nothing else is.
            for path in ("/metrics", "/ready", "/status"):
                assert await bot.answers(path) == 200
                for odd in (path, path + "%0A", "/." + path, "/" + path, path.upper()):
                    async with http.get(URL(bot.url + odd, encoded=True)) as response:
                        assert response.status == 404, odd
            for path in ("/", "/start", f"/ws/{TOKEN}"):
                async with http.post(bot.probes + path, json={}) as response:
                    assert response.status == 404, path
            with pytest.raises(aiohttp.WSServerHandshakeError) as nobody:
                await http.ws_connect(f"{bot.probes}/ws/{TOKEN}")
            assert nobody.value.status == 403
            # A page of another origin may send a form or text without asking first.
            async with http.post(f"{bot.url}/start", data='{"transport": "webrtc"}') as response:
                assert response.status == 422
            async with http.post(f"{bot.url}/start", json={"transport": "secret"}) as response:
                assert response.status == 400
            async with http.post(f"{bot.url}/start", json={"transport": ["secret"]}) as response:
                assert response.status == 422 and "secret" not in await response.text()
            assert (await bot.metrics())["bot_sessions"] == 0

    network.run(knock)


def test_twilio_may_be_known_by_an_api_key(hosted: bots.Project, image: dockerfiles.Image) -> None:
    """With which nobody can tell whether Twilio signed the address."""
    write_env(image, TWILIO_AUTH_TOKEN="", TWILIO_API_KEY="SK1", TWILIO_API_SECRET="a-secret")

    async def call() -> None:
        async with (
            stand_ins() as services,
            running(hosted, image, services) as bot,
            aiohttp.ClientSession(headers={"X-Twilio-Signature": "x"}) as http,
        ):
            await (await http.ws_connect(f"{bot.url}/ws/{TOKEN}")).close()
            await until(lambda: not any(bot.sessions().values()), 10)

    network.run(call)


def test_strangers_get_their_share(hosted: bots.Project, image: dockerfiles.Image) -> None:
    """Half of the places at a time, and a few in a minute. Whoever has START_TOKEN gets all."""
    write_env(image)

    async def ask() -> None:
        token = "Bearer a token"
        async with (
            stand_ins() as services,
            running(hosted, image, services, START_TOKEN="a token") as bot,
            aiohttp.ClientSession() as http,
        ):
            url = f"{bot.url}/start"
            for wrong in (None, "", "Bearer", "Bearer another", "Bearer é", token + "s"):
                headers = {"Authorization": wrong} if wrong is not None else {}
                async with http.post(url, json={}, headers=headers) as response:
                    assert response.status == 401, wrong
            for status in (200, 200, 200, 200, 503):  # one server asks for all its visitors
                async with http.post(url, json={}, headers={"Authorization": token}) as response:
                    assert response.status == status
        async with (
            stand_ins() as services,
            running(hosted, image, services) as bot,
            aiohttp.ClientSession() as http,
        ):

            async def asks(address: str, *made_up: str) -> int:
                """Ask with the address that the proxy adds to the header."""
                headers = [("X-Forwarded-For", line) for line in (*made_up, f"4.3.2.1, {address}")]
                async with http.post(f"{bot.url}/start", json={}, headers=headers) as response:
                    return response.status

            if (second := time.monotonic() % 60) > 20:
                await asyncio.sleep(61 - second)  # the next minute begins
            for then in (503, 503, 429):
                # A visitor has a whole network of IPv6.
                one = [await asks(f"2001:db8::{n}", *["8.8.8.8"][: n % 2]) for n in range(4)]
                assert one == [200] * 2 + [then] * 2
                assert await asks("1.2.3.4") == 200  # there is a place for others
                await asyncio.sleep(10.5)  # nobody came
            async with socket_clients.call(TwilioCaller, bot.url, f"/{TOKEN}") as phone:
                await phone.hear(GREETING)  # a call has no address to be counted
            assert bot.errors() == []

    network.run(ask)


def test_a_session_has_its_time(hosted: bots.Project, image: dockerfiles.Image) -> None:
    """A minute before, the page and the caller are told; then it ends, however much they say."""
    write_env(image, MAX_SESSION_SECONDS="65", SILENCE_SECONDS="100")

    async def talk() -> None:
        hung_up = TwilioAPI(PHONE["TWILIO_ACCOUNT_SID"], PHONE["TWILIO_AUTH_TOKEN"])
        async with (
            stand_ins(more=[hung_up]) as services,
            running(hosted, image, services) as bot,
            webrtc_client.call(bot.url) as page,
            socket_clients.call(TwilioCaller, bot.url, f"/{TOKEN}") as phone,
        ):
            await page.ready()
            now = asyncio.get_running_loop().time
            began = now()
            told = await page.receive("server-message", lambda m: "problem" in m, timeout=20)
            assert 2 < now() - began < 9
            assert told["problem"] == "This conversation ends in a minute."
            await phone.hear("We have one minute left.")
            await phone.left_alone(75)
            assert 60 < now() - began < 75
            await until(lambda: not any(bot.sessions().values()), 10)
            figures = await bot.metrics()
            assert figures['bot_sessions_ended_total{why="time"}'] == 2
            assert len(hung_up.notes) == 1
            assert bot.errors() == []

    network.run(talk)


def test_the_documents_say_how_long_sessions_last(hosted: bots.Project) -> None:
    """As templates/unit/test_hosting_sessions.py tests it."""
    documents = (hosted.folder / "deploy/README.md", hosted.server / ".env.example")
    told = [" ".join(path.read_text().split()) for path in documents]
    assert "a telephone call after 15 minutes and any other session after an hour" in told[0]
    assert "(default: 900 for a call, else 3600)" in told[1]


def test_the_container_says_that_it_cannot_read_the_keys(
    hosted: bots.Project, image: dockerfiles.Image
) -> None:
    """A file with mode 0600, until the command of deploy/README.md helps."""
    user = as_user(image)
    if not user:
        pytest.skip("needs root, who can be another user")
    write_env(image, PHONE_TOKEN="short")
    env = image.folder / ".env"
    os.chown(env, 0, 0)
    env.chmod(0o600)
    command = [*user, *image.entrypoint]
    full = bots.plain_env() | image.env
    done = bots.run(*command, cwd=image.folder, env=full)
    [*_, line] = done.stderr.splitlines()
    assert done.returncode == 1 and "Traceback" not in done.stderr
    helps = "sudo chgrp 10001 server/.env && sudo chmod 640 server/.env"
    assert line == f"{env} cannot be read by user 10001. In the project's directory: {helps}"
    assert f"\n{helps}\n" in (hosted.folder / "deploy/README.md").read_text()
    there = helps.replace("sudo ", "").replace("server/.env", str(env))
    subprocess.run(there, shell=True, check=True)
    done = bots.run(*command, cwd=image.folder, env=full)
    assert done.stderr.splitlines()[-1].startswith("PHONE_TOKEN is part of an address"), done


def test_the_turn_server_takes_passwords_of_sessions_and_relays_to_the_bot_alone(
    hosted: bots.Project,
) -> None:
    """With what deploy/README.md says to set, and without: then it lets nobody in."""

    async def allocate(address: str, secret: str, seconds: int) -> int:
        """Return 0, or the code of the error."""
        name = f"{int(time.time()) + seconds}:a-session"
        key = base64.b64encode(hmac.digest(secret.encode(), name.encode(), "sha1")).decode()
        try:
            relay, _ = await aioice.turn.create_turn_endpoint(
                asyncio.DatagramProtocol, (address, 3478), username=name, password=key
            )
        except aioice.stun.TransactionFailed as e:
            return e.response.attributes["ERROR-CODE"][0]
        relay.close()
        return 0

    async def relays(address: str, secret: str, peer: str) -> bool:
        client = "turnutils_uclient -v -c -n 1 -m 1".split()
        client += ["-W", secret, "-u", f"to-{peer}", "-r", "9", "-e"]
        process = await asyncio.create_subprocess_exec(
            *client, peer, address, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert process.stdout
        said, bound = b"", (b"403 (Forbidden IP)", b"success: 0x")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(5):
                while not any(b in said for b in bound) and (
                    part := await process.stdout.read(4096)
                ):
                    said += part
        if process.returncode is None:
            process.kill()
        await process.wait()
        assert any(b in said for b in bound), said
        return bound[0] not in said

    async def ask() -> None:
        (hosted.server / ".env").write_text("TURN_ALLOWED=10.9.9.9\n")
        async with turn.running(hosted) as address:
            secret = dotenv_values(hosted.server / ".env")["TURN_SECRET"]
            assert secret
            assert await allocate(address, secret, 60) == 0
            assert await allocate(address, secret, -60) == 401
            assert await allocate(address, "guessed", 60) == 401
            for peer in ("10.0.0.1", "127.0.0.1", "169.254.169.254", "8.8.8.8", "203.0.113.7"):
                assert not await relays(address, secret, peer), peer
            assert await relays(address, secret, "10.9.9.9")  # as TURN_ALLOWED says
            assert await relays(address, secret, address)
            many = [await allocate(address, secret, 60) for _ in range(20)]
            assert many[0] == 0 and many[-1] == 486, many  # a session's share
        (hosted.server / ".env").write_text("")
        async with turn.running(hosted) as address:
            assert await relays(address, secret, address)
            assert not await relays(address, secret, "192.0.2.9")
        deploy = hosted.folder / "deploy/README.md"
        text = deploy.read_text()
        deploy.write_text(re.sub("(?m)^TURN_SECRET=.*\n", "", text))
        (hosted.server / ".env").unlink()
        async with turn.running(hosted) as address:
            assert await allocate(address, "", 60) == 401
        deploy.write_text(text)

    network.run(ask)


def plivo_signature(url: str, form: dict[str, str], nonce: str) -> str:
    """https://www.plivo.com/docs/voice/concepts/signature-validation"""
    text = f"{url}?" + "".join(f"{key}{form[key]}" for key in sorted(form)) + f".{nonce}"
    key = PHONE["PLIVO_AUTH_TOKEN"].encode()
    return base64.b64encode(hmac.digest(key, text.encode(), "sha256")).decode()


def test_a_pod_stops_at_once_without_its_keys(
    hosted: bots.Project, image: dockerfiles.Image
) -> None:
    (image.folder / ".env").unlink(missing_ok=True)
    env = bots.plain_env() | image.env
    ended = bots.run(*image.entrypoint, cwd=image.folder, env=env, timeout=60)
    assert ended.returncode == 1
    for name in KEYS:
        assert name in ended.stderr
