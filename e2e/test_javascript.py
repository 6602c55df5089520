"""The plain JavaScript client's modules are the React clients' TypeScript without its types."""

import shutil
from pathlib import Path

import pytest

import bots
from clients import node_env

CLIENTS = Path(__file__).parent.parent / "templates/client"
SOURCES = [
    *sorted((CLIENTS / "react/src").glob("*.ts.tmpl")),
    CLIENTS / "react-vite/src/settings.ts.tmpl",
]
ENGLISH = CLIENTS.parent / "translations/en.txt"
REACT = {"useSession.ts.tmpl"}  # with a hook of React
OWN = {"main.js.tmpl", "views.js.tmpl"}  # what shows the session without React


def test_the_javascript_is_the_typescript(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    sources = [str(path) for path in SOURCES if path.name not in REACT]
    bots.must(
        "node",
        bots.CACHE / "browser/strip.mjs",
        ENGLISH,
        *sources,
        tmp_path,
        cwd=tmp_path,
        env=node_env(),
    )
    folder = CLIENTS / "vanilla/src"
    if request.config.getoption("--update"):
        for path in tmp_path.iterdir():
            shutil.copy(path, folder)
    made = {path.name: path.read_text() for path in tmp_path.iterdir()}
    there = {path.name: path.read_text() for path in folder.iterdir() if path.name not in OWN}
    assert there == made
