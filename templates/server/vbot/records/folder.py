"""The folder with the records: one line for each session, in a file for each day.

    2026-11-28.jsonl    the sessions that started on this day (UTC), one JSON object a line
    running/            one file for each session that runs, locked by the process that runs it
    outbox/             one file for each record that the webhook has still to deliver

Several processes may use one folder. A session's file in running/ is there from its start, so that
the next start finds a session whose process was killed.
"""

import contextlib
import errno
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

from loguru import logger

Fields = dict[str, Any]  # of a record, as schema.json has them

DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.jsonl")  # the file of a day
KEPT_DAYS = 30  # unless RECORDS_KEPT_DAYS is set

if sys.platform == "win32":
    import msvcrt

    def lock(file: BinaryIO | FileIO, wait: bool) -> None:
        """Lock a file until it is closed. Raises OSError if another process has it locked."""
        file.seek(0x7FFFFFFF)  # a byte behind the text, which stays readable
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        file.seek(0)
else:
    import fcntl

    def lock(file: BinaryIO | FileIO, wait: bool) -> None:
        """Lock a file until it is closed. Raises OSError if another process has it locked."""
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def private(path: str, flags: int) -> int:
    """Open a file that only the bot's user can read."""
    return os.open(path, flags, mode=0o600)


def now() -> datetime:
    return datetime.now(UTC)


def rfc3339(moment: datetime) -> str:
    """Return a time as in 2026-11-28T09:30:00.123Z."""
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def as_line(record: Fields) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


@dataclass
class Running:
    """The file of a session that runs."""

    path: Path
    file: FileIO  # open, and so locked


