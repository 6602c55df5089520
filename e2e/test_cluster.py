"""A real Kubernetes takes the files of `--self-host`, with the commands of deploy/README.md.

It takes minutes to build, so this runs by hand: e2e/run -m cluster
"""

import re
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
    "browser": ["-t", "rtc_small"],
    "rooms": ["-t", "livekit"],
    "1-phone": ["-t", "telnyx"],  # names of some kinds may not begin with a digit
    "calls": ["-t", "twilio_daily_sip_dialin", "--recording"],
}
# Cores that a session takes, from and to: deploy/README.md, "Size".
BY_PHONE, BY_BROWSER = (0.06, 0.07), (0.16, 0.18)
IDLE = 0.005  # a bot without a session


@pytest.fixture(scope="module")
def server() -> Iterator[cluster.Cluster]:
    with cluster.running() as server:
        yield server


@pytest.fixture
def make(vbot: Path) -> Callable[[str], bots.Project]:
    def make(kind: str, name: str = "") -> bots.Project:
        options = [*BOTS[kind], *SERVICES, "--self-host"]
        project = bots.generate(vbot, bots.PROJECTS / "clustered", name or kind, *options)
        (project.folder / "deploy/kubernetes/.env").write_text("A='1'\n")
        return project

    return make


def documented(project: bots.Project) -> list[list[str]]:
    """The commands of kubectl in deploy/README.md, from there."""
    _, _, deploy = (project.folder / "deploy/README.md").read_text().partition("## In a cluster")
    lines = re.findall(r"(?m)^kubectl (.+?)(?: &&)?$", deploy.replace("\\\n", ""))
    folder = str(project.folder / "deploy/kubernetes")
    return [shlex.split(line.replace("deploy/kubernetes", folder)) for line in lines]


def manifests(project: bots.Project, file: str) -> list[Any]:
    text = (project.folder / "deploy/kubernetes" / file).read_text()
    return list(yaml.safe_load_all(text))


