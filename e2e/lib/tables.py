"""The tables that benchmarks write into docs/performance.md."""

import json
import os
import re
import subprocess
import textwrap
from pathlib import Path

from cloud_api import pipecat

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"


def ms(seconds: float) -> str:
    if seconds >= 0.9995:
        return f"{seconds:.1f} s"
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.00995 else f"{seconds * 1000:.1f} ms"


def mb_(size: float) -> str:
    return f"{size / 1e6:.0f} MB" if size >= 9.95e6 else f"{size / 1e6:.1f} MB"


def times(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:.1f}"


def machine() -> str:
    """The machine and the versions with which the figures were measured."""
    cpu = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    version = json.loads(subprocess.check_output([os.environ["VBOT"], "version", "--json"]))
    python = pipecat().with_name("python")
    script = "import importlib.metadata as m, platform as p; print(p.python_version(), "
    script += "m.version('pipecat-ai'), m.version('pipecatcloud'))"
    theirs = subprocess.check_output([python, "-c", script], text=True).split()
    text = (
        f"{cpu[1] if cpu else os.uname().machine}, {os.cpu_count()} cores, {os.uname().sysname}. "
        f"vbot {version['version']} ({version['go'].replace('go', 'Go ', 1)}); "
        f"`pipecat-ai[cli]` {theirs[1]} with `pipecatcloud` {theirs[2]} (Python {theirs[0]})."
    )
    return textwrap.fill(text, 120)


def write(section: str, text: str) -> None:
    """Replace a section of the page."""
    page = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- {section} -->\n", f"<!-- /{section} -->"
    assert page.count(begin) == page.count(end) == 1
    before, rest = page.split(begin)
    after = rest.split(end)[1]
    PAGE.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