class Folder:
    """A folder with records.

    Args:
        path: Of the folder.
        delivers: Whether records wait in outbox/ for the webhook.
    """

    def __init__(self, path: Path, delivers: bool = False):
        self.path, self._delivers = path, delivers
        self.running, self.outbox = path / "running", path / "outbox"

    def make(self) -> None:
        """Make the folder, and see that files can be written there. Raises OSError if not."""
        if not self.path.exists():
            self.path.mkdir(mode=0o700, parents=True)
            (self.path / ".gitignore").write_text("*\n")
        for folder in (self.running, self.outbox):
            folder.mkdir(mode=0o700, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        with self._locked():
            pass

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Let no other process, and no other thread, change the files meanwhile."""
        with open(self.path / ".lock", "ab", opener=private) as file:
            lock(file, wait=True)
            yield

    # What a session does.

    def begin(self, record: Fields) -> Running:
        """Note that a session runs. Raises OSError if that is not possible."""
        path = self.running / f"{record['id']}.json"
        with self._locked():
            file = open(path, "xb", buffering=0, opener=private)
            try:
                lock(file, wait=False)
                write_all(file, as_line(record))
            except BaseException:
                file.close()
                path.unlink()
                raise
        return Running(path, file)

    def end(self, record: Fields, running: Running | None) -> None:
        """Write the record of a session that has ended.

        Raises OSError if it cannot be written. The session's file in running/ then stays, and the
        next start writes what is in it.
        """
        try:
            with self._locked():
                self._add(record)
                if running:
                    # Renamed and opened files cannot be deleted on Windows.
                    running.file.close()
                    running.path.unlink(missing_ok=True)
        finally:
            if running:
                running.file.close()

    def _add(self, record: Fields) -> None:
        """Add a line to the file of a day, and a file to the outbox."""
        append(self._day_of(record), as_line(record))
        self._put_into_outbox(record)

    def _day_of(self, record: Fields) -> Path:
        return self.path / f"{record['started_at'][:10]}.jsonl"

    def _put_into_outbox(self, record: Fields) -> None:
        if self._delivers:
            # The name says the age and the id.
            name = f"{now():%Y%m%dT%H%M%S%f}-{record['id']}.json"
            replace(self.outbox / name, as_line(record).rstrip(b"\n"))

    # What is done at the start, and every hour.

    def recover(self) -> int:
        """Write records of the sessions whose processes were killed. Return how many there were."""
        found = 0
        for path in sorted(self.running.glob("*.json")):
            with contextlib.suppress(FileNotFoundError), self._locked():
                found += self._recover(path)
        return found

    def _recover(self, path: Path) -> bool:
        with path.open("r+b") as file:  # closed before it is deleted, as Windows wants it
            try:
                lock(file, wait=False)
            except OSError:
                return False  # the session runs in another process
            text = file.read()
        try:
            record = json.loads(text)
            day = self._day_of(record)
        except (ValueError, LookupError, TypeError):
            # Killed, or without space, while it wrote this file.
            logger.error(f"The record of session {path.stem} is lost: it could not be written")
            path.unlink()
            return False
        if any(line["id"] == record["id"] for line in read_lines(day)):
            # Killed between the line and the deletion of this file.
            self._put_into_outbox(record_in(day, record["id"]))
        else:
            self._add(record)
        path.unlink()
        return True

    def clean(self, days: int) -> None:
        """Delete records of sessions that started more than so many days ago."""
        oldest = f"{now().date() - timedelta(days=days)}"
        with self._locked():  # so nobody is writing these
            for path in [*self.path.glob(".*.tmp"), *self.outbox.glob(".*.tmp")]:
                path.unlink()
        for path in [*self.days(), *self.outbox.glob("*.json")]:
            name = path.name
            day = name[:10] if path.parent == self.path else f"{name[:4]}-{name[4:6]}-{name[6:8]}"
            if day < oldest:
                with contextlib.suppress(FileNotFoundError), self._locked():
                    path.unlink()
                    logger.info(f"Deleted after {days} days: {path}")

    # What the command and the webhook do.

    def days(self) -> list[Path]:
        """Return the files of days, the oldest first."""
        return sorted(path for path in self.path.glob("*.jsonl") if DAY.fullmatch(path.name))

    def read(self, first: date, last: date) -> list[Fields]:
        """Return the records of these days, by the times of their starts."""
        found = []
        for path in self.days():
            if f"{first}" <= path.stem <= f"{last}":
                found += read_lines(path)
        return sorted(found, key=lambda record: str(record["started_at"]))

    def find(self, id: str) -> Fields | None:
        """Return the record with this id."""
        records = (record_in(path, id) for path in reversed(self.days()))
        return next((record for record in records if record), None)

    def waiting(self) -> list[Path]:
        """Return the files that the webhook has still to deliver, the oldest first."""
        return sorted(self.outbox.glob("*.json"))

    def delete(self, id: str) -> list[Path]:
        """Delete the record of a session. Return the files that it was in."""
        changed = []
        with self._locked():
            for path in self.days():
                if record_in(path, id):
                    lines = path.read_bytes().splitlines(keepends=True)
                    replace(path, b"".join(line for line in lines if id_in(line) != id))
                    changed.append(path)
            for path in self.waiting():
                if id_in(path.read_bytes()) == id:
                    path.unlink()
                    changed.append(path)
        return changed


def append(path: Path, line: bytes) -> None:
    """Add a line to a file, or nothing if there is no space. The file must be locked."""
    with open(path, "a+b", buffering=0, opener=private) as file:
        end = file.seek(0, os.SEEK_END)
        try:
            if end and file.seek(end - 1) and file.read(1) != b"\n":
                line = b"\n" + line  # the machine stopped while it wrote the line before
            write_all(file, line)
            os.fsync(file.fileno())
        except BaseException:
            with contextlib.suppress(OSError):
                file.truncate(end)
            raise


def write_all(file: FileIO, text: bytes) -> None:
    if file.write(text) != len(text):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def replace(path: Path, text: bytes) -> None:
    """Write a file that is whole or not there."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with open(temporary, "wb", opener=private) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_lines(path: Path) -> list[Fields]:
    """Return the records in the file of a day. A line that cannot be read is reported."""
    found, broken = [], 0
    with contextlib.suppress(FileNotFoundError):
        for line in path.read_bytes().splitlines():
            try:
                record = json.loads(line)
                found.append(record | {"id": record["id"], "started_at": record["started_at"]})
            except (ValueError, LookupError, TypeError):
                broken += 1
    if broken:
        logger.warning(f"{path} has {broken} lines that cannot be read")
    return found


def record_in(path: Path, id: str) -> Any:
    """Return the record with this id in the file of a day, or None."""
    return next((record for record in read_lines(path) if record["id"] == id), None)


def id_in(line: bytes) -> str | None:
    try:
        return json.loads(line)["id"]
    except (ValueError, LookupError, TypeError):
        return None
