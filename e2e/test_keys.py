"""A key that is not there is named, in one sentence, before anything starts."""

import pytest

import bots
from conversation import KEYS


@pytest.mark.parametrize(
    ("env", "missing"),
    [
        pytest.param(None, set(KEYS), id="no .env"),
        pytest.param(dict.fromkeys(KEYS, ""), set(KEYS), id="all blank"),
        pytest.param(KEYS | {"OPENAI_API_KEY": ""}, {"OPENAI_API_KEY"}, id="one blank"),
    ],
)
def test_the_bot_says_which_key_is_missing(
    quickstart: bots.Project, env: dict[str, str] | None, missing: set[str]
) -> None:
    if env is None:
        (quickstart.server / ".env").unlink(missing_ok=True)
    else:
        quickstart.write_env(**env)
    done = bots.run(
        *("uv", "run", "bot.py"), cwd=quickstart.server, env=bots.plain_env(), timeout=30
    )
    said = done.stdout + done.stderr
    assert done.returncode not in (0, None), said
    assert "Traceback" not in said
    about = [line for line in said.splitlines() if "_API_KEY" in line]
    assert len(about) == 1, said
    assert {key for key in [*KEYS, "DAILY_API_KEY"] if key in about[0]} == missing
    assert ".env" in about[0]
