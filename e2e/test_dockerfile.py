"""The Dockerfile builds, as far as this can be tested without a container engine.

There may be no engine here, and no registry to pull the base image from. So a linter checks the
file, and dockerfiles.py runs its steps.
"""

import os
import re
from pathlib import Path

import bots
import dockerfiles


def test_the_dockerfile_passes_hadolint(quickstart: bots.Project) -> None:
    assert bots.must("hadolint", quickstart.server / "Dockerfile", cwd=quickstart.server) == ""


def test_the_dockerfile_copies_what_exists(quickstart: bots.Project) -> None:
    sources = dockerfiles.copied(quickstart.server / "Dockerfile")
    server_files = {name.removeprefix("server/") for name in quickstart.files}
    assert sources - server_files == {"uv.lock*", "*.py", "vbot"}  # patterns and a folder


def test_the_user_of_the_image_can_read_the_bot(vbot: Path) -> None:
    """This holds even if the files on the machine that builds are private, as with umask 077."""
    options = ["-t", "smallwebrtc", "-m", "realtime", "--realtime", "openai", "--self-host"]
    project = bots.generate(vbot, bots.PROJECTS / "modes", "modes", *options, "--eval")
    bots.must("uv", "lock", cwd=project.server)
    for path in (project.server, *project.server.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    dockerfile, env = project.folder / "deploy/Dockerfile", bots.networked_env()
    image = dockerfiles.build(dockerfile, project.server, bots.CACHE / "modes", env)
    assert image.user
    paths = [path for path in image.folder.rglob("*") if ".venv" not in path.parts]
    names = {str(path.relative_to(image.folder)) for path in paths}
    assert {"bot.py", "page.html", "vbot/monitor.py", "vbot/hosting/sessions.py"} <= names
    assert not any("test" in name for name in names)
    for path in paths:
        assert path.stat().st_mode & (0o005 if path.is_dir() else 0o004), path


# What pipecatcloud 1.4 sends to a cloud build: the names in its archive.
CONTEXT = """
import io, sys, tarfile
from pathlib import Path
from pipecatcloud._utils.build_utils import create_deterministic_tarball, get_exclusions
from pipecatcloud._utils.deploy_utils import load_deploy_config_file
config = load_deploy_config_file().build_config
exclusions = get_exclusions(Path("."), config.exclude_patterns)
context = create_deterministic_tarball(".", exclusions, config.dockerfile)
print("\\n".join(tarfile.open(fileobj=io.BytesIO(context.tarball)).getnames()))
"""


def test_a_cloud_build_is_sent_what_the_image_needs(vbot: Path) -> None:
    """No file that a bot wrote is sent, because recordings are of people."""
    options = ["-m", "realtime", "--realtime", "openai", "--recording", "--eval"]
    project = bots.generate(
        vbot, bots.PROJECTS / "context", "left", "-t", "twilio_daily_sip_dialin", *options
    )
    for name in (
        "recordings/20260101-120000-000000.wav",
        "records/2026-01-01.jsonl",
        "records/outbox/20260101T120000000000-a.json",
        "eval-runs/run/starter_audio.conversation.json",
        "starter_audio.conversation.json",
        "starter_audio.debug.log",
        ".env",
        ".venv/pyvenv.cfg",
        "__pycache__/bot.cpython-312.pyc",
        "wheels/numpy-2.0.0-cp312-cp312-linux_x86_64.whl",
        "uv.lock",
    ):
        place = project.server / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    # In an environment that keeps the command line's own files out of the project's folder.
    command = ("uv", "run", "--no-project", "--with", "pipecatcloud>=1.4,<2", "python", "-c")
    env = bots.networked_env() | {"PIPECAT_DEPLOY_CONFIG_PATH": "cloud-deploy.toml"}
    sent = bots.must(*command, CONTEXT, cwd=project.server, env=env).split()
    needed = dockerfiles.copied(project.server / "Dockerfile") - {"uv.lock*", "*.py", "vbot"}
    # webhooks.py runs elsewhere, and the tests do not run there.
    python = {str(path.relative_to(project.server)) for path in project.server.rglob("*.py")}
    left_out = re.compile(r"webhooks\.py|conftest\.py|tests/.*|vbot/testing/.*|evals/.*")
    modules = {name for name in python if not left_out.fullmatch(name)}
    assert {"agent.py", "bot.py", "vbot/daily/calls.py", "vbot/settings.py"} <= modules
    of_records = {f"vbot/records/{name}" for name in ("README.md", "schema.json")}
    assert set(sent) == needed | modules | of_records | {"Dockerfile", "uv.lock"}


def test_the_dockerfile_leaves_an_image_that_can_run_the_bot(quickstart: bots.Project) -> None:
    dockerfile = quickstart.server / "Dockerfile"
    to = bots.CACHE / "image"
    image = dockerfiles.build(dockerfile, quickstart.server, to, bots.networked_env())
    folder = image.folder
    assert (folder / "bot.py").read_bytes() == (quickstart.server / "bot.py").read_bytes()
    # The image has the versions that `uv sync` installed, which are the tested ones.
    assert (folder / "uv.lock").read_bytes() == (quickstart.server / "uv.lock").read_bytes()
    # All imports of bot.py are installed, and those of the base image's server.
    python = folder / ".venv/bin/python"
    env = bots.plain_env() | {"PATH": os.environ["PATH"]}
    bots.must(python, "-c", "import pipecat, pipecatcloud, bot", cwd=folder, env=env)
