"""Runs the steps of a Dockerfile without a container engine.

Each stage has an empty folder, which gets only the files that the Dockerfile copies or mounts. The
commands of RUN lines run unchanged, except that each path of the image is below that folder. Not
tested: whether the base image exists, and which Python and uv it has.
"""

import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from dockerfile_parse import DockerfileParser

import bots


@dataclass
class Step:
    """One instruction: its name, its --options, and what follows them."""

    name: str
    options: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    rest: str = ""

    def option(self, wanted: str) -> str | None:
        """The value of an option that has only one."""
        return next((value for name, o in self.options if name == wanted for value in o), None)


def pairs(parts: list[str]) -> dict[str, str]:
    """Parse `name=value` parts."""
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


def copied(dockerfile: Path) -> set[str]:
    """The files that the image gets from the project, as the Dockerfile names them."""
    sources = []
    for step in steps(dockerfile):
        if step.name in ("COPY", "ADD") and not step.option("from"):
            sources += shlex.split(step.rest)[:-1]
        sources += [source for source, _ in mounts(step)]
    return {str(PurePosixPath(source)) for source in sources}


@dataclass
class Image:
    """A stage of a Dockerfile, as a folder, and how a container is started from it."""

    root: Path
    folder: Path  # of the last WORKDIR
    outside: Mapping[str, str]  # what the machine has in the environment
    env: dict[str, str] = field(default_factory=dict)
    user: str = ""
    entrypoint: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)

    def inside(self, path: str) -> Path:
        return self.root / path.lstrip("/") if path.startswith("/") else self.folder / path

    def set(self, text: str) -> None:
        """An ENV line, with paths as they are here."""
        for name, value in pairs(shlex.split(text)).items():
            value = re.sub(r"(?<!\w)/(?=app|tmp)", f"{self.root}/", value)
            self.env[name] = value.replace("$PATH", self.outside["PATH"])

    def copy(self, step: Step, context: Path) -> None:
        *sources, target = shlex.split(step.rest)
        for source in (path for s in sources for path in context.glob(s.lstrip("/"))):
            place = self.inside(target)
            if source.is_dir():
                link = os.link if source.stat().st_dev == self.root.stat().st_dev else shutil.copy2
                shutil.copytree(
                    source, place, symlinks=True, dirs_exist_ok=True, copy_function=link
                )
                continue
            if target.endswith("/") or target == "." or place.is_dir():
                place /= source.name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, place)

    def run(self, step: Step, context: Path) -> None:
        seen = [(source, self.inside(target)) for source, target in mounts(step)]
        for source, place in seen:
            shutil.copy(context / source, place)
        bots.must("sh", "-ec", step.rest, cwd=self.folder, env={**self.outside, **self.env})
        for _, place in seen:
            place.unlink()  # a mount is gone after its step


def build(dockerfile: Path, context: Path, to: Path, env: Mapping[str, str]) -> Image:
    """Run the steps, and return the image of the last stage."""
    shutil.rmtree(to, ignore_errors=True)
    stages: dict[str, Image] = {}
    image = Image(to, to, env)
    for step in steps(dockerfile):
        match step.name:
            case "FROM":
                name = step.rest.partition(" AS ")[2]
                root = to / (name or "image")
                root.mkdir(parents=True)
                image = stages[name] = Image(root, root, env)
            case "WORKDIR":
                image.folder = image.inside(step.rest)
                image.folder.mkdir(parents=True, exist_ok=True)
            case "ENV":
                image.set(step.rest)
            case "COPY":
                stage = step.option("from")
                image.copy(step, stages[stage].root if stage else context)
            case "RUN":
                image.run(step, context)
            case "USER":
                image.user = step.rest
            case "ENTRYPOINT":
                image.entrypoint = json.loads(step.rest)
            case "HEALTHCHECK":
                image.health = json.loads(step.rest.removeprefix("CMD").strip())
            case _:
                assert step.name in ("ARG", "EXPOSE", "CMD"), f"unknown: {step.name}"
    return image
