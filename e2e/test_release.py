"""The tools that read a release's documents accept them, and a download can be verified."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import tree_sitter
import tree_sitter_powershell
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

RELEASE = Path(__file__).parent.parent / "release"
INSTALL = RELEASE.parent / "docs" / "install.md"
TIME = "2026-01-31T12:00:00Z"


@pytest.fixture(scope="module")
def documents(vbot: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The bills of materials by file name: of a binary, and of generated projects."""
    out = tmp_path_factory.mktemp("sbom")
    for binaries in ([vbot], []):
        subprocess.run([RELEASE / "sbom", vbot, TIME, out, *binaries], check=True)
    return {p.name: json.loads(p.read_text()) for p in out.iterdir()}


def cyclonedx_faults(document: Any) -> Any:
    return JsonStrictValidator(SchemaVersion.V1_7).validate_str(json.dumps(document))


def test_the_documents_follow_the_schema(documents: dict[str, Any]) -> None:
    """The reference tool of CycloneDX finds no fault; it does if there is one."""
    assert len(documents) == 2
    for name, document in documents.items():
        assert not cyclonedx_faults(document), name
        assert cyclonedx_faults(document | {"serialNumber": "1"})


def test_packages_of_generated_projects(vbot: Path, documents: dict[str, Any]) -> None:
    """Each extra of the catalog is there, and each package that a client can have."""
    (found,) = [d for n, d in documents.items() if n.endswith("-generated.cdx.json")]
    components = {c["purl"]: c for c in found["components"]}
    notes = {n["name"]: n["value"] for n in components["pkg:pypi/pipecat-ai"]["properties"]}
    said = subprocess.check_output([vbot, "init", "--describe-options", "--json"])
    catalog = json.loads(said)
    services = [s for kind in catalog.values() if isinstance(kind, list) for s in kind]
    services += [t for kind in catalog["transports"].values() for t in kind]
    extras = {extra for service in services for extra in service["extras"]}
    assert len(extras) > 50 and extras <= set(notes["vbot:extras"].split(", "))
    templates = RELEASE.parent / "templates"
    npm = [
        line.split('"')[1]
        for file in templates.glob("client/*/package.json.tmpl")
        for line in file.read_text().splitlines()
        if '": "^' in line
    ]
    assert npm and {f"pkg:npm/{p.replace('@', '%40')}" for p in npm} <= components.keys()


def test_commit_in_the_binary(tmp_path: Path) -> None:
    """A build in a checkout knows the commit, unless a file is changed; one of an archive, too."""
    checkout, archive = tmp_path / "checkout", tmp_path / "archive"
    beside = shutil.ignore_patterns(".git", "dist", "e2e", "golden", "vbot")
    shutil.copytree(RELEASE.parent, checkout, ignore=beside)

    def git(*args: str) -> str:
        who = ["-c", "user.name=e2e", "-c", "user.email=e2e@localhost"]
        return subprocess.check_output(["git", *who, *args], cwd=checkout, text=True).strip()

    def built(source: Path) -> str | None:
        vbot = tmp_path / "vbot"
        build = ["go", "build", "-buildvcs=auto", "-trimpath", "-o", vbot, "."]
        subprocess.run(build, cwd=source, env=os.environ | {"CGO_ENABLED": "0"}, check=True)
        return json.loads(subprocess.check_output([vbot, "version", "--json"]))["commit"]

    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--message", "all")
    archive.mkdir()
    git("archive", "--output", str(tmp_path / "vbot.tar"), "HEAD")
    shutil.unpack_archive(tmp_path / "vbot.tar", archive, filter="data")
    assert built(checkout) == built(archive) == git("rev-parse", "HEAD")
    with (checkout / "main.go").open("a") as f:
        f.write("// changed\n")
    assert built(checkout) is None


def documented(language: str) -> str:
    """The commands of install.md that verify a download."""
    blocks = re.findall(rf"(?ms)^```{language}\n(.*?)^```$", INSTALL.read_text())
    [block] = [block for block in blocks if "ssh-keygen -Y verify" in block]
    return block


