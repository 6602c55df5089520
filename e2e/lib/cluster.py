"""A real Kubernetes without nodes: etcd, kube-apiserver, some controllers and kubectl, on loopback.

The server validates, admits and stores objects. The controllers of Deployments and of
PodDisruptionBudgets run as usual. No pods run: instead of a kubelet, the test sets their state
(`Cluster.starts`). Everything is built from the Go module, which takes minutes, once per version,
except etcd, which is Debian's (apt-get install etcd-server).
"""

import json
import re
import secrets
import shutil
import ssl
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trustme

import bots

VERSION = "1.36.3"
FOLDER = bots.CACHE / f"kubernetes-{VERSION}"
CONTROLLERS = ("deployment", "replicaset", "disruption", "serviceaccount")


def _source() -> Path:
    """The module k8s.io/kubernetes, to be built in.

    Its parts are modules of their own, which its go.mod looks for beside it. They are published
    under the same version, as 0.X.Y.
    """
    source = FOLDER / "source"
    if source.exists():
        return source
    part = FOLDER / "source.part"
    shutil.rmtree(part, ignore_errors=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    download = ("go", "mod", "download", "-json", f"k8s.io/kubernetes@v{VERSION}")
    module = json.loads(bots.must(*download, cwd=FOLDER))["Dir"]
    shutil.copytree(module, part, copy_function=shutil.copyfile)
    for path in [part, *(path for path in part.rglob("*") if path.is_dir())]:
        path.chmod(0o755)
    (part / "go.work").unlink(missing_ok=True)
    shutil.rmtree(part / "vendor", ignore_errors=True)
    parts = rf"\1 => \1 v0{VERSION.removeprefix('1')}"
    go_mod = part / "go.mod"
    go_mod.write_text(re.sub(r"(k8s\.io/\S+) => \./staging/\S+", parts, go_mod.read_text()))
    return part.rename(source)


def _go(*command: str | Path) -> None:
    env = bots.networked_env() | {"GOFLAGS": "-mod=mod", "CGO_ENABLED": "0"}
    bots.must("go", *command, cwd=_source(), env=env, timeout=3600)


def built(program: str) -> Path:
    """A program of the module."""
    target = FOLDER / program
    if not target.exists():
        _go("build", "-o", target, f"./cmd/{program}")
    return target


def autoscaler(questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The number of pods that the autoscaler wants; testdata/replicas_test.go has the format."""
    package = "pkg/controller/podautoscaler"
    for test in (_source() / package).glob("*_test.go"):
        test.unlink()  # theirs, which import more
    shutil.copy(Path(__file__).parent / "testdata/replicas_test.go", _source() / package)
    program = FOLDER / "autoscaler"
    _go("test", "-c", "-vet=off", "-o", program, f"./{package}")
    with tempfile.TemporaryDirectory(prefix="e2e-autoscaler-") as folder:
        asked, answered = Path(folder) / "questions", Path(folder) / "answers"
        asked.write_text(json.dumps(questions))
        env = bots.plain_env() | {"QUESTIONS": str(asked), "ANSWERS": str(answered)}
        bots.must(program, "-test.run=^TestReplicas$", cwd=FOLDER, env=env)
        return json.loads(answered.read_text())


@dataclass
class Cluster:
    """A running cluster, and the kubectl to use it with."""

    kubectl: Path
    config: Path

    def run(self, *command: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run kubectl, and return its result."""
        return subprocess.run(
            [self.kubectl, "--kubeconfig", self.config, *command],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def must(self, *command: str | Path, stdin: str = "") -> str:
        """Run kubectl, which must succeed without a warning, and return its output."""
        done = self.run(*command, stdin=stdin)
        assert done.returncode == 0 and not done.stderr, done.stderr
        return done.stdout

    def get(self, *what: str) -> Any:
        return json.loads(self.must("get", *what, "--output", "json"))

    def create(self, namespace: str, what: Any) -> None:
        self.must("create", "--namespace", namespace, "--filename", "-", stdin=json.dumps(what))

    def pods(self, namespace: str, app: str = "bot") -> list[Any]:
        """The pods that are not being deleted."""
        found = self.get("pods", "--namespace", namespace, "--selector", f"app={app}")["items"]
        return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]

    def starts(self, namespace: str, pods: list[Any]) -> None:
        """Report pods as started and ready, as a scheduler and a kubelet would."""
        for pod in pods:
            name = pod["metadata"]["name"]
            if not pod["spec"].get("nodeName"):
                meta, node = {"name": name}, {"apiVersion": "v1", "kind": "Node", "name": "node"}
                binding = {"apiVersion": "v1", "kind": "Binding", "metadata": meta, "target": node}
                path = f"/api/v1/namespaces/{namespace}/pods/{name}/binding"
                self.must("create", "--raw", path, "--filename", "-", stdin=json.dumps(binding))
            self.says(namespace, name, ready=True)

    def says(self, namespace: str, pod: str, ready: bool) -> None:
        """Set the status of a running pod, as a kubelet would."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": now}
        status = {"phase": "Running", "startTime": now, "conditions": [condition]}
        patch = ("--subresource", "status", "--type", "merge")
        said = json.dumps({"status": status})
        self.must("patch", "pod", pod, "--namespace", namespace, *patch, "--patch", said)

    def evicts(self, namespace: str, pod: str) -> str:
        """Asks for the eviction of a pod, as `kubectl drain` does; why it was refused, or ""."""
        meta = {"name": pod, "namespace": namespace}
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta}
        path = f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction"
        done = self.run("create", "--raw", path, "--filename", "-", stdin=json.dumps(eviction))
        return done.stderr if done.returncode else ""


@contextmanager
def _program(log: Path, *command: str | Path) -> Iterator[None]:
    with log.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def _wait_for(url: str, trust: Path | None = None) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            context = ssl.create_default_context(cafile=str(trust)) if trust else None
            with urllib.request.urlopen(url, timeout=5, context=context):
                return
        except OSError:
            assert time.monotonic() < deadline, f"{url} does not answer"
            time.sleep(0.5)


@contextmanager
def running() -> Iterator[Cluster]:
    """Start an API server with the default admission plugins, and CONTROLLERS."""
    assert shutil.which("etcd"), "etcd is not installed (apt-get install etcd-server)"
    server, kubectl = built("kube-apiserver"), built("kubectl")
    manager = built("kube-controller-manager")
    token = secrets.token_hex(16)
    with tempfile.TemporaryDirectory(prefix="e2e-cluster-") as folder:
        here = Path(folder)
        client, peer, port = bots.free_port(), bots.free_port(), bots.free_port()
        store = f"http://127.0.0.1:{client}"
        etcd = [
            *("etcd", "--data-dir", here / "etcd", "--listen-client-urls", store),
            *("--advertise-client-urls", store),
            *("--listen-peer-urls", f"http://127.0.0.1:{peer}"),
        ]
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(here / "ca.pem"))
        pair = authority.issue_cert("localhost")
        pair.cert_chain_pems[0].write_to_path(str(here / "server.pem"))
        pair.private_key_pem.write_to_path(str(here / "server.key"))
        (here / "tokens").write_text(f'{token},admin,1,"system:masters"\n')
        trust = here / "ca.pem"
        api = [
            *(server, f"--etcd-servers={store}", "--bind-address=127.0.0.1"),
            *(f"--secure-port={port}", "--authorization-mode=RBAC"),
            *(f"--tls-cert-file={here}/server.pem", f"--tls-private-key-file={here}/server.key"),
            *(f"--token-auth-file={here}/tokens", "--anonymous-auth=true"),
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={here}/server.key",
            f"--service-account-signing-key-file={here}/server.key",
            "--service-cluster-ip-range=10.0.0.0/24",
        ]
        logs = bots.CACHE / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        with _program(logs / "etcd.log", *etcd):
            _wait_for(f"{store}/health")
            with _program(logs / "kube-apiserver.log", *api):
                url = f"https://localhost:{port}"
                _wait_for(f"{url}/readyz", trust)
                config = here / "config"
                config.write_text(json.dumps(_kubeconfig(url, trust, token)))
                control = [
                    *(manager, f"--kubeconfig={config}", "--leader-elect=false"),
                    f"--controllers={','.join(f'{name}-controller' for name in CONTROLLERS)}",
                    *("--secure-port=0", "--bind-address=127.0.0.1"),
                ]
                with _program(logs / "kube-controller-manager.log", *control):
                    yield Cluster(kubectl, config)


def _kubeconfig(url: str, trust: Path, token: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": "c", "cluster": {"server": url, "certificate-authority": str(trust)}}
        ],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "admin"}}],
        "current-context": "x",
    }
