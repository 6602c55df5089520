"""A stand-in of the Pipecat Cloud API on loopback, and the Python tool to compare with.

It serves the requests of both tools for secrets, keeps every request for a test to assert, and
accepts both forms of a write: many keys at once, as in the API's openapi.json, and one key, as the
Python tool sends it. Requests that neither tool should send are kept in `wrong`.
"""

import json
import os
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

CACHE = Path(__file__).resolve().parent.parent / ".cache"
ORG = "acme"
TOKEN = "pcc_pat_of-the-check"
PIPECATCLOUD = "pipecatcloud==1.4.0"

ONE_KEY = {"name", "isImagePullSecret", "secretKey", "secretValue"}
MANY_KEYS = {"secrets"}
IMAGE_PULL = {"isImagePullSecret", "secretValue", "host"}


@dataclass
class Request:
    method: str
    path: str  # below /v1/organizations/ORG
    body: Any
    headers: dict[str, str]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass
class Stored:
    kind: str
    region: str
    values: dict[str, str] = field(default_factory=dict)
    source: str = "managed"  # or referenced


class CloudAPI:
    """The API, for as long as the `with` block lasts."""

    def __init__(self, delay: float = 0) -> None:
        self.delay = delay
        self.sets: dict[str, Stored] = {}
        self.requests: list[Request] = []
        self.wrong: list[str] = []
        self._lock = threading.Lock()

    def __enter__(self) -> "CloudAPI":
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # The head and the body of a response are sent immediately. Otherwise the body waits
            # some 40 ms until the head is acknowledged.
            disable_nagle_algorithm = True

            def handle_any(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                raw = self.rfile.read(length)
                body = json.loads(raw) if raw else None
                time.sleep(api.delay)
                with api._lock:
                    path = urlsplit(self.path).path.removeprefix(f"/v1/organizations/{ORG}")
                    request = Request(self.command, path, body, dict(self.headers))
                    api.requests.append(request)
                    if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                        status, answer = 401, error("UNAUTHORIZED", "Unauthorized")
                    else:
                        status, answer = api._answer(request)
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_PUT = do_DELETE = do_POST = do_PATCH = handle_any

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        assert not self.wrong, self.wrong

    def _answer(self, r: Request) -> tuple[int, Any]:
        match [r.method, *r.path.strip("/").split("/")]:
            case ["GET", "v1", "organizations"]:
                return 200, {"organizations": [{"name": ORG, "verboseName": "Acme"}]}
            case ["GET", "properties"]:
                return 200, {"properties": {"defaultRegion": "us-west"}}
            case ["GET", "regions"]:
                names = ["us-west", "us-east", "eu-central", "pce-acme"]
                return 200, {"regions": [{"code": n, "display_name": n} for n in names]}
            case ["GET", "secrets"]:
                rows = [
                    {
                        "name": name,
                        "type": s.kind,
                        "region": s.region,
                        "status": "ready",
                        "source": s.source,
                    }
                    for name, s in self.sets.items()
                ]
                return 200, {"sets": rows}
            case ["GET", "secrets", name] if name not in self.sets:
                return 404, error("NOT_FOUND", "Set not found")
            case ["GET", "secrets", name] if self.sets[name].kind == "imagePullSecret":
                return 400, error("PCC-1006", "Cannot retrieve image pull secrets by name")
            case ["GET", "secrets", name]:
                keys = [{"fieldName": key} for key in self.sets[name].values]
                return 200, {
                    "region": self.sets[name].region,
                    "status": "ready",
                    "source": self.sets[name].source,
                    "secrets": keys,
                }
            case ["POST", "secrets", "references"] if set(r.body) == {"name", "region"}:
                self.sets[r.body["name"]] = Stored("secret", r.body["region"], source="referenced")
                return 200, {**r.body, "type": "secret", "status": "ready"}
            case ["PUT", "secrets", name]:
                return self._put(name, r)
            case ["DELETE", "secrets", name] if name in self.sets:
                del self.sets[name]
                return 200, {"status": "OK"}
            case ["DELETE", "secrets", name, key] if name in self.sets and self.sets[
                name
            ].values.pop(key, None):
                return 200, {"status": "OK"}
            case ["DELETE", "secrets", *_]:
                return 404, error("NOT_FOUND", "Secret not found")
        self.wrong.append(f"{r} is no request of the API")
        return 404, error("NOT_FOUND", "Not found")

    def _put(self, name: str, r: Request) -> tuple[int, Any]:
        region = r.body.get("region", "us-west")
        kind = "imagePullSecret" if r.body.get("isImagePullSecret") else "secret"
        s = self.sets.setdefault(name, Stored(kind, region))
        if s.region != region or s.kind != kind:
            return 400, error("GENERIC_BAD_REQUEST", "Region or type differs")
        form = set(r.body) - {"region"}
        if form == MANY_KEYS and r.body["secrets"]:
            for pair in r.body["secrets"]:
                if set(pair) != {"secretKey", "secretValue"}:
                    self.wrong.append(f"{r}: a pair of {sorted(pair)}")
                s.values[pair["secretKey"]] = pair["secretValue"]
        elif form == ONE_KEY and kind == "secret" and r.body["name"] == name:
            s.values[r.body["secretKey"]] = r.body["secretValue"]
        elif form == IMAGE_PULL and kind == "imagePullSecret":
            s.values = {"value": r.body["secretValue"], "host": r.body["host"]}
        else:
            self.wrong.append(f"{r}: a body of {sorted(form)}")
            return 400, error("GENERIC_BAD_REQUEST", "Invalid request")
        return 202, {"status": "OK", "region": s.region}

    def take(self) -> list[Request]:
        """The requests since the last call."""
        with self._lock:
            taken, self.requests = self.requests, []
        return taken

    def vbot(self, *args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run our `vbot cloud secrets`."""
        env = {"VBOT_API_URL": self.url, "VBOT_TOKEN": TOKEN, "VBOT_ORGANIZATION": ORG}
        return run([os.environ["VBOT"], "cloud", "secrets", *args], env, cwd)

    def pipecat(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run their `pipecat cloud secrets`."""
        env = {"PIPECAT_API_HOST": self.url, "PIPECAT_TOKEN": TOKEN, "PIPECAT_ORG": ORG}
        with tempfile.TemporaryDirectory() as home:
            env["PIPECAT_CONFIG_PATH"] = f"{home}/pipecatcloud.toml"
            command = [str(pipecat()), "cloud", "--output", "json", "secrets", *args]
            return run(command, env)


def error(code: str, message: str) -> dict[str, str]:
    return {"error": message, "code": code}


def run(
    command: list[str], env: dict[str, str], cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command,
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "NO_COLOR": "1", **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, f"{command[1:]}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def pipecat() -> Path:
    """The Python tool, installed in an environment of its own."""
    home = CACHE / "pipecatcloud"
    if not (home / "installed").exists():
        subprocess.run(["uv", "venv", "--quiet", "--clear", str(home)], check=True)
        subprocess.run(
            ["uv", "pip", "install", "--quiet", "--python", str(home / "bin/python")]
            + ["pipecat-ai[cli]==1.14.0", PIPECATCLOUD],
            check=True,
        )
        (home / "installed").touch()
    return home / "bin/pipecat"
