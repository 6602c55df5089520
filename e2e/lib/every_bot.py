"""Bots with every service and option, an environment with the packages of all, and linters.

Some services need Python 3.12, so this machine must have it.
"""

import ast
import fcntl
import itertools
import json
import os
import shutil
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bots

HERE = Path(__file__).resolve().parent.parent
GOLDEN = bots.PROJECTS / "golden"
PACKAGE = HERE.parent / "templates" / "server" / "vbot"
SERVICES = HERE.parent / "templates" / "services"

# pocket-tts and FunASR are models of one's own machine, and the only services on PyTorch: with it,
# the environment takes 7 GB instead of 1.7 GB. No type that a bot uses comes from these packages.
HEAVY = ("torch", "torchaudio", "funasr")

# Noise cancelling needs Pipecat Cloud, which does not run LiveKit.
REFUSED = {"rtc_room": ["--enable-noise-cancel"]}
LONGEST = 64  # characters of a name
QUICKSTART = {"stt": "deepgram", "llm": "openai", "tts": "cartesia"}
CASCADE = ["-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia"]
REALTIME = ["-m", "realtime", "--realtime", "openai"]
MODES = {"cascade": CASCADE, "realtime": REALTIME}
# The two transports that are called in one of two ways, by their generic names.
DIALED = {
    "rtc_hosted_pstn": "--daily-pstn-mode",
    "tel_a_rtc_hosted_sip": "--twilio-daily-sip-mode",
}

Arguments = Iterator[tuple[str, list[str]]]  # a name for each bot, and the options that make it


def transports(*ids: str) -> list[str]:
    return [part for id in ids for part in ("-t", id)]


def toggles(vbot: Path) -> Iterator[tuple[str, str]]:
    """The options that turn something on, or off what is on by default, and what they do."""
    page = json.loads(bots.must(vbot, "help", "init", "--json", cwd=HERE, env=bots.plain_env()))
    for option in page["options"]:
        on, *off = option["names"]
        other_name = option["about"].startswith(("the same as", "not supported"))
        if off == [f"--no-{on.removeprefix('--')}"] and not other_name:
            yield off[0] if "default: yes" in option["about"] else on, option["about"]


def options(vbot: Path) -> tuple[list[str], list[str], list[str]]:
    """The options of `toggles` for all bots, those of them that turn something on, and those for
    web bots only."""
    said = dict(toggles(vbot))
    web_only = [option for option, about in said.items() if "web bots only" in about]
    others = [option for option in said if option not in web_only]
    everywhere = [option for option in others if not option.startswith("--no-")]
    assert len(web_only) > 1 and len(everywhere) > 4
    return others, everywhere, web_only


def with_every_service(vbot: Path, catalog: dict[str, Any]) -> Arguments:
    """Each service, alone and with all options."""
    _, everywhere, _ = options(vbot)
    web = catalog["transports"]["web"]
    stt, llm, tts = (itertools.cycle(catalog[kind]) for kind in ("stt", "llm", "tts"))
    most = max(len(catalog[kind]) for kind in ("stt", "llm", "tts"))
    for number, transport in zip(range(most), itertools.cycle(web), strict=False):
        services = ["--stt", next(stt), "--llm", next(llm), "--tts", next(tts)]
        yield f"cascade_{number}", [*transports(transport), "-m", "cascade", *services]
        yield (
            f"cascade_{number}_all",
            [*transports(web[0]), "-m", "cascade", *services, *everywhere],
        )
    for id in catalog["realtime"]:
        services = ["-m", "realtime", "--realtime", id]
        yield id, [*transports("rtc_small"), *services]
        yield f"{id}_all", [*transports("rtc_small"), *services, *everywhere]
    for id, (mode, services) in itertools.product(catalog["video"], MODES.items()):
        yield f"{id}_{mode}", [*transports(*web), *services, "--video", id]


def with_every_option(vbot: Path, catalog: dict[str, Any]) -> Arguments:
    """Each transport and each option, alone and with all that goes with it."""
    others, everywhere, web_only = options(vbot)
    web, phones = catalog["transports"]["web"], catalog["transports"]["telephony"]
    for mode, services in MODES.items():
        for id in [*web, *phones]:
            if id not in DIALED:
                yield f"{id}_{mode}", [*transports(id), *services]
                allowed = [option for option in everywhere if option not in REFUSED.get(id, ())]
                yield f"{id}_{mode}_all", [*transports(id), *services, *allowed]
                # To try it: a way in that needs no telephone.
                beside = transports(id, "rtc_small", "websocket")
                yield f"{id}_{mode}_beside", [*beside, *services, *everywhere]
        for id, way in itertools.product(DIALED, ("dial-in", "dial-out")):
            named = ["--name", "n" * LONGEST]
            yield f"{id}_{way}_{mode}", [*transports(id), DIALED[id], way, *services, *named]
        for option in others:
            yield f"{option}_{mode}", [*transports("rtc_small"), *services, option]
            yield f"{option}_{mode}_phone", [*transports("tel_a"), *services, option]
        for option in web_only:
            yield f"{option}_{mode}", [*transports(*web), *services, option]
        yield f"web_{mode}_all", [*transports(*web), *services, *everywhere, *web_only]
        avatar = [*web_only, "--video", "video_a"]
        yield f"avatar_{mode}_all", [*transports(*web), *services, *everywhere, *avatar]
        phoned = transports(*(id for id in phones if "rtc_hosted" not in id))
        yield f"phones_{mode}_all", [*phoned, *transports(*web), *services, *everywhere]


def with_every_model() -> Arguments:
    """Each service whose model runs in the process of the bot."""
    for path in (path for path in with_code() if "\n# model: " in path.read_text()):
        chosen = QUICKSTART | {path.parent.name: path.stem}
        services = [word for kind, name in chosen.items() for word in (f"--{kind}", name)]
        yield path.stem, [*transports("rtc_small"), "-m", "cascade", *services]


