"""A missing key is named in one sentence before anything starts."""

import re
from pathlib import Path

import aiohttp
import pytest

import bots
import network
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


def test_a_way_to_connect_needs_its_key(quickstart: bots.Project) -> None:
    """Starting with Daily names the missing key; other transports work without it."""
    quickstart.write_env(**KEYS)
    daily = ("uv", "run", "bot.py", "-t", "daily")
    done = bots.run(*daily, cwd=quickstart.server, env=bots.plain_env(), timeout=30)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("Set DAILY_API_KEY in .env;")

    async def visit() -> None:
        async with quickstart.bot({}) as bot, aiohttp.ClientSession() as http:
            assert await bot.answers("/") == 200
            async with http.get(f"{bot.url}/daily", allow_redirects=False) as page:
                assert (page.status, await page.text()) == (503, "Set DAILY_API_KEY in .env.")
            assert bot.errors() == []

    network.run(visit)


@pytest.mark.parametrize("value", ["“{}”", '"{}\\n"', '" {}"'])
def test_a_key_that_was_copied_badly_is_named_and_not_shown(
    quickstart: bots.Project, value: str
) -> None:
    """The libraries would put it into error messages, which every visitor's page receives."""
    key = KEYS["DEEPGRAM_API_KEY"]
    quickstart.write_env(**KEYS | {"DEEPGRAM_API_KEY": "here"})
    env = quickstart.server / ".env"
    env.write_text(env.read_text().replace("=here", "=" + value.format(key)))
    done = bots.run(
        *("uv", "run", "bot.py"), cwd=quickstart.server, env=bots.plain_env(), timeout=30
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Copy DEEPGRAM_API_KEY to .env again" in done.stderr
    assert "Traceback" not in done.stderr
    assert key not in done.stdout + done.stderr


ACCOUNT, TOKEN = {"TWILIO_ACCOUNT_SID": "an-account"}, {"TWILIO_AUTH_TOKEN": "a-token"}
KEY, SECRET = {"TWILIO_API_KEY": "SK-a-key"}, {"TWILIO_API_SECRET": "a-secret"}


@pytest.fixture(scope="module")
def twilio(vbot: Path) -> bots.Project:
    services = ["-m", "cascade", "--stt", "deepgram", "--llm", "openai", "--tts", "cartesia"]
    return bots.installed(vbot, "twilio", "-t", "twilio", *services)


@pytest.mark.parametrize(
    ("env", "said"),
    [
        pytest.param({}, "Set TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN in", id="neither"),
        pytest.param(ACCOUNT | KEY, "Set TWILIO_API_SECRET in", id="half a key"),
        pytest.param(ACCOUNT | SECRET, "Set TWILIO_AUTH_TOKEN in", id="the other half"),
        pytest.param(
            ACCOUNT | TOKEN | KEY | SECRET,
            "Set TWILIO_AUTH_TOKEN or TWILIO_API_KEY in .env, not both.",
            id="both",
        ),
        pytest.param(ACCOUNT | TOKEN, None, id="token"),
        pytest.param(ACCOUNT | KEY | SECRET, None, id="key"),
    ],
)
def test_twilio_takes_a_token_or_a_key(
    twilio: bots.Project, env: dict[str, str], said: str | None
) -> None:
    """With all that it needs, the bot goes on to read its arguments."""
    twilio.write_env(**KEYS, **env)
    command = ("uv", "run", "bot.py", "--help")
    done = bots.run(*command, cwd=twilio.server, env=bots.plain_env(), timeout=60)
    if said is None:
        assert done.returncode == 0 and "--proxy" in done.stdout, done.stderr
    else:
        assert done.returncode == 1
        [line] = re.findall("(?m)^Set .*", done.stderr)
        assert line.startswith(said)
