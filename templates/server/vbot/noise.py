"""Removes noise from what the bot hears."""

from importlib.util import find_spec

from loguru import logger
from pipecat.audio.filters.base_audio_filter import BaseAudioFilter


def noise_filter() -> BaseAudioFilter | None:
    """Return the noise-cancelling filter. Its SDK is part of Pipecat Cloud's image, not on PyPI."""
    if find_spec("krisp_audio") is None:
        logger.warning("Noise cancelling is off: the krisp_audio SDK is not installed here.")
        return None
    from pipecat.audio.filters.krisp_viva_filter import KrispVivaFilter

    return KrispVivaFilter()
