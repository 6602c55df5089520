"""For machines that allow no network namespace: keep a bot's Python on this machine.

On PYTHONPATH, this makes every host that is not loopback resolve to 127.0.0.1, writes its name to
$E2E_NAMES_LOG, and moves connections to port 443 there to $E2E_TLS_PORT. uvloop resolves and
connects outside Python, so it is hidden: asyncio's own loop takes its place.
"""

import os
import socket
import sys

if "E2E_TLS_PORT" in os.environ:
    sys.modules["uvloop"] = None  # type: ignore[assignment]
    _resolve, _connect, _connect_ex = (
        socket.getaddrinfo,
        socket.socket.connect,
        socket.socket.connect_ex,
    )
    _local = {"localhost", "::1", "0.0.0.0", "::", "", None, socket.gethostname()}
    _tls_port = int(os.environ["E2E_TLS_PORT"])

    def _getaddrinfo(host, port, *args, **kwargs):
        name = host.decode() if isinstance(host, bytes) else host
        if name in _local or name.startswith("127."):
            return _resolve(host, port, *args, **kwargs)
        with open(os.environ["E2E_NAMES_LOG"], "a") as log:
            log.write(f"{name}\n")
        return _resolve("127.0.0.1", port, *args, **kwargs)

    def _moved(address):
        return ("127.0.0.1", _tls_port) if address[:2] == ("127.0.0.1", 443) else address

    socket.getaddrinfo = _getaddrinfo
    socket.socket.connect = lambda self, address: _connect(self, _moved(address))
    socket.socket.connect_ex = lambda self, address: _connect_ex(self, _moved(address))
