"""Finds files of models that Hugging Face offers."""

from typing import Any

from huggingface_hub.constants import ENDPOINT, HF_HUB_CACHE
from huggingface_hub.errors import LocalEntryNotFoundError

from vbot.downloads import missing, not_sent, unreachable


def find_at_hub(find: Any, what: str, wait: float, *args: Any, **options: Any) -> Any:
    """Find files of a model on the disk, or else at Hugging Face."""
    try:
        return find(*args, **options | {"local_files_only": True})
    except LocalEntryNotFoundError:
        pass
    host = ENDPOINT.partition("://")[2]
    if why := unreachable(ENDPOINT, wait):
        raise missing(what, HF_HUB_CACHE, host, why)
    try:
        return find(*args, **options)
    except Exception as e:
        raise not_sent(what, HF_HUB_CACHE, host, e) from e