def eventually(what: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 30
    while not (found := what()):
        assert time.monotonic() < deadline, "that did not come"
        time.sleep(0.2)
    return found


def names(server: cluster.Cluster, kind: str, namespace: str) -> set[str]:
    return {o["metadata"]["name"] for o in server.get(kind, "--namespace", namespace)["items"]}


def versions(server: cluster.Cluster, name: str) -> dict[str, str]:
    """The generations of objects, which change with their spec but not with their status."""
    kinds = "deployments,services,secrets,configmaps,hpa,pdb,networkpolicies"
    of = f"app.kubernetes.io/part-of={name}"
    found = server.get(kinds, "--namespace", name, "--selector", of)["items"]
    meta = [(o["kind"], o["metadata"]) for o in found]
    return {f"{k}/{m['name']}": m.get("generation", m["resourceVersion"]) for k, m in meta}


def up(server: cluster.Cluster, name: str, apps: dict[str, int]) -> None:
    """Waits for that many pods of each kind, and starts them."""
    for app, n in apps.items():
        eventually(lambda app=app, n=n: len(server.pods(name, app)) == n)
        server.starts(name, server.pods(name, app))


def ready(server: cluster.Cluster, name: str, app: str = "bot") -> list[str]:
    """The pods that are ready, and are not being deleted."""
    conditions = [
        (pod["metadata"]["name"], condition["type"], condition["status"])
        for pod in server.pods(name, app)
        for condition in pod["status"].get("conditions", [])
    ]
    return [pod for pod, *condition in conditions if condition == ["Ready", "True"]]


def roll(server: cluster.Cluster, name: str, app: str, floor: int) -> None:
    """Starts the pods that come until no old one is left; the ready ones are never fewer."""

    def done() -> bool:
        assert len(ready(server, name, app)) >= floor
        waiting = [pod for pod in server.pods(name, app) if not pod["spec"].get("nodeName")]
        server.starts(name, waiting)
        status = server.get("deployment", app, "--namespace", name)
        said, wanted = status["status"], status["spec"]["replicas"]
        current = said.get("observedGeneration") == status["metadata"]["generation"]
        return current and said.get("updatedReplicas") == said.get("replicas") == wanted

    eventually(done)


@pytest.mark.parametrize("kind", BOTS)
def test_a_cluster_takes_it_and_its_changes(
    server: cluster.Cluster, make: Callable[[str], bots.Project], kind: str
) -> None:
    project = make(kind)
    name = kind
    folder = project.folder / "deploy/kubernetes"
    create, apply, status, prune, *_ = documented(project)

    server.must(*create)
    # Pods that do not meet the strictest of the standards are told of, or refused.
    for how in ("warn", "enforce"):
        label = f"pod-security.kubernetes.io/{how}=restricted"
        server.must("label", "namespace", name, label)
    said = server.must(*apply).splitlines()
    [kustomization] = manifests(project, "kustomization.yaml")
    documents = [d for file in kustomization["resources"] for d in manifests(project, file)]
    assert len(said) == len(documents) + 2  # the Secret, the ConfigMap
    assert not [line for line in said if not line.endswith(" created")]

    # The controllers may start what the Deployments describe.
    server.must("scale", "deployment", "bot", "--replicas=4", "--namespace", name)
    apps = {"bot": 4, "router": 2} | ({"calls": 2} if kind == "calls" else {})
    up(server, name, apps)
    old = ready(server, name)

    # The same again changes nothing, whatever kubectl says of it.
    before = versions(server, name)
    assert len(before) == len(said)
    server.must(*apply)
    assert versions(server, name) == before
    secrets, configs = names(server, "secrets", name), names(server, "configmaps", name)

    # Others have put something here, too.
    others = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "of-a-store"}}
    others["metadata"]["labels"] = {"app.kubernetes.io/part-of": name}
    server.create(name, others)

    # Other keys and another router: new pods take the place of the old ones, which are all
    # full. What the autoscaler set, stays.
    (folder / ".env").write_text("A='2'\n")
    config = folder / "haproxy.cfg"
    config.write_text(config.read_text() + "# changed\n")
    changed = [line for line in server.must(*apply).splitlines() if "unchanged" not in line]
    assert "deployment.apps/bot configured" in changed
    assert "deployment.apps/router configured" in changed
    for app, n in apps.items():
        roll(server, name, app, floor=n)
    assert len(ready(server, name)) == 4 and not {*ready(server, name)} & {*old}
    drained = server.get("pods", "--namespace", name, "--selector", "app=bot")["items"]
    ending = [p["metadata"] for p in drained if "deletionTimestamp" in p["metadata"]]
    assert {p["name"] for p in ending} == {*old}
    assert {p["deletionGracePeriodSeconds"] for p in ending} == {3600}

    # The Secrets of old keys go when nothing needs them, and nothing else does.
    assert secrets < names(server, "secrets", name)
    assert "successfully rolled out" in server.must(*status)
    pruned = [line for line in server.must(*prune).splitlines() if line.endswith(" pruned")]
    assert {line.split()[0] for line in pruned} == {
        *(f"secret/{old}" for old in secrets),
        *(f"configmap/{old}" for old in configs if old.startswith("router-")),
    }
    assert len(names(server, "secrets", name)) == 2
    assert len(versions(server, name)) == len(said) + 1

    # By sessions instead of CPU time, the same object.
    text = (folder / "kustomization.yaml").read_text()
    other = text.replace("- autoscaler.yaml", "- by-sessions.yaml")
    (folder / "kustomization.yaml").write_text(other)
    changed = [line for line in server.must(*apply).splitlines() if "unchanged" not in line]
    assert "horizontalpodautoscaler.autoscaling/bot configured" in changed
    [metric] = server.get("hpa", "bot", "--namespace", name)["spec"]["metrics"]
    assert metric["pods"]["metric"]["name"] == "bot_sessions"

    # With a store's own Secret, the pods mount `bot`.
    generator = "secretGenerator:\n  - name: bot\n    files: [.env]\n"
    assert generator in other
    (folder / "kustomization.yaml").write_text(other.replace(generator, ""))
    (folder / ".env").unlink()
    made = list(yaml.safe_load_all(server.must("kustomize", folder)))
    [bot] = [d for d in made if d["kind"] == "Deployment" and d["metadata"]["name"] == "bot"]
    volumes = bot["spec"]["template"]["spec"]["volumes"]
    assert volumes[0]["secret"]["secretName"] == "bot"
    assert "Secret" not in [d["kind"] for d in made]

    # The server does check: it knows every field, and which users a pod may have.
    bot = folder / "bot.yaml"
    text = bot.read_text()
    bot.write_text(text.replace("enableServiceLinks", "enableServiceLink"))
    refused = server.run(*apply)
    assert refused.returncode == 1 and "enableServiceLink" in refused.stderr
    bot.write_text(text.replace("runAsUser: 10001", "runAsUser: 0"))
    assert "would violate PodSecurity" in server.run(*apply).stderr
    pod = "\n      terminationGracePeriodSeconds"
    bot.write_text(text.replace(pod, f"\n      hostNetwork: true{pod}"))
    assert "host namespaces (hostNetwork=true)" in server.run(*apply).stderr


