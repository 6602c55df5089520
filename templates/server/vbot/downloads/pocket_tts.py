"""Finds the models of Pocket TTS."""

from typing import Any

import pocket_tts.utils.utils as library
from huggingface_hub import hf_hub_download

from vbot.downloads import OPTIONAL_WAIT, WAIT, replace
from vbot.downloads.hub import find_at_hub

_files: dict[str, str | Exception] = {}  # that were looked for


def fetch_file(**file: Any) -> str:
    """Find a file once: each session loads a model of Pocket TTS, and looks for all of its files.

    The weights for speaking like a recording are only for people with an account. Without them,
    it uses others.
    """
    key, optional = str(file), file["repo_id"] == "kyutai/pocket-tts"
    if key not in _files:
        what = f"{file['filename']} of {file['repo_id']}"
        try:
            wait = OPTIONAL_WAIT if optional else WAIT
            _files[key] = find_at_hub(hf_hub_download, what, wait, **file)
        except Exception as e:
            _files[key] = e
    result = _files[key]
    if isinstance(result, Exception):
        raise result.with_traceback(None)
    return result


def look_here_first() -> None:
    replace(library, "hf_hub_download", fetch_file)
