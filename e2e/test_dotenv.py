"""Compares how vbot and four other readers read the same secrets files.

docs/secrets.md has a table of the files that at least one of them reads differently.
`e2e/run test_dotenv.py --update` writes it.
"""

import importlib.metadata
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias
from unittest import mock

import dotenv
import pytest

import bots
from cloud_api import ORG, TOKEN, CloudAPI

Read: TypeAlias = dict[str, str | None] | None  # None: refused

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "secrets.md"
NODE = bots.CACHE / "venv" / "bin" / "node"
ENV = {"HOME": "/home/you", "PATH": os.environ["PATH"]}

# Each is a file. The first of a group is what people write, the others what they get wrong.
FILES = [
    # Plain values.
    "K=v",
    "K=two words",
    "K = v",
    "K= v ",
    "  K=v",
    "K\t=\tv\t",
    "K=a=b==",
    "K=",
    "K",
    "K:v",
    "K: v",
    "K=é漢🙂",
    "K=v\r\nL=w\r\n",
    "K=v\rL=w",
    "\ufeffK=v",
    "K=1\nK=2",
    "1K=v",
    "K-1=v",
    "K.1=v",
    "=v",
    "K=v\nnonsense\nL=w",
    "K=a\\nb",
    "K=a\\\\b",
    "K=C:\\dir",
    "K=a'b",
    'K=a"b',
    'K=a"b"',
    "K={v}",
    "K=`v`",
    "K=a\x00b",
    # export.
    "export K=v",
    "export\tK=v",
    "export=v",
    "export K",
    # Comments.
    "# K=v\nL=w",
    "K=v # note",
    "K=v #note",
    "K=v\t# note",
    "K=v#note",
    "K=#v",
    "K= #v",
    "K=v # a 'quote'",
    # Single quotes.
    "K='two words'",
    "K=' v '",
    "K='a\\nb'",
    "K='a\\'b'",
    "K='a\"b'",
    "K='$HOME'",
    "K='${HOME}'",
    "K='v # v'",
    "K='v' # note",
    "K='v'#note",
    "K='it''s'",
    "K='v' w",
    "K='a\nb'",
    "K='a\r\nb'",
    "K=''",
    "K='v",
    "K='v\nL=w",
    # Double quotes.
    'K="two words"',
    'K=" v "',
    'K="a\\nb"',
    'K="a\\tb"',
    'K="a\\rb"',
    'K="a\\"b"',
    'K="a\\\\b"',
    'K="a\\\\nb"',
    'K="a\\$b"',
    'K="a\\db"',
    'K="a\\\'b"',
    'K="a\'b"',
    'K="v # v"',
    'K="v" # note',
    'K="v"#note',
    'K="v" w',
    'K="a" "b"',
    'K="a\nb"',
    'K="a\r\nb"',
    'K="a\n\n# b"',
    'K=""',
    'K="v',
    'K="v\nL=w',
    'K = "v"',
    'K={"a": "b"}',
    'K=\'{"a": "b\\n"}\'',
    # Expansion.
    "K=$HOME",
    "K=${HOME}",
    'K="$HOME"',
    'K="${HOME}"',
    "K=\\$HOME",
    "K=$NONE",
    "K=${NONE}",
    "K=${NONE:-v}",
    "K=${NONE?v}",
    "K=$",
    "K=a$1b",
    "K=$(id)",
    "K=$$",
    "L=w\nK=${L}",
]


def vbot(files: list[str]) -> list[Read]:
    """The pairs that `vbot cloud secrets set --file -` stores."""
    read: list[Read] = []
    with CloudAPI() as api:
        env = {"VBOT_API_URL": api.url, "VBOT_TOKEN": TOKEN, "VBOT_ORGANIZATION": ORG}
        for n, text in enumerate(files):
            command = [os.environ["VBOT"], *f"cloud secrets set s{n} --skip --file -".split()]
            done = subprocess.run(command, env=ENV | env, input=text.encode(), capture_output=True)
            assert done.returncode in (0, 2), done.stderr
            read.append(None if done.returncode else dict(api.sets[f"s{n}"].values))
    return read


