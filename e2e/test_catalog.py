"""All that vbot can generate, at once: every service, transport and option is sound Python.

One environment holds the packages of all of them, one run of each tool reads them all. Some
services need Python 3.12; that this machine has it is no option.
"""

import itertools
import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bots

HERE = Path(__file__).parent
SERVICES = HERE.parent / "templates" / "services"
BOTS = bots.PROJECTS / "catalog"
VENV = bots.CACHE / "catalog"

KINDS = ("stt", "llm", "tts", "realtime", "video")

# pocket-tts and FunASR are models of one's own machine, and the only services on PyTorch: with it,
# the environment takes 7 GB instead of 1.7 GB. No type that a bot uses comes from these packages.
HEAVY = ("torch", "torchaudio", "funasr")

OPTIONS = {
    "recording": ["--recording"],
    "transcription": ["--transcription"],
    "observability": ["--observability"],
    "noise": ["--enable-noise-cancel"],
    "eval": ["--eval"],
    "no_deploy": ["--no-deploy-to-cloud"],
}
EVERYWHERE = [
    "--recording",
    "--transcription",
    "--observability",
    "--enable-noise-cancel",
    "--eval",
]
# Noise cancelling needs Pipecat Cloud, which does not run LiveKit.
REFUSED = {"rtc_room": ["--enable-noise-cancel"]}
VIDEO = {"video_in": ["--video-input"], "video_out": ["--video-output"]}
LONGEST = 64  # characters of a name
CASCADE = ["-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia"]
REALTIME = ["-m", "realtime", "--realtime", "openai"]
# The two transports that are called in one of two ways, by their generic names.
DIALED = {
    "rtc_hosted_pstn": "--daily-pstn-mode",
    "tel_a_rtc_hosted_sip": "--twilio-daily-sip-mode",
}


def transports(*ids: str) -> list[str]:
    return [part for id in ids for part in ("-t", id)]


