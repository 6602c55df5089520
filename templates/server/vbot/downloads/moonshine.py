"""Finds the models of Moonshine."""

from typing import Any

import moonshine_voice.download as library
import pipecat.services.moonshine.stt as service

from vbot.downloads import fetch, replace

string_to_model_arch: Any = vars(service)["string_to_model_arch"]


def fetch_model(language: str, arch: Any = None) -> Any:
    """Find a model, without the one for spelled words, which the framework does not use."""
    model = library.find_model_info(language, arch)
    url = model["download_url"]
    folder = library.get_cache_dir() / url.removeprefix("https://")
    names = library.get_components_for_model_info(model)
    fetch(folder, {name: f"{url}/{name}" for name in names})
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
