"""vbot/downloads: files are found here first, and a download goes on where it stopped."""

import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from vbot import downloads

CONTENT = bytes(range(256)) * 40


class Host(ThreadingHTTPServer):
    """A server for one file."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, str, str | None]] = []
        self.knows_ranges = True
        self.breaks_off_after: int | None = None  # bytes
        self.content, self.says_length = CONTENT, True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    @property
    def host(self) -> Host:
        assert isinstance(self.server, Host)
        return self.server

    def do_HEAD(self) -> None:
        self.host.requests.append(("HEAD", self.path, None))
        self.send_error(404)  # which is an answer

    def do_GET(self) -> None:
        wanted = self.headers["Range"]
        self.host.requests.append(("GET", self.path, wanted))
        if self.path != "/voice.onnx":
            self.send_error(404, "No such file")
            return
        start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        start = start if self.host.knows_ranges else 0
        self.send_response(206 if self.host.knows_ranges else 200)
        if self.host.says_length:
            self.send_header("Content-Length", str(len(self.host.content) - start))
        self.end_headers()
        end = self.host.breaks_off_after or len(self.host.content)
        self.wfile.write(self.host.content[start:end])

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(autouse=True)
def no_answers_known(monkeypatch: pytest.MonkeyPatch) -> None:
    downloads.unreachable.cache_clear()
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)


@pytest.fixture
def host() -> Iterator[Host]:
    with Host() as server:
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        yield server
        server.shutdown()


def fetch(host: Host, folder: Path, name: str = "voice.onnx") -> None:
    downloads.fetch(folder, {name: f"{host.url}/{name}"})


def test_a_file_is_downloaded_once(
    host: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "cache/voices"
    fetch(host, folder)
    assert (folder / "voice.onnx").read_bytes() == CONTENT
    assert capsys.readouterr().err == "\rvoice.onnx, from 127.0.0.1: 0.0 of 0.0 MB\n"
    asked = len(host.requests)
    fetch(host, folder)
    assert len(host.requests) == asked == 2
    assert [path.name for path in folder.iterdir()] == ["voice.onnx"]


@pytest.mark.parametrize("knows_ranges", [True, False])
def test_a_download_goes_on_where_it_stopped(
    host: Host, tmp_path: Path, knows_ranges: bool
) -> None:
    host.knows_ranges, host.breaks_off_after = knows_ranges, 1000
    says = "lacks voice.onnx, and 127.0.0.1 does not send it: the connection ended; the next start"
    with pytest.raises(OSError, match=says):
        fetch(host, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["voice.onnx.part"]
    host.breaks_off_after = None
    fetch(host, tmp_path)
    assert host.requests[-1] == ("GET", "/voice.onnx", "bytes=999-")
    assert (tmp_path / "voice.onnx").read_bytes() == CONTENT


def test_a_host_may_not_say_how_long_a_file_is(
    host: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host.says_length = host.knows_ranges = False
    fetch(host, tmp_path)
    assert (tmp_path / "voice.onnx").read_bytes() == CONTENT
    assert capsys.readouterr().err == "\rvoice.onnx, from 127.0.0.1: 0.0 MB\n"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("voice.onnx", b"\n<!DOCTYPE html><title>Blocked</title>", "it sends a page instead"),
        ("voice.onnx", b"<html>Sign in</html>", "it sends a page instead"),
        ("voice.onnx", b"", "it sends an empty file"),
        ("voice.onnx.json", b"blocked", "what it sends is not JSON"),
        ("voice.onnx.json", b'{"audio": ', "what it sends is not JSON"),
    ],
)
def test_what_is_not_the_file_does_not_get_its_name(
    host: Host, tmp_path: Path, name: str, content: bytes, says: str
) -> None:
    host.content = content
    for _ in range(2):  # the next start asks again
        with pytest.raises(OSError, match=f"lacks {name}, and 127.0.0.1 does not send it: {says}"):
            downloads.fetch(tmp_path, {name: f"{host.url}/voice.onnx"})
        assert list(tmp_path.iterdir()) == []
    host.content = b'{"audio": {}}' if name.endswith("json") else b"<3c" + CONTENT
    downloads.fetch(tmp_path, {name: f"{host.url}/voice.onnx"})
    assert (tmp_path / name).read_bytes() == host.content


def test_a_full_disk_is_not_the_hosts(
    host: Host,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """/dev/full is one. The line about progress ends before the error."""
    (tmp_path / "voice.onnx.part").symlink_to("/dev/full")
    with pytest.raises(OSError) as error:
        fetch(host, tmp_path)
    assert str(error.value) == f"{tmp_path} cannot take voice.onnx: No space left on device"
    assert capsys.readouterr().err.endswith("\n")
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file/cache cannot be created: Not a directory"):
        fetch(host, tmp_path / "file/cache")


def test_an_error_begins_on_a_line_of_its_own(
    host: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host.breaks_off_after = 1000
    with pytest.raises(OSError):
        fetch(host, tmp_path)
    assert capsys.readouterr().err.endswith(" MB\n")


def test_a_whole_part_becomes_the_file(host: Host, tmp_path: Path) -> None:
    (tmp_path / "voice.onnx.part").write_bytes(CONTENT)
    fetch(host, tmp_path)
    assert host.requests[-1] == ("GET", "/voice.onnx", f"bytes={len(CONTENT) - 1}-")
    assert (tmp_path / "voice.onnx").read_bytes() == CONTENT


def test_a_file_that_the_host_lacks_is_named(host: Host, tmp_path: Path) -> None:
    says = "lacks other.onnx, and 127.0.0.1 does not send it: HTTP Error 404"
    with pytest.raises(OSError, match=says):
        fetch(host, tmp_path, "other.onnx")


def test_a_host_that_cannot_be_reached_is_named(host: Host, tmp_path: Path) -> None:
    host.server_close()
    urls = {name: f"{host.url}/{name}" for name in ("a.onnx", "b.onnx", "c.onnx")}
    (tmp_path / "a.onnx").touch()
    with pytest.raises(downloads.Missing) as missing:
        downloads.fetch(tmp_path, urls)
    assert str(missing.value) == (
        f"{tmp_path} lacks b.onnx and 1 more, and 127.0.0.1 cannot be reached."
    )


def test_a_silent_host_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, end = [], threading.Event()

    def ask(origin: str) -> str:
        asked.append(origin)
        end.wait()
        return ""

    monkeypatch.setattr(downloads, "ask", ask)
    for _ in range(2):
        assert downloads.unreachable("https://a.host", 0.05) == "does not answer"
    assert asked == ["https://a.host"]
    end.set()


def test_no_host_is_asked_offline(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert downloads.unreachable(host.url) == "is not asked, as HF_HUB_OFFLINE is set"
    assert host.requests == []


@pytest.fixture
def find_at_hub(host: Host, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    hub = pytest.importorskip("vbot.downloads.hub")
    monkeypatch.setattr(hub, "ENDPOINT", host.url)
    return hub.find_at_hub


def found(*, here: bool, there: bool) -> tuple[list[bool], Callable[..., str]]:
    """A function that finds a file, and notes whether it may look at this machine only."""
    from huggingface_hub.errors import LocalEntryNotFoundError

    only_here: list[bool] = []

    def find(name: str, local_files_only: bool = False) -> str:
        only_here.append(local_files_only)
        if local_files_only and not here:
            raise LocalEntryNotFoundError("not here")
        if not here and not there:
            raise RuntimeError("no " + "such " * 40)
        return f"/cache/{name}"

    return only_here, find


def test_a_model_is_found_here_first(find_at_hub: Callable[..., Any], host: Host) -> None:
    only_here, find = found(here=True, there=True)
    assert find_at_hub(find, "model tiny", 1, "tiny") == "/cache/tiny"
    assert only_here == [True] and host.requests == []


def test_a_model_is_found_at_the_hub(find_at_hub: Callable[..., Any], host: Host) -> None:
    only_here, find = found(here=False, there=True)
    assert find_at_hub(find, "model tiny", 1, "tiny") == "/cache/tiny"
    assert only_here == [True, False] and len(host.requests) == 1


def test_the_hubs_error_is_one_line(find_at_hub: Callable[..., Any]) -> None:
    _, find = found(here=False, there=False)
    says = r"lacks model tiny, and .* does not send it: no such .*\.\.\.$"
    with pytest.raises(OSError, match=says):
        find_at_hub(find, "model tiny", 1, "tiny")


def test_a_model_is_missing_without_the_hub(find_at_hub: Callable[..., Any], host: Host) -> None:
    host.server_close()
    _, find = found(here=False, there=True)
    with pytest.raises(downloads.Missing, match="lacks model tiny, and .* cannot be reached"):
        find_at_hub(find, "model tiny", 1, "tiny")


def test_only_services_in_use_are_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    for service in downloads.FINDERS:
        monkeypatch.delitem(sys.modules, service, raising=False)
    before = set(sys.modules)
    downloads.look_here_first()
    assert set(sys.modules) == before

    looked, finder = [], ModuleType("vbot.downloads.piper")
    vars(finder)["look_here_first"] = lambda: looked.append("piper")
    monkeypatch.setitem(sys.modules, "pipecat.services.piper.tts", ModuleType("piper"))
    monkeypatch.setattr(downloads, "find_spec", lambda name: True)
    monkeypatch.setitem(sys.modules, "vbot.downloads.piper", finder)
    downloads.look_here_first()
    assert looked == ["piper"]


@pytest.mark.parametrize(
    ("service", "name", "library"),
    [
        ("pipecat.services.moonshine.stt", "get_model_for_language", "moonshine"),
        ("pipecat.services.piper.tts", "download_voice", "piper"),
        ("pipecat.services.kokoro.tts", "_download_file", "kokoro"),
        ("faster_whisper.transcribe", "download_model", "whisper"),
        ("pipecat.services.funasr.stt", "AutoModel", "funasr"),
        ("pocket_tts.utils.utils", "hf_hub_download", "pocket_tts"),
    ],
)
def test_what_is_replaced_is_there(
    service: str, name: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new version of a library or of the framework may have other names."""
    module = pytest.importorskip(service, exc_type=ImportError)
    original = getattr(module, name)
    finder = pytest.importorskip(f"vbot.downloads.{library}", exc_type=ImportError)
    if library == "moonshine":
        moonshine, spelling = vars(finder)["library"], "download_spelling_model_for_language"
        monkeypatch.setattr(moonshine, spelling, getattr(moonshine, spelling))
    monkeypatch.setattr(module, name, original)  # as it was, in the end
    finder.look_here_first()
    assert getattr(module, name) is not original