def generate_golden(vbot: Path) -> dict[str, bots.Project]:
    """The golden projects and the quickstart, by name."""
    configurations = sorted((HERE.parent / "golden/bots").glob("*.json"))
    arguments = ((path.stem, ["--config", str(path)]) for path in configurations)
    made = generate(vbot, arguments, GOLDEN)
    made["quickstart"] = bots.generate(vbot, GOLDEN / "quickstart", "quickstart")
    assert len(made) > 6
    return made


def generate(vbot: Path, arguments: Arguments, folder: Path) -> dict[str, bots.Project]:
    """The bots of these arguments, by name."""
    shutil.rmtree(folder, ignore_errors=True)
    made = {}
    for name, options in arguments:
        name = name.strip("-")
        assert name not in made, f"two bots are called {name}"
        made[name] = bots.generate(vbot, folder / name, name, *options)
    # Below the folder with its configuration, pyright leaves out what a dot hides.
    (folder / "pyrightconfig.json").write_text("{}")
    return made


def with_code(kind: str = "*") -> Iterator[Path]:
    """Leave out the generic transports for dialing, whose code is in the specific ones."""
    paths = SERVICES.glob(f"{kind}/*.py")
    return (path for path in paths if "\ndef build(" in path.read_text())


def new_python() -> Path:
    """A Python that every service can be installed for."""
    names = ["python3.12", "python3.13", "python3.14", "python3"]
    paths = [Path(path) for name in names if (path := shutil.which(name))]
    # Where pyenv has it without its being the version in use.
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    paths += sorted(pyenv.glob("versions/3.1[2-4].*/bin/python"))
    asked = "import sys; sys.exit(not (3, 12) <= sys.version_info < (3, 15))"
    for path in paths:
        if subprocess.run([path, "-c", asked], capture_output=True).returncode == 0:
            return path
    pytest.fail("no Python 3.12, 3.13 or 3.14 was found, on PATH or in pyenv: install one")


def install(projects: Iterable[bots.Project], name: str, *more: str) -> Path:
    """Install only the bots' dependencies in the environment `name`; return its Python."""
    wanted = set(more)
    for project in projects:
        said = tomllib.loads((project.server / "pyproject.toml").read_text())
        wanted |= {*said["project"]["dependencies"], *sum(said["dependency-groups"].values(), [])}
    base = new_python()
    venv = bots.CACHE / name
    python = venv / "bin" / "python"
    # Of the workers that want it, all but the first find it there.
    with venv.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not python.exists() or python.resolve() != base.resolve():
            bots.must("uv", "venv", "--clear", "--python", base, venv, cwd=HERE)
        left_out = venv.with_suffix(".overrides.txt")
        left_out.write_text("".join(f"{name} ; sys_platform == 'never'\n" for name in HEAVY))
        options = ["--exact", "--python", python, "--override", left_out]
        bots.must("uv", "pip", "install", *options, *sorted(wanted), cwd=HERE)
    return python


def python_files(projects: Iterable[bots.Project]) -> list[Path]:
    return sorted(path for project in projects for path in project.server.rglob("*.py"))


def made_files(projects: Iterable[bots.Project]) -> list[Path]:
    """All but those of vbot/, which are the same in every project: see test_package.py."""
    packages = {project.server / "vbot" for project in projects}
    return [path for path in python_files(projects) if packages.isdisjoint(path.parents)]


def imported(path: Path) -> Iterator[str]:
    """The modules of vbot/ that a file imports when it is imported itself."""
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.startswith("vbot"):
                yield module
                yield from (f"{module}.{name.name}" for name in names)
            case ast.Import(names=names):
                yield from (name.name for name in names if name.name.startswith("vbot"))
            case _:
                pass


def absent_modules(projects: Iterable[bots.Project]) -> list[str]:
    """What files of the projects import, and vbot/ has, but not the vbot/ of this project."""
    return [
        f"{path} imports {module}"
        for project in projects
        for path in python_files([project])
        for module in imported(path)
        if _file_of(module, PACKAGE.parent) and not _file_of(module, project.server)
    ]


def _file_of(module: str, server: Path) -> Path | None:
    place = server / module.replace(".", "/")
    files = (place.with_suffix(".py"), place / "__init__.py")
    return next((file for file in files if file.exists()), None)


def ruff(python: Path, *command: str | Path) -> str:
    """Run ruff without its cache, on our folder although git ignores it."""
    first, *rest = command
    options = ("--no-cache", "--no-respect-gitignore")
    return bots.must(python.with_name("ruff"), first, *options, *rest, cwd=HERE)


def lint(python: Path, folder: Path, sources: list[Path]) -> None:
    """Lint the generated bots in the folder, each by the rules in its own pyproject.toml."""
    seen = ruff(python, "check", "--show-files", folder).split()
    assert {Path(name) for name in seen if name.endswith(".py")} == set(sources)
    ruff(python, "check", folder)
    ruff(python, "format", "--check", folder)


def type_errors(python: Path, folder: Path, files: list[Path]) -> dict[Path, list[str]]:
    """Pyright's errors for each file, from one run, because reading the packages takes long."""
    command = (python.with_name("pyright"), "--pythonpath", python, "--outputjson")
    result = json.loads(bots.run(*command, *files, cwd=folder).stdout)
    assert result["summary"]["filesAnalyzed"] == len(files)
    found: dict[Path, list[str]] = {path: [] for path in files}
    for d in result["generalDiagnostics"]:
        line = d["range"]["start"]["line"] + 1
        found[Path(d["file"])].append(f"{d['file']}:{line}: {d['severity']}: {d['message']}")
    return found
