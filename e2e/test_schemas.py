"""All JSON in the golden files follows the schemas that `vbot schema` prints.

The schemas allow other keys, for later versions. Here an unknown key is an error, because the
schema then does not describe the program's output.
"""

import copy
import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

pytestmark = pytest.mark.quick

GOLDEN = Path(__file__).parent.parent / "golden"
JSON_FILES = {
    "quickstart.json": "init",
    "quickstart-dry-run.json": "init-dry-run",
    "list-options.json": "init-list-options",
    "describe-video.json": "init-describe-options",
    "help/version.json": "help",
    "completion/words.json": "completion-words",
}
# What a dry run prints after the configuration, only with --json.
AFTER_CONFIG = ("changed", "files", "variables", "warnings")


def strict(schema: Any) -> Any:
    """The schema without room for more keys."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    # The parts of allOf name only some of the keys.
    out = {key: part if key == "allOf" else strict(part) for key, part in schema.items()}
    if "properties" in out:
        out["additionalProperties"] = False
    return out


@pytest.fixture(scope="module")
def schemas(vbot: Path) -> dict[str, Any]:
    def run(*args: str) -> str:
        done = subprocess.run([vbot, "schema", *args], capture_output=True, text=True, check=True)
        return done.stdout

    names = json.loads(run("--json"))["schemas"]
    assert names == run().split()
    out = {name: json.loads(run(name)) for name in names}
    for schema in out.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    return {name: strict(schema) for name, schema in out.items()}


def without(schema: Any, *keys: str) -> Any:
    """The schema in which these keys may be missing."""
    required = [key for key in schema.get("required", []) if key not in keys]
    return schema | {"required": required}


def check(value: Any, *any_of: Any) -> None:
    jsonschema.Draft202012Validator({"anyOf": list(any_of)}).validate(value)


def answers() -> list[tuple[str, str, Any]]:
    """File, command line and JSON of each answer in the golden transcripts."""
    found = []
    for path in sorted(GOLDEN.rglob("*.txt")):
        text = path.read_text(encoding="utf-8", errors="replace")
        run = r"^\$ vbot ([^\n]*)\n--- stdout\n(\{\n.*?\n\}\n)(?=--- |\Z)"
        for line, output in re.findall(run, text, re.MULTILINE | re.DOTALL):
            found.append((path.relative_to(GOLDEN).as_posix(), line, json.loads(output)))
    return found


def test_transcripts(schemas: dict[str, Any]) -> None:
    found = answers()
    assert len(found) > 80
    used = set()
    for file, line, value in found:
        name = ""
        for word in shlex.split(line):
            name = next(
                (
                    n
                    for n in (f"{name}-{word}", word)
                    if any(s == n or s.startswith(n + "-") for s in schemas)
                ),
                name,
            )
        mine = {n: s for n, s in schemas.items() if n == name or n.startswith(name + "-")}
        mine["help"] = schemas["help"]
        try:
            if "error" in value:
                check(value, schemas["failure"])
                if "result" in value:  # warnings are beside it
                    assert "warnings" not in value["result"]
                    check(value["result"], *(without(s, "warnings") for s in mine.values()))
            elif "--dry-run" in line and "--json" not in line:  # the configuration alone
                check(value, without(schemas["init-dry-run"], *AFTER_CONFIG))
            else:
                check(value, *mine.values())
        except jsonschema.ValidationError as e:
            pytest.fail(f"{file}: {line}: {e.message}")
        used.add(name)
    assert {"cloud-secrets-set", "cloud-secrets-list", "cloud-login", "init"} <= used, used


@pytest.mark.parametrize("file", JSON_FILES)
def test_files(schemas: dict[str, Any], file: str) -> None:
    schema = copy.deepcopy(schemas[JSON_FILES[file]])
    if file == "quickstart-dry-run.json":
        schema = without(schema, *AFTER_CONFIG)
    if file == "describe-video.json":
        schema["required"] = ["video"]  # --describe-options=video
    check(json.loads((GOLDEN / file).read_text(encoding="utf-8")), schema)


def test_every_service(schemas: dict[str, Any], vbot: Path) -> None:
    line = [vbot, "init", "--describe-options", "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    check(json.loads(done.stdout), schemas["init-describe-options"])


def test_configurations(schemas: dict[str, Any], vbot: Path, tmp_path: Path) -> None:
    config = schemas["config"]
    for file in [*(GOLDEN / "bots").glob("*.json"), GOLDEN / "quickstart-dry-run.json"]:
        check(json.loads(file.read_text(encoding="utf-8")), config)
    for bot in json.loads((GOLDEN / "more-bots.json").read_text(encoding="utf-8")):
        check(bot, config)
    cascade = {"mode": "cascade", "stt_service": "deepgram", "tts_service": "cartesia"}
    check(cascade | {"llm_service": "openai"}, config)
    for wrong in (
        {"recordng": True},
        {"stt_service": "nobody"},
        {"transports": "daily"},
        cascade,
        cascade | {"llm_service": None},
        {"mode": "realtime"},
    ):
        with pytest.raises(jsonschema.ValidationError):
            check(wrong, config)
    named = {
        "$schema": "./vbot.schema.json",
        "transports": ["smallwebrtc"],
        "mode": "realtime",
        "realtime_service": "openai",
        "video_service": None,
    }
    check(named, config)
    file = tmp_path / "bot.json"
    file.write_text(json.dumps(named), encoding="utf-8")
    subprocess.run([vbot, "init", tmp_path / "bot", "--config", file, "--dry-run"], check=True)