def python(files: list[str]) -> list[Read]:
    """The variables that python-dotenv, which generated bots use, reads."""
    read: list[Read] = []
    with mock.patch.dict(os.environ, ENV, clear=True), tempfile.NamedTemporaryFile() as file:
        for text in files:
            Path(file.name).write_bytes(text.encode())
            read.append(dict(dotenv.dotenv_values(file.name)))
    return read


def outside(command: list[str], files: list[str]) -> list[Read]:
    """The results of a program that reads files as JSON and prints JSON."""
    done = subprocess.run(
        command, env=ENV, input=json.dumps(files), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def javascript(parse: str) -> Callable[[list[str]], list[Read]]:
    script = (
        "const files = JSON.parse(require('fs').readFileSync(0));"
        f"console.log(JSON.stringify(files.map(text => ({parse}))))"
    )
    return lambda files: outside([str(NODE), "-e", script], files)


def compose(files: list[str]) -> list[Read]:
    """The variables that Docker Compose's library reads from an env_file."""
    program = bots.CACHE / "compose"
    command = ["go", "build", "-buildvcs=false", "-o", str(program), "."]
    subprocess.run(command, cwd=HERE / "compose", check=True)
    return outside([str(program)], files)


def package(name: str) -> str:
    return str(bots.CACHE / "browser" / "node_modules" / name)


READERS: dict[str, Callable[[list[str]], list[Read]]] = {
    "vbot": vbot,
    "python-dotenv": python,
    "dotenv (npm)": javascript(f"require({package('dotenv')!r}).parse(text)"),
    # The parser of --env-file.
    "node --env-file": javascript("require('util').parseEnv(text)"),
    "Docker Compose": compose,
}


def code(text: str) -> str:
    """A cell of the table with the text unchanged, except for invisible characters."""
    for hidden, shown in {
        "\ufeff": "BOM",
        "\r": "␍",
        "\n": "⏎",
        "\t": "⇥",
        "\0": "␀",
        "|": "\\|",
    }.items():
        text = text.replace(hidden, shown)
    if text != text.strip():
        text = text.replace(" ", "␣")
    fence = "``" if "`" in text else "`"
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def cell(read: Read) -> str:
    if read is None:
        return "refused"
    values = {key: value for key, value in sorted(read.items()) if value is not None}
    if not values:
        return "nothing"
    if set(values) == {"K"}:
        return code(values["K"]) if values["K"] else "empty"
    return ", ".join(code(f"{key}={value}") for key, value in values.items())


def table() -> str:
    """The section of the page: a row for each file that is read differently."""
    read = {name: reader(FILES) for name, reader in READERS.items()}
    assert all(len(results) == len(FILES) for results in read.values())
    rows: list[str] = []
    for n, text in enumerate(FILES):
        ours, *theirs = [cell(results[n]) for results in read.values()]
        if set(theirs) != {ours}:
            same = ["=" if c == ours else c for c in theirs]
            rows.append(" | ".join([f"| {code(text)}", ours, *same]) + " |")
    package_json = Path(package("dotenv"), "package.json").read_text()
    node = subprocess.check_output([NODE, "--version"], text=True).strip().removeprefix("v")
    go_mod = (HERE / "compose" / "go.mod").read_text()
    heads = [
        "| file",
        "vbot",
        f"python-dotenv {importlib.metadata.version('python-dotenv')}",
        f"dotenv {json.loads(package_json)['version']} (npm)",
        f"`node --env-file` {node}",
        f"compose-go {re.findall(r'compose-go/v2 v(.*)', go_mod)[0]}",
    ]
    return "\n".join(
        [
            f"{len(rows)} of {len(FILES)} test files are read differently:",
            "",
            " | ".join(heads) + " |",
            "| --- " * len(heads) + "|",
            *rows,
        ]
    )


def test_table_of_readers(request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text()
    before, rest = page.split("<!-- readers -->\n")
    _, after = rest.split("<!-- /readers -->\n")
    made = f"{before}<!-- readers -->\n\n{table()}\n\n<!-- /readers -->\n{after}"
    if request.config.getoption("--update"):
        PAGE.write_text(made)
    assert PAGE.read_text() == made, "e2e/run test_dotenv.py --update makes the table anew"
