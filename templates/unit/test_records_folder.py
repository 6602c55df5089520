"""Records stay whole and private, whatever happens to the process, the disk and its neighbours."""

import json
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from vbot import records
from vbot.records.folder import Fields, Folder, as_line, now, read_lines

DAY = "2026-11-28"


def a_record(id: str = "one", **more: Any) -> Fields:
    return {"id": id, "started_at": f"{DAY}T09:00:00.000Z", "ended_by": "interrupted"} | more


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    folder = Folder(tmp_path / "records", delivers=True)
    folder.make()
    return folder


def ids(folder: Folder, day: str = DAY) -> list[str]:
    return [record["id"] for record in read_lines(folder.path / f"{day}.jsonl")]


def test_a_session_that_ends_leaves_one_line(folder: Folder) -> None:
    running = folder.begin(a_record())
    assert folder.recover() == 0  # it runs
    folder.end(a_record(ended_by="person"), running)
    assert ids(folder) == ["one"] and folder.recover() == 0
    assert not list(folder.running.iterdir())
    [waiting] = folder.waiting()
    assert json.loads(waiting.read_bytes()) == a_record(ended_by="person")
    folder.end(a_record("two"), None)  # the file in running/ could not be made
    assert ids(folder) == ["one", "two"]


def test_only_the_bots_user_can_read(folder: Folder) -> None:
    folder.end(a_record(), folder.begin(a_record()))
    folder.begin(a_record("two"))
    for path in folder.path.rglob("*"):
        if path.name != ".gitignore":
            expected = 0o700 if path.is_dir() else 0o600
            assert stat.S_IMODE(path.stat().st_mode) == expected, path
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert (folder.path / ".gitignore").read_text() == "*\n"


BEGINS = """
import sys
sys.path.insert(0, {server!r})
from pathlib import Path
from vbot.records.folder import Folder
folder = Folder(Path({path!r}), delivers=True)
folder.make()
record = {{"id": sys.argv[1], "started_at": "2026-11-28T09:00:00.000Z", "ended_by": "interrupted"}}
running = folder.begin(record)
print("runs", flush=True)
if sys.argv[2] == "ends":
    for number in range(200):
        folder.end(record | {{"id": f"{{sys.argv[1]}}-{{number}}", "text": "x" * 5000}}, None)
    folder.end(record, running)
else:
    sys.stdin.read()
"""


def process(folder: Folder, id: str, what: str) -> "subprocess.Popen[str]":
    server = str(Path(records.__file__).parents[2])
    code = BEGINS.format(server=server, path=str(folder.path))
    return subprocess.Popen(
        [sys.executable, "-c", code, id, what],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )


def test_a_killed_process_is_found_and_one_that_runs_is_not(folder: Folder) -> None:
    killed, runs = process(folder, "killed", "waits"), process(folder, "runs", "waits")
    for one in (killed, runs):
        assert one.stdout and one.stdout.readline() == "runs\n"
    assert folder.recover() == 0
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert folder.recover() == 1
    assert ids(folder) == ["killed"] and len(folder.waiting()) == 1
    assert folder.recover() == 0
    runs.kill()
    runs.wait()
    assert folder.recover() == 1 and ids(folder) == ["killed", "runs"]


def test_processes_may_share_a_folder(folder: Folder) -> None:
    both = [process(folder, name, "ends") for name in "ab"]
    while any(one.poll() is None for one in both):
        folder.recover()
        time.sleep(0.05)
    assert [one.returncode for one in both] == [0, 0]
    expected = [f"{name}-{number}" for name in "ab" for number in range(200)] + ["a", "b"]
    assert sorted(ids(folder)) == sorted(expected)  # each once, and none is torn
    assert len(folder.waiting()) == 402


def test_killed_between_the_line_and_the_outbox(folder: Folder) -> None:
    running = folder.begin(a_record())
    running.file.close()
    (folder.path / f"{DAY}.jsonl").write_bytes(as_line(a_record(ended_by="person")))
    assert folder.recover() == 1 and ids(folder) == ["one"]
    [waiting] = folder.waiting()
    assert json.loads(waiting.read_bytes())["ended_by"] == "person"


def test_a_line_that_was_being_written_costs_no_other(folder: Folder, log: list[str]) -> None:
    day = folder.path / f"{DAY}.jsonl"
    day.write_bytes(as_line(a_record()) + b'{"id": "tor')
    folder.end(a_record("two"), None)
    assert ids(folder) == ["one", "two"]
    assert log == [f"{day} has 1 lines that cannot be read"]
    (folder.running / "torn.json").write_bytes(b'{"id": "to')
    assert folder.recover() == 0
    assert log[-1] == "The record of session torn is lost: it could not be written"
    assert not (folder.running / "torn.json").exists()


