"""Runs conversations without the internet, with a name server of our own.

``run(main)`` runs an async function in a thread of its own. If the kernel allows it, that thread
first moves into a new network namespace that has only loopback. Programs and servers that the
thread starts share the namespace, so a generated bot runs exactly as its owner would start it, and
all its name lookups, from Python or from native code, go to `Names` below.

If the kernel forbids namespaces, as in most containers, the bot gets `shim/sitecustomize.py`
instead: the same tests pass, but lookups of native code are not seen. Every run prints at its
beginning which of the two it uses, and again at its end if lookups may have been missed.
"""

import asyncio
import contextlib
import ctypes
import fcntl
import os
import pathlib
import socket
import struct
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

T = TypeVar("T")

# WebRTC finds no candidate where 127.0.0.1 is the only address, so loopback gets a second one.
# 192.0.2.0/24 is set aside for examples (RFC 5737): nobody's.
PEER_ADDRESS = "192.0.2.1"

# LiveKit takes no candidate on loopback at all, so for it there is a network card.
CARD_ADDRESS = "192.0.2.2"

# From <sched.h>, <sys/mount.h>, <linux/sockios.h>, <net/if.h>, <linux/if_tun.h>.
CLONE_NEWNS, CLONE_NEWNET = 0x20000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
SIOCSIFFLAGS, SIOCSIFADDR, SIOCSIFNETMASK = 0x8914, 0x8916, 0x891C
IFF_UP = 0x1
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000

_libc = ctypes.CDLL(None, use_errno=True)
_here = threading.local()


def fenced() -> bool:
    """Whether the calling thread is inside a namespace of ours."""
    return getattr(_here, "fenced", False)


@cache
def can_fence() -> bool:
    """Whether we can make a network namespace (as root we can, in most containers we cannot)."""
    if os.environ.get("E2E_NO_NAMESPACE"):  # to try the other way
        return False
    with ThreadPoolExecutor(1) as pool:
        try:
            pool.submit(_leave_the_network).result()
        except OSError:
            return False
    return True


def how() -> str:
    """A line for people that says which lookups this run can see."""
    if can_fence():
        return "in network namespaces without any outside network; every name lookup is seen"
    return (
        "WITHOUT a network namespace (it takes root, or unprivileged user namespaces): what native "
        "code looks up or connects to is NOT seen"
    )


def run(main: Callable[[], Coroutine[Any, Any, T]], timeout: float = 150) -> T:
    """Run `main` to its end in a thread of its own, in a namespace if possible."""
    started: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = []

    async def limited() -> T:
        task = asyncio.ensure_future(main())
        started.append((asyncio.get_running_loop(), task))
        return await asyncio.wait_for(task, timeout)

    def work() -> T:
        if can_fence():
            _leave_the_network()
        return asyncio.run(limited())

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        try:
            return future.result()
        except KeyboardInterrupt:
            for loop, task in started:  # so that the bot is stopped before we leave
                loop.call_soon_threadsafe(task.cancel)
            raise


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _leave_the_network() -> None:
    """Move the calling thread into a network of its own, where 127.0.0.1 is the name server.

    The mount namespace is for that name server: the files that say whom to ask are covered, for
    this thread and its children only. nsswitch.conf is one of them because some machines resolve
    names over a Unix socket, which a network namespace does not cut.
    """
    _check(_libc.unshare(CLONE_NEWNET | CLONE_NEWNS))
    _check(_libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    covers = {
        "/etc/resolv.conf": "nameserver 127.0.0.1\n",
        "/etc/nsswitch.conf": "hosts: files dns\n",
    }
    for path, text in covers.items():
        if not os.path.exists(path):
            continue  # the C library's defaults are what we want
        with tempfile.NamedTemporaryFile("w", prefix="e2e-") as cover:
            cover.write(text)
            cover.flush()
            os.chmod(cover.name, 0o644)
            target = os.path.realpath(path).encode()
            _check(_libc.mount(cover.name.encode(), target, None, MS_BIND, None))
    # What `ip link set lo up` and `ip address add` do; a fresh Debian has no `ip`.
    _configure(b"lo:peer", PEER_ADDRESS)
    _here.fenced = True


def _configure(interface: bytes, address: str) -> None:
    """Turn the interface on, and give it the address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sH14x", interface.split(b":")[0], IFF_UP))
        for request, value in ((SIOCSIFADDR, address), (SIOCSIFNETMASK, "255.255.255.255")):
            data = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(value))
            fcntl.ioctl(s, request, struct.pack("16s16s", interface, data))


@contextlib.contextmanager
def card() -> Iterator[str]:
    """Add a network card without a connection to the namespace, and yield its address."""
    if not fenced():
        yield "127.0.0.1"
        return
    with open("/dev/net/tun", "r+b", buffering=0) as device:
        fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"card", IFF_TAP | IFF_NO_PI))
        _configure(b"card", CARD_ADDRESS)
        yield CARD_ADDRESS


def packets_without_route() -> int:
    """How many packets in this namespace were for an address without a route."""
    net = pathlib.Path("/proc/thread-self/net")
    names, values = (
        line.split() for line in (net / "snmp").read_text().splitlines() if line.startswith("Ip: ")
    )
    ipv6 = dict(line.split() for line in (net / "snmp6").read_text().splitlines())
    return int(values[names.index("OutNoRoutes")]) + int(ipv6["Ip6OutNoRoutes"])


@contextlib.asynccontextmanager
async def silence(browser: bool = False) -> AsyncIterator[None]:
    """Check that meanwhile no program looks up another name or tries to reach another machine.

    Chromium finds out its own address by trying to reach one far away: with a browser, only names
    count.
    """
    if not fenced():
        yield
        return
    before = packets_without_route()
    async with Names(()) as names:
        yield
    assert names.asked == set(), f"names were looked up: {names.asked}"
    tried = packets_without_route() - before
    assert browser or tried == 0, f"{tried} attempts to reach another machine"


@contextlib.asynccontextmanager
async def no_answer(*hosts: str, drops: bool = False) -> AsyncIterator["Names"]:
    """Meanwhile these hosts accept connections and send nothing, or drop all packets."""
    with socket.create_server(("127.0.0.1", 443), backlog=0 if drops else 128):
        # Where the queue of those who wait is full, Linux drops the packets of others.
        with socket.create_connection(("127.0.0.1", 443)):
            async with Names(hosts) as names:
                yield names


class Names(asyncio.DatagramProtocol):
    """A name server: resolves the given hosts to 127.0.0.1, and records every query."""

    def __init__(self, known: Iterable[str]):
        self.known = {name: ["127.0.0.1"] for name in known}
        self.asked: set[str] = set()

    async def __aenter__(self) -> "Names":
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(
            lambda: self, local_addr=("127.0.0.1", 53)
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        self._transport.close()
        await asyncio.sleep(0)  # until the socket is closed, for who opens the next

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        pass

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        query = dns.message.from_wire(data)
        question = query.question[0]
        name = question.name.to_text(omit_final_dot=True).lower()
        self.asked.add(name)
        reply = dns.message.make_response(query)
        reply.flags |= dns.flags.RA
        if name not in self.known:
            reply.set_rcode(dns.rcode.NXDOMAIN)
        elif question.rdtype == dns.rdatatype.A:
            found = self.known[name]
            reply.answer.append(dns.rrset.from_text(question.name, 1, "IN", "A", *found))
        self._transport.sendto(reply.to_wire(), addr)
