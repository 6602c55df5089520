"""The manual pages of a release, read by the two programs that show manual pages."""

import json
import os
import subprocess
from pathlib import Path

import bots

MAKE = Path(__file__).parent.parent / "release" / "man"


def run(*args: str | Path) -> str:
    """The output of a program, which must report no error."""
    env = bots.plain_env() | {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "MANWIDTH": "400"}
    ran = subprocess.run(args, env=env, check=True, capture_output=True, text=True)
    assert not ran.stderr
    return ran.stdout


def test_manual_pages(vbot: Path, tmp_path: Path) -> None:
    folder = tmp_path / "man"
    run(MAKE, vbot, "2026-01-31", folder)
    pages = sorted(folder.glob("man?/*"))
    assert [page.name for page in pages[:2]] == ["vbot-cloud-login.1", "vbot-cloud-logout.1"]
    assert not run("mandoc", "-T", "lint", *pages)
    for page in pages:
        shown = run("man", "--local-file", "--warnings=all", page)
        words = page.stem.split("-")
        name, section = page.stem, page.suffix.removeprefix(".")
        assert f"{name.upper()}({section})" in shown
        if section == "7":
            words = ["vbot", "help", name.removeprefix("vbot-")]
        elif name == "vbot-cloud-secrets-image-pull-secret":
            words = ["vbot", "cloud", "secrets", "image-pull-secret"]
        answer = json.loads(run(vbot, *words[1:], "--help", "--json"))
        assert answer["command"] == " ".join(words)
        for example in answer["page"].partition("\nExamples:\n")[2].splitlines():
            assert f"       {example.removeprefix('  ')}\n" in shown, (name, example)
        for option in answer["options"]:
            assert f"       {', '.join(option['names'])}" in shown, (name, option)
            assert option["about"] in " ".join(shown.split()), (name, option)
