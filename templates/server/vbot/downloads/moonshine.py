"""Finds the models of Moonshine."""

from pathlib import Path
from typing import Any

import moonshine_voice.download as library
import pipecat.services.moonshine.stt as service
from moonshine_voice.download_file import crc32c_file

from vbot.downloads import fetch, replace

string_to_model_arch: Any = vars(service)["string_to_model_arch"]
files_of: Any = vars(library)["_stt_dependency_manifest"]


def fetch_model(language: str, arch: Any = None) -> Any:
    """Find a model, without the one for spelled words, which the framework does not use.

    The library's package has a checksum of each file: CRC32C, which finds faults, but no forgeries.
    """
    model = library.find_model_info(language, arch)
    url = model["download_url"]
    folder = library.get_cache_dir() / url.removeprefix("https://")
    groups = files_of(model["language"], model["model_arch"])["groups"]
    checksums = {file["name"]: file.get("checksum") for group in groups for file in group["files"]}

    def differs(file: Path, name: str) -> str:
        is_known = not checksums[name] or crc32c_file(file) == checksums[name]
        return "" if is_known else "its checksum is not the one that the library names"

    fetch(folder, {name: f"{url}/{name}" for name in checksums}, differs)
    return library.get_model_for_language(language, arch)


def arch_of(name: str) -> Any:
    """Return the architecture that MOONSHINE_MODEL names."""
    try:
        return string_to_model_arch(name)
    except ValueError:
        names = ", ".join(model.value for model in service.Model)
        problem = f"MOONSHINE_MODEL is {name!r}; it must be one of {names}."
        raise ValueError(problem) from None


def look_here_first() -> None:
    replace(service, "string_to_model_arch", arch_of)
    replace(service, "get_model_for_language", fetch_model)
    replace(library, "download_spelling_model_for_language", lambda *_, **__: None)