def test_names_that_exist_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    piper = pytest.importorskip("vbot.downloads.piper", exc_type=ImportError)
    for wrong in ("kristin", "en-US-kristin-medium", "en_US-kristin-best", ""):
        with pytest.raises(ValueError, match="PIPER_VOICE_ID is .* like en_US-kristin-medium"):
            piper.fetch_voice(wrong, tmp_path)
    moonshine = pytest.importorskip("vbot.downloads.moonshine", exc_type=ImportError)
    with pytest.raises(
        ValueError, match="MOONSHINE_MODEL is 'large'; .* one of tiny, base, tiny-s"
    ):
        moonshine.arch_of("large")
    assert moonshine.arch_of("tiny").name == "TINY"
    kokoro = pytest.importorskip("vbot.downloads.kokoro", exc_type=ImportError)
    monkeypatch.setattr(kokoro, "Kokoro", lambda *_: SimpleNamespace(get_voices=lambda: ["a", "b"]))
    monkeypatch.setenv("KOKORO_VOICE_ID", "b")
    kokoro.load_model("model", "voices")
    monkeypatch.setenv("KOKORO_VOICE_ID", "c")
    with pytest.raises(ValueError, match="KOKORO_VOICE_ID is 'c'; it must be one of a, b."):
        kokoro.load_model("model", "voices")
    monkeypatch.delenv("KOKORO_VOICE_ID")  # the default, which bot.py has, is there
    kokoro.load_model("model", "voices")


