"""A real Kubernetes API server: etcd, kube-apiserver and kubectl, on loopback.

There are no controllers and no nodes: the server checks, admits and stores what it is given, and
nothing runs. It and kubectl are built from the Go module, which takes minutes, once a version;
etcd is Debian's (apt-get install etcd-server).
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


def built(program: str) -> Path:
    """A program of the module k8s.io/kubernetes.

    Its parts are modules of their own, which its go.mod looks for beside it. They are published
    under the same version, as 0.X.Y.
    """
    target = FOLDER / program
    if target.exists():
        return target
    source = FOLDER / "source"
    shutil.rmtree(source, ignore_errors=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    download = ("go", "mod", "download", "-json", f"k8s.io/kubernetes@v{VERSION}")
    module = json.loads(bots.must(*download, cwd=FOLDER))["Dir"]
    shutil.copytree(module, source, copy_function=shutil.copyfile)
    for path in [source, *(path for path in source.rglob("*") if path.is_dir())]:
        path.chmod(0o755)
    (source / "go.work").unlink(missing_ok=True)
    shutil.rmtree(source / "vendor", ignore_errors=True)
    parts = rf"\1 => \1 v0{VERSION.removeprefix('1')}"
    go_mod = source / "go.mod"
    go_mod.write_text(re.sub(r"(k8s\.io/\S+) => \./staging/\S+", parts, go_mod.read_text()))
    env = bots.networked_env() | {"GOFLAGS": "-mod=mod"}
    command = ("go", "build", "-o", str(target), f"./cmd/{program}")
    bots.must(*command, cwd=source, env=env, timeout=3600)
    return target


@dataclass
class Cluster:
    """What kubectl needs to talk to it."""

    kubectl: Path
    config: Path

    def run(self, *command: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """kubectl; what it says."""
        return subprocess.run(
            [self.kubectl, "--kubeconfig", self.config, *command],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def must(self, *command: str | Path, stdin: str = "") -> str:
        """kubectl, which has to succeed without a warning; what it says."""
        done = self.run(*command, stdin=stdin)
        assert done.returncode == 0 and not done.stderr, done.stderr
        return done.stdout

    def get(self, *what: str) -> Any:
        return json.loads(self.must("get", *what, "--output", "json"))


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
    """An API server with all the admission that one has by default."""
    assert shutil.which("etcd"), "etcd is not installed (apt-get install etcd-server)"
    server, kubectl = built("kube-apiserver"), built("kubectl")
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