@dataclass
class Download:
    """A folder with a signed release, as a user has it."""

    folder: Path
    keys: Path
    version: str = "0.1.0"

    def file(self, name: str) -> Path:
        return self.folder / name

    def publish(self) -> None:
        for system in ("linux-amd64", "linux-arm64"):
            text = f"{self.version} for {system}"
            self.file(f"vbot-{self.version}-{system}").write_text(text)
        self.sum()
        self.sign("release")

    def sum(self) -> None:
        names = sorted(path.name for path in self.folder.glob("vbot-*"))
        said = subprocess.check_output(["sha256sum", "--", *names], cwd=self.folder)
        self.file("SHA256SUMS").write_bytes(said)

    def sign(self, key: str, namespace: str = "vbot-release") -> None:
        self.file("SHA256SUMS.sig").unlink(missing_ok=True)
        command = ["ssh-keygen", "-q", "-Y", "sign", "-f", self.keys / key, "-n", namespace]
        subprocess.run([*command, "SHA256SUMS"], cwd=self.folder, check=True)

    def trust(self, key: str, name: str = "vbot") -> None:
        kind, public, *_ = (self.keys / f"{key}.pub").read_text().split()
        self.file("allowed_signers").write_text(f"{name} {kind} {public}\n")


def rename_an_older_release(it: Download) -> None:
    """Its signature is good, and its files are those that were signed."""
    it.version = "0.0.9"
    for path in it.folder.glob("vbot-*"):
        path.unlink()
    it.publish()
    for path in it.folder.glob("vbot-*"):
        path.rename(it.file(path.name.replace("0.0.9", "0.1.0")))


def tamper(it: Download) -> None:
    it.file("vbot-0.1.0-linux-amd64").write_text("0.1.0 for linux-AMD64")


def tamper_and_sum(it: Download) -> None:
    tamper(it)
    it.sum()


def swap(it: Download) -> None:
    shutil.copy(it.file("vbot-0.1.0-linux-arm64"), it.file("vbot-0.1.0-linux-amd64"))


# What is wrong with a download, and what the commands then print.
WRONG: dict[str, tuple[Callable[[Download], object], str]] = {
    "another key": (lambda it: it.sign("other"), "Could not verify signature"),
    "another purpose": (lambda it: it.sign("release", "git"), "Could not verify signature"),
    "another name": (lambda it: it.trust("release", "someone"), "Could not verify signature"),
    "another file": (swap, "vbot-0.1.0-linux-amd64: FAILED"),
    "a tampered file": (tamper, "vbot-0.1.0-linux-amd64: FAILED"),
    "a tampered file and its sum": (tamper_and_sum, "Could not verify signature"),
    "an older release": (rename_an_older_release, "no properly formatted"),
    "no file": (lambda it: it.file("vbot-0.1.0-linux-amd64").unlink(), "No such file"),
    "no signature": (lambda it: it.file("SHA256SUMS.sig").unlink(), "No such file"),
}


@pytest.fixture
def download(tmp_path: Path) -> Download:
    made = Download(tmp_path / "download", tmp_path / "keys")
    made.folder.mkdir()
    made.keys.mkdir()
    for key in ("release", "other"):
        generate = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", made.keys / key]
        subprocess.run(generate, check=True)
    made.trust("release")
    made.publish()
    return made


def verified(download: Download) -> tuple[bool, str]:
    """Whether all commands succeed, each of which has to, and what they print."""
    done = subprocess.run(
        ["bash", "-ec", documented("sh")],
        cwd=download.folder,
        env=os.environ | {"LC_ALL": "C"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode == 0, done.stdout


def test_a_download_is_verified(download: Download) -> None:
    """With one file of a release, and with all of them."""
    download.file("vbot-0.1.0-linux-arm64").unlink()
    good, said = verified(download)
    assert good and 'Good "vbot-release" signature for vbot ' in said
    assert "vbot-0.1.0-linux-amd64: OK" in said
    [whole] = re.findall("`(sha256sum --check .*?)`", INSTALL.read_text())
    check = ["bash", "-c", whole]
    assert subprocess.run(check, cwd=download.folder).returncode == 1
    download.publish()
    assert subprocess.run(check, cwd=download.folder).returncode == 0


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_with_a_download_is_found(download: Download, what: str) -> None:
    change, words = WRONG[what]
    change(download)
    good, said = verified(download)
    assert not good and words in said, said


def test_powershell_verifies_with_the_same_signature_command() -> None:
    """PowerShell is in none of the registries; a grammar of its language reads the commands."""
    script = documented("powershell").encode()
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language()))
    assert not parser.parse(script).root_node.has_error
    assert parser.parse(script.replace(b"(", b"", 1)).root_node.has_error
    assert f'cmd /c "{documented("sh").splitlines()[0]}"' == script.decode().splitlines()[0]