def test_a_full_disk(folder: Folder) -> None:
    """As a process sees it whose files may not grow: a part of a line would fit."""
    first = folder.begin(a_record())
    folder.end(a_record(), first)
    running = folder.begin(a_record("two"))
    length = (folder.path / f"{DAY}.jsonl").stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (length + 30, before[1]))
    try:
        with pytest.raises(OSError):
            folder.end(a_record("two", problems=["x" * 100]), running)
        with pytest.raises(OSError):
            folder.begin(a_record("three", problems=["x" * 1000]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (folder.path / f"{DAY}.jsonl").stat().st_size == length
    assert [path.name for path in folder.running.iterdir()] == ["two.json"]
    assert folder.recover() == 1  # what was known at its start
    assert ids(folder) == ["one", "two"]


def test_a_disk_without_space(tmp_path: Path) -> None:
    """On a small file system of its own."""
    mount = tmp_path / "small"
    mount.mkdir()
    size = "size=64k,mode=700"
    if subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(mount)]).returncode:
        return  # only root may mount one; the test above needs no file system
    try:
        folder = Folder(mount / "records", delivers=True)
        folder.make()
        written, failed = [], []
        for number in range(40):
            record = a_record(str(number), problems=["x" * 3000])
            try:
                folder.end(record, folder.begin(record))
                written.append(str(number))
            except OSError:
                failed.append(str(number))
        assert failed and written
        for path in folder.waiting():  # delivered
            path.unlink()
        folder.end(a_record("after"), None)
        found = ids(folder)
        assert found[-1] == "after" and set(written) <= set(found)
        assert len(found) == len(set(found))
        folder.recover()
        assert not list(folder.running.iterdir())
    finally:
        subprocess.run(["umount", str(mount)], check=True)


def test_a_folder_that_may_not_be_written_is_told_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_file = tmp_path / "file"
    a_file.write_text("")
    monkeypatch.setenv("RECORDS", str(a_file / "records"))
    [problem] = records.problems()
    assert problem.startswith(f"RECORDS in .env is '{a_file}/records', where the bot cannot write:")
    monkeypatch.setenv("RECORDS", str(tmp_path / "new" / "records"))
    assert records.problems() == []
    assert (tmp_path / "new" / "records").is_dir()


def test_without_records_nothing_is_wrong_and_nothing_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("RECORDS", raising=False)
    assert records.problems() == []
    records.start()
    records.stop()
    assert records.keeper.cache_info().currsize == 0
    monkeypatch.setenv("RECORDS_WEBHOOK", "https://example.com")
    assert records.problems() == [
        "Set RECORDS in .env to a folder: the webhook's records wait there."
    ]


def test_kept_days(folder: Folder, log: list[str]) -> None:
    today = now().date()
    for days in (0, 3, 4):
        started = f"{today - timedelta(days=days)}T10:00:00.000Z"
        folder.end(a_record(str(days), started_at=started), None)
    [*_, oldest] = folder.waiting()
    old = f"{today - timedelta(days=5):%Y%m%d}T000000000000-old.json"
    oldest.rename(oldest.with_name(old))
    (folder.path / "notes.jsonl").write_text("of somebody else")
    (folder.outbox / ".left.tmp").write_text("by a process that was killed")
    folder.clean(days=3)
    assert [path.stem for path in folder.days()] == [f"{today - timedelta(days=3)}", f"{today}"]
    assert len(folder.waiting()) == 2 and (folder.path / "notes.jsonl").exists()
    assert not (folder.outbox / ".left.tmp").exists()
    assert len(log) == 2 and all("Deleted after 3 days" in line for line in log)


def test_one_record_is_deleted(folder: Folder) -> None:
    for id in ("one", "two", "three"):
        folder.end(a_record(id), None)
    changed = folder.delete("two")
    assert [path.parent.name for path in changed] == ["records", "outbox"]
    assert ids(folder) == ["one", "three"] and len(folder.waiting()) == 2
    assert folder.delete("two") == [] == folder.delete("none")
    folder.end(a_record("four"), None)
    assert ids(folder) == ["one", "three", "four"]
    assert stat.S_IMODE((folder.path / f"{DAY}.jsonl").stat().st_mode) == 0o600


def test_records_are_found(folder: Folder) -> None:
    for id, day in (("b", "2026-11-29"), ("a", "2026-11-28"), ("c", "2026-12-01")):
        folder.end(a_record(id, started_at=f"{day}T00:00:00.000Z"), None)
    from datetime import date

    read = folder.read(date(2026, 11, 28), date(2026, 11, 30))
    assert [record["id"] for record in read] == ["a", "b"]
    assert (found := folder.find("c")) and found["id"] == "c"
    assert folder.find("none") is None
