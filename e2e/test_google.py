"""The key of a Google service account is a file on one's own machine, and text in the cloud."""

import json
import re
import shlex
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

import bots
import network
import socket_clients
from cloud_api import CloudAPI
from services import GoogleAccounts, VertexLive
from socket_clients import WebSocketCaller
from standins import StandIns

NAMES = {"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CREDENTIALS_JSON"}
REST = {"GOOGLE_PROJECT_ID": "a-project", "GOOGLE_LOCATION": "us-east4"}
SIGNER = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def key_text() -> str:
    """A key file as Google's console creates it, with a key of ours."""
    pem = SIGNER.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    fields = {
        "type": "service_account",
        "project_id": REST["GOOGLE_PROJECT_ID"],
        "private_key_id": "0",
        "private_key": pem,
        "client_email": "bot@a-project.iam.gserviceaccount.com",
        "token_uri": "https://oauth2.googleapis.com/token",
    }
    return json.dumps(fields, indent=2) + "\n"


@pytest.fixture(scope="module")
def project(vbot: Path) -> bots.Project:
    options = ["-t", "websocket", "-m", "realtime", "--realtime", "vertex_live"]
    return bots.installed(vbot, "google", *options)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        pytest.param("GOOGLE_APPLICATION_CREDENTIALS", "nowhere.json", id="no such file"),
        pytest.param("GOOGLE_CREDENTIALS_JSON", "'{\"type\":'", id="broken"),
        pytest.param("GOOGLE_CREDENTIALS_JSON", "'{}'", id="nothing in it"),
        pytest.param("GOOGLE_APPLICATION_CREDENTIALS", "", id="neither"),
    ],
)
def test_a_key_that_cannot_be_used_is_named(
    project: bots.Project, variable: str, value: str
) -> None:
    """It is named together with missing variables, before anything starts."""
    project.write_env(**{**REST, "GOOGLE_PROJECT_ID": "", variable: value})
    done = bots.run("uv", "run", "bot.py", cwd=project.server, env=bots.plain_env(), timeout=60)
    assert done.returncode == 1
    about, missing = done.stderr.strip().splitlines()[-2:]
    assert {name for name in NAMES if name in about} == {variable}
    assert missing == "Set GOOGLE_PROJECT_ID in .env; see .env.example."
    assert "Traceback" not in done.stderr


def meets_google(project: bots.Project, env: dict[str, str]) -> None:
    """A session signs in with the key, and reaches the model with the token that it gets."""

    async def session() -> None:
        accounts, model = GoogleAccounts(SIGNER.public_key()), VertexLive(REST["GOOGLE_LOCATION"])
        async with StandIns(accounts, model) as services:
            # The library that signs in has a variable of its own for whom to trust.
            trust = {"REQUESTS_CA_BUNDLE": services.env["SSL_CERT_FILE"]}
            async with project.bot({**services.env, **trust, **env}) as bot:
                async with socket_clients.call(WebSocketCaller, bot.url):
                    await services.wait_for(model.name, "refused", lambda data: True)

    network.run(session)


def test_the_key_as_a_file(project: bots.Project) -> None:
    (project.server / "key.json").write_text(key_text())
    project.write_env(**REST, GOOGLE_APPLICATION_CREDENTIALS="key.json")
    meets_google(project, {})


def test_the_key_as_text(project: bots.Project) -> None:
    """In single quotes in .env, and from its file with DEPLOY.md's command in the cloud."""
    project.write_env(**REST)
    with (project.server / ".env").open("a") as env_file:
        env_file.write(f"GOOGLE_CREDENTIALS_JSON='{key_text()}'\n")
    meets_google(project, {})

    (project.server / "key.json").write_text(key_text())
    project.write_env(**REST, GOOGLE_APPLICATION_CREDENTIALS="")
    deploy = (project.folder / "DEPLOY.md").read_text().replace("YOUR_KEY", "key")
    command = re.search(r"(?m)^vbot cloud secrets (set (?:.*\\\n)*.*)$", deploy)
    assert command
    args = shlex.split(command[1].replace("\\\n", " "))
    with CloudAPI() as api:
        api.vbot(*args, "--skip", cwd=project.server)
        stored = api.sets["google-secrets"].values
    assert stored == {**REST, "GOOGLE_CREDENTIALS_JSON": key_text()}
    for name in ("key.json", ".env"):
        (project.server / name).unlink()
    meets_google(project, stored)
