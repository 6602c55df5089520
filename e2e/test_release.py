"""What a release says about itself, by the tools that read it."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from spdx_tools.spdx.parser.error import SPDXParsingError
from spdx_tools.spdx.parser.jsonlikedict.json_like_dict_parser import JsonLikeDictParser
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

RELEASE = Path(__file__).parent.parent / "release"
TIME = "2026-01-31T12:00:00Z"


@pytest.fixture(scope="module")
def documents(vbot: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What release/sbom writes, by the names of the files: of a binary, and of projects."""
    out = tmp_path_factory.mktemp("sbom")
    for binaries in ([vbot], []):
        subprocess.run([RELEASE / "sbom", vbot, TIME, out, *binaries], check=True)
    return {p.name: json.loads(p.read_text()) for p in out.iterdir()}


def cyclonedx_faults(document: Any) -> Any:
    return JsonStrictValidator(SchemaVersion.V1_7).validate_str(json.dumps(document))


def spdx_faults(document: Any) -> list[Any]:
    try:
        return list(validate_full_spdx_document(JsonLikeDictParser().parse(document)))
    except SPDXParsingError as e:
        return e.get_messages()


def test_forms(vbot: Path, documents: dict[str, Any]) -> None:
    """The reference tools of CycloneDX and SPDX find no fault; they do if there is one."""
    assert len(documents) == 4
    for name, document in documents.items():
        if name.endswith(".cdx.json"):
            assert not cyclonedx_faults(document), name
            assert cyclonedx_faults(document | {"serialNumber": "1"})
        else:
            assert not spdx_faults(document), name
            assert spdx_faults(document | {"documentNamespace": "1"})


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