def test_a_node_of_full_pods_is_emptied(
    server: cluster.Cluster, make: Callable[..., bots.Project]
) -> None:
    """One pod at a time, however long the conversations last; `kubectl drain` asks the same way."""
    name = "emptied"
    project = make("page", name)
    create, apply, *_ = documented(project)
    server.must(*create)
    server.must(*apply)
    server.must("scale", "deployment", "bot", "--replicas=3", "--namespace", name)
    up(server, name, {"bot": 3, "router": 2})
    for app in ("bot", "router"):
        full = ready(server, name, app)
        for pod in full:
            eventually(lambda pod=pod: not server.evicts(name, pod))
            left = next(p for p in ready(server, name, app) if p != pod)
            assert "disruption budget" in server.evicts(name, left)  # until another is ready
            up(server, name, {app: len(full)})
        assert not {*full} & {*ready(server, name, app)}

    # If full pods were not ready, as they once were, none could go.
    full = ready(server, name)
    for pod in full:
        server.says(name, pod, ready=False)
    budget = ("pdb", "bot", "--namespace", name)
    eventually(lambda: server.get(*budget)["status"]["currentHealthy"] == 0)
    assert all("disruption budget" in server.evicts(name, pod) for pod in full)


@dataclass
class Moment:
    """The pods of a Deployment, and the expected decision of the autoscaler."""

    name: str
    wanted: str  # "more" or "fewer" pods, "enough" for their sessions, "not more"; or an error
    pods: Sequence[float]  # how full each is
    cost: float  # cores that a session takes
    age: float = 120  # seconds
    ready: bool = True  # when full

    def ask(self, metric: Any, container: Any, most: int) -> dict[str, Any]:
        """The question for testdata/replicas_test.go."""
        pods: list[dict[str, Any]] = []
        for full in self.pods:
            ready, held = self.ready or full < 1, full * most
            cpu = metric["type"] == "Resource"
            measured = f"{held * self.cost + IDLE:.3f}" if cpu else f"{held:g}"
            since = self.age - 20 if ready else 30
            pods.append({"Age": self.age, "Ready": ready, "Since": since, "Measured": measured})
        # An old pod that waits for its conversations to end is no concern of the autoscaler's.
        pods.append({**pods[0], "Deleted": True, "Measured": "7"})
        return {"Metric": metric, "Request": container["resources"], "Pods": pods}

    def fits(self, answer: dict[str, Any], most: int) -> bool:
        wants, n = answer["Replicas"], len(self.pods)
        if answer["Error"]:
            return self.wanted in answer["Error"]
        fits = {"more": wants > n, "fewer": wants < n, "not more": wants <= n}
        return fits.get(self.wanted, wants * most >= sum(self.pods) * most)


UNREADY = "did not receive metrics for targeted pods (pods might be unready)"


@pytest.mark.parametrize("kind", BOTS)
@pytest.mark.parametrize("measure", ["autoscaler.yaml", "by-sessions.yaml"])
def test_the_autoscaler_adds_pods_when_all_are_full(
    make: Callable[[str], bots.Project], kind: str, measure: str, figures: list[str]
) -> None:
    """What the two files say of themselves."""
    project = make(kind)
    [container] = manifests(project, "bot.yaml")[0]["spec"]["template"]["spec"]["containers"]
    most = int(next(e["value"] for e in container["env"] if e["name"] == "MAX_SESSIONS"))
    [metric] = manifests(project, measure)[0]["spec"]["metrics"]
    by_sessions = "sessions" in measure
    dear = BY_BROWSER if "rtc_small" in BOTS[kind] else BY_PHONE
    cheap = BY_BROWSER if kind == "browser" else BY_PHONE
    moments: list[Moment] = []
    for cost in (cheap[0], dear[1]):
        for n in (2, 4, 9):
            moments.append(Moment(f"{n} full, young", "more", [1] * n, cost))
            moments.append(Moment(f"{n} full, old", "more", [1] * n, cost, age=3600))
        moments.append(Moment("4 half full", "enough", [0.5] * 4, cost))
        moments.append(Moment("1 of 10 full", "fewer", [1] + [0] * 9, cost))
        moments.append(Moment("4 idle, young", "fewer", [0] * 4, cost))
        moments.append(Moment("4 idle, old", "fewer", [0] * 4, cost, age=3600))
        # As it was when a full pod was not ready.
        for n in (2, 4):
            wanted = "more" if by_sessions else UNREADY
            moments.append(Moment(f"{n} full and not ready", wanted, [1] * n, cost, ready=False))
        wanted = "enough" if by_sessions else "not more"
        some = [1, 1, 1, 0]
        moments.append(Moment("3 of 4 full and not ready", wanted, some, cost, ready=False))
    # What CPU time does not show.
    wanted = "more" if by_sessions else "not more"
    moments.append(Moment("4 full, of 0.02 cores a session", wanted, [1] * 4, 0.02))

    answers = cluster.autoscaler([m.ask(metric, container, most) for m in moments])
    told: dict[str, list[str]] = {}
    for moment, answer in zip(moments, answers, strict=True):
        wants = "nothing" if answer["Error"] else str(answer["Replicas"])
        told.setdefault(moment.name, []).append(wants)
        assert moment.fits(answer, most), f"{moment}: {answer}"
    line = "; ".join(f"{name}: {' or '.join(dict.fromkeys(wants))}" for name, wants in told.items())
    figures.append(f"Pods of {kind} that {measure} wants: {line}")
