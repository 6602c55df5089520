"""A real API server takes what `--self-host` writes, with the commands of the project's DEPLOY.md.

It takes minutes to build that server, so this runs by hand: e2e/run -m cluster
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import bots
import cluster

pytestmark = pytest.mark.cluster

SERVICES = ["-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia"]
BOTS = {
    "page": ["-t", "rtc_small", "-t", "twilio"],
    "rooms": ["-t", "livekit"],
    "1-phone": ["-t", "telnyx"],  # names of some kinds may not begin with a digit
    "calls": ["-t", "twilio_daily_sip_dialin", "--recording"],
}


@pytest.fixture(scope="module")
def server() -> Iterator[cluster.Cluster]:
    with cluster.running() as server:
        yield server


@pytest.fixture(params=BOTS)
def project(vbot: Path, request: pytest.FixtureRequest) -> bots.Project:
    options = [*BOTS[request.param], *SERVICES, "--self-host"]
    return bots.generate(vbot, bots.PROJECTS / "clustered", request.param, *options)


def deployed(server: cluster.Cluster, name: str) -> Any:
    return server.get("deployment", "bot", "--namespace", name)


def secret_of(deployment: Any) -> str:
    volumes = deployment["spec"]["template"]["spec"]["volumes"]
    return next(v["secret"]["secretName"] for v in volumes if "secret" in v)


def versions(server: cluster.Cluster, name: str) -> dict[str, str]:
    """What changes with each change of an object."""
    kinds = "deployments,services,secrets,hpa,pdb,networkpolicies"
    found = server.get(kinds, "--namespace", name)["items"]
    return {f"{o['kind']}/{o['metadata']['name']}": o["metadata"]["resourceVersion"] for o in found}


def applied(server: cluster.Cluster, command: list[str]) -> list[str]:
    """What the command of DEPLOY.md says, a line an object."""
    return server.must(*command).splitlines()


def test_a_cluster_takes_it_and_its_changes(server: cluster.Cluster, project: bots.Project) -> None:
    name = project.folder.name
    folder = project.folder / "deploy/kubernetes"
    deploy = (project.folder / "DEPLOY.md").read_text()
    commands = re.findall(r"(?m)^kubectl (.+)$", deploy.partition("**In a cluster.**")[2])
    create, apply = (line.replace("deploy/kubernetes", str(folder)).split() for line in commands)
    (folder / ".env").write_text("A='1'\n")

    server.must(*create)
    # Pods that do not meet the strictest of the standards are told of, or refused.
    for how in ("warn", "enforce"):
        label = f"pod-security.kubernetes.io/{how}=restricted"
        server.must("label", "namespace", name, label)
    said = applied(server, apply)
    documents = [
        document
        for path in folder.glob("*.yaml")
        for document in yaml.safe_load_all(path.read_text())
        if path.name != "kustomization.yaml"
    ]
    assert len(said) == len(documents) + 1  # the Secret
    assert not [line for line in said if not line.endswith(" created")]
    first = deployed(server, name)

    # What the Deployment would start is admitted, too. Controllers make this account.
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    server.must("create", "--namespace", name, "--filename", "-", stdin=json.dumps(account))
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}}
    pod["spec"] = first["spec"]["template"]["spec"]
    create_pod = ("create", "--namespace", name, "--filename", "-")
    server.must(*create_pod, stdin=json.dumps(pod))

    # The same again changes nothing, whatever kubectl says of it.
    before = versions(server, name)
    assert len(before) == len(said)
    applied(server, apply)
    assert versions(server, name) == before

    # Other keys: another Secret, and pods that use it. What the autoscaler set, stays.
    server.must("scale", "deployment", "bot", "--replicas=5", "--namespace", name)
    (folder / ".env").write_text("A='2'\n")
    changed = [line for line in applied(server, apply) if "unchanged" not in line]
    second = deployed(server, name)
    assert secret_of(second) != secret_of(first)
    assert f"secret/{secret_of(second)} created" in changed
    assert "deployment.apps/bot configured" in changed
    assert second["spec"]["replicas"] == 5

    # The server does check: it knows every field, and which users a pod may have.
    bot = folder / "bot.yaml"
    text = bot.read_text()
    bot.write_text(text.replace("enableServiceLinks", "enableServiceLink"))
    refused = server.run(*apply)
    assert refused.returncode == 1 and "enableServiceLink" in refused.stderr
    bot.write_text(text.replace("runAsUser: 10001", "runAsUser: 0"))
    assert "would violate PodSecurity" in server.run(*apply).stderr
