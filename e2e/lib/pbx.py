"""A real Asterisk, with the files of DEPLOY.md, and telephones around it.

ASTERISK_PREFIX says where it is installed; DEPLOY.md's lines are what is tested here.
"""

import asyncio
import contextlib
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import bots

PREFIX = os.environ.get("ASTERISK_PREFIX", "")
TOKEN, PASSWORD, ARI_PASSWORD = "0123456789abcdef", "a-password", "an-ari-password"
ARI = {
    "ASTERISK_ARI_URL": "http://127.0.0.1:8088/ari",
    "ASTERISK_ARI_USER": "vbot",
    "ASTERISK_ARI_PASSWORD": ARI_PASSWORD,
}
# What keeps other machines out, on both sides.
ACCESS = {"PHONE_TOKEN": TOKEN, "ASTERISK_PASSWORD": PASSWORD}
CALLER, RECEPTION, COLLEAGUE = 5071, 5200, 5201  # ports of telephones

OWN = {  # what an Asterisk has before the bot comes: telephones 200 and 201, and callers
    "asterisk.conf": """
[directories]
astetcdir => {etc}
astmoddir => {prefix}/lib/asterisk/modules
astvarlibdir => {prefix}/var/lib/asterisk
astdbdir => {folder}/db
astkeydir => {prefix}/var/lib/asterisk
astdatadir => {prefix}/var/lib/asterisk
astspooldir => {folder}/spool
astrundir => {folder}/run
astlogdir => {folder}/log
[options]
verbose = 4
""",
    "modules.conf": "[modules]\nautoload=yes\nnoload => chan_iax2.so\n",
    "logger.conf": "[logfiles]\nconsole => notice,warning,error,verbose\n",
    "rtp.conf": "[general]\nrtpstart=20000\nrtpend=20200\n",
    "http.conf": "[general]\nenabled = yes\nbindaddr = 127.0.0.1\n",
    "pjsip.conf": """
[udp]
type=transport
protocol=udp
bind=127.0.0.1:5060
[line](!)
type=endpoint
context=from-internal
disallow=all
allow=ulaw
[caller](line)
aors=caller
[caller]
type=aor
contact=sip:caller@127.0.0.1:5071
[caller]
type=identify
endpoint=caller
match=127.0.0.1
[200](line)
aors=200
[200]
type=aor
contact=sip:200@127.0.0.1:5200
[201](line)
aors=201
[201]
type=aor
contact=sip:201@127.0.0.1:5201
""",
}
INTERNAL = """
[from-internal]
exten => 100,1,Goto(bot,${EXTEN},1)
exten => _2XX,1,Dial(PJSIP/${EXTEN},25)
 same => n,Hangup()
"""
# FreePBX has its own extensions.conf, with these contexts, and includes a file that its pages write
# and one for owners (checked with etc/extensions.conf of its module core).
FREEPBX = """
#include extensions_override_freepbx.conf
#include extensions_additional.conf
#include extensions_custom.conf
[from-trunk]
include => from-pstn
[from-pstn]
include => from-pstn-custom
include => ext-did
include => from-did-direct
[from-did-direct]
include => ext-local
[from-internal]
include => from-internal-noxfer
include => from-internal-xfer
[from-internal-noxfer]
include => from-internal-noxfer-custom
[from-internal-xfer]
include => from-internal-custom
include => from-internal-additional
"""
NUMBER = "4930100"  # of the trunk, whose inbound route leads to the Custom Destination
FREEPBX_PAGES = f"""
[from-internal-additional]
include => ext-local
[ext-local]
exten => _20X,1,Dial(PJSIP/${{EXTEN}},25)
 same => n,Hangup()
[ext-did]
exten => {NUMBER},1,Goto(customdests,dest-1,1)
[customdests]
exten => dest-1,1,Goto(bot,100,1)
"""
# For telephones, beside what an owner has there.
CUSTOM = """
[from-internal-custom]
exten => 100,1,Goto(bot,100,1)
"""


