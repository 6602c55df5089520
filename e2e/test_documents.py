"""Every command in README.md, docs/ and release/README.md works unchanged.

A fenced `sh` block is run from top to bottom, in a terminal with a person who answers vbot's
questions. Blocks about a checkout run in a copy of this one; the others of a document run in one
folder. ELSEWHERE lists blocks that another check runs. `console` blocks are commands with their
output: a Go test makes that of README.md, and release/audit runs those of AUDIT.md. A fence without
a language is not an example: it shows a syntax, or commands that cannot be tried yet.
"""

import os
import re
import shutil
import urllib.request
from pathlib import Path

import pexpect
import pytest

import bots
from cloud_api import TOKEN, CloudAPI
from conversation import KEYS

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHECKOUT = re.compile(r"^(\w+=\S+ )*go ", re.MULTILINE)
ASSISTANT = "-t smallwebrtc -m realtime --realtime openai".split()
SERVES = "http://localhost:7860"
FILL_IN = r"sed -i -E 's/^([A-Z_]+_KEY)=$/\\1=key-of-the-test/' .env"
COPIED = shutil.ignore_patterns(".git", ".cache", "node_modules", "__pycache__", "dist")

# The checks that run the blocks with these beginnings, or all blocks of a document.
ELSEWHERE = {
    ("README.md", "ollama pull "): "e2e/test_own_machine.py",
    ("docs/own-services.md", ""): "e2e/test_own_service.py",
    ("docs/install.md", "tar -xzf vbot-"): "release/offline",
    ("docs/install.md", "ssh-keygen -Y verify"): "e2e/test_release.py",
    ("docs/install.md", 'eval "$(vbot completion bash)"'): "e2e/test_completion.py",
}
FILES = [ROOT / "README.md", ROOT / "release/README.md", *ROOT.glob("docs/*.md")]
DOCUMENTS = sorted(str(p.relative_to(ROOT)) for p in FILES)


def elsewhere(document: str, block: str) -> str:
    starts = (
        by
        for (name, start), by in ELSEWHERE.items()
        if name == document and block.startswith(start)
    )
    return next(starts, "")


def examples(document: str) -> list[str]:
    blocks = BLOCK.findall((ROOT / document).read_text())
    return [block for block in blocks if not elsewhere(document, block)]


def test_examples_that_run_elsewhere_exist() -> None:
    for (document, start), by in ELSEWHERE.items():
        assert any(b.startswith(start) for b in BLOCK.findall((ROOT / document).read_text())), (
            document
        )
        assert (ROOT / by).is_file()
    sessions = [d for d in DOCUMENTS if "```console\n" in (ROOT / d).read_text()]
    assert sessions == ["README.md", "docs/AUDIT.md"]


def prepare(folder: Path, vbot: Path) -> None:
    """Create the project and the files that the examples assume."""
    bots.generate(vbot, folder, "assistant", *ASSISTANT)
    (folder / "server").mkdir()
    keys = "".join(f"{name}={value}\n" for name, value in KEYS.items())
    (folder / "server/.env").write_text(keys + "DAILY_API_KEY=\n")
    (folder / ".docker").mkdir()
    auth = '{"auths": {"ghcr.io": {"auth": "Ym9iOnQwa2Vu"}}}'  # bob:t0ken
    (folder / ".docker/config.json").write_text(auth)
    (folder / "secrets.json").write_text('[{"name": "LOG_LEVEL", "value": "debug"}]')
    (folder / "key.json").write_text('{"type": "service_account"}\n')


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if examples(d)])
def test_the_examples_of(document: str, vbot: Path) -> None:
    folder = bots.PROJECTS / "documents" / document.replace("/", "-")
    prepare(folder, vbot)
    # Files that the text shows under their names.
    for name, text in re.findall(
        r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", (ROOT / document).read_text(), re.M | re.S
    ):
        (folder / name).write_text(text)
    checkout = folder / "checkout"
    modules = bots.must("go", "env", "GOMODCACHE", cwd=ROOT).strip()
    with CloudAPI() as api:
        env = (
            bots.networked_env()
            | KEYS
            | {
                "PATH": f"{vbot.parent}:{os.environ['PATH']}",
                "HOME": str(folder),
                "GOPATH": str(folder / "go"),
                "GOMODCACHE": modules,
                "GOCACHE": bots.must("go", "env", "GOCACHE", cwd=ROOT).strip(),
                "UV_CACHE_DIR": bots.must("uv", "cache", "dir", cwd=ROOT).strip(),
                "VBOT_API_URL": api.url,
                "TERM": "dumb",
            }
        )
        if not any("vbot cloud login" in block for block in examples(document)):
            env["VBOT_TOKEN"] = TOKEN
        for block in examples(document):
            where = folder
            if "--check --json" in block:  # a difference elsewhere must not fail this job for CI
                with (folder / "assistant/README.md").open("a") as readme:
                    readme.write("Mine.\n")
            if CHECKOUT.search(block):
                where = checkout
                if not checkout.exists():
                    shutil.copytree(ROOT, checkout, ignore=COPIED, symlinks=True)
            carry_out(block, where, env)


def carry_out(block: str, folder: Path, env: dict[str, str]) -> None:
    """Run the block as a reader would: fill in .env, answer questions, and stop the bot."""
    block = re.sub(r"(?m)^(cp \.env\.example .*)$", r"\1\n" + FILL_IN, block)
    bash = pexpect.spawn(
        "bash",
        ["-euo", "pipefail", "-c", block],
        cwd=folder,
        env=env,
        timeout=600,
        encoding="utf-8",
    )
    shown = ""
    serves = re.search(r"^uv run bot\.py", block, re.MULTILINE)
    while True:
        asked = bash.expect([r"Token \(hidden\):", r"\[y/N\]", "Uvicorn running on", pexpect.EOF])
        shown += bash.before or ""
        match asked:
            case 0:
                bash.sendline(TOKEN)
            case 1:
                bash.sendline("y")
            case 2:
                assert serves, f"{block}\nserves something:\n{shown}"
                with urllib.request.urlopen(SERVES, timeout=30) as page:
                    assert page.status == 200
                bash.sendintr()
            case _:
                break
    bash.close()
    assert bash.exitstatus == 0 or serves and bash.exitstatus in (0, 130), f"{block}\n{shown}"
