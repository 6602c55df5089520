"""The Dockerfile builds, as far as can be told without a container engine.

There may be no engine here, and no registry of images to pull the base image from. So the linter
reads the file, and its steps are carried out by hand: in an empty folder that gets only what the
file copies or mounts, with the commands of its RUN lines as they stand. What is not seen: whether
the base image exists, and which Python and uv are in it.
"""

import os
import shlex
import shutil
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import pytest
from dockerfile_parse import DockerfileParser

import bots

IMAGE = bots.CACHE / "image"


@dataclass
class Step:
    """One instruction: its name, its --options, and what follows them."""

    name: str
    options: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    rest: str = ""


def pairs(parts: list[str]) -> dict[str, str]:
    """What `name=value` parts say."""
    split = [part.partition("=") for part in parts]
    return {name: value for name, _, value in split}


def steps(dockerfile: Path) -> list[Step]:
    """The instructions, in order."""
    parser = DockerfileParser(str(dockerfile))
    found = []
    for line in parser.structure:
        if line["instruction"] == "COMMENT":
            continue
        step = Step(line["instruction"], rest=line["value"].strip())
        while step.rest.startswith("--"):
            option, _, step.rest = step.rest.partition(" ")
            name, _, value = option[2:].partition("=")
            step.options.append((name, pairs(value.split(","))))
            step.rest = step.rest.lstrip()
        found.append(step)
    return found


def mounts(step: Step) -> list[tuple[str, str]]:
    """The files of the project that a RUN step sees: their path there, and where it sees them."""
    return [
        (o["source"], o["target"])
        for name, o in step.options
        if name == "mount" and o.get("type", "bind") == "bind"
    ]


@pytest.fixture
def image() -> Path:
    shutil.rmtree(IMAGE, ignore_errors=True)
    IMAGE.mkdir(parents=True)
    return IMAGE


def test_the_dockerfile_passes_hadolint(quickstart: bots.Project) -> None:
    assert bots.must("hadolint", quickstart.server / "Dockerfile", cwd=quickstart.server) == ""


def copied(dockerfile: Path) -> set[str]:
    """The files that the image gets, as the Dockerfile names them."""
    sources = []
    for step in steps(dockerfile):
        if step.name in ("COPY", "ADD"):
            sources += shlex.split(step.rest)[:-1]
        sources += [source for source, _ in mounts(step)]
    return {str(PurePosixPath(source)) for source in sources}


def test_the_dockerfile_copies_what_exists(quickstart: bots.Project) -> None:
    sources = copied(quickstart.server / "Dockerfile")
    server_files = {name.removeprefix("server/") for name in quickstart.files}
    assert sources - server_files == {"uv.lock*"}  # a pattern: there may be none


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
    """Nothing that a bot leaves behind goes along: recordings are of people."""
    options = ["-m", "realtime", "--realtime", "openai", "--recording", "--eval"]
    project = bots.generate(
        vbot, bots.PROJECTS / "context", "left", "-t", "twilio_daily_sip_dialin", *options
    )
    for name in (
        "recordings/20260101-120000-000000.wav",
        "eval-runs/run/starter_audio.conversation.json",
        "starter_audio.conversation.json",
        "starter_audio.debug.log",
        ".env",
        ".venv/pyvenv.cfg",
        "__pycache__/bot.cpython-312.pyc",
        "uv.lock",
    ):
        place = project.server / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    # In an environment that keeps the command line's own files out of the project's folder.
    command = ("uv", "run", "--no-project", "--with", "pipecatcloud>=1.4,<2", "python", "-c")
    env = bots.networked_env() | {"PIPECAT_DEPLOY_CONFIG_PATH": "cloud-deploy.toml"}
    sent = bots.must(*command, CONTEXT, cwd=project.server, env=env).split()
    needed = copied(project.server / "Dockerfile") - {"uv.lock*"}
    assert set(sent) == needed | {"Dockerfile", "uv.lock"}


def test_the_dockerfile_leaves_an_image_that_can_run_the_bot(
    quickstart: bots.Project, image: Path
) -> None:
    """Each path of the image is one below `image` here."""
    folder = image
    env = bots.networked_env()

    def inside(path: str) -> Path:
        return image / path.lstrip("/") if path.startswith("/") else folder / path

    for step in steps(quickstart.server / "Dockerfile"):
        if step.name == "WORKDIR":
            folder = inside(step.rest)
            folder.mkdir(parents=True, exist_ok=True)
        elif step.name == "ENV":
            env |= pairs(shlex.split(step.rest))
        elif step.name == "COPY":
            *sources, target = shlex.split(step.rest)
            for source in (path.name for s in sources for path in quickstart.server.glob(s)):
                place = inside(target)
                if target.endswith("/") or target == "." or place.is_dir():
                    place /= Path(source).name
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(quickstart.server / source, place)
        elif step.name == "RUN":
            seen = [(source, inside(target)) for source, target in mounts(step)]
            for source, place in seen:
                shutil.copy(quickstart.server / source, place)
            bots.must("sh", "-ec", step.rest, cwd=folder, env=env)
            for _, place in seen:
                place.unlink()  # a mount is gone after its step
        else:
            assert step.name in ("FROM", "ARG", "USER", "EXPOSE", "CMD"), f"unknown: {step.name}"

    assert (folder / "bot.py").read_bytes() == (quickstart.server / "bot.py").read_bytes()
    # As tested: what `uv sync` installed for the project is what the image holds.
    assert (folder / "uv.lock").read_bytes() == (quickstart.server / "uv.lock").read_bytes()
    # bot.py does more than be there: everything that it imports is installed, and what the server
    # of the base image imports.
    python = folder / ".venv/bin/python"
    env = bots.plain_env() | {"PATH": os.environ["PATH"]}
    bots.must(python, "-c", "import pipecat, pipecatcloud, bot", cwd=folder, env=env)
