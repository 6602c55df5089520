"""Speech without a service: a voice, and an ear that recognizes sentences of that voice.

The voice is eSpeak NG: robotic, but speech, as voice activity detection does not react to a tone.
The ear is not a speech recognizer. It compares what it hears with given sentences in the same
voice, so a test can tell that this sentence, and no other, came through a codec, a resampler and a
network.
"""

import ctypes
import threading
from functools import cache

import espeakng_loader
import numpy as np
from numpy.typing import NDArray

EAR_RATE = 16000
FRAME = 320  # 20 ms at EAR_RATE
# Likeness, at most 1. A sentence that was said comes to 0.9 and more, through Opus too; one that
# was not comes to some 0.4.
SURE = 0.7
# What a receiver of WebRTC does to speech: after a pause it is faster or slower, until the
# receiver has caught up.
STRETCHED = (1.0, 0.9, 0.95, 1.05, 1.1)

_lock = threading.Lock()
_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p
)


@cache
def _espeak() -> tuple[ctypes.CDLL, int]:
    """The library, and the sample rate that it speaks at."""
    library = ctypes.CDLL(espeakng_loader.get_library_path())
    data = espeakng_loader.get_data_path().encode()
    rate = library.espeak_Initialize(2, 0, data, 0)  # 2: synchronous, into the callback
    if rate <= 0:
        raise RuntimeError("espeak does not start")
    library.espeak_SetVoiceByName(b"en-us")
    return library, rate


@cache
def speak(text: str, rate: int) -> bytes:
    """`text` spoken: mono PCM, 16 bits, at `rate`."""
    with _lock:
        library, own_rate = _espeak()
        spoken = bytearray()

        def take(wave: ctypes._Pointer, count: int, _: object) -> int:
            if wave and count > 0:
                spoken.extend(ctypes.string_at(wave, count * 2))
            return 0

        callback = _Callback(take)
        library.espeak_SetSynthCallback(callback)
        line = text.encode() + b"\0"
        library.espeak_Synth(line, len(line), 0, 1, 0, 1, None, None)  # 1: the text is UTF-8
        library.espeak_Synchronize()
    return resample(bytes(spoken), own_rate, rate)


def samples(pcm: bytes | bytearray) -> NDArray[np.float32]:
    return np.frombuffer(pcm[: len(pcm) // 2 * 2], dtype=np.int16).astype(np.float32)


def resample(pcm: bytes, rate: int, wanted: int) -> bytes:
    """Linear interpolation: plain, and enough for speech."""
    if rate == wanted or not pcm:
        return pcm
    wave = samples(pcm)
    at = np.arange(0, len(wave), rate / wanted)
    return np.interp(at, np.arange(len(wave)), wave).astype(np.int16).tobytes()


def loudness(pcm: bytes | bytearray) -> float:
    """Root mean square of the samples: 0 is silence, speech is some thousands."""
    wave = samples(pcm)
    return float(np.sqrt((wave**2).mean())) if len(wave) else 0.0


def brightness(pcm: bytes | bytearray, rate: int) -> float:
    """The share of the sound above 4 kHz, which is what a telephone line of 8 kHz cuts off."""
    wave = samples(pcm)
    power = np.abs(np.fft.rfft(wave)) ** 2
    pitch = np.fft.rfftfreq(len(wave), 1 / rate)
    return float(power[pitch > 4000].sum() / max(power.sum(), 1.0))


def _bands(pcm: bytes, rate: int) -> NDArray[np.float32]:
    """How loud each of twelve bands from 200 to 3600 Hz is, frame by frame: frames x 12."""
    wave = samples(resample(pcm, rate, EAR_RATE))
    count = len(wave) // FRAME
    frames = wave[: count * FRAME].reshape(count, FRAME) * np.hanning(FRAME)
    power = np.abs(np.fft.rfft(frames, axis=1)) ** 2
    edges = np.geomspace(4, 72, 13).astype(int)  # in steps of 50 Hz
    bands = np.add.reduceat(power[:, :72], edges[:-1], axis=1)
    # The logarithm is the ear's own measure; the floor keeps a codec's noise out of silence.
    return (np.log10(bands + 1e8) - 8).astype(np.float32)


def _places(heard: NDArray[np.float32], wanted: NDArray[np.float32]) -> NDArray[np.float32]:
    """How similar the sound from each frame on is to `wanted`, at most 1."""
    length = len(wanted)
    if len(heard) < length:
        return np.zeros(0, dtype=np.float32)
    template = wanted - wanted.mean()
    windows = np.lib.stride_tricks.sliding_window_view(heard, length, axis=0)
    means = windows.mean(axis=(1, 2), keepdims=True)
    centred = windows - means
    norm = np.sqrt((centred**2).sum(axis=(1, 2))) * np.sqrt((template**2).sum())
    return np.einsum("ijk,kj->i", centred, template) / np.maximum(norm, 1e-6)


def hear(
    pcm: bytes, rate: int, sentences: list[str], tempos: tuple[float, ...] = (1.0,)
) -> list[str]:
    """Return those of `sentences` that were spoken at one of the tempos, in spoken order."""
    heard = _bands(pcm, rate)
    found: list[tuple[int, str]] = []
    for sentence in sentences:
        places = [_places(heard, _trimmed(sentence, tempo)) for tempo in tempos]
        likeness = max(places, key=lambda place: place.max(initial=0))
        if likeness.max(initial=0) >= SURE:
            found.append((int(likeness.argmax()), sentence))
    return [sentence for _, sentence in sorted(found)]


@cache
def _trimmed(sentence: str, tempo: float) -> NDArray[np.float32]:
    """The sentence as it looks to the ear at that speed, without the silence around it."""
    bands = _bands(speak(sentence, EAR_RATE), EAR_RATE)
    loud = np.flatnonzero(bands.max(axis=1) > 1)
    bands = bands[loud[0] : loud[-1] + 1]
    at = np.arange(0, len(bands), tempo)
    columns = [np.interp(at, np.arange(len(bands)), band) for band in bands.T]
    return np.stack(columns, axis=1).astype(np.float32)
