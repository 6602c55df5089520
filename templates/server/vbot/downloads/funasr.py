"""Finds the models of FunASR."""

import os
from pathlib import Path
from typing import Any

import pipecat.services.funasr.stt as service
from funasr import AutoModel
from funasr.download.name_maps_from_hub import name_maps_ms
from modelscope.hub.snapshot_download import snapshot_download

from vbot.downloads import OPTIONAL_WAIT, missing, not_sent, replace, unreachable


def load_model(model: str, **options: Any) -> Any:
    """Build a model from its folder: from a name, FunASR would go on without its files."""
    if not Path(model).exists():
        host, folder = "modelscope.cn", os.getenv("MODELSCOPE_CACHE", "~/.cache/modelscope")
        why = unreachable(f"https://{host}", OPTIONAL_WAIT)  # a part of a model looks whole to it
        name = name_maps_ms.get(model, model)
        try:
            model = snapshot_download(name, revision="master", local_files_only=bool(why))
        except Exception as e:
            if why:
                raise missing(f"model {name}", folder, host, why) from e
            raise not_sent(f"model {name}", folder, host, e) from e
    return AutoModel(model=model, **options)


def look_here_first() -> None:
    replace(service, "AutoModel", load_model)
