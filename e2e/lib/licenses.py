"""The table of licenses in DEPLOY.md, and what the installed packages say of themselves."""

import re
import tomllib
from importlib.metadata import Distribution, distributions
from pathlib import Path

from license_expression import get_spdx_licensing
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import bots

FRAMEWORK = "pipecat-ai"
OF_EVERY_BOT = ("runner", "silero", "tracing")  # extras of the framework
SPDX = get_spdx_licensing()

OSI = "License :: OSI Approved :: "  # the beginning of classifiers

# What packages write that is no SPDX expression, and what they mean.
MEANT = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache License": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "BSD 2-Clause License": "BSD-2-Clause",
    "MIT License": "MIT",
    "LGPL": "LGPL-2.1-or-later",
    OSI + "Apache Software License": "Apache-2.0",
    OSI + "GNU General Public License v3 or later (GPLv3+)": "GPL-3.0-or-later",
    OSI + "MIT License": "MIT",
}
# They say nothing, or less than their files do.
SAY_NOTHING = {
    "azure-cognitiveservices-speech": "LicenseRef-Microsoft",
    "espeakng-loader": "GPL-3.0-or-later",  # it has the library of eSpeak NG in it
    "pocket-tts": "MIT",  # the text without its title
    "sarvamai": "NOASSERTION",
}


def installed(python: Path) -> dict[str, Distribution]:
    """The packages of an environment by their names."""
    folders = [str(path) for path in python.parent.parent.glob("lib/python3*/site-packages")]
    found = distributions(path=folders)
    packages: dict[str, Distribution] = {canonicalize_name(d.metadata["Name"]): d for d in found}
    assert FRAMEWORK in packages
    return packages


def declared(name: str, package: Distribution) -> str:
    """The SPDX expression of what a package says; "" if it says nothing that is known."""
    if name in SAY_NOTHING:
        return SAY_NOTHING[name]
    said: list[str] = []
    for field in ("License-Expression", "License", "Classifier"):
        said += package.metadata.get_all(field) or []
    for file in package.files or []:
        if file.name.startswith("LICENSE"):
            said.append(Path(str(file.locate())).read_text(errors="replace").strip().split("\n")[0])
    for text in said:
        expression = MEANT.get(text, text)
        if re.fullmatch(r"[\w.+() -]+", expression) and not SPDX.validate(expression).errors:
            return expression
    return ""


def listed(project: bots.Project) -> dict[str, str]:
    """The packages in the table of a bot's DEPLOY.md, and their licenses."""
    text = (project.folder / "DEPLOY.md").read_text()
    rows = re.findall(r"(?m)^\| (\S[^|]*) \| (.*) \|$", text.partition("\n## Licenses\n")[2])
    return {name: license for license, names in rows for name in re.findall("`([^`]+)`", names)}


def required(
    requirement: Requirement, packages: dict[str, Distribution], left_out: set[str], own: bool
) -> set[str]:
    """What a package requires because of its extras; with `own`, in any case."""
    found = set()
    package = packages.get(canonicalize_name(requirement.name))
    for line in (package.requires or []) if package else []:
        other = Requirement(line)
        extras = [*requirement.extras, *([""] if own else [])]
        if other.marker and not any(other.marker.evaluate({"extra": extra}) for extra in extras):
            continue
        if not own and (not other.marker or other.marker.evaluate({"extra": ""})):
            continue
        name = canonicalize_name(other.name)
        if name == canonicalize_name(requirement.name):  # an extra that consists of others
            found |= required(other, packages, left_out, own)
        elif name not in left_out:
            found.add(str(other).partition(";")[0].strip())
    return found


def wrong(project: bots.Project, packages: dict[str, Distribution]) -> list[str]:
    """What is wrong with the table of a bot."""
    table, config = listed(project), tomllib.loads((project.server / "pyproject.toml").read_text())
    left_out = {Requirement(o).name for o in config["tool"]["uv"]["override-dependencies"]}
    asked = [Requirement(line) for line in config["dependency-groups"]["bot"]]
    found = [
        f"{name} has {declared(name, packages[name])!r}, not {license!r}"
        for name, license in table.items()
        if name in packages and declared(name, packages[name]) != license
    ]
    names = {canonicalize_name(r.name) for r in asked}
    [framework] = [r for r in asked if r.name == FRAMEWORK]
    base = Requirement(f"{FRAMEWORK}[{','.join(OF_EVERY_BOT)}]")
    theirs = required(base, packages, left_out, own=True)
    every = {canonicalize_name(Requirement(line).name) for line in theirs}
    brought = required(framework, packages, left_out, own=False)
    names |= {canonicalize_name(Requirement(line).name) for line in brought} - every
    found += [f"{name} is not in the table" for name in sorted(names - set(table))]

    # All that is installed, for licenses of the GNU project.
    todo, seen = [*asked], set[str]()
    while todo:
        requirement = todo.pop()
        key = str(requirement)
        if key in seen:
            continue
        seen.add(key)
        todo += map(Requirement, required(requirement, packages, left_out, own=True))
        name = canonicalize_name(requirement.name)
        if name in packages and "GPL" in declared(name, packages[name]) and name not in table:
            found.append(f"{name} has {declared(name, packages[name])}, and is not in the table")
    return found