@dataclass
class Pbx:
    folder: Path
    log_file: Path

    async def rx(self, command: str) -> str:
        """What `asterisk -rx` prints."""
        line = (f"{PREFIX}/sbin/asterisk", "-C", str(self.folder / "etc/asterisk.conf"))
        process = await asyncio.create_subprocess_exec(
            *line, "-rx", command, env=_env(), stdout=-1, stderr=-2
        )
        out, _ = await process.communicate()
        return out.decode()

    @property
    def log(self) -> str:
        return re.sub(r"\x1b\[[0-9;]*m", "", self.log_file.read_text(errors="replace"))


def _env() -> dict[str, str]:
    return os.environ | {"LD_LIBRARY_PATH": f"{PREFIX}/pj/lib"}


def files(deploy: str, port: int) -> dict[str, str]:
    """The files of Asterisk in DEPLOY.md, with the values that it asks for."""
    section = deploy.partition("\n## Asterisk\n")[2].partition("\n## ")[0]
    blocks: list[str] = re.findall(r"(?s)```ini\n(.*?)```", section)
    values = {
        "YOUR_PHONE_TOKEN": TOKEN,
        "YOUR_PASSWORD": PASSWORD,
        "YOUR_ARI_PASSWORD": ARI_PASSWORD,
        ":7860/": f":{port}/",
    }
    for name, value in values.items():
        assert any(name in block for block in blocks), f"DEPLOY.md has no {name}"
        blocks = [block.replace(name, value) for block in blocks]
    names = ("websocket_client.conf", "extensions.conf", "ari.conf")
    return dict(zip(names, blocks, strict=True))


Files = dict[str, str]


def as_they_are(written: Files) -> Files:
    return written


def with_freepbx(written: Files) -> Files:
    """The files of FreePBX, which has extensions 200 and 201, and a Custom Destination.

    The lines of DEPLOY.md are in extensions_custom.conf. Whoever calls comes in over a trunk.
    """
    lines = written["extensions.conf"].removesuffix(INTERNAL)
    trunk = ("[caller](line)\n", "[caller](line)\ncontext=from-trunk\n")
    return written | {
        "extensions.conf": FREEPBX,
        "extensions_override_freepbx.conf": "",
        "extensions_additional.conf": FREEPBX_PAGES,
        "extensions_custom.conf": lines + CUSTOM,
        "pjsip.conf": written["pjsip.conf"].replace(*trunk),
    }


@contextlib.asynccontextmanager
async def pbx(
    project: bots.Project, port: int, changed: Callable[[Files], Files] = as_they_are
) -> AsyncIterator[Pbx]:
    """Run Asterisk as DEPLOY.md says, for a bot at this port. 100 is the bot's extension.

    Args:
        project: Of the bot.
        port: Where the bot answers.
        changed: Returns the files that Asterisk gets instead.
    """
    folder = bots.CACHE / "asterisk" / project.folder.name
    etc = folder / "etc"
    shutil.rmtree(etc, ignore_errors=True)
    for one in ("etc", "db", "spool", "run", "log"):
        (folder / one).mkdir(parents=True, exist_ok=True)
    values = {"etc": etc, "prefix": PREFIX, "folder": folder}
    written = OWN | files((project.folder / "DEPLOY.md").read_text(), port)
    written["asterisk.conf"] = written["asterisk.conf"].format(**values)
    written["extensions.conf"] += INTERNAL
    for name, text in changed(written).items():
        (etc / name).write_text(text)
    running = Pbx(folder, folder / "console.log")
    with running.log_file.open("w") as log:
        process = await asyncio.create_subprocess_exec(
            f"{PREFIX}/sbin/asterisk",
            *("-f", "-C", str(etc / "asterisk.conf")),
            env=_env(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        async with asyncio.timeout(60):
            while "Asterisk Ready" not in running.log:
                assert process.returncode is None, running.log
                await asyncio.sleep(0.2)
        yield running
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