def test_a_voice_of_piper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    piper = pytest.importorskip("vbot.downloads.piper", exc_type=ImportError)
    fetched = []
    monkeypatch.setattr(piper, "fetch", lambda folder, urls: fetched.append((folder, urls)))
    piper.fetch_voice("en_US-joe-medium", tmp_path, force_redownload=False)
    [(folder, urls)] = fetched
    assert folder == tmp_path
    assert list(urls) == ["en_US-joe-medium.onnx.json", "en_US-joe-medium.onnx"]
    commit = f"/rhasspy/piper-voices/resolve/{piper.REVISION}/en/en_US/joe/medium/"
    assert f"{commit}en_US-joe-medium.onnx?" in urls["en_US-joe-medium.onnx"]


def test_a_file_that_differs_from_the_known_one_is_not_used(host: Host, tmp_path: Path) -> None:
    asked = []

    def differs(file: Path, name: str) -> str:
        asked.append((file.read_bytes(), name))
        return problem

    problem = "it is another one"
    urls = {"a.onnx": f"{host.url}/voice.onnx"}
    with pytest.raises(OSError, match="does not send it: it is another one"):
        downloads.fetch(tmp_path, urls, differs)
    assert list(tmp_path.iterdir()) == []
    problem = ""
    downloads.fetch(tmp_path, urls, differs)
    assert asked == [(CONTENT, "a.onnx")] * 2 and (tmp_path / "a.onnx").exists()


