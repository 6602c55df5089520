"""Every service, at once: the code is sound, and the catalog agrees with the framework.

One environment holds the packages of all of them, one run of each tool reads them all.
"""

import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

import bots
import every_bot
import licenses
import network
from every_bot import SERVICES

HERE = Path(__file__).parent
BOTS = bots.PROJECTS / "catalog"

KINDS = ("stt", "llm", "tts", "realtime", "video")


@pytest.fixture(scope="module")
def sources(generated: dict[str, bots.Project]) -> list[Path]:
    """Every Python file of every bot, except vbot/."""
    found = every_bot.made_files(generated.values())
    assert len(found) >= len(generated)
    return found


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of the catalog with an error, in a class whose packages are left out."""
    text = (SERVICES / "tts" / "pocket_tts.py").read_text()
    assert "PocketTTSService" in text
    wrong = tmp_path_factory.mktemp("wrong") / "wrong.py"
    wrong.write_text(text.replace("settings=", "settings=1 + "))
    return wrong


@pytest.fixture(scope="module")
def type_errors(python: Path, sources: list[Path], wrong: Path) -> dict[Path, list[str]]:
    """What pyright says of every bot, of the catalog as it stands, and of a file that is wrong."""
    return every_bot.type_errors(python, BOTS, [*sources, *SERVICES.glob("*/*.py"), wrong])


def test_the_catalog_is_complete(catalog: dict[str, Any]) -> None:
    for kind in KINDS:
        files = [path.read_text() for path in (SERVICES / kind).glob("*.py")]
        ids = [re.search(r"(?m)^# id: (\w+)$", text) for text in files]
        assert sorted(catalog[kind]) == sorted(id[1] for id in ids if id)


def test_every_service_is_in_a_bot(generated: dict[str, bots.Project]) -> None:
    """The class that each file of the catalog is about is in the code of a bot."""
    written = [project.server / "bot.py" for project in generated.values()]
    words = {word for path in written for word in re.findall(r"\w+", path.read_text())}
    for path in (path for kind in KINDS for path in every_bot.with_code(kind)):
        returned = re.search(r"-> (\w+):", path.read_text())
        assert returned and returned[1] in words, path


def test_bots_that_need_a_later_python_say_so(generated: dict[str, bots.Project]) -> None:
    later = [path.read_text() for path in SERVICES.glob("*/*.py")]
    later = [text for text in later if re.search(r"(?m)^# python: >=3\.12$", text)]
    assert later
    classes = {name for text in later for name in re.findall(r"-> (\w+):", text)}
    for project in generated.values():
        words = set(re.findall(r"\w+", (project.server / "bot.py").read_text()))
        said = tomllib.loads((project.server / "pyproject.toml").read_text())["project"]
        assert said["requires-python"] == (">=3.12,<3.15" if words & classes else ">=3.11,<3.15")


def test_the_licenses_are_those_of_the_packages(
    python: Path, generated: dict[str, bots.Project]
) -> None:
    packages = licenses.installed(python)
    wrong = {name: licenses.wrong(bot, packages) for name, bot in generated.items()}
    assert {name: found for name, found in wrong.items() if found} == {}


def test_every_bot_passes_the_linter(python: Path, generated: dict[str, bots.Project]) -> None:
    every_bot.lint(python, BOTS, every_bot.python_files(generated.values()))


def test_every_bot_has_what_its_package_imports(generated: dict[str, bots.Project]) -> None:
    assert every_bot.absent_modules(generated.values()) == []


def test_every_bot_passes_the_type_check(
    type_errors: dict[Path, list[str]], sources: list[Path]
) -> None:
    assert [line for path in sources for line in type_errors[path]] == []


def test_the_catalog_passes_as_it_stands(
    python: Path, generated: dict[str, bots.Project], type_errors: dict[Path, list[str]]
) -> None:
    config = generated["cascade_0"].server / "pyproject.toml"
    every_bot.ruff(python, "check", "--config", config, SERVICES)
    every_bot.ruff(python, "format", "--check", "--config", config, SERVICES)
    assert [line for path in SERVICES.glob("*/*.py") for line in type_errors[path]] == []


def test_a_type_error_would_be_seen(wrong: Path, type_errors: dict[Path, list[str]]) -> None:
    """In the classes whose packages are left out, too: nothing about them is unknown."""
    [line] = type_errors[wrong]
    assert re.search(r"wrong.py:\d+: error: Operator", line)


def test_every_argument_is_declared(python: Path, tmp_path: Path) -> None:
    script, env = HERE / "lib" / "catalog_arguments.py", bots.plain_env()
    bots.must(python, script, SERVICES, cwd=HERE, env=env)
    # The way of asking tells right from wrong.
    code = (SERVICES / "llm" / "openai.py").read_text()
    (tmp_path / "llm").mkdir()
    (tmp_path / "llm" / "openai.py").write_text(code.replace("api_key=", "apikey="))
    said = bots.run(python, script, tmp_path, cwd=HERE, env=env)
    assert said.returncode == 1
    assert said.stdout == "llm/openai.py: OpenAILLMService takes no argument apikey\n"


def test_the_catalog_agrees_with_the_framework(python: Path, catalog: dict[str, Any]) -> None:
    said = bots.must(python, HERE / "lib" / "catalog_check.py", cwd=HERE)
    services = sum(len(catalog[kind]) for kind in KINDS)
    transports = len(list(every_bot.with_code("transports")))
    assert said.startswith(f"{services} services and {transports} transports compared")


def test_a_service_that_the_catalog_lacks_would_be_seen(python: Path, tmp_path: Path) -> None:
    """And one that it has, or the framework has not, on the list of those left out."""
    folder, listed = tmp_path / "services", tmp_path / "list.toml"
    shutil.copytree(SERVICES, folder)
    (folder / "llm" / "nebius.py").unlink()
    text = (HERE / "lib" / "catalog_left_out.toml").read_text()
    assert text.count('"pipecat.services.mem0"') == 1
    listed.write_text(
        text.replace(
            '"pipecat.services.mem0"', '"pipecat.services.meta.stt.MetaSTTService"'
        ).replace('"pipecat.transports.whatsapp"', '"pipecat.transports.semaphore"')
    )
    said = bots.run(python, HERE / "lib" / "catalog_check.py", folder, listed, cwd=HERE)
    assert said.returncode == 1
    assert said.stdout.splitlines() == [
        "list.toml: pipecat.services.meta.stt.MetaSTTService has a file: take it off the list",
        "the framework has no pipecat.transports.semaphore, which list.toml or BUILT has",
        "the framework's pipecat.services.mem0 has no file, and is not in list.toml",
        "the framework's pipecat.services.nebius.llm.NebiusLLMService has no file, and is not in "
        "list.toml",
        "the framework's pipecat.transports.whatsapp has no file, and is not in list.toml",
    ]


def test_every_address_reaches_its_service(python: Path, tmp_path: Path) -> None:
    """And an unset variable leaves the framework's own. Two files that are wrong are noticed."""
    folder = tmp_path / "services"
    shutil.copytree(SERVICES, folder)
    wrong = {
        "llm/cerebras.py": ('cerebras.ai/v1")', 'cerebras.ai/v2")'),
        "llm/ollama.py": ('os.getenv("OLLAMA_BASE_URL", ', 'os.getenv("OLLAMA_ADDRESS", '),
    }
    for name, (right, instead) in wrong.items():
        code = (folder / name).read_text()
        assert right in code
        (folder / name.replace(".py", "_wrong.py")).write_text(code.replace(right, instead))
    script = HERE / "lib" / "addresses.py"
    said = bots.run(python, script, folder, cwd=HERE, env=bots.plain_env())
    assert said.stdout.splitlines() == [
        "llm/cerebras_wrong.py: unset, ._client._base_url is https://api.cerebras.ai/v2/, "
        "not https://api.cerebras.ai/v1/",
        "llm/ollama_wrong.py: OLLAMA_BASE_URL does not reach it",
    ], said.stderr
    assert said.returncode == 1


@pytest.mark.skipif(not network.can_fence(), reason="needs network namespaces")
def test_every_service_contacts_the_hosts_that_it_lists(python: Path, tmp_path: Path) -> None:
    """Two files that are wrong are noticed."""
    folder = tmp_path / "services"
    shutil.copytree(SERVICES, folder)
    code = (folder / "stt" / "deepgram.py").read_text()
    (folder / "stt" / "other.py").write_text(code.replace("# host: api", "# host: other"))
    code = (folder / "tts" / "cartesia.py").read_text()
    more = code.replace("# host: api", "# host: more.example:8443\n# host: api")
    (folder / "tts" / "more.py").write_text(more)
    script = HERE / "lib" / "hosts.py"
    env = bots.plain_env() | {"PYTHONPATH": str(Path(network.__file__).parent)}
    said = bots.run(python, script, folder, cwd=HERE, env=env, timeout=600)
    assert said.stdout.splitlines() == [
        "stt/other.py: it contacts api.deepgram.com:443, and does not list it",
        "stt/other.py: it lists other.deepgram.com:443, and does not contact it",
        "tts/more.py: it lists more.example:8443, and does not contact it",
    ], said.stderr
    assert said.returncode == 1