def arguments(catalog: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The bots to generate: a name for each, and the options that make it."""
    web, phones = catalog["transports"]["web"], catalog["transports"]["telephony"]
    stt, llm, tts = (itertools.cycle(catalog[kind]) for kind in ("stt", "llm", "tts"))
    most = max(len(catalog[kind]) for kind in ("stt", "llm", "tts"))
    for number, transport in zip(range(most), itertools.cycle(web), strict=False):
        services = ["--stt", next(stt), "--llm", next(llm), "--tts", next(tts)]
        yield f"cascade_{number}", [*transports(transport), "-m", "cascade", *services]
        yield (
            f"cascade_{number}_all",
            [*transports(web[0]), "-m", "cascade", *services, *EVERYWHERE],
        )
    for id in catalog["realtime"]:
        services = ["-m", "realtime", "--realtime", id]
        yield id, [*transports("rtc_small"), *services]
        yield f"{id}_all", [*transports("rtc_small"), *services, *EVERYWHERE]
    for id, (mode, services) in itertools.product(
        catalog["video"], {"cascade": CASCADE, "realtime": REALTIME}.items()
    ):
        yield f"{id}_{mode}", [*transports(*web), *services, "--video", id]

    for mode, services in {"cascade": CASCADE, "realtime": REALTIME}.items():
        for id in [*web, *phones]:
            if id not in DIALED:
                yield f"{id}_{mode}", [*transports(id), *services]
                options = [option for option in EVERYWHERE if option not in REFUSED.get(id, ())]
                yield f"{id}_{mode}_all", [*transports(id), *services, *options]
                # To try it: a way in that needs no telephone.
                beside = transports(id, "rtc_small", "websocket")
                yield f"{id}_{mode}_beside", [*beside, *services, *EVERYWHERE]
        for id, way in itertools.product(DIALED, ("dial-in", "dial-out")):
            named = ["--name", "n" * LONGEST]
            yield f"{id}_{way}_{mode}", [*transports(id), DIALED[id], way, *services, *named]
        for name, option in OPTIONS.items():
            yield f"{name}_{mode}", [*transports("rtc_small"), *services, *option]
            yield f"{name}_{mode}_phone", [*transports("tel_a"), *services, *option]
        for name, option in VIDEO.items():
            yield f"{name}_{mode}", [*transports(*web), *services, *option]
        all_video = [part for option in VIDEO.values() for part in option]
        yield f"web_{mode}_all", [*transports(*web), *services, *EVERYWHERE, *all_video]
        avatar = [*all_video, "--video", "video_a"]
        yield f"avatar_{mode}_all", [*transports(*web), *services, *EVERYWHERE, *avatar]
        phoned = transports(*(id for id in phones if "rtc_hosted" not in id))
        yield f"phones_{mode}_all", [*phoned, *transports(*web), *services, *EVERYWHERE]


@pytest.fixture(scope="module")
def catalog(vbot: Path) -> dict[str, Any]:
    """`vbot init --list-options`."""
    return json.loads(bots.must(vbot, "init", "--list-options", cwd=vbot.parent))


@pytest.fixture(scope="module")
def generated(vbot: Path, catalog: dict[str, Any]) -> dict[str, bots.Project]:
    """Every bot, by name."""
    shutil.rmtree(BOTS, ignore_errors=True)
    made = {}
    for name, options in arguments(catalog):
        assert name not in made, f"two bots are called {name}"
        made[name] = bots.generate(vbot, BOTS / name, name, *options)
    # Below the folder with its configuration, pyright leaves out what a dot hides.
    (BOTS / "pyrightconfig.json").write_text("{}")
    return made


@pytest.fixture(scope="module")
def sources(generated: dict[str, bots.Project]) -> list[Path]:
    """Every Python file of every bot."""
    found = [path for project in generated.values() for path in project.server.rglob("*.py")]
    assert len(found) >= len(generated)
    return sorted(found)


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


@pytest.fixture(scope="module")
def python(generated: dict[str, bots.Project]) -> Path:
    """The Python of an environment with what the bots say they need, and nothing else."""
    wanted: set[str] = set()
    for project in generated.values():
        said = tomllib.loads((project.server / "pyproject.toml").read_text())
        wanted |= {*said["project"]["dependencies"], *sum(said["dependency-groups"].values(), [])}
    base = new_python()
    python = VENV / "bin" / "python"
    if not python.exists() or python.resolve() != base.resolve():
        bots.must("uv", "venv", "--clear", "--python", base, VENV, cwd=HERE)
    left_out = bots.CACHE / "catalog-overrides.txt"
    left_out.write_text("".join(f"{name} ; sys_platform == 'never'\n" for name in HEAVY))
    options = ["--exact", "--python", python, "--override", left_out]
    bots.must("uv", "pip", "install", *options, *sorted(wanted), cwd=HERE)
    return python


def ruff(python: Path, *command: str | Path) -> str:
    """Run ruff without its cache, and without heeding that git ignores our folder."""
    first, *rest = command
    options = ("--no-cache", "--no-respect-gitignore")
    return bots.must(python.with_name("ruff"), first, *options, *rest, cwd=HERE)


def pyright(python: Path, folder: Path, files: list[Path]) -> None:
    """Type-check files of a folder, and see that they were."""
    command = (python.with_name("pyright"), "--pythonpath", python, "--outputjson")
    said = bots.run(*command, *files, cwd=folder)
    result = json.loads(said.stdout)
    lines = [
        f"{d['file']}:{d['range']['start']['line'] + 1}: {d['severity']}: {d['message']}"
        for d in result["generalDiagnostics"]
    ]
    assert not lines, "\n".join(lines)
    assert result["summary"]["filesAnalyzed"] == len(files)
    assert said.returncode == 0


def test_the_catalog_is_complete(catalog: dict[str, Any]) -> None:
    for kind in KINDS:
        files = [path.read_text() for path in (SERVICES / kind).glob("*.py")]
        ids = [re.search(r"(?m)^# id: (\w+)$", text) for text in files]
        assert sorted(catalog[kind]) == sorted(id[1] for id in ids if id)


def test_every_service_and_transport_is_in_a_bot(generated: dict[str, bots.Project]) -> None:
    """The class that each file of the catalog is about is in the code of a bot."""
    written = [project.server / "bot.py" for project in generated.values()]
    words = {word for path in written for word in re.findall(r"\w+", path.read_text())}
    keys = {key for path in written for key in re.findall(r'"(\w+)": lambda:', path.read_text())}
    for path in SERVICES.glob("*/*.py"):
        text = path.read_text()
        returned = re.search(r"-> (\w+):", text)
        assert returned and returned[1] in words, path
        if key := re.search(r"(?m)^# key: (\w+)$", text):
            assert key[1] in keys, path
    servers = [path.read_text() for path in BOTS.glob("*/*/server/server.py")]
    posts = {post for text in servers for post in re.findall(r'@app.post\("/(\w+)"', text)}
    assert posts == {"call", "dialout"}


def test_bots_that_need_a_later_python_say_so(generated: dict[str, bots.Project]) -> None:
    later = [path.read_text() for path in SERVICES.glob("*/*.py")]
    later = [text for text in later if re.search(r"(?m)^# python: >=3\.12$", text)]
    assert later
    classes = {name for text in later for name in re.findall(r"-> (\w+):", text)}
    for project in generated.values():
        words = set(re.findall(r"\w+", (project.server / "bot.py").read_text()))
        said = tomllib.loads((project.server / "pyproject.toml").read_text())["project"]
        assert said["requires-python"] == (">=3.12" if words & classes else ">=3.11")


def test_every_bot_passes_the_linter(python: Path, sources: list[Path]) -> None:
    seen = ruff(python, "check", "--show-files", BOTS).split()
    assert {Path(name) for name in seen if name.endswith(".py")} == set(sources)
    ruff(python, "check", BOTS)
    ruff(python, "format", "--check", BOTS)


def test_every_bot_passes_the_type_check(python: Path, sources: list[Path]) -> None:
    pyright(python, BOTS, sources)


def test_the_catalog_passes_as_it_stands(python: Path, generated: dict[str, bots.Project]) -> None:
    config = generated["cascade_0"].server / "pyproject.toml"
    files = sorted(SERVICES.glob("*/*.py"))
    ruff(python, "check", "--config", config, SERVICES)
    ruff(python, "format", "--check", "--config", config, SERVICES)
    pyright(python, SERVICES, files)


def test_a_type_error_would_be_seen(python: Path, tmp_path: Path) -> None:
    """In the classes whose packages are left out, too: nothing about them is unknown."""
    text = (SERVICES / "tts" / "pocket_tts.py").read_text()
    assert "PocketTTSService" in text
    wrong = tmp_path / "wrong.py"
    wrong.write_text(text.replace("settings=", "settings=1 + "))
    with pytest.raises(AssertionError, match=r"wrong.py:\d+: error: Operator"):
        pyright(python, tmp_path, [wrong])


def test_every_argument_is_declared(python: Path, tmp_path: Path) -> None:
    script = HERE / "catalog_arguments.py"
    bots.must(python, script, SERVICES, cwd=HERE)
    # The way of asking tells right from wrong.
    shutil.copytree(SERVICES / "llm", tmp_path / "llm")
    openai = tmp_path / "llm" / "openai.py"
    openai.write_text(openai.read_text().replace("api_key=", "apikey="))
    said = bots.run(python, script, tmp_path, cwd=HERE)
    assert said.returncode == 1
    assert said.stdout == "llm/openai.py: OpenAILLMService takes no argument apikey\n"


def test_the_catalog_agrees_with_the_framework(python: Path, catalog: dict[str, Any]) -> None:
    said = bots.must(python, HERE / "catalog_check.py", cwd=HERE)
    services = sum(len(catalog[kind]) for kind in KINDS)
    transports = len(list((SERVICES / "transports").glob("*.py")))
    assert said.startswith(f"{services} services and {transports} transports compared")


def test_a_service_that_the_catalog_lacks_would_be_seen(python: Path, tmp_path: Path) -> None:
    """And one that it has, or the framework has not, on the list of those left out."""
    folder, listed = tmp_path / "services", tmp_path / "list.toml"
    shutil.copytree(SERVICES, folder)
    (folder / "llm" / "nebius.py").unlink()
    text = (HERE / "catalog_left_out.toml").read_text()
    assert text.count('"pipecat.services.mem0"') == 1
    listed.write_text(
        text.replace(
            '"pipecat.services.mem0"', '"pipecat.services.meta.stt.MetaSTTService"'
        ).replace('"pipecat.transports.whatsapp"', '"pipecat.transports.semaphore"')
    )
    said = bots.run(python, HERE / "catalog_check.py", folder, listed, cwd=HERE)
    assert said.returncode == 1
    assert said.stdout.splitlines() == [
        "list.toml: pipecat.services.meta.stt.MetaSTTService has a file: take it off the list",
        "the framework has no pipecat.transports.semaphore, which list.toml or BUILT has",
        "the framework's pipecat.services.mem0 has no file, and is not in list.toml",
        "the framework's pipecat.services.nebius.llm.NebiusLLMService has no file, and is not in "
        "list.toml",
        "the framework's pipecat.transports.whatsapp has no file, and is not in list.toml",
    ]
