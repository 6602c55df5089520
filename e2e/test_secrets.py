"""`vbot cloud secrets` with the binary of a release, against a strict stand-in of the API."""

import json
from pathlib import Path

import pytest

from cloud_api import CloudAPI


@pytest.mark.quick
def test_a_set_from_a_file_to_its_end(tmp_path: Path) -> None:
    """Stored, listed, checked, changed, deleted; each command sends what it needs, and no more."""
    (tmp_path / ".env").write_text("A=1\nB='two words é'\nLATER=\n")
    get, put = "GET /secrets/app", "PUT /secrets/app"
    with CloudAPI() as api:

        def run(*args: str) -> tuple[dict[str, object], list[str]]:
            said = api.vbot(*args, "--json", cwd=tmp_path).stdout
            return json.loads(said), [str(request) for request in api.take()]

        said, sent = run("set", "app", "--file", ".env", "--skip-empty", "--skip", "--wait")
        assert (said["status"], sent[-2:]) == ("ready", [put, get])
        assert api.sets["app"].values == {"A": "1", "B": "two words é"}

        said, sent = run("list", "app")
        assert (said["keys"], sent) == (["A", "B"], [get])
        said, sent = run("check", "app", "--file", ".env", "--skip-empty", "--exact")
        assert (said["missing"], said["extra"], sent) == ([], [], [get])

        (tmp_path / ".env").write_text("B=3\n")
        said, sent = run("set", "app", "--file", ".env", "--prune", "--skip")
        assert sent == [get, put, "DELETE /secrets/app/A"]
        assert api.sets["app"].values == {"B": "3"}

        said, sent = run("image-pull-secret", "hub", "ghcr.io", "bob:t0ken")
        assert sent == ["GET /secrets", "PUT /secrets/hub"]
        said, sent = run("list")
        assert [row["name"] for row in said["secrets"]] == ["app", "hub"]  # type: ignore[attr-defined]

        said, sent = run("unset", "app", "B", "--skip")
        assert sent == [get, "DELETE /secrets/app/B"]
        for name in ("app", "hub"):
            assert run("delete", name, "--skip")[0]["deleted"] is True
        assert api.sets == {}
