"""`vbot init --update` of a project that its owner has edited; `--diff` prints its changes."""

import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

import bots
import editing
import network
from caller import until
from conversation import KEYS, called, stand_ins

BOT = "-t smallwebrtc -m cascade --stt deepgram --llm openai --tts cartesia --self-host".split()
PROGRAMS = {
    "patch": ("patch", "-p1", "--quiet", "--fuzz=0", "--no-backup-if-mismatch"),
    "git": ("git", "apply", "--whitespace=nowarn"),
}


@pytest.mark.quick
def test_an_edited_bot_has_the_edit_and_the_update(vbot: Path) -> None:
    """It starts, its model is told the new prompt, and the option that was added does its work."""
    made = bots.generate(vbot, bots.PROJECTS / "updated", "bot", *BOT[:10])
    agent = made.server / "agent.py"
    role = ("You are a friendly assistant", "You are the captain of a ship")
    agent.write_text(editing.replaced(agent.read_text(), role))
    line = (vbot, "init", made.folder, "--update", "--transcription")
    bots.must(*line, cwd=made.folder, env=bots.plain_env())
    made.sync()
    made.write_env(**KEYS)

    async def conversation() -> None:
        async with stand_ins() as services, made.bot(services.env) as bot:
            async with called(bot):
                await until(lambda: "Transcript " in bot.log, 60)
            [greeted] = services.requests("openai", "chat")
            assert "You are the captain of a ship" in greeted["messages"][0]["content"]
            assert "Transcript " in bot.log
            assert bot.errors() == []

    network.run(conversation)


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
    bases = project.folder / ".vbot/base"
    for name in dict.fromkeys([*record["files"], "client/src/views.js", "deploy/Dockerfile"]):
        file = project.folder / name
        kind = dice.choice(("same", "outdated", "edited", "deleted"))
        if file.name == ".gitignore":
            kind = "same"  # no update removes a line of one
        elif file.exists() and not (bases / record["files"][name]).exists():  # its owner's
            kind = "edited"
        if not file.exists() or kind == "outdated":
            file.parent.mkdir(exist_ok=True)
            old = edited(file.read_bytes() if file.exists() else b"old", dice)
            old = old.replace(b"\r\n", b"\n")  # as vbot writes it
            file.write_bytes(old)
            record["files"][name] = bots.add_base(project.folder, old)
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
    return {name: data for name, data in files.items() if data and not name.startswith(".vbot")}


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

    # What --update --diff prints is what --update then does.
    before = contents(project)
    preview = init("--update", "--diff")
    assert preview.returncode == 0 and contents(project) == before, preview
    patched_files = after(preview.stdout)
    update = init("--update")
    assert update.returncode == 0 and contents(project) != before, update
    assert contents(project) == patched_files
