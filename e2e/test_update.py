"""What `vbot init --diff` prints is a patch, and `--check` and `--update` agree with it."""

import hashlib
import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

import bots

BOT = "-t smallwebrtc -m cascade --stt deepgram --llm openai --tts cartesia --self-host".split()
PROGRAMS = {
    "patch": ("patch", "-p1", "--quiet", "--fuzz=0", "--no-backup-if-mismatch"),
    "git": ("git", "apply", "--whitespace=nowarn"),
}


def edited(data: bytes, dice: random.Random) -> bytes:
    """What somebody may have made of a file: lines gone, new, doubled; no text at all."""
    lines = data.splitlines(keepends=True)
    for _ in range(dice.choice((1, 2, 20))):
        at = dice.randrange(len(lines) + 1)
        lines[at : at + dice.choice((0, 1, 5))] = dice.choice(
            ([], [b"mine\n"], [b"\r\n", b"--- a/x\n"], [b"\xff\xfe\x1b[2J\n"], lines[:2])
        )
    return dice.choice((b"".join(lines), b"".join(lines), b"".join(lines).rstrip(b"\n"), b""))


def aged(vbot: Path, folder: Path, dice: random.Random) -> dict[str, bytes]:
    """A project of an older vbot, in which somebody then worked; what they made of its files."""
    mine = {}
    project = bots.generate(vbot, folder, "project", *BOT, "--client-framework", "react")
    record = json.loads((project.folder / ".vbot.json").read_bytes())
    for name in [*record["files"], "client/src/scroll.ts", "deploy/Dockerfile"]:
        file = project.folder / name
        kind = dice.choice(("same", "outdated", "edited", "deleted"))
        if not file.exists() or kind == "outdated":
            file.parent.mkdir(exist_ok=True)
            old = edited(file.read_bytes() if file.exists() else b"old", dice)
            file.write_bytes(old)
            record["files"][name] = hashlib.sha256(old).hexdigest()
        elif kind == "edited":
            file.write_bytes(mine.setdefault(name, edited(file.read_bytes(), dice)))
        elif kind == "deleted":
            file.unlink()
            if dice.random() < 0.5:  # it is new in this version
                del record["files"][name]
    record["vbot"] = "0.0.9"
    (project.folder / ".vbot.json").write_text(json.dumps(record))
    return {name: data for name, data in mine.items() if data}


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a project but the record, and empty ones, which no patch removes."""
    files = {name: (folder / name).read_bytes() for name in bots.tree(folder)}
    return {name: data for name, data in files.items() if data and name != ".vbot.json"}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("seed", range(2))
def test_a_diff_is_a_patch(vbot: Path, tmp_path: Path, program: str, seed: int) -> None:
    mine = aged(vbot, tmp_path / "made", random.Random(seed))
    project, patched = tmp_path / "made/project", tmp_path / "patched"

    def init(*args: str) -> subprocess.CompletedProcess[bytes]:
        line = [vbot, "init", project, *args]
        return subprocess.run(line, capture_output=True, env=bots.plain_env(), check=False)

    def after(diff: bytes) -> dict[str, bytes]:
        shutil.rmtree(patched, ignore_errors=True)
        shutil.copytree(project, patched)
        subprocess.run(PROGRAMS[program], input=diff, cwd=patched, check=True)
        return contents(patched)

    # What --check prints leads to the project of this version, with the edits.
    check = init("--check", "--diff")
    assert check.returncode == 3, check
    fresh = bots.generate(vbot, tmp_path / "fresh", "project", *BOT, "--client-framework", "react")
    assert after(check.stdout) == contents(fresh.folder) | mine

    # What --update prints is what it does.
    before = tmp_path / "before"
    shutil.copytree(project, before)
    update = init("--update", "--diff")
    assert update.returncode == 0, update
    updated = contents(project)
    shutil.rmtree(project)
    before.rename(project)
    assert updated != contents(project)
    assert after(update.stdout) == updated
