"""Every command of vbot in a bot's documents runs as it is printed, without a terminal.

All other commands are of programs that OTHERS names, with what runs them.
"""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import bots
import editing
from cloud_api import ORG, TOKEN, CloudAPI
from every_bot import CASCADE, REALTIME

BOTS = {
    "hotline": ("-t", "twilio", "-t", "smallwebrtc", *CASCADE, "--eval", "--language", "de"),
    "web": ("-t", "smallwebrtc", "-t", "daily", "-t", "websocket", *CASCADE, "--eval"),
    "calls": ("-t", "daily_pstn_dialout", *REALTIME, "--self-host"),
    "google": ("-t", "smallwebrtc", "-m", "cascade", "--stt", "google", "--llm", "openai")
    + ("--tts", "cartesia"),
}
BLOCK = re.compile(r"(?ms)^( *)```sh\n(.*?)^\1```$")
SPAN = re.compile(r"`(vbot init \.[^`]*|vbot cloud secrets set [^`]*)`")
# Programs that need an account, a network, a container or a cluster, or that other tests run.
OTHERS = {
    "cd": "a folder",
    "cp": "test_quickstart.py",
    "install": "a copy with a mode",
    "curl": "test_calls.py",
    "docker": "test_one_machine.py",
    "export": "a variable",
    "kubectl": "test_cluster.py",
    "npm": "test_clients.py",
    "pipecat": "an account, or an index of 900 MB",
    "sudo": "root",
    "uv": "test_own_tests.py, test_evals.py",
    "uvx": "test_offline.py",
    "HOME=$PWD/weights": "test_downloads.py",
    ".venv/bin/pip": "test_offline.py",
    ".venv/bin/python": "test_offline.py",
    "python3.12": "test_offline.py",
}
SETTING = re.compile(r"[A-Z_]+=\S+$")  # a line for .env


def commands(text: str) -> Iterator[str]:
    """The lines of blocks, without comments, and the commands of vbot within the text."""
    for _, block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").replace("&&\n", "&& ").splitlines():
            if command := re.sub(r"(^|\s+)#.*", "", line).strip():
                yield command
    for span in SPAN.findall(BLOCK.sub("", text)):
        yield " ".join(span.split())


def documents(project: bots.Project) -> Iterator[tuple[str, str]]:
    for name in (*editing.DOCUMENTS, "BUSINESS.md"):
        if (project.folder / name).exists():
            yield name, (project.folder / name).read_text()


@pytest.fixture(scope="module", params=BOTS)
def project(vbot: Path, request: pytest.FixtureRequest) -> bots.Project:
    folder = bots.PROJECTS / f"commands-{request.param}"
    made = bots.generate(vbot, folder, "acme", *BOTS[request.param])
    (made.server / ".env").write_text("OPENAI_API_KEY=a-key\nEMPTY=\n")
    (made.server / "YOUR_KEY.json").write_text("{}")
    return made


def run_as_printed(vbot: Path, command: str, project: bots.Project, tmp_path: Path) -> None:
    words = shlex.split(command)
    env = bots.plain_env() | {"HOME": str(tmp_path)}
    folder = tmp_path / "acme"
    shutil.rmtree(folder, ignore_errors=True)
    if "--update" in words or "--overwrite-guide" in words or words[1] == "cloud":
        shutil.copytree(project.folder, folder)
    else:
        folder.mkdir()
    with CloudAPI() as api:
        given = TOKEN + "\n"
        if words[1] == "cloud":
            folder = folder / "server"
            env |= {"VBOT_API_URL": api.url}
            if words[2] != "login":
                env |= {"VBOT_TOKEN": TOKEN, "VBOT_ORGANIZATION": ORG}
            else:
                words += ["--organization", ORG]
        done = subprocess.run(
            [vbot, *words[1:]], cwd=folder, env=env, input=given, capture_output=True, text=True
        )
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stderr}"


@pytest.mark.quick
def test_commands_of_vbot_run_as_printed(vbot: Path, project: bots.Project, tmp_path: Path) -> None:
    ran = set[str]()
    for _, text in documents(project):
        for command in commands(text):
            if command.startswith("vbot ") and command not in ran:
                ran.add(command)
                run_as_printed(vbot, command, project, tmp_path)
    assert len(ran) > 4, ran


@pytest.mark.quick
def test_other_commands_are_known(project: bots.Project) -> None:
    for name, text in documents(project):
        for command in commands(text):
            first = command.split()[0]
            known = first == "vbot" or first in OTHERS or SETTING.match(command)
            assert known, f"{name}: {command!r} is in no list of OTHERS"