def test_kokoros_files_are_known_by_their_hashes(tmp_path: Path) -> None:
    kokoro = pytest.importorskip("vbot.downloads.kokoro", exc_type=ImportError)
    service = vars(kokoro)["service"]
    named = (service.KOKORO_MODEL_URL, service.KOKORO_VOICES_URL)
    assert [url.rpartition("/")[2] for url in named] == list(kokoro.HASHES)
    (tmp_path / "file").write_bytes(b"")
    says = "its SHA-256 begins with e3b0c44298fc, not bca610b8308e"
    assert kokoro.differs(tmp_path / "file", "voices-v1.0.bin") == says
    assert kokoro.differs(tmp_path / "file", "voices-v2.0.bin") == ""


def test_moonshines_files_have_the_librarys_checksums(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    moonshine = pytest.importorskip("vbot.downloads.moonshine", exc_type=ImportError)
    fetched = []
    monkeypatch.setattr(moonshine, "fetch", lambda *call: fetched.append(call))
    library = vars(moonshine)["library"]
    monkeypatch.setattr(library, "get_model_for_language", lambda *_: None)
    moonshine.fetch_model("en")
    [(_, urls, differs)] = fetched
    assert len(urls) > 3
    file = tmp_path / "file"
    file.touch()
    for name in urls:
        assert differs(file, name) == "its checksum is not the one that the library names"
    monkeypatch.setattr(moonshine, "crc32c_file", lambda _: checksum)
    files = moonshine.files_of("en", None)["groups"][0]["files"]
    for known in files:
        checksum = known["checksum"]
        assert differs(file, known["name"]) == ""


def test_whispers_models_have_fixed_revisions(monkeypatch: pytest.MonkeyPatch) -> None:
    whisper = pytest.importorskip("vbot.downloads.whisper", exc_type=ImportError)
    found = []
    monkeypatch.setattr(
        whisper, "find_at_hub", lambda *_, **options: found.append(options["revision"])
    )
    small = whisper.REVISIONS["Systran/faster-whisper-small"]
    for name in ("small", "Systran/faster-whisper-small", "acme/whisper"):
        whisper.fetch_model(name, revision=None)
    whisper.fetch_model("small", revision="main")
    assert found == [small, small, None, "main"]
    assert set(whisper.names.values()) == set(whisper.REVISIONS)  # all of the library's
